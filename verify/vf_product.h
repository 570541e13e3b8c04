/* SPDX-License-Identifier: MIT */
/*
 * vf_product: y = x W^T for t tokens, the problem of the families matmul and mmq.
 *
 * Dimensions t, nout, k. Buffers: weights, nout rows of raw blocks (vf_operand_row), may be split
 * into row windows; x[t][k] (tensor 1), rounded to the type of the activations; y[t][nout] f32.
 * Push constant y_stride = nout. The expected y is the f64 sum, k ascending, over the decoded f32
 * weights and the x that the blocks or halves hold, so that no rounding of x is part of the error.
 *
 * Thread safety: no state but the problem's memo, which keeps one shape's product; a problem of
 * fewer tokens is its head.
 */
#ifndef VF_PRODUCT_H
#define VF_PRODUCT_H

#include "vf_family.h"

/* The cases of matmul, the most tokens of a shape first; dtypes[0] is that of the weights. */
enum kiln_result vf_product_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list);

/*
 * vf_family.prepare for dtypes of the weights and of x: f32, f16 or what vf_quantize knows;
 * `family` is for messages. KILN_ERR_ARGUMENT: k is no multiple of a block; KILN_ERR_MEMORY.
 */
enum kiln_result vf_product_prepare(const char *family, const struct vf_case *problem,
                                    const enum mf_dtype *dtypes, uint64_t seed,
                                    struct vf_problem *out, struct kiln_error *error);

#endif /* VF_PRODUCT_H */
