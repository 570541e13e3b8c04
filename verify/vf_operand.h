/* SPDX-License-Identifier: MIT */
/*
 * vf_operand: the operands of matrix products, for the families that multiply weights.
 */
#ifndef VF_OPERAND_H
#define VF_OPERAND_H

#include "vf_family.h"

/*
 * Row `row` of a row-major weight tensor of k elements a row: pseudo data of tensor 0 times 0.5,
 * quantised, or random blocks for a type without a quantiser, into `blocks` (a row's bytes);
 * decoded again into `values` (k of them). Errors as vf_quantize.
 */
enum kiln_result vf_operand_row(enum mf_dtype dtype, uint64_t row, uint64_t k, uint64_t seed,
                                uint8_t *blocks, float *values);

/* The f64 sum of products, ascending in four interleaved sums. */
double vf_operand_dot(const float *a, const float *b, uint64_t count);

/*
 * Adds the input `binding` of `count` activations as the kernel reads them: x itself for f32
 * (borrowed), else its blocks. References always use x as it is, so a quantised type's own error
 * is part of what is measured. KILN_ERR_ARGUMENT: no multiple of the block; KILN_ERR_MEMORY;
 * KILN_ERR_LIMIT: the problem's table is full.
 */
enum kiln_result vf_operand_activations(struct vf_problem *problem, const char *binding,
                                        enum mf_dtype dtype, const float *x, uint64_t count);

/* Replaces x by what its blocks hold. Errors as vf_operand_activations. */
enum kiln_result vf_operand_round(enum mf_dtype dtype, float *x, uint64_t count,
                                  struct mf_arena *arena);

#endif /* VF_OPERAND_H */
