/* SPDX-License-Identifier: MIT */
/*
 * vf_ref: the families that the verifier knows, one file vf_ref_<reference>.c each.
 */
#ifndef VF_REF_H
#define VF_REF_H

#include "vf_family.h"

/*
 * matmul: y[t][nout] = x[t][k] W^T, W as in matvec, x (tensor 1) f32 or, rounded, f16 (dtypes[1]).
 * The expected y is the f64 sum over the decoded f32 weights, k ascending.
 */
extern const struct vf_family vf_ref_matmul;

/*
 * mmq: the same with x in q8_1 (dtypes[1]). The expected y is the sum over the values that x's
 * blocks hold, not over the f32 x they were made of: products of codes are exact, so what is left
 * is the error of adding up in f32, and the gates of the kernels are as strict as that.
 */
extern const struct vf_family vf_ref_mmq;

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

/*
 * Over rows of f32 or f16 activations x[rows][m] (dtypes[0]); x is tensor 0, w[m] is f32, tensor 1.
 * One row in four is small enough for eps to matter.
 *   rms_norm: y = x / sqrt(mean(x^2) + eps) * w
 *   add_rms_norm: s = x + r, y = rms_norm(s), from s before it is rounded
 */
extern const struct vf_family vf_ref_rms_norm;
extern const struct vf_family vf_ref_add_rms_norm;

/* softmax: y = exp(scale x) / sum(exp(scale x)); minus infinity gives 0, in a row of it too. */
extern const struct vf_family vf_ref_softmax;

/*
 * rope: x[b][h][t][d], positions i32[t], table f32[position_count][n_rot/2][2] of cosines and
 * sines; what is behind n_rot is copied, rows of a position outside the table are 0. rms_norm_rope:
 * the norm over d with w[d], then NeoX pairs.
 */
extern const struct vf_family vf_ref_rope_neox;
extern const struct vf_family vf_ref_rope_interleaved;
extern const struct vf_family vf_ref_rms_norm_rope;

/* y[count] = f(gate) up; f is g / (1 + exp(-g)) in swiglu, the tanh form of GELU in geglu. */
extern const struct vf_family vf_ref_swiglu;
extern const struct vf_family vf_ref_geglu;

/* y[count] = a + b, a b, scale a: rounded once to f32. */
extern const struct vf_family vf_ref_add;
extern const struct vf_family vf_ref_mul;
extern const struct vf_family vf_ref_scale;

/*
 * quantize_q8_1: blocks[rows][k / 32] (q8_1) of x[rows][k] f32; exact where division is, else a
 * code may differ by 1 and a half by one place. The expected blocks are those of vf_quantize.
 */
extern const struct vf_family vf_ref_quantize_q8_1;

/*
 * kv_quantize: row i of x[rows][k] f32 becomes row positions[i] of cache[capacity][k / 32] (q8_0 or
 * q4_0, dtypes[1]); rows outside the cache are left out, other rows of the cache keep their bits.
 */
extern const struct vf_family vf_ref_kv_quantize;

/*
 * get_rows: y[count][k] f32, row i the decoded row ids[i] of weights[rows][k] of dtypes[0], or
 * zeros for an id that is no row. Every fifth id is none.
 */
extern const struct vf_family vf_ref_get_rows;

/* copy: `count` elements of dtypes[0] to dtypes[1], f32 and f16; any half, infinity and NaN too. */
extern const struct vf_family vf_ref_copy;

/*
 * argmax: ids[rows] i32, the index of the greatest of x[rows][n] (dtypes[0], f32 or f16), the
 * lowest of equals, NaN after all others (vf_order.h).
 */
extern const struct vf_family vf_ref_argmax;

/*
 * top_k: values[rows][topk] f32 and ids[rows][topk] i32, the first of that order; slots beyond n
 * hold -infinity and -1.
 */
extern const struct vf_family vf_ref_top_k;

/*
 * moe_route: ids[tokens][topk] i32, the experts of largest probability, and their weights f32:
 * softmax over x[tokens][experts], divided by the sum of the chosen ones if `normalise`. Slots
 * beyond the experts hold -1 and 0. Experts whose probabilities differ by less than 1e-6 of them
 * may change places, which is counted; equal ones may not: the lower index comes first.
 */
extern const struct vf_family vf_ref_moe_route;

/*
 * moe_group: offsets[experts + 1] and perm[t topk] i32 of ids[t][topk], as vf_mixture_group has
 * them. The last dimension of a case is the spread of the ids.
 */
extern const struct vf_family vf_ref_moe_group;

/* Activations for quantisers: pseudo data with blocks of other magnitudes, of zeros, with ties. */
void vf_quantize_input(float *x, uint64_t count, uint64_t seed);

/*
 * matvec: y = W x. W[nout][k] raw blocks of dtypes[0], x[k] f32 or q8_1 (dtypes[1]), y[nout] f32. W
 * and x as in vf_operand.h, x tensor 1. The expected y is the f64 sum over the decoded f32 weights
 * and the f32 x, also where the kernel gets x as q8_1. (Below 16 rows x is such that q8_1 is
 * exact.)
 */
extern const struct vf_family vf_ref_matvec;
extern const struct vf_family vf_ref_matvec_block; /* the same with the cases of schedule `block` */

/*
 * matvec_id: y[t][topk][nout] f32 = W[ids[t][topk]] x, W[experts][nout][k] and x[t][slots][k] (f32
 * or q8_1) as in matvec, ids i32 tensor 2. From two tokens on some ids are out of range and give
 * zeros; experts that no id names have NaN scales. Weights may be split into windows of experts.
 */
extern const struct vf_family vf_ref_matvec_id;

/*
 * matmul_id: the same y for many tokens; x f32 or, rounded, f16 (dtypes[1]), perm and offsets i32
 * as vf_mixture_group has them in place of the ids. The last dimension of a case is their spread.
 */
extern const struct vf_family vf_ref_matmul_id;

/*
 * flash_attn: o = softmax(scale q k^T + mask) v. q and o f32 [bh][lq][d], k and v of dtypes[0]
 * [bh][lk][d], scale 1/sqrt(d); q, k, v and the mask are tensors 0 to 3.
 */
extern const struct vf_family vf_ref_flash_attn;

/*
 * sdpa: o = softmax(scale q k^T) v with grouped queries. q and o f32 [h][lq][d], scale 1/sqrt(d).
 * The caches, of dtypes[0], have room for `capacity` keys: [kv][capacity][d]; where capacity is no
 * multiple of 16 the values are token-major with eight more elements a row,
 * [capacity][kv * d + 8]. All that is no valid key or value is NaN.
 */
extern const struct vf_family vf_ref_sdpa;

/* The same problem's part s of `splits`: keys s c .. s c + c - 1, c = ceil(lk / splits). */
extern const struct vf_family vf_ref_sdpa_split;

/* f64 parts of that problem, rounded to f32, to the o of all its keys at once. */
extern const struct vf_family vf_ref_sdpa_combine;

#endif /* VF_REF_H */
