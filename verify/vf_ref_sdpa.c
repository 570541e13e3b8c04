/* SPDX-License-Identifier: MIT */
#include "vf_attention.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

#include <string.h>

enum { TENSOR_Q, TENSOR_K, TENSOR_V };
enum { FOLD_GROUP_LIMIT = 3, TOKEN_PADDING = 8 };

/* The three kernels of the family, as far as their cases and buffers differ. */
enum sdpa_kind { SDPA_BLOCK, SDPA_SPLIT, SDPA_COMBINE };

struct sdpa_shape {
    uint64_t h, kv, lq, lk, d, causal, splits, capacity;
};

static const struct {
    struct sdpa_shape shape;
    unsigned suites;
    uint32_t group_limit;
} case_table[] = {
    {{32, 8, 1, 2048, 128, 0, 8, 2048}, VF_SUITE_SEEDS | VF_SUITE_FULL, 0},
    {{32, 8, 1, 2048, 128, 0, 8, 4096}, VF_SUITE_SEEDS | VF_SUITE_FULL, 0},
    {{32, 8, 1, 4096, 128, 0, 16, 4096}, VF_SUITE_SEEDS | VF_SUITE_FULL, 0},
    {{32, 8, 128, 128, 128, 1, 2, 128}, VF_SUITE_SEEDS | VF_SUITE_FULL, 0},
    {{4, 1, 1, 64, 64, 0, 2, 128}, VF_SUITE_QUICK | VF_SUITE_SEEDS | VF_SUITE_FULL, 0},
    /* Ragged: the last part of the first query is empty; then the last tile ends in the middle. */
    {{6, 2, 3, 77, 64, 1, 26, 90}, VF_SUITE_QUICK | VF_SUITE_SEEDS | VF_SUITE_FULL, 0},
    {{6, 2, 3, 77, 64, 1, 1, 90}, VF_SUITE_SEEDS | VF_SUITE_FULL, 0},
    {{4, 4, 9, 5, 40, 1, 3, 17}, VF_SUITE_SEEDS | VF_SUITE_FULL, 0}, /* four queries see no key */
    {{3, 1, 2, 7, 8, 0, 20, 7}, VF_SUITE_FULL, 0},                   /* more parts than keys */
    {{2, 1, 1, 200, 256, 0, 1, 208}, VF_SUITE_FULL, 0},              /* the largest head */
    {{2, 2, 3, 0, 64, 0, 2, 16}, VF_SUITE_FULL, 0},                  /* no keys at all */
    {{6, 2, 3, 77, 64, 1, 5, 90}, VF_SUITE_FULL, FOLD_GROUP_LIMIT},
    {{2, 2, 0, 16, 64, 0, 2, 16}, VF_SUITE_FULL, 0},
};

/* First the dimensions that the kind's artifacts have, then those of its data. */
static void case_dims(enum sdpa_kind kind, const struct sdpa_shape *s, struct vf_case *out) {
    const struct mf_dim h = {"h", s->h};
    const struct mf_dim kv = {"kv", s->kv};
    const struct mf_dim lq = {"lq", s->lq};
    const struct mf_dim lk = {"lk", s->lk};
    const struct mf_dim d = {"d", s->d};
    const struct mf_dim causal = {"causal", s->causal};
    const struct mf_dim splits = {"splits", s->splits};
    const struct mf_dim capacity = {"capacity", s->capacity};
    const struct mf_dim block_dims[] = {h, kv, lq, lk, d, causal, capacity};
    const struct mf_dim split_dims[] = {h, kv, lq, lk, d, causal, splits, capacity};
    const struct mf_dim combine_dims[] = {h, lq, d, splits, kv, lk, causal};

    switch (kind) {
    case SDPA_BLOCK:
        memcpy(out->dims, block_dims, sizeof block_dims);
        out->dim_count = 7;
        out->data_dim_count = 1;
        break;
    case SDPA_SPLIT:
        memcpy(out->dims, split_dims, sizeof split_dims);
        out->dim_count = 8;
        out->data_dim_count = 1;
        break;
    case SDPA_COMBINE:
        memcpy(out->dims, combine_dims, sizeof combine_dims);
        out->dim_count = 7;
        out->data_dim_count = 3;
        break;
    }
}

static enum kiln_result list_cases(enum sdpa_kind kind, struct vf_case_list *list) {
    for (size_t i = 0; i < sizeof case_table / sizeof case_table[0]; i++) {
        struct vf_case problem = {.suites = case_table[i].suites,
                                  .group_limit = case_table[i].group_limit};

        case_dims(kind, &case_table[i].shape, &problem);
        const enum kiln_result result = vf_case_add(list, &problem);
        if (result != KILN_OK) {
            return result;
        }
    }
    return KILN_OK;
}

/* A cache: where key 0 of a head lies and how far apart rows and heads are, in elements. */
struct sdpa_cache {
    uint8_t *blocks;
    float *values; /* what the blocks mean */
    uint64_t size_bytes;
    uint64_t row_stride, head_stride;
};

struct sdpa_data {
    struct sdpa_shape shape;
    float *q;
    struct sdpa_cache k, v;
    double *scores; /* scratch: lk elements */
};

/* Every element that belongs to no valid key becomes NaN, in the blocks only. */
static void cache_poison(const struct sdpa_shape *shape, enum mf_dtype dtype,
                         struct sdpa_cache *cache, uint64_t count, bool *valid) {
    static const uint8_t nan_f32[4] = {0x00, 0x00, 0xC0, 0x7F};
    static const uint8_t nan_f16[2] = {0x00, 0x7E};
    const uint8_t *pattern = dtype == MF_DTYPE_F16 ? nan_f16 : nan_f32;
    const size_t bytes = dtype == MF_DTYPE_F16 ? sizeof nan_f16 : sizeof nan_f32;

    for (uint64_t head = 0; head < shape->kv; head++) {
        for (uint64_t key = 0; key < shape->lk; key++) {
            const uint64_t first = head * cache->head_stride + key * cache->row_stride;
            memset(valid + first, 1, (size_t)shape->d);
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!valid[i]) {
            memcpy(cache->blocks + i * bytes, pattern, bytes);
        }
    }
}

static enum kiln_result make_cache(struct mf_arena *arena, const struct sdpa_shape *shape,
                                   enum mf_dtype dtype, uint64_t tensor_number, uint64_t seed,
                                   struct sdpa_cache *cache) {
    const bool token_major = tensor_number == TENSOR_V && shape->capacity % 16 != 0;
    uint64_t count = shape->kv * shape->capacity * shape->d;

    if (dtype != MF_DTYPE_F32 && dtype != MF_DTYPE_F16) {
        return KILN_ERR_UNSUPPORTED;
    }
    cache->row_stride = shape->d;
    cache->head_stride = shape->capacity * shape->d;
    if (token_major) {
        cache->row_stride = shape->kv * shape->d + TOKEN_PADDING;
        cache->head_stride = shape->d;
        count = shape->capacity * cache->row_stride;
    }
    bool *valid = mf_arena_alloc(arena, (size_t)count + 1, sizeof *valid);
    if (!valid) {
        return KILN_ERR_MEMORY;
    }
    const enum kiln_result result =
        vf_attention_tensor(arena, dtype, count, tensor_number, seed, &cache->blocks,
                            &cache->size_bytes, &cache->values);
    if (result == KILN_OK) {
        cache_poison(shape, dtype, cache, count, valid);
    }
    return result;
}

static enum kiln_result make_data(const struct vf_case *problem, enum mf_dtype dtype, uint64_t seed,
                                  struct mf_arena *arena, struct sdpa_data *data) {
    struct sdpa_shape *shape = &data->shape;

    *shape = (struct sdpa_shape){
        .h = vf_case_dim(problem, "h"),
        .kv = vf_case_dim(problem, "kv"),
        .lq = vf_case_dim(problem, "lq"),
        .lk = vf_case_dim(problem, "lk"),
        .d = vf_case_dim(problem, "d"),
        .causal = vf_case_dim(problem, "causal"),
        .splits = vf_case_dim(problem, "splits"),
        .capacity = vf_case_dim(problem, "capacity"),
    };
    if (shape->capacity < shape->lk) {
        shape->capacity = shape->lk; /* a problem without caches in buffers */
    }
    const uint64_t q_count = shape->h * shape->lq * shape->d;
    data->q = mf_arena_alloc(arena, (size_t)q_count + 1, sizeof *data->q);
    data->scores = mf_arena_alloc(arena, (size_t)shape->lk + 1, sizeof *data->scores);
    if (!data->q || !data->scores) {
        return KILN_ERR_MEMORY;
    }
    vf_pseudo_fill(data->q, (size_t)q_count, TENSOR_Q, seed, 1.0F);
    enum kiln_result result = make_cache(arena, shape, dtype, TENSOR_K, seed, &data->k);
    if (result == KILN_OK) {
        result = make_cache(arena, shape, dtype, TENSOR_V, seed, &data->v);
    }
    return result;
}

/* Row `row` of q [h][lq] with all the keys that it sees. */
static struct vf_attention row_attention(const struct sdpa_data *data, uint64_t row) {
    const struct sdpa_shape *s = &data->shape;
    const uint64_t kv_head = row / s->lq * s->kv / s->h;

    return (struct vf_attention){
        .query = data->q + row * s->d,
        .keys = data->k.values + kv_head * data->k.head_stride,
        .values = data->v.values + kv_head * data->v.head_stride,
        .key_stride = data->k.row_stride,
        .value_stride = data->v.row_stride,
        .key_end = vf_attention_keys_seen(s->causal != 0, row % s->lq, s->lq, s->lk),
        .d = s->d,
        .scale = vf_attention_scale(s->d),
        .scores = data->scores,
    };
}

static double *expect_output(const struct sdpa_data *data, struct mf_arena *arena) {
    const uint64_t rows = data->shape.h * data->shape.lq;
    double *o = mf_arena_alloc(arena, (size_t)(rows * data->shape.d) + 1, sizeof *o);

    for (uint64_t row = 0; o && row < rows; row++) {
        const struct vf_attention attention = row_attention(data, row);
        vf_attention_output(&attention, o + row * data->shape.d);
    }
    return o;
}

/* The parts of all rows: maxima and sums [rows][splits], vectors [rows][splits][d]. */
struct sdpa_parts {
    uint64_t count; /* rows · splits */
    double *maxima, *sums, *vectors;
};

static enum kiln_result make_parts(const struct sdpa_data *data, struct mf_arena *arena,
                                   struct sdpa_parts *parts) {
    const struct sdpa_shape *s = &data->shape;
    const uint64_t part_keys = (s->lk + s->splits - 1) / s->splits;

    parts->count = s->h * s->lq * s->splits;
    parts->maxima = mf_arena_alloc(arena, (size_t)parts->count + 1, sizeof(double));
    parts->sums = mf_arena_alloc(arena, (size_t)parts->count + 1, sizeof(double));
    parts->vectors = mf_arena_alloc(arena, (size_t)(parts->count * s->d) + 1, sizeof(double));
    if (!parts->maxima || !parts->sums || !parts->vectors) {
        return KILN_ERR_MEMORY;
    }
    for (uint64_t i = 0; i < parts->count; i++) {
        struct vf_attention attention = row_attention(data, i / s->splits);

        attention.key_first = i % s->splits * part_keys;
        if (attention.key_end > attention.key_first + part_keys) {
            attention.key_end = attention.key_first + part_keys;
        }
        vf_attention_partial(&attention, &parts->maxima[i], &parts->sums[i],
                             parts->vectors + i * s->d);
    }
    return KILN_OK;
}

static void add_attention_inputs(const struct sdpa_data *data, struct vf_problem *out) {
    const struct sdpa_shape *s = &data->shape;

    out->params[out->param_count++] = kiln_param_u64("k_row_stride", data->k.row_stride);
    out->params[out->param_count++] = kiln_param_u64("k_head_stride", data->k.head_stride);
    out->params[out->param_count++] = kiln_param_u64("v_row_stride", data->v.row_stride);
    out->params[out->param_count++] = kiln_param_u64("v_head_stride", data->v.head_stride);
    out->params[out->param_count++] = kiln_param_f64("scale", (double)vf_attention_scale(s->d));
    vf_problem_input(out, "q", data->q, s->h * s->lq * s->d * sizeof *data->q);
    vf_problem_input(out, "k", data->k.blocks, data->k.size_bytes);
    vf_problem_input(out, "v", data->v.blocks, data->v.size_bytes);
}

static enum kiln_result add_rounded_input(struct vf_problem *out, const char *binding,
                                          const double *values, uint64_t count) {
    float *rounded = mf_arena_alloc(&out->arena, (size_t)count + 1, sizeof *rounded);

    if (!rounded) {
        return KILN_ERR_MEMORY;
    }
    for (uint64_t i = 0; i < count; i++) {
        rounded[i] = (float)values[i];
    }
    vf_problem_input(out, binding, rounded, count * sizeof *rounded);
    return KILN_OK;
}

static enum kiln_result prepare_split(const struct sdpa_data *data, struct vf_problem *out) {
    struct sdpa_parts parts = {0};
    const enum kiln_result result = make_parts(data, &out->arena, &parts);

    if (result == KILN_OK) {
        add_attention_inputs(data, out);
        vf_problem_output(out, "maxima", parts.maxima, parts.count);
        vf_problem_output(out, "sums", parts.sums, parts.count);
        vf_problem_output(out, "vectors", parts.vectors, parts.count * data->shape.d);
    }
    return result;
}

static enum kiln_result prepare_combine(const struct sdpa_data *data, struct vf_problem *out) {
    const struct sdpa_shape *s = &data->shape;
    struct sdpa_parts parts = {0};
    const double *o = expect_output(data, &out->arena);
    enum kiln_result result = o ? make_parts(data, &out->arena, &parts) : KILN_ERR_MEMORY;

    if (result == KILN_OK) {
        result = add_rounded_input(out, "maxima", parts.maxima, parts.count);
    }
    if (result == KILN_OK) {
        result = add_rounded_input(out, "sums", parts.sums, parts.count);
    }
    if (result == KILN_OK) {
        result = add_rounded_input(out, "vectors", parts.vectors, parts.count * s->d);
    }
    if (result == KILN_OK) {
        vf_problem_output(out, "o", o, s->h * s->lq * s->d);
    }
    return result;
}

static enum kiln_result prepare_block(const struct sdpa_data *data, struct vf_problem *out) {
    const struct sdpa_shape *s = &data->shape;
    const double *o = expect_output(data, &out->arena);

    if (!o) {
        return KILN_ERR_MEMORY;
    }
    add_attention_inputs(data, out);
    vf_problem_output(out, "o", o, s->h * s->lq * s->d);
    return KILN_OK;
}

static enum kiln_result prepare(enum sdpa_kind kind, const struct vf_case *problem,
                                enum mf_dtype dtype, uint64_t seed, struct vf_problem *out,
                                struct kiln_error *error) {
    struct sdpa_data data = {0};
    enum kiln_result result = make_data(problem, dtype, seed, &out->arena, &data);

    if (result == KILN_OK && kind == SDPA_SPLIT) {
        result = prepare_split(&data, out);
    } else if (result == KILN_OK && kind == SDPA_COMBINE) {
        result = prepare_combine(&data, out);
    } else if (result == KILN_OK) {
        result = prepare_block(&data, out);
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "sdpa %s: cannot prepare: %s", problem->id,
                              kiln_result_string(result));
    }
    return KILN_OK;
}

static enum kiln_result block_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    (void)dtypes;
    return list_cases(SDPA_BLOCK, list);
}

static enum kiln_result split_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    (void)dtypes;
    return list_cases(SDPA_SPLIT, list);
}

static enum kiln_result combine_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    (void)dtypes;
    return list_cases(SDPA_COMBINE, list);
}

static enum kiln_result block_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                      uint64_t seed, struct vf_problem *out,
                                      struct kiln_error *error) {
    return prepare(SDPA_BLOCK, problem, dtypes[0], seed, out, error);
}

static enum kiln_result split_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                      uint64_t seed, struct vf_problem *out,
                                      struct kiln_error *error) {
    return prepare(SDPA_SPLIT, problem, dtypes[0], seed, out, error);
}

static enum kiln_result combine_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                        uint64_t seed, struct vf_problem *out,
                                        struct kiln_error *error) {
    return prepare(SDPA_COMBINE, problem, dtypes[0], seed, out, error);
}

static struct mf_tolerance sdpa_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    (void)artifact;
    gate.scale = 1e-4;
    return gate;
}

const struct vf_family vf_ref_sdpa = {
    .reference = "sdpa",
    .shared_dtype_count = 1,
    .list_cases = block_list_cases,
    .prepare = block_prepare,
    .ceiling = sdpa_ceiling,
};

const struct vf_family vf_ref_sdpa_split = {
    .reference = "sdpa_split",
    .shared_dtype_count = 1,
    .list_cases = split_list_cases,
    .prepare = split_prepare,
    .ceiling = sdpa_ceiling,
};

const struct vf_family vf_ref_sdpa_combine = {
    .reference = "sdpa_combine",
    .shared_dtype_count = 1,
    .list_cases = combine_list_cases,
    .prepare = combine_prepare,
    .ceiling = sdpa_ceiling,
};
