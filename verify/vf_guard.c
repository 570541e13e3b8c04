/* SPDX-License-Identifier: MIT */
#include "vf_guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t round_up(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

struct vf_guard_span vf_guard_layout(uint64_t payload_bytes, uint64_t alignment_bytes) {
    struct vf_guard_span span = {.payload_bytes = payload_bytes};

    span.offset_bytes = round_up(VF_GUARD_BYTES, alignment_bytes ? alignment_bytes : 1);
    span.padded_bytes = payload_bytes ? round_up(payload_bytes, 16) : 16;
    span.total_bytes = round_up(span.offset_bytes + span.padded_bytes + VF_GUARD_BYTES, 16);
    return span;
}

/* The pattern's byte at a position of the allocation; patterns lie in words from byte 0 on. */
static uint8_t pattern_byte(uint32_t pattern, uint64_t position) {
    return (uint8_t)(pattern >> (position % 4 * 8) & 0xFF);
}

void vf_guard_fill(uint8_t *bytes, const struct vf_guard_span *span, uint32_t pattern,
                   const void *payload) {
    const uint8_t word[4] = {pattern_byte(pattern, 0), pattern_byte(pattern, 1),
                             pattern_byte(pattern, 2), pattern_byte(pattern, 3)};

    for (uint64_t i = 0; i < span->total_bytes; i += 4) {
        memcpy(bytes + i, word, 4);
    }
    if (payload && span->payload_bytes) {
        memcpy(bytes + span->offset_bytes, payload, (size_t)span->payload_bytes);
    }
}

/* First position of [begin, end) that does not hold the pattern; `end` when all do. */
static uint64_t pattern_break(const uint8_t *bytes, uint64_t begin, uint64_t end,
                              uint32_t pattern) {
    while (begin < end && bytes[begin] == pattern_byte(pattern, begin)) {
        begin++;
    }
    return begin;
}

bool vf_guard_check(const uint8_t *bytes, const struct vf_guard_span *span, uint32_t pattern,
                    const void *payload, const char *label, char *reason, size_t size) {
    const uint64_t begin = span->offset_bytes;
    const uint64_t end = span->offset_bytes + span->payload_bytes;
    uint64_t at = pattern_break(bytes, 0, begin, pattern);

    reason[0] = '\0';
    if (at < begin) {
        snprintf(reason, size,
                 "%s: guard overwritten %" PRIu64 " bytes before the buffer: 0x%02x, was 0x%02x",
                 label, begin - at, bytes[at], pattern_byte(pattern, at));
        return false;
    }
    at = pattern_break(bytes, end, span->total_bytes, pattern);
    if (at < span->total_bytes) {
        snprintf(reason, size,
                 "%s: guard overwritten %" PRIu64 " bytes after the end of the buffer's %" PRIu64
                 " bytes: 0x%02x, was 0x%02x",
                 label, at - end, span->payload_bytes, bytes[at], pattern_byte(pattern, at));
        return false;
    }
    if (payload && span->payload_bytes &&
        memcmp(bytes + begin, payload, (size_t)span->payload_bytes) != 0) {
        const uint8_t *want = payload;
        uint64_t i = 0;
        while (bytes[begin + i] == want[i]) {
            i++;
        }
        snprintf(reason, size, "%s: input changed at byte %" PRIu64 ": 0x%02x, was 0x%02x", label,
                 i, bytes[begin + i], want[i]);
        return false;
    }
    return true;
}
