/* SPDX-License-Identifier: MIT */
#include "vf_product.h"
#include "vf_ref.h"

#include <string.h>

static enum kiln_result matmul_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                       uint64_t seed, struct vf_problem *out,
                                       struct kiln_error *error) {
    if (dtypes[1] != MF_DTYPE_F32 && dtypes[1] != MF_DTYPE_F16) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "matmul %s: x is not f32 or f16",
                              problem->id);
    }
    return vf_product_prepare("matmul", problem, dtypes, seed, out, error);
}

/* Gates of the design's table, by schedule and tier. */
static struct mf_tolerance matmul_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    if (strncmp(artifact->tier, "coopmat", 7) == 0) {
        gate.scale = 1e-2;
    } else if (strncmp(artifact->schedule, "column", 6) == 0) {
        gate.max_abs = 1e-3;
    } else {
        gate.rel = 2e-3;
    }
    return gate;
}

const struct vf_family vf_ref_matmul = {
    .reference = "matmul",
    .shared_dtype_count = 2,
    .list_cases = vf_product_list_cases,
    .prepare = matmul_prepare,
    .ceiling = matmul_ceiling,
};
