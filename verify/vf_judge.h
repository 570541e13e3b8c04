/* SPDX-License-Identifier: MIT */
/*
 * vf_judge: judges (vf_family.h) of outputs that are quantised blocks.
 *
 * Division is not correctly rounded on every device, so the scale of a block may be off by a unit
 * in the last place of its half, and a code on the edge between two may come out as the other one.
 */
#ifndef VF_JUDGE_H
#define VF_JUDGE_H

#include "vf_family.h"

/* The judge_data of vf_judge_blocks. */
struct vf_expected_blocks {
    const uint8_t *blocks; /* element_count / 32 blocks of q8_0, q8_1 or q4_0 (q8_1 for q8_1s) */
    /* One a block: its scale before rounding to a half; NaN: the block must be equal bit for bit */
    const float *scales;
};

/*
 * Every byte equal, or else, unless `strict`: d at most one half apart from the expected one, each
 * code at most 1 apart, and s of q8_1 at most one half apart from scale * sum of the block's codes.
 * Halves are neighbours in the order of their values; both zeros are one value. The sums
 * of q8_1s are those of its codes.
 */
vf_judge vf_judge_blocks;

/*
 * Makes the expected blocks of an output of dtype (q8_0, q8_1, q4_0, or q8_1s without `initial`)
 * and the values they decode to, and adds the output: rows[i] is the row of the output (of
 * output_row_count) that row i of x[row_count][k] goes to, or outside of it when it goes nowhere;
 * NULL: row i. Rows that nothing goes to keep `initial`, which may be NULL if there are none.
 */
enum kiln_result vf_expect_blocks(struct vf_problem *problem, const char *binding,
                                  enum mf_dtype dtype, const float *x, uint64_t row_count,
                                  uint64_t k, const int32_t *rows, uint64_t output_row_count,
                                  const uint8_t *initial);

#endif /* VF_JUDGE_H */
