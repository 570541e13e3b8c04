/* SPDX-License-Identifier: MIT */
/* Every byte outside a payload is guarded, and each broken byte is found where it is. */
#include "vf_guard.h"

#include "vf_f16.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_layout(void **state) {
    static const uint64_t payloads[] = {0, 1, 15, 16, 17, 4096, 73729};
    static const uint64_t alignments[] = {1, 4, 16, 64, 256, 65536};

    (void)state;
    for (size_t p = 0; p < sizeof payloads / sizeof payloads[0]; p++) {
        for (size_t a = 0; a < sizeof alignments / sizeof alignments[0]; a++) {
            const struct vf_guard_span s = vf_guard_layout(payloads[p], alignments[a]);
            assert_int_equal(s.offset_bytes % alignments[a], 0);
            assert_true(s.offset_bytes >= VF_GUARD_BYTES);
            assert_true(s.padded_bytes >= payloads[p] && s.padded_bytes >= 16);
            assert_true(s.padded_bytes < payloads[p] + 32);
            assert_int_equal(s.padded_bytes % 16, 0);
            assert_int_equal(s.total_bytes % 16, 0);
            assert_true(s.total_bytes >= s.offset_bytes + s.padded_bytes + VF_GUARD_BYTES);
        }
    }
}

static void test_patterns_are_nan(void **state) {
    static const uint32_t patterns[] = {VF_GUARD_PATTERN_FIRST, VF_GUARD_PATTERN_SECOND};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const uint16_t upper = (uint16_t)(patterns[i] >> 16);
        assert_true(isnan(vf_f32_from_bits(patterns[i])));
        assert_true(isnan(vf_f16_decode(upper)));
        assert_true(isnan(vf_bf16_decode(upper)));
    }
    assert_int_not_equal(patterns[0], patterns[1]);
}

/* Changing any single byte is noticed; bytes of the payload only where there is one to compare. */
static void test_every_byte(void **state) {
    static const uint8_t payload[37] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const struct vf_guard_span span = vf_guard_layout(sizeof payload, 256);
    uint8_t *bytes = malloc(span.total_bytes);
    char reason[256];

    (void)state;
    vf_guard_fill(bytes, &span, VF_GUARD_PATTERN_FIRST, payload);
    assert_memory_equal(bytes + span.offset_bytes, payload, sizeof payload);
    assert_true(
        vf_guard_check(bytes, &span, VF_GUARD_PATTERN_FIRST, payload, "w", reason, sizeof reason));
    assert_false(
        vf_guard_check(bytes, &span, VF_GUARD_PATTERN_SECOND, payload, "w", reason, sizeof reason));
    for (uint64_t i = 0; i<span.total_bytes; i += i> 16300 && i < 16500 ? 1 : 97) {
        const bool inside = i >= span.offset_bytes && i < span.offset_bytes + sizeof payload;
        bytes[i] ^= 0x10;
        assert_false(vf_guard_check(bytes, &span, VF_GUARD_PATTERN_FIRST, payload, "w", reason,
                                    sizeof reason));
        assert_non_null(strstr(reason, inside ? "input changed" : "guard overwritten"));
        assert_int_equal(
            vf_guard_check(bytes, &span, VF_GUARD_PATTERN_FIRST, NULL, "w", reason, sizeof reason),
            inside);
        bytes[i] ^= 0x10;
    }
    free(bytes);
}

static void test_places_in_messages(void **state) {
    const struct vf_guard_span span = vf_guard_layout(20, 16);
    uint8_t *bytes = malloc(span.total_bytes);
    char reason[256];

    (void)state;
    vf_guard_fill(bytes, &span, VF_GUARD_PATTERN_FIRST, NULL);
    bytes[span.offset_bytes - 3] = 0x55;
    assert_false(
        vf_guard_check(bytes, &span, VF_GUARD_PATTERN_FIRST, NULL, "y", reason, sizeof reason));
    assert_string_equal(reason, "y: guard overwritten 3 bytes before the buffer: 0x55, was 0xde");
    vf_guard_fill(bytes, &span, VF_GUARD_PATTERN_FIRST, NULL);
    bytes[span.offset_bytes + 20] = 0x55; /* the padding counts as outside */
    assert_false(
        vf_guard_check(bytes, &span, VF_GUARD_PATTERN_FIRST, NULL, "y", reason, sizeof reason));
    assert_string_equal(reason, "y: guard overwritten 0 bytes after the end of the buffer's 20 "
                                "bytes: 0x55, was 0xad");
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_patterns_are_nan),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_places_in_messages),
    };
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
