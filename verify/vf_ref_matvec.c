/* SPDX-License-Identifier: MIT */
#include "vf_operand.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

#include <string.h>

/* Injected limits: small enough to fold 512 rows over three axes, and to split them. */
enum { FOLD_GROUP_LIMIT = 7, WINDOW_COUNT = 3 };

/*
 * Below so many results all of them may be small by chance, and an error relative to them says
 * nothing about the kernel: x is then made of values that its type holds exactly.
 */
enum { FEW_ROWS = 16 };

/* The smallest k: the block, but at least 32, which every kernel may rely on. */
static uint64_t unit_elements(enum mf_dtype dtype) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);

    return info && info->block_elements > 32 ? info->block_elements : 32;
}

static enum kiln_result add_shapes(const struct vf_case_row *shapes, size_t count,
                                   struct vf_case_list *list) {
    static const char *const dims[] = {"nout", "k"};

    return vf_case_add_rows(list, dims, 2, shapes, count);
}

enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };

static enum kiln_result matvec_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    const uint64_t unit = unit_elements(dtypes[0]);
    const struct vf_case_row shapes[] = {
        {{512, 256}, QUICK | SEEDS | FULL, 0, 0},
        {{7, 256}, QUICK | SEEDS | FULL, 0, 0},
        {{1, 256}, SEEDS | FULL, 0, 0},
        {{3, 512}, SEEDS | FULL, 0, 0},
        {{2048, 2048}, SEEDS | FULL, 0, 0},
        {{4096, 2048}, SEEDS | FULL, 0, 0},
        {{2048, 4096}, SEEDS | FULL, 0, 0},
        {{65537, unit}, FULL, 0, 0},
        {{5, unit}, FULL, 0, 0},
        {{5, 2 * unit}, FULL, 0, 0},
        {{5, 3 * unit}, FULL, 0, 0},
        {{512, 256}, FULL, FOLD_GROUP_LIMIT, 0},
        {{509, 256}, FULL, 0, WINDOW_COUNT},
        {{0, 256}, FULL, 0, 0},
    };

    return add_shapes(shapes, sizeof shapes / sizeof shapes[0], list);
}

/* The shapes of wide layers, then row counts that no number of rows a workgroup divides. */
static enum kiln_result block_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    const uint64_t unit = unit_elements(dtypes[0]);
    const struct vf_case_row shapes[] = {
        {{512, 256}, QUICK | FULL, 0, 0},
        {{4096, 256}, SEEDS | FULL, 0, 0},
        {{7, 8448}, QUICK | SEEDS | FULL, 0, 0}, /* 256 invocations go round more than once */
        {{4096, 4096}, SEEDS | FULL, 0, 0},
        {{8192, 8192}, SEEDS | FULL, 0, 0},
        {{32768, 2048}, SEEDS | FULL, 0, 0},
        {{5, unit}, FULL, 0, 0},
        {{3, 3 * unit}, FULL, 0, 0},
        {{512, 256}, FULL, FOLD_GROUP_LIMIT, 0},
        {{509, 256}, FULL, 0, WINDOW_COUNT},
        {{0, 256}, FULL, 0, 0},
    };

    return add_shapes(shapes, sizeof shapes / sizeof shapes[0], list);
}

static enum kiln_result matvec_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                       uint64_t seed, struct vf_problem *out,
                                       struct kiln_error *error) {
    const uint64_t nout = vf_case_dim(problem, "nout");
    const uint64_t k = vf_case_dim(problem, "k");
    uint64_t row_bytes = 0;
    enum kiln_result result = mf_dtype_row_bytes(dtypes[0], k, &row_bytes);

    if (result != KILN_OK) {
        return kiln_error_set(error, result, "matvec %s: k is no multiple of the block",
                              problem->id);
    }
    uint8_t *weights = mf_arena_alloc(&out->arena, (size_t)nout + 1, (size_t)row_bytes);
    float *x = mf_arena_alloc(&out->arena, (size_t)k, sizeof *x);
    float *values = mf_arena_alloc(&out->arena, (size_t)k, sizeof *values);
    double *y = mf_arena_alloc(&out->arena, (size_t)nout + 1, sizeof *y);
    if (!weights || !x || !values || !y) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "matvec %s: out of memory", problem->id);
    }
    vf_pseudo_fill(x, (size_t)k, 1, seed, 1.0F);
    if (nout < FEW_ROWS) {
        result = vf_operand_round(dtypes[1], x, k, &out->arena);
        if (result != KILN_OK) {
            return kiln_error_set(error, result, "matvec %s: cannot round x: %s", problem->id,
                                  kiln_result_string(result));
        }
    }
    for (uint64_t row = 0; row < nout; row++) {
        result = vf_operand_row(dtypes[0], row, k, seed, weights + row * row_bytes, values);
        if (result != KILN_OK) {
            return kiln_error_set(error, result, "matvec %s: cannot make weights: %s", problem->id,
                                  kiln_result_string(result));
        }
        y[row] = vf_operand_dot(values, x, k);
    }
    struct vf_buffer *buffer = vf_problem_input(out, "weights", weights, nout * row_bytes);
    buffer->row_dim = "nout";
    buffer->row_bytes = row_bytes;
    result = vf_operand_activations(out, "x", dtypes[1], x, k);
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "matvec %s: cannot make x: %s", problem->id,
                              kiln_result_string(result));
    }
    vf_problem_output(out, "y", y, nout);
    return KILN_OK;
}

/* Gates of the design's table: max_abs and rel for f32 arithmetic, looser for int8 activations. */
static struct mf_tolerance matvec_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();
    const bool block = strncmp(artifact->schedule, "block", 5) == 0;

    if (strcmp(artifact->tier, "dp4a") == 0) {
        gate.rel = block ? -1 : 2e-2;
        gate.scale = block ? 1e-2 : -1;
    } else {
        gate.rel = block ? 3e-3 : 1e-3;
        gate.max_abs = block ? -1 : 1e-3;
    }
    return gate;
}

const struct vf_family vf_ref_matvec_block = {
    .reference = "matvec_block",
    .shared_dtype_count = 2,
    .list_cases = block_list_cases,
    .prepare = matvec_prepare,
    .ceiling = matvec_ceiling,
};

const struct vf_family vf_ref_matvec = {
    .reference = "matvec",
    .shared_dtype_count = 2,
    .list_cases = matvec_list_cases,
    .prepare = matvec_prepare,
    .ceiling = matvec_ceiling,
};
