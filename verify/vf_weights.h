/* SPDX-License-Identifier: MIT */
/*
 * vf_weights: the weights of the cases, as raw blocks and as the values that they decode to.
 */
#ifndef VF_WEIGHTS_H
#define VF_WEIGHTS_H

#include "kiln_result.h"
#include "mf_dtype.h"

#include <stdint.h>

/*
 * Row `row` of a matrix with k columns: pseudo data of tensor 0 times 0.5, quantised, or random
 * blocks for types without a quantiser. `blocks` takes the row's bytes, `values` k decoded values.
 * KILN_ERR_ARGUMENT when k is no multiple of the type's block. Thread safety: no state.
 */
enum kiln_result vf_weights_row(enum mf_dtype dtype, uint64_t row, uint64_t k, uint64_t seed,
                                uint8_t *blocks, float *values);

#endif /* VF_WEIGHTS_H */
