/* SPDX-License-Identifier: MIT */
/*
 * vf_order: the order in which argmax, top_k and moe_route choose: greatest value first, equal ones
 * (zeros of either sign are) by ascending index, NaN after all others.
 */
#ifndef VF_ORDER_H
#define VF_ORDER_H

#include "kiln_result.h"
#include "mf_dtype.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * indices[0..count-1]: the first of that order over values[n]; slots from n on get -1.
 * KILN_ERR_MEMORY. Thread safety: no state.
 */
enum kiln_result vf_order_select(const float *values, uint64_t n, uint64_t count, int32_t *indices);

/*
 * Rows to choose from, of f32 or f16 (as its bits, two bytes each) and as f32. Row kinds take
 * turns: all different; many equal; all equal; NaN here and there; only NaN; subnormals,
 * infinities; zeros of both signs above all else.
 */
void vf_order_fill(enum mf_dtype dtype, uint64_t rows, uint64_t n, uint64_t seed, void *elements,
                   float *values);

#endif /* VF_ORDER_H */
