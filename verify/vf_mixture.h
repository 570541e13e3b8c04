/* SPDX-License-Identifier: MIT */
/*
 * vf_mixture: the data of a mixture of experts, for the families that route slots to experts.
 *
 * A slot is token * topk + j. Tensor numbers (vf_pseudo.h): weights 0, x 1, ids 2.
 */
#ifndef VF_MIXTURE_H
#define VF_MIXTURE_H

#include "vf_family.h"

/*
 * How the slots are shared out: to all experts alike; most to the low ones and none to expert 1;
 * all to the last one.
 */
enum vf_mixture_spread { VF_SPREAD_EVEN, VF_SPREAD_UNEVEN, VF_SPREAD_ONE };

/*
 * Random experts, at least 1, for all slots. From two tokens on, one id of each kind that is no
 * expert: -1 the last, with three tokens `experts` the first and INT32_MIN the second token's
 * first.
 */
void vf_mixture_ids(int32_t *ids, uint64_t experts, uint64_t t, uint64_t topk,
                    enum vf_mixture_spread spread, uint64_t seed);

/*
 * Groups slots by expert: perm[slot_count] lists them sorted by expert, ascending inside one, and
 * expert e's are at offsets[e] .. offsets[e + 1] - 1. Those without an expert follow, ascending,
 * from offsets[experts] on.
 */
void vf_mixture_group(const int32_t *ids, uint64_t slot_count, uint64_t experts, int32_t *offsets,
                      int32_t *perm);

/* y[t][topk][nout] = W[ids[t][topk]] x, zeros where the id is no expert. All of an arena. */
struct vf_mixture {
    uint64_t experts, nout, k, t, topk;
    uint64_t slots;     /* rows of x a token: 1, or topk */
    uint64_t row_bytes; /* of a row of weights */
    int32_t *ids;       /* [t][topk] */
    float *x;           /* [t][slots][k], as the kernels get it where that is f16 */
    uint8_t *weights;   /* [experts][nout] rows; NaN scales where no id names the expert */
    double *y;          /* the f64 sums over the decoded weights */
};

/*
 * The mixture of a case with dimensions experts, nout, k, t, topk and slots. x is rounded first if
 * x_dtype is f16. Errors, all in *error: k is no multiple of the block, KILN_ERR_MEMORY.
 */
enum kiln_result vf_mixture_make(const struct vf_case *problem, enum mf_dtype dtype,
                                 enum mf_dtype x_dtype, enum vf_mixture_spread spread,
                                 uint64_t seed, struct mf_arena *arena, struct vf_mixture *out,
                                 struct kiln_error *error);

/* Adds the input "weights", which may be split into windows of experts. */
void vf_mixture_weights(const struct vf_mixture *mixture, struct vf_problem *problem);

#endif /* VF_MIXTURE_H */
