/* SPDX-License-Identifier: MIT */
/*
 * vf_split: q8_1 activations as q8_1s (docs/repacked_layouts.md): of a tensor of n elements first
 * the n codes, then a header of four f32 for each 32 of them: the block's d, the sums of its first
 * and of its last 16 codes, and the sum of both.
 *
 * `count` is a multiple of 32: count / 32 blocks of 36 bytes, or count / 32 times 48 bytes of
 * q8_1s. No alignment needed. Thread safety: no state.
 */
#ifndef VF_SPLIT_H
#define VF_SPLIT_H

#include <stdint.h>

void vf_split_from_blocks(const uint8_t *blocks, uint64_t count, uint8_t *split);

/*
 * Back to blocks, whose s is d times the sum of the codes, rounded. Returns how many headers carry
 * sums that are not those of their codes, or a d that is no binary16.
 */
uint64_t vf_split_to_blocks(const uint8_t *split, uint64_t count, uint8_t *blocks);

#endif /* VF_SPLIT_H */
