/* SPDX-License-Identifier: MIT */
#include "vf_order.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

#include <math.h>

enum { FOLD_GROUP_LIMIT = 3 };

/* Probabilities nearer to each other than this, relative to the expected one, may change places. */
static const double tie_width = 1e-6;

/* The judge's data: what the choice was made from. */
struct route {
    const float *logits; /* tokens x experts */
    uint64_t experts, topk;
};

static enum kiln_result route_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const char *const dims[] = {"tokens", "experts", "topk", "normalise"};
    const struct vf_case_row rows[] = {
        {{8, 128, 8, 1}, QUICK | SEEDS | FULL, 0, 0},
        {{5, 60, 4, 0}, QUICK | SEEDS | FULL, 0, 0},
        {{8, 128, 8, 0}, SEEDS | FULL, 0, 0},
        {{512, 128, 8, 1}, SEEDS | FULL, 0, 0},
        {{512, 128, 8, 0}, SEEDS | FULL, 0, 0},
        {{4, 8, 2, 1}, FULL, 0, 0},
        {{4, 1, 1, 1}, FULL, 0, 0},
        {{7, 5, 8, 1}, FULL, 0, 0},
        {{9, 384, 200, 1}, FULL, 0, 0},
        {{37, 64, 6, 1}, FULL, FOLD_GROUP_LIMIT, 0},
        {{0, 128, 8, 1}, FULL, 0, 0},
    };

    (void)dtypes;
    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

/* Tokens take turns: spread logits, many equal ones, all equal, a few far above the others. */
static void make_logits(float *logits, uint64_t tokens, uint64_t experts, uint64_t seed) {
    vf_pseudo_fill(logits, (size_t)(tokens * experts), 0, seed, 4.0F);
    for (uint64_t i = 0; i < tokens * experts; i++) {
        switch (i / experts % 4) {
        case 1:
            logits[i] = roundf(logits[i]);
            break;
        case 2:
            logits[i] = 0.25F;
            break;
        case 3:
            logits[i] *= 30.0F;
            break;
        default:
            break;
        }
    }
}

static void route_token(const float *logits, uint64_t experts, const int32_t *chosen, uint64_t topk,
                        bool normalise, double *weights, double *ids) {
    const double largest = (double)logits[chosen[0]];
    double total = 0;

    if (normalise) {
        for (uint64_t i = 0; i < topk && chosen[i] >= 0; i++) {
            total += exp((double)logits[chosen[i]] - largest);
        }
    } else {
        for (uint64_t e = 0; e < experts; e++) {
            total += exp((double)logits[e] - largest);
        }
    }
    for (uint64_t i = 0; i < topk; i++) {
        ids[i] = chosen[i];
        weights[i] = chosen[i] < 0 ? 0 : exp((double)logits[chosen[i]] - largest) / total;
    }
}

/* Whether `got` may stand where `expected` was, the experts before it in the row being `row`. */
static bool swap_allowed(const struct route *route, uint64_t token, const int32_t *row,
                         uint64_t slot, int32_t expected) {
    const float *logits = route->logits + token * route->experts;
    const int32_t got = row[slot];

    if (got < 0 || expected < 0 || (uint64_t)got >= route->experts) {
        return false;
    }
    for (uint64_t i = 0; i < slot; i++) {
        if (row[i] == got) {
            return false;
        }
    }
    const double difference = fabs((double)logits[got] - (double)logits[expected]);
    return difference > 0 && difference < tie_width;
}

static void judge_ids(const struct vf_buffer *buffer, const void *got, bool strict,
                      struct vf_metrics *out) {
    const struct route *route = buffer->judge_data;
    const int32_t *ids = got;

    (void)strict; /* probabilities round, on every device */
    *out = vf_metrics_empty();
    out->element_count = buffer->element_count;
    for (uint64_t i = 0; i < buffer->element_count; i++) {
        const int32_t expected = (int32_t)buffer->expected[i];
        const uint64_t token = i / route->topk;

        if (ids[i] == expected) {
            continue;
        }
        if (swap_allowed(route, token, ids + token * route->topk, i % route->topk, expected)) {
            out->near_count++;
        } else if (out->mismatch_count++ == 0) {
            out->first_index = out->worst_index = i;
            out->first_got = out->worst_got = ids[i];
            out->first_expected = out->worst_expected = expected;
        }
    }
}

static enum kiln_result route_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                      uint64_t seed, struct vf_problem *out,
                                      struct kiln_error *error) {
    const uint64_t tokens = vf_case_dim(problem, "tokens");
    const uint64_t experts = vf_case_dim(problem, "experts");
    const uint64_t topk = vf_case_dim(problem, "topk");
    const bool normalise = vf_case_dim(problem, "normalise") != 0;
    float *logits = mf_arena_alloc(&out->arena, (size_t)(tokens * experts) + 1, sizeof *logits);
    int32_t *chosen = mf_arena_alloc(&out->arena, (size_t)topk + 1, sizeof *chosen);
    double *weights = mf_arena_alloc(&out->arena, (size_t)(tokens * topk) + 1, sizeof *weights);
    double *ids = mf_arena_alloc(&out->arena, (size_t)(tokens * topk) + 1, sizeof *ids);
    struct route *route = mf_arena_alloc(&out->arena, 1, sizeof *route);
    enum kiln_result result =
        logits && chosen && weights && ids && route ? KILN_OK : KILN_ERR_MEMORY;

    (void)dtypes;
    if (result == KILN_OK) {
        make_logits(logits, tokens, experts, seed);
    }
    for (uint64_t t = 0; t < tokens && result == KILN_OK; t++) {
        const float *row = logits + t * experts;
        result = vf_order_select(row, experts, topk, chosen);
        if (result == KILN_OK) {
            route_token(row, experts, chosen, topk, normalise, weights + t * topk, ids + t * topk);
        }
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "moe_route %s: out of memory", problem->id);
    }
    *route = (struct route){.logits = logits, .experts = experts, .topk = topk};
    vf_problem_input(out, "x", logits, tokens * experts * sizeof *logits);
    vf_problem_output(out, "weights", weights, tokens * topk);
    struct vf_buffer *output = vf_problem_output(out, "ids", ids, tokens * topk);
    output->dtype = MF_DTYPE_I32;
    output->judge = judge_ids;
    output->judge_data = route;
    return KILN_OK;
}

static struct mf_tolerance route_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    (void)artifact;
    gate.scale = 1e-4;
    return gate;
}

const struct vf_family vf_ref_moe_route = {
    .reference = "moe_route",
    .shared_dtype_count = 1,
    .list_cases = route_list_cases,
    .prepare = route_prepare,
    .ceiling = route_ceiling,
};
