/* SPDX-License-Identifier: MIT */
#include "vf_operand.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

#include <string.h>

/* Injected limits: small enough to fold the grid over three axes, and to split the experts. */
enum { FOLD_GROUP_LIMIT = 7, WINDOW_COUNT = 3 };

enum { TENSOR_X = 1, TENSOR_IDS = 2, PSEUDO_STRIDE = 1000003 };

static enum kiln_result matvec_id_list_cases(const enum mf_dtype *dtypes,
                                             struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const struct {
        uint64_t experts, nout, k, t, topk, slots;
        unsigned suites;
        uint32_t group_limit, window_count;
    } rows[] = {
        {8, 256, 256, 2, 2, 1, QUICK | SEEDS | FULL, 0, 0},
        {5, 7, 2304, 3, 3, 3, QUICK | SEEDS | FULL, 0, 0},
        {8, 256, 256, 2, 2, 2, SEEDS | FULL, 0, 0},
        {16, 512, 256, 3, 4, 1, SEEDS | FULL, 0, 0},
        {16, 512, 256, 3, 4, 4, FULL, 0, 0},
        {4, 768, 512, 1, 2, 1, SEEDS | FULL, 0, 0},
        {4, 768, 512, 1, 2, 2, FULL, 0, 0},
        {128, 768, 2048, 1, 8, 1, SEEDS | FULL, 0, 0},
        {128, 2048, 768, 1, 8, 8, SEEDS | FULL, 0, 0},
        {8, 256, 256, 2, 2, 1, FULL, FOLD_GROUP_LIMIT, 0},
        {8, 64, 256, 5, 3, 3, FULL, 0, WINDOW_COUNT},
        {1, 33, 256, 3, 1, 1, FULL, 0, 0},
        {8, 256, 256, 0, 2, 1, FULL, 0, 0},
    };

    (void)dtypes;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct vf_case problem = {
            .dims = {{"experts", rows[i].experts},
                     {"nout", rows[i].nout},
                     {"k", rows[i].k},
                     {"t", rows[i].t},
                     {"topk", rows[i].topk},
                     {"slots", rows[i].slots}},
            .dim_count = 6,
            .suites = rows[i].suites,
            .group_limit = rows[i].group_limit,
            .window_count = rows[i].window_count,
        };
        const enum kiln_result result = vf_case_add(list, &problem);

        if (result != KILN_OK) {
            return result;
        }
    }
    return KILN_OK;
}

/* Random experts. From two tokens on, one id of each kind that must read nothing. */
static void fill_ids(int32_t *ids, uint64_t experts, uint64_t t, uint64_t topk, uint64_t seed) {
    const uint64_t first = (uint64_t)TENSOR_IDS * PSEUDO_STRIDE + seed;

    for (uint64_t i = 0; i < t * topk; i++) {
        ids[i] = (int32_t)(vf_pseudo_bits(first + i) % experts);
    }
    if (t >= 2) {
        ids[t * topk - 1] = -1;
    }
    if (t >= 3) {
        ids[0] = (int32_t)experts;
        ids[topk] = INT32_MIN;
    }
}

struct mixture {
    uint64_t experts, nout, k, t, topk, slots;
    uint64_t row_bytes;
    int32_t *ids;
    float *x;
    uint8_t *weights;
    double *y;
};

/* The first of the k activations that pair token * topk + j multiplies. */
static const float *pair_x(const struct mixture *m, uint64_t pair) {
    const uint64_t slot = m->slots == 1 ? 0 : pair % m->topk;

    return m->x + (pair / m->topk * m->slots + slot) * m->k;
}

/* Makes one expert's rows and all results that need them; an expert that none needs stays NaN. */
static enum kiln_result run_expert(const struct mixture *m, enum mf_dtype dtype, uint64_t seed,
                                   uint64_t expert, float *values) {
    bool needed = false;

    for (uint64_t pair = 0; pair < m->t * m->topk; pair++) {
        needed = needed || m->ids[pair] == (int32_t)expert;
    }
    for (uint64_t row = 0; row < m->nout && needed; row++) {
        const uint64_t index = expert * m->nout + row;
        const enum kiln_result result =
            vf_operand_row(dtype, index, m->k, seed, m->weights + index * m->row_bytes, values);

        if (result != KILN_OK) {
            return result;
        }
        for (uint64_t pair = 0; pair < m->t * m->topk; pair++) {
            if (m->ids[pair] == (int32_t)expert) {
                m->y[pair * m->nout + row] = vf_operand_dot(values, pair_x(m, pair), m->k);
            }
        }
    }
    return KILN_OK;
}

static enum kiln_result matvec_id_prepare(const struct vf_case *problem,
                                          const enum mf_dtype *dtypes, uint64_t seed,
                                          struct vf_problem *out, struct kiln_error *error) {
    struct mixture m = {.experts = vf_case_dim(problem, "experts"),
                        .nout = vf_case_dim(problem, "nout"),
                        .k = vf_case_dim(problem, "k"),
                        .t = vf_case_dim(problem, "t"),
                        .topk = vf_case_dim(problem, "topk"),
                        .slots = vf_case_dim(problem, "slots")};
    const uint64_t pair_count = m.t * m.topk;
    const uint64_t x_count = m.t * m.slots * m.k;
    enum kiln_result result = mf_dtype_row_bytes(dtypes[0], m.k, &m.row_bytes);

    if (result != KILN_OK) {
        return kiln_error_set(error, result, "matvec_id %s: k is no multiple of the block",
                              problem->id);
    }
    const uint64_t expert_bytes = m.nout * m.row_bytes;
    m.weights = mf_arena_alloc(&out->arena, (size_t)m.experts, (size_t)expert_bytes);
    m.ids = mf_arena_alloc(&out->arena, (size_t)pair_count + 1, sizeof *m.ids);
    m.x = mf_arena_alloc(&out->arena, (size_t)x_count + 1, sizeof *m.x);
    m.y = mf_arena_alloc(&out->arena, (size_t)(pair_count * m.nout) + 1, sizeof *m.y);
    float *values = mf_arena_alloc(&out->arena, (size_t)m.k, sizeof *values);
    if (!m.weights || !m.ids || !m.x || !m.y || !values) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "matvec_id %s: out of memory", problem->id);
    }
    fill_ids(m.ids, m.experts, m.t, m.topk, seed);
    vf_pseudo_fill(m.x, (size_t)x_count, TENSOR_X, seed, 1.0F);
    /* y is zero already, which is what ids out of range give. */
    memset(m.weights, 0xFF, (size_t)(m.experts * expert_bytes)); /* scales are NaN */
    for (uint64_t expert = 0; expert < m.experts && result == KILN_OK; expert++) {
        result = run_expert(&m, dtypes[0], seed, expert, values);
    }
    struct vf_buffer *buffer =
        vf_problem_input(out, "weights", m.weights, m.experts * expert_bytes);
    buffer->row_dim = "experts";
    buffer->row_bytes = expert_bytes;
    vf_problem_input(out, "ids", m.ids, pair_count * sizeof *m.ids);
    if (result == KILN_OK) {
        result = vf_operand_activations(out, "x", dtypes[1], m.x, x_count);
    }
    vf_problem_output(out, "y", m.y, pair_count * m.nout);
    out->params[out->param_count++] = kiln_param_u64("expert_count", m.experts);
    return result == KILN_OK ? KILN_OK
                             : kiln_error_set(error, result, "matvec_id %s: %s", problem->id,
                                              kiln_result_string(result));
}

/* Gates of the design's table. */
static struct mf_tolerance matvec_id_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    if (strcmp(artifact->tier, "dp4a") == 0) {
        gate.scale = 1e-2;
    } else if (strncmp(artifact->schedule, "block", 5) == 0) {
        gate.scale = 1e-3;
    } else {
        gate.max_abs = 1e-3;
    }
    return gate;
}

const struct vf_family vf_ref_matvec_id = {
    .reference = "matvec_id",
    .shared_dtype_count = 2,
    .list_cases = matvec_id_list_cases,
    .prepare = matvec_id_prepare,
    .ceiling = matvec_id_ceiling,
};
