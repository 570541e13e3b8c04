/* SPDX-License-Identifier: MIT */
#include "vf_attention.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TENSOR_Q, TENSOR_K, TENSOR_V, TENSOR_MASK };
enum { FOLD_GROUP_LIMIT = 3 };

struct flash_shape {
    uint64_t bh, lq, lk, d;
    bool causal, mask;
};

static enum kiln_result flash_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const char *const dims[] = {"bh", "lq", "lk", "d", "causal", "mask"};
    const struct vf_case_row rows[] = {
        {{8, 16, 16, 128, 0, 0}, SEEDS | FULL, 0, 0},
        {{8, 16, 16, 128, 1, 0}, QUICK | SEEDS | FULL, 0, 0},
        {{8, 1, 64, 128, 1, 0}, SEEDS | FULL, 0, 0},
        {{4, 7, 13, 64, 0, 0}, SEEDS | FULL, 0, 0},
        {{4, 7, 13, 64, 0, 1}, QUICK | SEEDS | FULL, 0, 0}, /* with rows of -infinity only */
        {{3, 9, 5, 64, 1, 0}, SEEDS | FULL, 0, 0},          /* the first four rows see no key */
        /* Tiles of keys, the last one ragged; then some queries of a group see none of a tile. */
        {{2, 9, 131, 96, 1, 1}, QUICK | SEEDS | FULL, 0, 0},
        {{2, 8, 66, 64, 1, 0}, SEEDS | FULL, 0, 0},
        {{1, 1, 1, 32, 0, 0}, FULL, 0, 0},
        {{1, 5, 300, 32, 0, 0}, FULL, 0, 0},
        {{2, 6, 70, 256, 1, 1}, SEEDS | FULL, 0, 0},
        /* Wide heads: not every invocation has a slice, then exactly two, then three each. */
        {{1, 5, 70, 576, 1, 1}, QUICK | SEEDS | FULL, 0, 0},
        {{2, 3, 133, 512, 0, 0}, SEEDS | FULL, 0, 0},
        {{2, 3, 9, 320, 1, 0}, FULL, 0, 0},
        /* Prefill, around tiles of 64 queries and 64 keys. */
        {{2, 65, 129, 128, 1, 0}, SEEDS | FULL, 0, 0},
        {{2, 65, 129, 96, 0, 1}, SEEDS | FULL, 0, 0},
        {{1, 64, 64, 64, 1, 0}, SEEDS | FULL, 0, 0},
        {{1, 100, 100, 80, 1, 0}, SEEDS | FULL, 0, 0}, /* types of blocks of 32 cannot have it */
        {{1, 20, 70, 72, 1, 0}, SEEDS | FULL, 0, 0},   /* half a piece of 16 elements is left */
        {{1, 100, 100, 256, 1, 0}, SEEDS | FULL, 0, 0},
        {{1, 130, 40, 64, 1, 0}, SEEDS | FULL, 0, 0},       /* the first 90 rows see no key */
        {{1, 33, 9, 64, 1, 0}, QUICK | SEEDS | FULL, 0, 0}, /* nor do whole strips of these */
        {{1, 33, 200, 224, 0, 1}, FULL, 0, 0},
        {{3, 70, 65, 128, 1, 1}, FULL, FOLD_GROUP_LIMIT, 0},
        {{2, 3, 0, 64, 0, 0}, FULL, 0, 0}, /* no keys at all */
        {{8, 16, 16, 128, 1, 0}, FULL, FOLD_GROUP_LIMIT, 0},
        {{2, 0, 16, 64, 0, 0}, FULL, 0, 0},
    };

    (void)dtypes;
    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

/*
 * Of the mask's rows one in five excludes all keys, one in five none, and one in five none while it
 * rises by a quarter a key, so that the largest score comes last; the others exclude about a
 * quarter, by -infinity or the lowest f32, and add up to 4 to the rest.
 */
static void mask_fill(const struct flash_shape *shape, uint64_t seed, float *mask) {
    const uint64_t count = shape->lq * shape->lk;

    vf_pseudo_fill(mask, (size_t)count, TENSOR_MASK, seed, 4.0F);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t row = i / shape->lk;

        if (row % 5 == 4) {
            mask[i] = 0.25F * (float)(i % shape->lk);
        } else if (row % 5 == 2 || (row % 5 != 3 && mask[i] < -2.0F)) {
            mask[i] = i % 7 == 0 ? -FLT_MAX : -INFINITY;
        }
    }
}

/* The expected output, row by row; `scores` is scratch for lk elements. */
static void flash_expect(const struct flash_shape *shape, struct vf_attention attention,
                         const float *q, const float *k, const float *v, const float *mask,
                         double *o) {
    for (uint64_t row = 0; row < shape->bh * shape->lq; row++) {
        const uint64_t head = row / shape->lq;
        const uint64_t query = row % shape->lq;

        attention.query = q + row * shape->d;
        attention.keys = k + head * shape->lk * shape->d;
        attention.values = v + head * shape->lk * shape->d;
        attention.mask = shape->mask ? mask + query * shape->lk : NULL;
        attention.key_end = vf_attention_keys_seen(shape->causal, query, shape->lq, shape->lk);
        vf_attention_output(&attention, o + row * shape->d);
    }
}

static enum kiln_result flash_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                      uint64_t seed, struct vf_problem *out,
                                      struct kiln_error *error) {
    const struct flash_shape shape = {
        .bh = vf_case_dim(problem, "bh"),
        .lq = vf_case_dim(problem, "lq"),
        .lk = vf_case_dim(problem, "lk"),
        .d = vf_case_dim(problem, "d"),
        .causal = vf_case_dim(problem, "causal") != 0,
        .mask = vf_case_dim(problem, "mask") != 0,
    };
    const uint64_t q_count = shape.bh * shape.lq * shape.d;
    const uint64_t kv_count = shape.bh * shape.lk * shape.d;
    const uint64_t mask_count = shape.mask ? shape.lq * shape.lk : 0;
    float *q = mf_arena_alloc(&out->arena, (size_t)q_count + 1, sizeof *q);
    float *mask = mf_arena_alloc(&out->arena, (size_t)mask_count + 1, sizeof *mask);
    double *o = mf_arena_alloc(&out->arena, (size_t)q_count + 1, sizeof *o);
    double *scores = mf_arena_alloc(&out->arena, (size_t)shape.lk + 1, sizeof *scores);
    uint8_t *k_blocks = NULL;
    uint8_t *v_blocks = NULL;
    float *k = NULL;
    float *v = NULL;
    uint64_t kv_bytes = 0;

    if (!q || !mask || !o || !scores) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "flash_attn %s: out of memory", problem->id);
    }
    enum kiln_result result = vf_attention_tensor(&out->arena, dtypes[0], kv_count, TENSOR_K, seed,
                                                  &k_blocks, &kv_bytes, &k);
    if (result == KILN_OK) {
        result = vf_attention_tensor(&out->arena, dtypes[0], kv_count, TENSOR_V, seed, &v_blocks,
                                     &kv_bytes, &v);
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "flash_attn %s: cannot make keys and values: %s",
                              problem->id, kiln_result_string(result));
    }
    vf_pseudo_fill(q, (size_t)q_count, TENSOR_Q, seed, 1.0F);
    if (shape.mask) {
        mask_fill(&shape, seed, mask);
    }
    const struct vf_attention attention = {.key_stride = shape.d,
                                           .value_stride = shape.d,
                                           .d = shape.d,
                                           .scale = vf_attention_scale(shape.d),
                                           .scores = scores};
    flash_expect(&shape, attention, q, k, v, mask, o);
    out->params[out->param_count++] = kiln_param_f64("scale", (double)attention.scale);
    vf_problem_input(out, "q", q, q_count * sizeof *q);
    vf_problem_input(out, "k", k_blocks, kv_bytes);
    vf_problem_input(out, "v", v_blocks, kv_bytes);
    vf_problem_input(out, "mask_values", mask, mask_count * sizeof *mask);
    vf_problem_output(out, "o", o, q_count);
    return KILN_OK;
}

static struct mf_tolerance flash_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    /* Halves, where both products are by cooperative matrices. */
    gate.max_abs = strcmp(artifact->tier, "coopmat") == 0 ? 5e-3 : 1e-4;
    return gate;
}

const struct vf_family vf_ref_flash_attn = {
    .reference = "flash_attn",
    .shared_dtype_count = 1,
    .list_cases = flash_list_cases,
    .prepare = flash_prepare,
    .ceiling = flash_ceiling,
};
