/* SPDX-License-Identifier: MIT */
#include "vf_activation.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

#include <math.h>

enum { POSITION_COUNT = 4096, FOLD_GROUP_LIMIT = 7 };

/* The places of a pair's elements in a row: i and i + n_rot/2, or 2i and 2i + 1. */
enum pairing { PAIRING_NEOX, PAIRING_INTERLEAVED };

static enum kiln_result rope_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const struct {
        uint64_t b, h, t, d, n_rot;
        unsigned suites;
        uint32_t group_limit;
    } rows[] = {
        {1, 8, 5, 64, 64, QUICK | SEEDS | FULL, 0},
        {1, 3, 7, 38, 20, QUICK | FULL, 0},
        {1, 4, 1, 128, 128, SEEDS | FULL, 0},
        {2, 4, 3, 128, 128, SEEDS | FULL, 0},
        {2, 3, 6, 80, 32, FULL, 0},
        {1, 2, 3, 4, 4, FULL, 0},
        {1, 2, 3, 7, 6, FULL, 0}, /* f32 only */
        {1, 2, 9, 300, 288, FULL, 0},
        {1, 8, 8200, 4, 4, FULL, 0},
        {2, 32, 8, 64, 64, FULL, FOLD_GROUP_LIMIT},
        {1, 4, 0, 64, 64, FULL, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct vf_case problem = {.dims = {{"b", rows[i].b},
                                                 {"h", rows[i].h},
                                                 {"t", rows[i].t},
                                                 {"d", rows[i].d},
                                                 {"n_rot", rows[i].n_rot}},
                                        .dim_count = 5,
                                        .suites = rows[i].suites,
                                        .group_limit = rows[i].group_limit};
        if (dtypes[0] == MF_DTYPE_F16 && (rows[i].d % 2 || rows[i].n_rot % 4)) {
            continue;
        }
        const enum kiln_result result = vf_case_add(list, &problem);
        if (result != KILN_OK) {
            return result;
        }
    }
    return KILN_OK;
}

/* Cosines and sines of position * 10000^(-2i / n_rot), rounded to f32. */
static void fill_table(float *table, uint64_t pair_count) {
    for (uint64_t i = 0; i < pair_count; i++) {
        const double frequency = pow(10000, -(double)i / (double)pair_count);
        for (uint64_t position = 0; position < POSITION_COUNT; position++) {
            float *turn = table + 2 * (position * pair_count + i);
            turn[0] = (float)cos((double)position * frequency);
            turn[1] = (float)sin((double)position * frequency);
        }
    }
}

/* Any positions; in longer sequences the last two are outside the table, on either side. */
static void fill_positions(int32_t *positions, uint64_t t, uint64_t seed) {
    for (uint64_t i = 0; i < t; i++) {
        positions[i] = (int32_t)(vf_pseudo_bits(seed + 7 * i) % POSITION_COUNT);
    }
    if (t > 5) {
        positions[t - 2] = POSITION_COUNT;
        positions[t - 1] = -1;
    }
}

/* Turns the pairs of a row; a position without angles makes all of it 0. */
static void turn_row(double *row, uint64_t d, uint64_t n_rot, enum pairing pairing,
                     int32_t position, const float *table) {
    if (position < 0 || position >= POSITION_COUNT) {
        for (uint64_t i = 0; i < d; i++) {
            row[i] = 0;
        }
        return;
    }
    for (uint64_t i = 0; i < n_rot / 2; i++) {
        const float *turn = table + 2 * ((uint64_t)position * (n_rot / 2) + i);
        double *a = pairing == PAIRING_NEOX ? row + i : row + 2 * i;
        double *b = pairing == PAIRING_NEOX ? row + i + n_rot / 2 : row + 2 * i + 1;
        const double real = *a * (double)turn[0] - *b * (double)turn[1];
        *b = *b * (double)turn[0] + *a * (double)turn[1];
        *a = real;
    }
}

/* `w`: NULL, or the weights of the norm before the turn. */
static enum kiln_result rope_fill(const struct vf_case *problem, enum mf_dtype dtype, uint64_t seed,
                                  enum pairing pairing, const float *w, struct vf_problem *out) {
    const uint64_t t = vf_case_dim(problem, "t");
    const uint64_t d = vf_case_dim(problem, "d");
    const uint64_t n_rot = vf_case_dim(problem, "n_rot");
    const uint64_t rows = vf_case_dim(problem, "b") * vf_case_dim(problem, "h") * t;
    const uint64_t table_count = POSITION_COUNT * n_rot;
    float *x = vf_activation_pseudo(out, rows * d, 0, seed, 1.0F);
    double *y = vf_activation_output(out, "y", rows * d);
    float *table = mf_arena_alloc(&out->arena, (size_t)table_count, sizeof *table);
    int32_t *positions = mf_arena_alloc(&out->arena, (size_t)t + 1, sizeof *positions);

    if (!x || !y || !table || !positions) {
        return KILN_ERR_MEMORY;
    }
    if (w) {
        vf_activation_shrink(x, rows, d);
    }
    if (vf_activation_input(out, "x", dtype, x, rows * d) != KILN_OK) {
        return KILN_ERR_MEMORY;
    }
    fill_table(table, n_rot / 2);
    fill_positions(positions, t, seed);
    vf_problem_input(out, "positions", positions, t * sizeof *positions);
    vf_problem_input(out, "table", table, table_count * sizeof *table);
    for (uint64_t row = 0; row < rows; row++) {
        for (uint64_t i = 0; i < d; i++) {
            y[row * d + i] = (double)x[row * d + i];
        }
        if (w) {
            vf_activation_norm(y + row * d, w, d, (double)VF_NORM_EPS);
        }
        turn_row(y + row * d, d, n_rot, pairing, positions[row % t], table);
    }
    out->params[out->param_count++] = kiln_param_u64("position_count", POSITION_COUNT);
    return KILN_OK;
}

static enum kiln_result neox_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                     uint64_t seed, struct vf_problem *out,
                                     struct kiln_error *error) {
    const enum kiln_result result = rope_fill(problem, dtypes[0], seed, PAIRING_NEOX, NULL, out);

    return result == KILN_OK ? result : vf_activation_no_memory("rope", problem, error);
}

static enum kiln_result interleaved_prepare(const struct vf_case *problem,
                                            const enum mf_dtype *dtypes, uint64_t seed,
                                            struct vf_problem *out, struct kiln_error *error) {
    const enum kiln_result result =
        rope_fill(problem, dtypes[0], seed, PAIRING_INTERLEAVED, NULL, out);

    return result == KILN_OK ? result : vf_activation_no_memory("rope", problem, error);
}

static enum kiln_result rms_norm_rope_prepare(const struct vf_case *problem,
                                              const enum mf_dtype *dtypes, uint64_t seed,
                                              struct vf_problem *out, struct kiln_error *error) {
    const uint64_t d = vf_case_dim(problem, "d");
    float *w = vf_activation_pseudo(out, d, 1, seed, 1.0F);

    if (!w || rope_fill(problem, dtypes[0], seed, PAIRING_NEOX, w, out) != KILN_OK) {
        return vf_activation_no_memory("rms_norm_rope", problem, error);
    }
    vf_problem_input(out, "w", w, d * sizeof *w);
    out->params[out->param_count++] = kiln_param_f64("eps", (double)VF_NORM_EPS);
    return KILN_OK;
}

static struct mf_tolerance rope_ceiling(const struct mf_artifact *artifact) {
    return vf_activation_gate(artifact, 1e-4);
}

const struct vf_family vf_ref_rope_neox = {
    .reference = "rope_neox",
    .shared_dtype_count = 1,
    .list_cases = rope_list_cases,
    .prepare = neox_prepare,
    .ceiling = rope_ceiling,
};

const struct vf_family vf_ref_rope_interleaved = {
    .reference = "rope_interleaved",
    .shared_dtype_count = 1,
    .list_cases = rope_list_cases,
    .prepare = interleaved_prepare,
    .ceiling = rope_ceiling,
};

const struct vf_family vf_ref_rms_norm_rope = {
    .reference = "rms_norm_rope",
    .shared_dtype_count = 1,
    .list_cases = rope_list_cases,
    .prepare = rms_norm_rope_prepare,
    .ceiling = rope_ceiling,
};
