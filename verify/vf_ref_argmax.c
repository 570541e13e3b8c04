/* SPDX-License-Identifier: MIT */
#include "vf_order.h"
#include "vf_ref.h"

enum { FOLD_GROUP_LIMIT = 3 };

static enum kiln_result argmax_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const char *const dims[] = {"rows", "n"};
    const struct vf_case_row rows[] = {
        {{12, 4096}, QUICK | SEEDS | FULL, 0, 0},
        {{13, 1021}, QUICK | SEEDS | FULL, 0, 0},
        {{6, 1}, FULL, 0, 0},
        {{7, 3}, FULL, 0, 0},
        {{6, 257}, FULL, 0, 0},
        {{1, 151936}, SEEDS | FULL, 0, 0},
        {{8, 128256}, SEEDS | FULL, 0, 0},
        {{4099, 33}, FULL, 0, 0},
        {{31, 65}, FULL, FOLD_GROUP_LIMIT, 0},
        {{0, 8}, FULL, 0, 0},
    };

    (void)dtypes;
    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

static enum kiln_result argmax_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                       uint64_t seed, struct vf_problem *out,
                                       struct kiln_error *error) {
    const uint64_t rows = vf_case_dim(problem, "rows");
    const uint64_t n = vf_case_dim(problem, "n");
    const size_t element_bytes = dtypes[0] == MF_DTYPE_F16 ? 2 : 4;
    void *x = mf_arena_alloc(&out->arena, (size_t)(rows * n) + 1, element_bytes);
    float *values = mf_arena_alloc(&out->arena, (size_t)(rows * n) + 1, sizeof *values);
    double *expected = mf_arena_alloc(&out->arena, (size_t)rows + 1, sizeof *expected);
    enum kiln_result result = x && values && expected ? KILN_OK : KILN_ERR_MEMORY;

    if (result == KILN_OK) {
        vf_order_fill(dtypes[0], rows, n, seed, x, values);
    }
    for (uint64_t row = 0; row < rows && result == KILN_OK; row++) {
        int32_t first = -1;
        result = vf_order_select(values + row * n, n, 1, &first);
        expected[row] = first;
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "argmax %s: out of memory", problem->id);
    }
    vf_problem_input(out, "x", x, rows * n * element_bytes);
    vf_problem_output(out, "ids", expected, rows)->dtype = MF_DTYPE_I32;
    return KILN_OK;
}

static struct mf_tolerance argmax_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    (void)artifact;
    gate.exact = true;
    return gate;
}

const struct vf_family vf_ref_argmax = {
    .reference = "argmax",
    .shared_dtype_count = 1,
    .list_cases = argmax_list_cases,
    .prepare = argmax_prepare,
    .ceiling = argmax_ceiling,
};
