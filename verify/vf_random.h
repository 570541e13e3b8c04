/* SPDX-License-Identifier: MIT */
/*
 * vf_random: random valid blocks of any type, for the types that have no quantiser and for
 * decoders that should see every code.
 */
#ifndef VF_RANDOM_H
#define VF_RANDOM_H

#include "kiln_result.h"
#include "mf_dtype.h"

#include <stdint.h>

/*
 * Fills block_count blocks at `blocks` (block_bytes each, no alignment needed). Every code,
 * sub-scale, sign and grid index is random; only block scales are chosen: finite, normal, within a
 * factor of 3 of each other and, where the type allows, of either sign, such that the decoded
 * values have an RMS near 0.3. Minimums lie within a quarter of what centres the values. Redundant
 * fields (the sums of q8_1 and q8_k) agree with the codes. f32, f16 and bf16 are uniform in
 * [-0.5, 0.5). A repacked type's blocks are its raw type's of the same seed, repacked.
 *
 * A block depends on (dtype, seed, its number) only, so a prefix of a longer fill is the shorter
 * fill, and different seeds, neighbouring ones too, give unrelated blocks.
 * KILN_ERR_ARGUMENT, nothing written: i32, an unknown type, or NULL with a count above 0.
 * Thread safety: no state.
 */
enum kiln_result vf_random_blocks(enum mf_dtype dtype, uint64_t seed, uint64_t block_count,
                                  uint8_t *blocks);

#endif /* VF_RANDOM_H */
