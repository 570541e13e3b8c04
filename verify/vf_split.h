/* SPDX-License-Identifier: MIT */
/*
 * vf_split: q8_1 activations as q8_1s (docs/repacked_layouts.md): of a tensor of n elements first
 * the n codes, those of whole groups of 512 with their 16-byte pieces transposed, then n / 32
 * words, each the block's d (binary16) and above it the sum of its codes (signed, 16 bits).
 *
 * `count` is a multiple of 32; both forms take count / 32 * 36 bytes, no alignment needed.
 * Thread safety: no state.
 */
#ifndef VF_SPLIT_H
#define VF_SPLIT_H

#include <stdint.h>

void vf_split_from_blocks(const uint8_t *blocks, uint64_t count, uint8_t *split);

/*
 * Back to blocks, whose s is d times the sum of the codes, rounded. Returns how many blocks carry a
 * sum that is not that of their codes.
 */
uint64_t vf_split_to_blocks(const uint8_t *split, uint64_t count, uint8_t *blocks);

#endif /* VF_SPLIT_H */
