/* SPDX-License-Identifier: MIT */
#include "vf_mixture.h"

#include "vf_operand.h"
#include "vf_pseudo.h"

#include <string.h>

enum { TENSOR_X = 1, TENSOR_IDS = 2, PSEUDO_STRIDE = 1000003 };

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void vf_mixture_ids(int32_t *ids, uint64_t experts, uint64_t t, uint64_t topk,
                    enum vf_mixture_spread spread, uint64_t seed) {
    const uint64_t first = (uint64_t)TENSOR_IDS * PSEUDO_STRIDE + seed;

    for (uint64_t i = 0; i < t * topk; i++) {
        const uint64_t bits = vf_pseudo_bits(first + i);
        uint64_t expert = bits % experts;
        if (spread == VF_SPREAD_UNEVEN) {
            expert = least(expert, least((bits >> 20) % experts, (bits >> 40) % experts));
            expert = expert == 1 ? 0 : expert;
        } else if (spread == VF_SPREAD_ONE) {
            expert = experts - 1;
        }
        ids[i] = (int32_t)expert;
    }
    if (t >= 2) {
        ids[t * topk - 1] = -1;
    }
    if (t >= 3) {
        ids[0] = (int32_t)experts;
        ids[topk] = INT32_MIN;
    }
}

/* Expert by expert, as it is defined; `experts` stands for those without one. */
void vf_mixture_group(const int32_t *ids, uint64_t slot_count, uint64_t experts, int32_t *offsets,
                      int32_t *perm) {
    uint64_t place = 0;

    for (uint64_t expert = 0; expert <= experts; expert++) {
        offsets[expert] = (int32_t)place;
        for (uint64_t slot = 0; slot < slot_count; slot++) {
            const bool exists = ids[slot] >= 0 && (uint64_t)ids[slot] < experts;
            if ((exists ? (uint64_t)ids[slot] : experts) == expert) {
                perm[place++] = (int32_t)slot;
            }
        }
    }
}

/* The first of the k activations that a slot multiplies. */
static const float *slot_x(const struct vf_mixture *m, uint64_t slot) {
    const uint64_t row = m->slots == 1 ? 0 : slot % m->topk;

    return m->x + (slot / m->topk * m->slots + row) * m->k;
}

/* Makes one expert's rows and all results that need them; an expert that none needs stays NaN. */
static enum kiln_result run_expert(const struct vf_mixture *m, enum mf_dtype dtype, uint64_t seed,
                                   uint64_t expert, float *values) {
    bool needed = false;

    for (uint64_t slot = 0; slot < m->t * m->topk; slot++) {
        needed = needed || m->ids[slot] == (int32_t)expert;
    }
    for (uint64_t row = 0; row < m->nout && needed; row++) {
        const uint64_t index = expert * m->nout + row;
        const enum kiln_result result =
            vf_operand_row(dtype, index, m->k, seed, m->weights + index * m->row_bytes, values);

        if (result != KILN_OK) {
            return result;
        }
        for (uint64_t slot = 0; slot < m->t * m->topk; slot++) {
            if (m->ids[slot] == (int32_t)expert) {
                m->y[slot * m->nout + row] = vf_operand_dot(values, slot_x(m, slot), m->k);
            }
        }
    }
    return KILN_OK;
}

static enum kiln_result mixture_fill(struct vf_mixture *m, enum mf_dtype dtype,
                                     enum mf_dtype x_dtype, enum vf_mixture_spread spread,
                                     uint64_t seed, struct mf_arena *arena) {
    const uint64_t slot_count = m->t * m->topk;
    const uint64_t x_count = m->t * m->slots * m->k;
    const uint64_t expert_bytes = m->nout * m->row_bytes;
    float *values = mf_arena_alloc(arena, (size_t)m->k, sizeof *values);
    enum kiln_result result = KILN_OK;

    m->weights = mf_arena_alloc(arena, (size_t)m->experts, (size_t)expert_bytes);
    m->ids = mf_arena_alloc(arena, (size_t)slot_count + 1, sizeof *m->ids);
    m->x = mf_arena_alloc(arena, (size_t)x_count + 1, sizeof *m->x);
    m->y = mf_arena_alloc(arena, (size_t)(slot_count * m->nout) + 1, sizeof *m->y);
    if (!m->weights || !m->ids || !m->x || !m->y || !values) {
        return KILN_ERR_MEMORY;
    }
    vf_mixture_ids(m->ids, m->experts, m->t, m->topk, spread, seed);
    vf_pseudo_fill(m->x, (size_t)x_count, TENSOR_X, seed, 1.0F);
    if (x_dtype == MF_DTYPE_F16) {
        result = vf_operand_round(x_dtype, m->x, x_count, arena);
    }
    /* y is zero already, which is what ids out of range give. */
    memset(m->weights, 0xFF, (size_t)(m->experts * expert_bytes)); /* scales are NaN */
    for (uint64_t expert = 0; expert < m->experts && result == KILN_OK; expert++) {
        result = run_expert(m, dtype, seed, expert, values);
    }
    return result;
}

enum kiln_result vf_mixture_make(const struct vf_case *problem, enum mf_dtype dtype,
                                 enum mf_dtype x_dtype, enum vf_mixture_spread spread,
                                 uint64_t seed, struct mf_arena *arena, struct vf_mixture *out,
                                 struct kiln_error *error) {
    *out = (struct vf_mixture){.experts = vf_case_dim(problem, "experts"),
                               .nout = vf_case_dim(problem, "nout"),
                               .k = vf_case_dim(problem, "k"),
                               .t = vf_case_dim(problem, "t"),
                               .topk = vf_case_dim(problem, "topk"),
                               .slots = vf_case_dim(problem, "slots")};
    enum kiln_result result = mf_dtype_row_bytes(dtype, out->k, &out->row_bytes);

    if (result != KILN_OK) {
        return kiln_error_set(error, result, "%s: k is no multiple of the block", problem->id);
    }
    result = mixture_fill(out, dtype, x_dtype, spread, seed, arena);
    return result == KILN_OK ? KILN_OK
                             : kiln_error_set(error, result, "%s: cannot make the data: %s",
                                              problem->id, kiln_result_string(result));
}

void vf_mixture_weights(const struct vf_mixture *mixture, struct vf_problem *problem) {
    const uint64_t expert_bytes = mixture->nout * mixture->row_bytes;
    struct vf_buffer *buffer =
        vf_problem_input(problem, "weights", mixture->weights, mixture->experts * expert_bytes);

    if (buffer) {
        buffer->row_dim = "experts";
        buffer->row_bytes = expert_bytes;
    }
}
