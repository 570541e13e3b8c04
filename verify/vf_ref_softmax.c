/* SPDX-License-Identifier: MIT */
#include "vf_activation.h"
#include "vf_ref.h"

#include <math.h>

static const float softmax_scale = 0.375F;

/* Minus infinity as an attention mask leaves it: in some rows the last quarter, in some all. */
static void mask_rows(float *values, uint64_t rows, uint64_t m) {
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t first = row % 3 == 2 ? m - m / 4 : m;
        first = row % 5 == 4 ? 0 : first;
        for (uint64_t i = first; i < m; i++) {
            values[row * m + i] = -INFINITY;
        }
    }
}

/* Rows far from 0 on either side, and rows with one element far above the others: no power may
 * overflow, not all may underflow. */
static void shift_rows(float *values, uint64_t rows, uint64_t m) {
    for (uint64_t row = 0; row < rows; row++) {
        for (uint64_t i = 0; i < m && row % 4 >= 2; i++) {
            values[row * m + i] += row % 4 == 2 ? 500.0F : -500.0F;
        }
        if (row % 4 == 1) {
            values[row * m + m - 1] += 400.0F;
        }
    }
}

static void softmax_row(const float *x, uint64_t m, double scale, double *y) {
    double largest = -INFINITY;
    double sum = 0;

    for (uint64_t i = 0; i < m; i++) {
        largest = fmax(largest, scale * (double)x[i]);
    }
    for (uint64_t i = 0; i < m; i++) {
        y[i] = isfinite(x[i]) ? exp(scale * (double)x[i] - largest) : 0;
        sum += y[i];
    }
    for (uint64_t i = 0; i < m && sum > 0; i++) {
        y[i] /= sum;
    }
}

static enum kiln_result softmax_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                        uint64_t seed, struct vf_problem *out,
                                        struct kiln_error *error) {
    const uint64_t rows = vf_case_dim(problem, "rows");
    const uint64_t m = vf_case_dim(problem, "m");
    float *x = vf_activation_pseudo(out, rows * m, 0, seed, 16.0F);
    double *y = vf_activation_output(out, "y", rows * m);

    if (!x || !y) {
        return vf_activation_no_memory("softmax", problem, error);
    }
    shift_rows(x, rows, m);
    mask_rows(x, rows, m);
    if (vf_activation_input(out, "x", dtypes[0], x, rows * m) != KILN_OK) {
        return vf_activation_no_memory("softmax", problem, error);
    }
    for (uint64_t row = 0; row < rows; row++) {
        softmax_row(x + row * m, m, (double)softmax_scale, y + row * m);
    }
    out->params[out->param_count++] = kiln_param_f64("scale", (double)softmax_scale);
    return KILN_OK;
}

static struct mf_tolerance softmax_ceiling(const struct mf_artifact *artifact) {
    return vf_activation_gate(artifact, 1e-5);
}

const struct vf_family vf_ref_softmax = {
    .reference = "softmax",
    .shared_dtype_count = 1,
    .list_cases = vf_activation_list_rows,
    .prepare = softmax_prepare,
    .ceiling = softmax_ceiling,
};
