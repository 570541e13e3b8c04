/* SPDX-License-Identifier: MIT */
/*
 * vf_activation: what the families over rows of f32 or f16 activations share.
 *
 * An artifact of theirs has one data type, that of its activations (dtypes[0]); norm weights,
 * tables and push constants are f32. Sizes that f16 cannot have, because a word would belong to two
 * rows, are left out of its cases. Thread safety: no state.
 */
#ifndef VF_ACTIVATION_H
#define VF_ACTIVATION_H

#include "vf_family.h"

/* eps of the norms, as the f32 that the kernels are given. */
#define VF_NORM_EPS 1e-5F

/* Cases of families over rows x m (dims rows, m). */
enum kiln_result vf_activation_list_rows(const enum mf_dtype *dtypes, struct vf_case_list *list);

/* Cases of element-wise families (dim count): the row cases' element counts. */
enum kiln_result vf_activation_list_counts(const enum mf_dtype *dtypes, struct vf_case_list *list);

/* The values of tensor `tensor_number`, times scale, in the problem's arena; NULL: out of memory.
 */
float *vf_activation_pseudo(struct vf_problem *problem, uint64_t count, uint64_t tensor_number,
                            uint64_t seed, float scale);

/*
 * Adds an input of type dtype (f32 or f16). values[count] are rounded in place to what it holds.
 * They must live as long as the problem. KILN_ERR_MEMORY.
 */
enum kiln_result vf_activation_input(struct vf_problem *problem, const char *binding,
                                     enum mf_dtype dtype, float *values, uint64_t count);

/*
 * Adds an output of the artifact's type and returns the array for its count expected values, NULL
 * when memory is out.
 */
double *vf_activation_output(struct vf_problem *problem, const char *binding, uint64_t count);

/* max_abs, and for f16 beside it the one place that rounding a result may cost. */
struct mf_tolerance vf_activation_gate(const struct mf_artifact *artifact, double max_abs);

/* Makes every fourth row of x[rows][m] so small that eps decides about its norm. */
void vf_activation_shrink(float *values, uint64_t rows, uint64_t m);

/* values[i] = values[i] / sqrt(mean(values^2) + eps) * w[i] for i in 0..m-1, in f64. */
void vf_activation_norm(double *values, const float *w, uint64_t m, double eps);

/* KILN_ERR_MEMORY with the family's name and the case in the message. */
enum kiln_result vf_activation_no_memory(const char *family, const struct vf_case *problem,
                                         struct kiln_error *error);

#endif /* VF_ACTIVATION_H */
