/* SPDX-License-Identifier: MIT */
#include "vf_activation.h"
#include "vf_ref.h"

static void norm_rows(double *values, const float *w, uint64_t rows, uint64_t m) {
    for (uint64_t row = 0; row < rows; row++) {
        vf_activation_norm(values + row * m, w, m, (double)VF_NORM_EPS);
    }
}

static enum kiln_result rms_norm_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                         uint64_t seed, struct vf_problem *out,
                                         struct kiln_error *error) {
    const uint64_t rows = vf_case_dim(problem, "rows");
    const uint64_t m = vf_case_dim(problem, "m");
    float *x = vf_activation_pseudo(out, rows * m, 0, seed, 1.0F);
    float *w = vf_activation_pseudo(out, m, 1, seed, 1.0F);
    double *y = vf_activation_output(out, "y", rows * m);

    if (!x || !w || !y) {
        return vf_activation_no_memory("rms_norm", problem, error);
    }
    vf_activation_shrink(x, rows, m);
    if (vf_activation_input(out, "x", dtypes[0], x, rows * m) != KILN_OK) {
        return vf_activation_no_memory("rms_norm", problem, error);
    }
    vf_problem_input(out, "w", w, m * sizeof *w);
    for (uint64_t i = 0; i < rows * m; i++) {
        y[i] = (double)x[i];
    }
    norm_rows(y, w, rows, m);
    out->params[out->param_count++] = kiln_param_f64("eps", (double)VF_NORM_EPS);
    return KILN_OK;
}

static enum kiln_result add_rms_norm_prepare(const struct vf_case *problem,
                                             const enum mf_dtype *dtypes, uint64_t seed,
                                             struct vf_problem *out, struct kiln_error *error) {
    const uint64_t rows = vf_case_dim(problem, "rows");
    const uint64_t m = vf_case_dim(problem, "m");
    float *x = vf_activation_pseudo(out, rows * m, 0, seed, 0.5F);
    float *r = vf_activation_pseudo(out, rows * m, 1, seed, 0.5F);
    float *w = vf_activation_pseudo(out, m, 2, seed, 1.0F);
    double *s = vf_activation_output(out, "s", rows * m);
    double *y = vf_activation_output(out, "y", rows * m);

    if (!x || !r || !w || !s || !y) {
        return vf_activation_no_memory("add_rms_norm", problem, error);
    }
    out->buffers[0].max_abs = 1e-5; /* s */
    vf_activation_shrink(x, rows, m);
    vf_activation_shrink(r, rows, m);
    if (vf_activation_input(out, "x", dtypes[0], x, rows * m) != KILN_OK ||
        vf_activation_input(out, "r", dtypes[0], r, rows * m) != KILN_OK) {
        return vf_activation_no_memory("add_rms_norm", problem, error);
    }
    vf_problem_input(out, "w", w, m * sizeof *w);
    for (uint64_t i = 0; i < rows * m; i++) {
        s[i] = (double)x[i] + (double)r[i];
        y[i] = s[i];
    }
    norm_rows(y, w, rows, m);
    out->params[out->param_count++] = kiln_param_f64("eps", (double)VF_NORM_EPS);
    return KILN_OK;
}

static struct mf_tolerance norm_ceiling(const struct mf_artifact *artifact) {
    return vf_activation_gate(artifact, 1e-4);
}

const struct vf_family vf_ref_rms_norm = {
    .reference = "rms_norm",
    .shared_dtype_count = 1,
    .list_cases = vf_activation_list_rows,
    .prepare = rms_norm_prepare,
    .ceiling = norm_ceiling,
};

const struct vf_family vf_ref_add_rms_norm = {
    .reference = "add_rms_norm",
    .shared_dtype_count = 1,
    .list_cases = vf_activation_list_rows,
    .prepare = add_rms_norm_prepare,
    .ceiling = norm_ceiling,
};
