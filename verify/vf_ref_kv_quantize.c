/* SPDX-License-Identifier: MIT */
#include "vf_judge.h"
#include "vf_pseudo.h"
#include "vf_random.h"
#include "vf_ref.h"

enum { FOLD_GROUP_LIMIT = 3 };

static enum kiln_result kv_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const char *const dims[] = {"rows", "k", "capacity"};
    const struct vf_case_row rows[] = {
        {{8, 1024, 64}, QUICK | SEEDS | FULL, 0, 0},
        {{5, 576, 7}, QUICK | SEEDS | FULL, 0, 0},
        {{1, 64, 1}, FULL, 0, 0},
        {{1, 1024, 2048}, SEEDS | FULL, 0, 0},
        {{1, 4096, 16}, SEEDS | FULL, 0, 0},
        {{200, 1024, 512}, SEEDS | FULL, 0, 0},
        {{4099, 64, 4200}, FULL, 0, 0},
        {{37, 192, 41}, FULL, FOLD_GROUP_LIMIT, 0},
        {{0, 256, 3}, FULL, 0, 0},
    };

    (void)dtypes;
    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

/*
 * Different positions in no order: multiples of a step that shares no factor with the capacity. The
 * second and the fourth row go nowhere.
 */
static void make_positions(int32_t *positions, uint64_t rows, uint64_t capacity, uint64_t seed) {
    uint64_t step = capacity / 3 * 2 + 1;
    uint64_t a = step;
    uint64_t b = capacity;

    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    if (a != 1) {
        step = 1;
    }
    for (uint64_t i = 0; i < rows; i++) {
        positions[i] = (int32_t)((i * step + vf_pseudo_bits(seed)) % capacity);
    }
    if (rows > 3) {
        positions[1] = -1;
        positions[3] = (int32_t)capacity;
    }
}

static enum kiln_result kv_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                   uint64_t seed, struct vf_problem *out,
                                   struct kiln_error *error) {
    const uint64_t rows = vf_case_dim(problem, "rows");
    const uint64_t k = vf_case_dim(problem, "k");
    const uint64_t capacity = vf_case_dim(problem, "capacity");
    uint64_t row_bytes = 0;
    enum kiln_result result = mf_dtype_row_bytes(dtypes[1], k, &row_bytes);
    float *x = mf_arena_alloc(&out->arena, (size_t)(rows * k) + 1, sizeof *x);
    int32_t *positions = mf_arena_alloc(&out->arena, (size_t)rows + 1, sizeof *positions);
    uint8_t *before = mf_arena_alloc(&out->arena, (size_t)(capacity * row_bytes) + 1, 1);

    if (!x || !positions || !before) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "kv_quantize %s: out of memory", problem->id);
    }
    vf_quantize_input(x, rows * k, seed);
    make_positions(positions, rows, capacity, seed);
    if (result == KILN_OK) {
        result = vf_random_blocks(dtypes[1], seed, capacity * k / 32, before);
    }
    vf_problem_input(out, "x", x, rows * k * sizeof *x);
    vf_problem_input(out, "positions", positions, rows * sizeof *positions);
    if (result == KILN_OK) {
        result = vf_expect_blocks(out, "cache", dtypes[1], x, rows, k, positions, capacity, before);
    }
    return result == KILN_OK ? KILN_OK
                             : kiln_error_set(error, result, "kv_quantize %s: %s", problem->id,
                                              kiln_result_string(result));
}

static struct mf_tolerance kv_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    (void)artifact;
    gate.exact = true;
    return gate;
}

const struct vf_family vf_ref_kv_quantize = {
    .reference = "kv_quantize",
    .shared_dtype_count = 2,
    .list_cases = kv_list_cases,
    .prepare = kv_prepare,
    .ceiling = kv_ceiling,
};
