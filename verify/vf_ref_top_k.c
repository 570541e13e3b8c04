/* SPDX-License-Identifier: MIT */
#include "vf_order.h"
#include "vf_ref.h"

#include <math.h>

enum { FOLD_GROUP_LIMIT = 3 };

static enum kiln_result top_k_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const char *const dims[] = {"rows", "n", "topk"};
    const struct vf_case_row rows[] = {
        {{12, 4096, 40}, QUICK | SEEDS | FULL, 0, 0},
        {{13, 1021, 7}, QUICK | SEEDS | FULL, 0, 0},
        {{6, 1, 1}, FULL, 0, 0},
        {{7, 3, 2}, FULL, 0, 0},
        {{7, 5, 8}, FULL, 0, 0},
        {{6, 300, 300}, FULL, 0, 0},
        {{6, 2048, 1024}, FULL, 0, 0},
        {{6, 70000, 1000}, FULL, 0, 0},
        {{1, 151936, 40}, SEEDS | FULL, 0, 0},
        {{8, 128256, 64}, SEEDS | FULL, 0, 0},
        {{31, 65, 4}, FULL, FOLD_GROUP_LIMIT, 0},
        {{0, 8, 1}, FULL, 0, 0},
    };

    (void)dtypes;
    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

static enum kiln_result top_k_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                      uint64_t seed, struct vf_problem *out,
                                      struct kiln_error *error) {
    const uint64_t rows = vf_case_dim(problem, "rows");
    const uint64_t n = vf_case_dim(problem, "n");
    const uint64_t topk = vf_case_dim(problem, "topk");
    const size_t element_bytes = dtypes[0] == MF_DTYPE_F16 ? 2 : 4;
    void *x = mf_arena_alloc(&out->arena, (size_t)(rows * n) + 1, element_bytes);
    float *values = mf_arena_alloc(&out->arena, (size_t)(rows * n) + 1, sizeof *values);
    int32_t *first = mf_arena_alloc(&out->arena, (size_t)topk + 1, sizeof *first);
    double *chosen = mf_arena_alloc(&out->arena, (size_t)(rows * topk) + 1, sizeof *chosen);
    double *ids = mf_arena_alloc(&out->arena, (size_t)(rows * topk) + 1, sizeof *ids);
    enum kiln_result result = x && values && first && chosen && ids ? KILN_OK : KILN_ERR_MEMORY;

    if (result == KILN_OK) {
        vf_order_fill(dtypes[0], rows, n, seed, x, values);
    }
    for (uint64_t row = 0; row < rows && result == KILN_OK; row++) {
        result = vf_order_select(values + row * n, n, topk, first);
        for (uint64_t i = 0; i < topk; i++) {
            ids[row * topk + i] = first[i];
            chosen[row * topk + i] =
                first[i] < 0 ? -INFINITY : (double)values[row * n + (uint64_t)first[i]];
        }
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "top_k %s: out of memory", problem->id);
    }
    vf_problem_input(out, "x", x, rows * n * element_bytes);
    vf_problem_output(out, "values", chosen, rows * topk)->non_finite = true;
    vf_problem_output(out, "ids", ids, rows * topk)->dtype = MF_DTYPE_I32;
    return KILN_OK;
}

static struct mf_tolerance top_k_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    (void)artifact;
    gate.exact = true;
    return gate;
}

const struct vf_family vf_ref_top_k = {
    .reference = "top_k",
    .shared_dtype_count = 1,
    .list_cases = top_k_list_cases,
    .prepare = top_k_prepare,
    .ceiling = top_k_ceiling,
};
