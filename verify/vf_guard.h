/* SPDX-License-Identifier: MIT */
/*
 * vf_guard: payloads between guard bands, so that a write outside its buffer is seen.
 *
 * An allocation is, in this order: a guard band, the payload at an offset aligned for binding, the
 * padding up to a multiple of 16 bytes, a second guard band. Everything but the payload of an input
 * holds a repeated 32-bit pattern that is a NaN as f32 and as the f16 or bf16 in its upper half;
 * the payload of an output holds it too until the kernel writes it (poison). The second run of a
 * case uses another pattern, so a result that depends on padding, guards or old output differs.
 */
#ifndef VF_GUARD_H
#define VF_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VF_GUARD_PATTERN_FIRST 0x7FC0DEADU
#define VF_GUARD_PATTERN_SECOND 0xFFC1BEEFU

/* Least size of a guard band. */
#define VF_GUARD_BYTES ((uint64_t)16384)

/* Where the payload lies in its allocation. All in bytes. */
struct vf_guard_span {
    uint64_t offset_bytes; /* of the payload; a multiple of the alignment */
    uint64_t payload_bytes;
    uint64_t padded_bytes; /* payload_bytes rounded up to 16, at least 16 */
    uint64_t total_bytes;  /* of the allocation; a multiple of 16 */
};

/* `alignment_bytes`: minStorageBufferOffsetAlignment, a power of two. */
struct vf_guard_span vf_guard_layout(uint64_t payload_bytes, uint64_t alignment_bytes);

/* Fills all total_bytes of `bytes`: the pattern, and over it the payload unless that is NULL. */
void vf_guard_fill(uint8_t *bytes, const struct vf_guard_span *span, uint32_t pattern,
                   const void *payload);

/*
 * Whether guards and padding still hold the pattern and, unless `payload` is NULL, the payload its
 * bytes. On failure `reason` (terminated) names `label`, the place relative to the payload, and the
 * values.
 */
bool vf_guard_check(const uint8_t *bytes, const struct vf_guard_span *span, uint32_t pattern,
                    const void *payload, const char *label, char *reason, size_t size);

#endif /* VF_GUARD_H */
