/* SPDX-License-Identifier: MIT */
#include "vf_activation.h"
#include "vf_ref.h"

#include <string.h>

/* In f32 each result is the exact one rounded once, so f32 arithmetic is the reference. For f16 it
 * is still exact enough: what is lost is far below the one place that the gate allows. */
static float add(float a, float b) {
    return a + b;
}

static float multiply(float a, float b) {
    return a * b;
}

static const float scale_factor = 0.7F;

static float scale(float a, float b) {
    (void)b;
    return scale_factor * a;
}

/* `name`: of the family; `pair`: there is a second operand. */
static enum kiln_result elementwise_prepare(const char *name, float (*compute)(float, float),
                                            bool pair, const struct vf_case *problem,
                                            enum mf_dtype dtype, uint64_t seed,
                                            struct vf_problem *out, struct kiln_error *error) {
    const uint64_t count = vf_case_dim(problem, "count");
    float *a = vf_activation_pseudo(out, count, 0, seed, 1.0F);
    float *b = vf_activation_pseudo(out, pair ? count : 0, 1, seed, 0.3F);
    double *y = vf_activation_output(out, "y", count);

    if (!a || !b || !y || vf_activation_input(out, "a", dtype, a, count) != KILN_OK ||
        (pair && vf_activation_input(out, "b", dtype, b, count) != KILN_OK)) {
        return vf_activation_no_memory(name, problem, error);
    }
    for (uint64_t i = 0; i < count; i++) {
        y[i] = (double)compute(a[i], pair ? b[i] : 0.0F);
    }
    return KILN_OK;
}

static enum kiln_result add_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                    uint64_t seed, struct vf_problem *out,
                                    struct kiln_error *error) {
    return elementwise_prepare("add", add, true, problem, dtypes[0], seed, out, error);
}

static enum kiln_result mul_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                    uint64_t seed, struct vf_problem *out,
                                    struct kiln_error *error) {
    return elementwise_prepare("mul", multiply, true, problem, dtypes[0], seed, out, error);
}

static enum kiln_result scale_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                      uint64_t seed, struct vf_problem *out,
                                      struct kiln_error *error) {
    out->params[out->param_count++] = kiln_param_f64("scale", (double)scale_factor);
    return elementwise_prepare("scale", scale, false, problem, dtypes[0], seed, out, error);
}

static struct mf_tolerance elementwise_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    if (artifact->dtype_count > 0 && strcmp(artifact->dtypes[0], "f16") == 0) {
        gate.ulp_f16 = 1;
    } else {
        gate.exact = true;
    }
    return gate;
}

const struct vf_family vf_ref_add = {
    .reference = "add",
    .shared_dtype_count = 1,
    .list_cases = vf_activation_list_counts,
    .prepare = add_prepare,
    .ceiling = elementwise_ceiling,
};

const struct vf_family vf_ref_mul = {
    .reference = "mul",
    .shared_dtype_count = 1,
    .list_cases = vf_activation_list_counts,
    .prepare = mul_prepare,
    .ceiling = elementwise_ceiling,
};

const struct vf_family vf_ref_scale = {
    .reference = "scale",
    .shared_dtype_count = 1,
    .list_cases = vf_activation_list_counts,
    .prepare = scale_prepare,
    .ceiling = elementwise_ceiling,
};
