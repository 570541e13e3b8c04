/* SPDX-License-Identifier: MIT */
#include "vf_activation.h"
#include "vf_ref.h"

#include <math.h>

static double silu(double g) {
    return g / (1 + exp(-g));
}

/* The tanh form of GELU. */
static double gelu(double g) {
    return 0.5 * g * (1 + tanh(sqrt(2 / acos(-1.0)) * (g + 0.044715 * g * g * g)));
}

static enum kiln_result glu_prepare(const char *family, double (*activate)(double),
                                    const struct vf_case *problem, enum mf_dtype dtype,
                                    uint64_t seed, struct vf_problem *out,
                                    struct kiln_error *error) {
    const uint64_t count = vf_case_dim(problem, "count");
    float *gate = vf_activation_pseudo(out, count, 0, seed, 8.0F);
    float *up = vf_activation_pseudo(out, count, 1, seed, 1.0F);
    double *y = vf_activation_output(out, "y", count);

    if (!gate || !up || !y) {
        return vf_activation_no_memory(family, problem, error);
    }
    /* Far out the activation is the identity or 0, and no power may overflow on the way. */
    for (uint64_t i = 7; i < count; i += 64) {
        gate[i] = i % 128 < 64 ? 1000.0F : -1000.0F;
        up[i] *= 0x1p-8F;
    }
    if (vf_activation_input(out, "gate", dtype, gate, count) != KILN_OK ||
        vf_activation_input(out, "up", dtype, up, count) != KILN_OK) {
        return vf_activation_no_memory(family, problem, error);
    }
    for (uint64_t i = 0; i < count; i++) {
        y[i] = activate((double)gate[i]) * (double)up[i];
    }
    return KILN_OK;
}

static enum kiln_result swiglu_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                       uint64_t seed, struct vf_problem *out,
                                       struct kiln_error *error) {
    return glu_prepare("swiglu", silu, problem, dtypes[0], seed, out, error);
}

static enum kiln_result geglu_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                      uint64_t seed, struct vf_problem *out,
                                      struct kiln_error *error) {
    return glu_prepare("geglu", gelu, problem, dtypes[0], seed, out, error);
}

static struct mf_tolerance glu_ceiling(const struct mf_artifact *artifact) {
    return vf_activation_gate(artifact, 1e-5);
}

const struct vf_family vf_ref_swiglu = {
    .reference = "swiglu",
    .shared_dtype_count = 1,
    .list_cases = vf_activation_list_counts,
    .prepare = swiglu_prepare,
    .ceiling = glu_ceiling,
};

const struct vf_family vf_ref_geglu = {
    .reference = "geglu",
    .shared_dtype_count = 1,
    .list_cases = vf_activation_list_counts,
    .prepare = geglu_prepare,
    .ceiling = glu_ceiling,
};
