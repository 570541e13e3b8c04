/* SPDX-License-Identifier: MIT */
/*
 * vf_ref: the families that the verifier knows, one file vf_ref_<reference>.c each.
 */
#ifndef VF_REF_H
#define VF_REF_H

#include "vf_family.h"

/*
 * matvec: y = W x. W[nout][k] raw blocks of dtypes[0], x[k] and y[nout] f32. W is pseudo data of
 * tensor 0 times 0.5, quantised (random blocks for types without a quantiser), x is tensor 1. The
 * expected y is the f64 sum over the decoded f32 weights, k ascending in four interleaved sums.
 */
extern const struct vf_family vf_ref_matvec;

/*
 * matmul: y[t][nout] = x[t][k] W^T, W as in matvec, x (tensor 1) f32 or, rounded, f16 (dtypes[1]).
 * The expected y is the f64 sum over the decoded f32 weights, k ascending.
 */
extern const struct vf_family vf_ref_matmul;

/*
 * dequant: values[count] (f32 or f16, dtypes[1]) of raw blocks of dtypes[0]. Every field of a block
 * is random; scales are finite, one block in eight has subnormal or zero scales.
 */
extern const struct vf_family vf_ref_dequant;

/*
 * The problem of decoding these blocks to these values, for the dequant artifacts of any output
 * type. `blocks` are borrowed for the problem's life. `non_finite`: values may be infinite.
 */
enum kiln_result vf_dequant_problem(const uint8_t *blocks, uint64_t size_bytes, const float *values,
                                    uint64_t count, bool non_finite, struct vf_problem *out);

#endif /* VF_REF_H */
