/* SPDX-License-Identifier: MIT */
#include "vf_product.h"
#include "vf_ref.h"

#include <string.h>

enum { SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };

/* The types of all three tiers get the largest shape, too: its f64 product takes seconds. */
static bool largest_too(enum mf_dtype dtype) {
    return dtype == MF_DTYPE_Q4_K || dtype == MF_DTYPE_Q8_0 || dtype == MF_DTYPE_Q6_K;
}

static enum kiln_result mmq_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    static const char *const dims[] = {"t", "nout", "k"};
    static const struct vf_case_row rows[] = {
        {{32, 2048, 2048}, SEEDS | FULL, 0, 0},
        {{512, 4096, 4096}, FULL, 0, 0},
    };
    const enum kiln_result result = vf_product_list_cases(dtypes, list);

    return result == KILN_OK ? vf_case_add_rows(list, dims, 3, rows, largest_too(dtypes[0]) ? 2 : 1)
                             : result;
}

static enum kiln_result mmq_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                    uint64_t seed, struct vf_problem *out,
                                    struct kiln_error *error) {
    if (dtypes[1] != MF_DTYPE_Q8_1) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "mmq %s: x is not q8_1", problem->id);
    }
    return vf_product_prepare("mmq", problem, dtypes, seed, out, error);
}

/* Gates of the design's table. They leave room for the rounding of x, which is none of it here. */
static struct mf_tolerance mmq_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    gate.scale = strncmp(artifact->tier, "coopmat", 7) == 0 ? 1e-2 : 1.5e-2;
    return gate;
}

const struct vf_family vf_ref_mmq = {
    .reference = "mmq",
    .shared_dtype_count = 2,
    .list_cases = mmq_list_cases,
    .prepare = mmq_prepare,
    .ceiling = mmq_ceiling,
};
