/* SPDX-License-Identifier: MIT */
/*
 * vf_quantize: binary32 to GGML blocks, to make the weights of test cases.
 *
 * Two kinds of types:
 *  - f32 f16 bf16 q4_0 q4_1 q5_0 q5_1 q8_0 q8_1 q1_0 q2_0 tq1_0 tq2_0 mxfp4 nvfp4 follow the
 *    encoders that docs/block_layouts.md states and equal ggml's blocks byte for byte. That needs
 *    one rounding per operation: compile with -ffp-contract=off.
 *  - q2_k q3_k q4_k q5_k q6_k iq4_nl iq4_xs search. The format says what a block means, not how to
 *    find one, and these minimise the plain sum of squared errors of a block: scales by least
 *    squares over a set of candidate code assignments, then quantised scales with their neighbours
 *    tried, then the block scales fitted again to the codes. Blocks differ from ggml's; the RMS
 *    error over tests/golden is below it.
 * The iq1, iq2 and iq3 types have no encoder here (use vf_random_blocks), nor has q8_k. The blocks
 * of a repacked type are its raw type's, repacked by the loader.
 *
 * Results depend on the values of the block only, never on threads or neighbours. Per core (about
 * 3 GHz, -O2): 30 to 300 million elements a second for the first kind, 5 to 15 for the second.
 * Thread safety: no state; any thread, also on different parts of one tensor at once.
 */
#ifndef VF_QUANTIZE_H
#define VF_QUANTIZE_H

#include "kiln_result.h"
#include "mf_dtype.h"

#include <stdbool.h>
#include <stdint.h>

bool vf_quantize_supported(enum mf_dtype dtype);

/* True for the first kind above: the encoder is stated and the bytes are comparable. */
bool vf_quantize_exact(enum mf_dtype dtype);

/*
 * values: element_count binary32 values in element order.
 * blocks: room for element_count / block_elements blocks, no alignment needed.
 * KILN_ERR_ARGUMENT, nothing written: a type that is not supported, a count that is no multiple of
 * the block, NULL with a count above 0. KILN_ERR_LIMIT, nothing written: for a block type, a value
 * that is NaN, infinite or so large that the block scale would overflow its format (binary16, or
 * the exponent range). f32, f16 and bf16 take every value and round to infinity as IEEE 754 says;
 * nvfp4 saturates at its largest value, 2688. A value too small for the scale becomes 0.
 */
enum kiln_result vf_quantize(enum mf_dtype dtype, const float *values, uint64_t element_count,
                             uint8_t *blocks);

#endif /* VF_QUANTIZE_H */
