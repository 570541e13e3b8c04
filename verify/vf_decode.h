/* SPDX-License-Identifier: MIT */
/*
 * vf_decode: GGML blocks to binary32, the CPU reference of everything that reads weights.
 *
 * Formulas are those of docs/block_layouts.md, layouts of repacked types those of
 * docs/repacked_layouts.md. Per element the product of scale, sub-scale and code
 * is exact in binary32 and at most one rounding follows, so results equal ggml's CPU dequantisers
 * bit for bit (tests/golden) whether or not the compiler contracts to fused multiply-adds. Only the
 * sign of a zero may differ. Subnormal scales are honoured; the caller must not run with
 * flush-to-zero set.
 *
 * Thread safety: no state; any thread, also on different parts of one tensor at once.
 */
#ifndef VF_DECODE_H
#define VF_DECODE_H

#include "kiln_result.h"
#include "mf_dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* f32, f16, bf16, the 25 quantised weight types, the repacked ones, q8_1 and q8_k; not i32. */
bool vf_decode_supported(enum mf_dtype dtype);

/*
 * blocks: element_count / block_elements blocks as they lie in a GGUF file, no alignment needed.
 * values: element_count binary32 values, written in element order.
 * Every bit pattern of a block decodes; infinite or NaN scales give what IEEE arithmetic gives.
 * KILN_ERR_ARGUMENT, with nothing written, for another type, for a count that is no multiple of the
 * block, or for NULL pointers with a count above 0.
 */
enum kiln_result vf_decode(enum mf_dtype dtype, const uint8_t *blocks, uint64_t element_count,
                           float *values);

#endif /* VF_DECODE_H */
