/* SPDX-License-Identifier: MIT */
#include "vf_decode.h"
#include "vf_pseudo.h"
#include "vf_random.h"
#include "vf_ref.h"

enum { FOLD_GROUP_LIMIT = 3, WINDOW_COUNT = 3 };

static enum kiln_result rows_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    const struct mf_dtype_info *info = mf_dtype_info(dtypes[0]);
    const uint64_t unit = info && info->block_elements > 32 ? info->block_elements : 32;
    static const char *const dims[] = {"count", "k", "rows"};
    const struct vf_case_row rows[] = {
        {{8, 512, 64}, QUICK | SEEDS | FULL, 0, 0},
        {{5, 3 * unit, 7}, QUICK | SEEDS | FULL, 0, 0},
        {{1, 2048, 1000}, SEEDS | FULL, 0, 0},
        {{512, 2048, 1000}, SEEDS | FULL, 0, 0},
        {{65537, unit, 3}, FULL, 0, 0},
        {{1, unit, 1}, FULL, 0, 0},
        {{70, 768, 50}, FULL, FOLD_GROUP_LIMIT, 0},
        {{9, 256, 1009}, FULL, 0, WINDOW_COUNT},
        {{0, 256, 3}, FULL, 0, 0},
    };

    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

/* Any row, some twice; the first and the last row; every fifth id outside, near and far. */
static int32_t make_id(uint64_t i, uint64_t rows, uint64_t seed) {
    const uint64_t bits = vf_pseudo_bits(~seed + i);

    if (i % 5 == 1) {
        const int32_t outside[] = {-1, (int32_t)rows, INT32_MIN, INT32_MAX};
        return outside[bits % 4];
    }
    return i % 5 == 2 ? (int32_t)(bits % 2 * (rows - 1)) : (int32_t)(bits % rows);
}

static enum kiln_result rows_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                     uint64_t seed, struct vf_problem *out,
                                     struct kiln_error *error) {
    const uint64_t count = vf_case_dim(problem, "count");
    const uint64_t k = vf_case_dim(problem, "k");
    const uint64_t rows = vf_case_dim(problem, "rows");
    uint64_t row_bytes = 0;
    enum kiln_result result = mf_dtype_row_bytes(dtypes[0], k, &row_bytes);
    uint8_t *weights = mf_arena_alloc(&out->arena, (size_t)(rows * row_bytes) + 1, 1);
    int32_t *ids = mf_arena_alloc(&out->arena, (size_t)count + 1, sizeof *ids);
    float *values = mf_arena_alloc(&out->arena, (size_t)k + 1, sizeof *values);
    double *y = mf_arena_alloc(&out->arena, (size_t)(count * k) + 1, sizeof *y);

    if (!weights || !ids || !values || !y) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "get_rows %s: out of memory", problem->id);
    }
    if (result == KILN_OK) {
        const uint64_t blocks = rows * k / mf_dtype_info(dtypes[0])->block_elements;
        result = vf_random_blocks(dtypes[0], seed, blocks, weights);
    }
    for (uint64_t i = 0; i < count && result == KILN_OK; i++) {
        ids[i] = make_id(i, rows, seed);
        if (ids[i] < 0 || (uint64_t)ids[i] >= rows) {
            continue; /* zeros */
        }
        result = vf_decode(dtypes[0], weights + (uint64_t)ids[i] * row_bytes, k, values);
        for (uint64_t e = 0; e < k; e++) {
            y[i * k + e] = (double)values[e];
        }
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "get_rows %s: cannot make weights: %s", problem->id,
                              kiln_result_string(result));
    }
    struct vf_buffer *buffer = vf_problem_input(out, "weights", weights, rows * row_bytes);
    buffer->row_dim = "rows";
    buffer->row_bytes = row_bytes;
    vf_problem_input(out, "ids", ids, count * sizeof *ids);
    vf_problem_output(out, "y", y, count * k);
    out->params[out->param_count++] = kiln_param_u64("table_rows", rows);
    return KILN_OK;
}

static struct mf_tolerance rows_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    (void)artifact;
    gate.exact = true;
    return gate;
}

const struct vf_family vf_ref_get_rows = {
    .reference = "get_rows",
    .shared_dtype_count = 1,
    .list_cases = rows_list_cases,
    .prepare = rows_prepare,
    .ceiling = rows_ceiling,
};
