/* SPDX-License-Identifier: MIT */
#include "vf_activation.h"

#include "vf_f16.h"
#include "vf_pseudo.h"

#include <math.h>
#include <string.h>

enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };

/* Injected limit: folds a few hundred groups over three axes. */
enum { FOLD_GROUP_LIMIT = 7 };

enum kiln_result vf_activation_list_rows(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    static const struct {
        uint64_t rows, m;
        unsigned suites;
        uint32_t group_limit;
    } rows[] = {
        {5, 64, QUICK | SEEDS | FULL, 0},
        {3, 34, QUICK | FULL, 0},
        {1, 2048, SEEDS | FULL, 0},
        {3, 4096, SEEDS | FULL, 0},
        {4096, 4096, SEEDS | FULL, 0},
        {7, 1, FULL, 0},
        {7, 2, FULL, 0},
        {6, 1023, FULL, 0},
        {6, 1030, FULL, 0},
        {512, 64, FULL, FOLD_GROUP_LIMIT},
        {0, 64, FULL, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct vf_case problem = {.dims = {{"rows", rows[i].rows}, {"m", rows[i].m}},
                                        .dim_count = 2,
                                        .suites = rows[i].suites,
                                        .group_limit = rows[i].group_limit};
        if (dtypes[0] == MF_DTYPE_F16 && rows[i].m % 2) {
            continue;
        }
        const enum kiln_result result = vf_case_add(list, &problem);
        if (result != KILN_OK) {
            return result;
        }
    }
    return KILN_OK;
}

enum kiln_result vf_activation_list_counts(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    static const struct {
        uint64_t count;
        unsigned suites;
        uint32_t group_limit;
    } rows[] = {
        {320, QUICK | SEEDS | FULL, 0},
        {8198, QUICK | FULL, 0}, /* a few elements behind whole groups of either type */
        {2048, SEEDS | FULL, 0},
        {12288, SEEDS | FULL, 0},
        {16777216, SEEDS | FULL, 0},
        {1, FULL, 0},
        {2, FULL, 0},
        {1023, FULL, 0},
        {250006, FULL, FOLD_GROUP_LIMIT},
        {0, FULL, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct vf_case problem = {.dims = {{"count", rows[i].count}},
                                        .dim_count = 1,
                                        .suites = rows[i].suites,
                                        .group_limit = rows[i].group_limit};
        if (dtypes[0] == MF_DTYPE_F16 && rows[i].count % 2) {
            continue;
        }
        const enum kiln_result result = vf_case_add(list, &problem);
        if (result != KILN_OK) {
            return result;
        }
    }
    return KILN_OK;
}

float *vf_activation_pseudo(struct vf_problem *problem, uint64_t count, uint64_t tensor_number,
                            uint64_t seed, float scale) {
    float *values = mf_arena_alloc(&problem->arena, (size_t)count + 1, sizeof *values);

    if (values) {
        vf_pseudo_fill(values, (size_t)count, tensor_number, seed, scale);
    }
    return values;
}

enum kiln_result vf_activation_input(struct vf_problem *problem, const char *binding,
                                     enum mf_dtype dtype, float *values, uint64_t count) {
    if (dtype == MF_DTYPE_F32) {
        vf_problem_input(problem, binding, values, count * sizeof *values);
        return KILN_OK;
    }
    uint16_t *halves = mf_arena_alloc(&problem->arena, (size_t)count + 1, sizeof *halves);
    if (!halves) {
        return KILN_ERR_MEMORY;
    }
    for (uint64_t i = 0; i < count; i++) {
        halves[i] = vf_f16_encode(values[i]);
        values[i] = vf_f16_decode(halves[i]);
    }
    vf_problem_input(problem, binding, halves, count * sizeof *halves);
    return KILN_OK;
}

double *vf_activation_output(struct vf_problem *problem, const char *binding, uint64_t count) {
    double *expected = mf_arena_alloc(&problem->arena, (size_t)count + 1, sizeof *expected);

    if (expected) {
        vf_problem_output(problem, binding, expected, count)->dtype_index = 0;
    }
    return expected;
}

struct mf_tolerance vf_activation_gate(const struct mf_artifact *artifact, double max_abs) {
    struct mf_tolerance gate = vf_tolerance_none();

    gate.max_abs = max_abs;
    if (artifact->dtype_count > 0 && strcmp(artifact->dtypes[0], "f16") == 0) {
        gate.ulp_f16 = 1;
    }
    return gate;
}

void vf_activation_shrink(float *values, uint64_t rows, uint64_t m) {
    for (uint64_t row = 1; row < rows; row += 4) {
        for (uint64_t i = 0; i < m; i++) {
            values[row * m + i] *= 0x1p-8F;
        }
    }
}

void vf_activation_norm(double *values, const float *w, uint64_t m, double eps) {
    double squares = 0;

    for (uint64_t i = 0; i < m; i++) {
        squares += values[i] * values[i];
    }
    const double root = sqrt(squares / (double)m + eps);
    for (uint64_t i = 0; i < m; i++) {
        values[i] = values[i] / root * (double)w[i];
    }
}

enum kiln_result vf_activation_no_memory(const char *family, const struct vf_case *problem,
                                         struct kiln_error *error) {
    return kiln_error_set(error, KILN_ERR_MEMORY, "%s %s: out of memory", family, problem->id);
}
