/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_dispatch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KL_ROW_FIRST "row_first" /* the one push constant with a default: 0 */

struct kiln_param kiln_param_u64(const char *name, uint64_t value) {
    return (struct kiln_param){.name = name, .kind = KILN_PARAM_UNSIGNED, .value = {.u = value}};
}

struct kiln_param kiln_param_i64(const char *name, int64_t value) {
    return (struct kiln_param){.name = name, .kind = KILN_PARAM_SIGNED, .value = {.i = value}};
}

struct kiln_param kiln_param_f64(const char *name, double value) {
    return (struct kiln_param){.name = name, .kind = KILN_PARAM_REAL, .value = {.f = value}};
}

/* Range of an integer type; false for other types. */
static bool kl_push_integer_range(enum mf_scalar type, int64_t *least, uint64_t *most) {
    uint32_t bits = 8 * mf_scalar_bytes(type);
    switch (type) {
    case MF_SCALAR_BOOL:
        *least = 0;
        *most = 1;
        return true;
    case MF_SCALAR_U8:
    case MF_SCALAR_U16:
    case MF_SCALAR_U32:
    case MF_SCALAR_U64:
        *least = 0;
        *most = UINT64_MAX >> (64 - bits);
        return true;
    case MF_SCALAR_I8:
    case MF_SCALAR_I16:
    case MF_SCALAR_I32:
    case MF_SCALAR_I64:
        *least = INT64_MIN >> (64 - bits);
        *most = (uint64_t)INT64_MAX >> (64 - bits);
        return true;
    default:
        return false;
    }
}

/* An integer that fits goes in as its low bytes in two's complement. */
static enum kiln_result kl_push_integer(const struct mf_push *push, const struct kiln_param *param,
                                        unsigned char *at, struct kiln_error *error) {
    int64_t least = 0;
    uint64_t most = 0;
    kl_push_integer_range(push->type, &least, &most);
    bool negative = param->kind == KILN_PARAM_SIGNED && param->value.i < 0;
    if (negative ? param->value.i < least : param->value.u > most) {
        char text[32];
        snprintf(text, sizeof(text), negative ? "%lld" : "%llu",
                 negative ? (long long)param->value.i : (long long)param->value.u);
        return kiln_error_set(error, KILN_ERR_LIMIT, "push constant %s = %s does not fit %s",
                              push->name, text, mf_scalar_string(push->type));
    }
    memcpy(at, &param->value.u, push->size_bytes);
    return KILN_OK;
}

static enum kiln_result kl_push_store(const struct mf_push *push, const struct kiln_param *param,
                                      unsigned char *at, struct kiln_error *error) {
    int64_t least = 0;
    uint64_t most = 0;
    bool integer = kl_push_integer_range(push->type, &least, &most);
    if (integer && param->kind != KILN_PARAM_REAL) {
        return kl_push_integer(push, param, at, error);
    }
    if (push->type == MF_SCALAR_F64 && param->kind == KILN_PARAM_REAL) {
        memcpy(at, &param->value.f, sizeof(double));
        return KILN_OK;
    }
    if (push->type == MF_SCALAR_F32 && param->kind == KILN_PARAM_REAL) {
        float value = (float)param->value.f;
        if (isinf(value) && !isinf(param->value.f)) {
            return kiln_error_set(error, KILN_ERR_LIMIT, "push constant %s = %g does not fit f32",
                                  push->name, param->value.f);
        }
        memcpy(at, &value, sizeof(value));
        return KILN_OK;
    }
    return kiln_error_set(error, KILN_ERR_ARGUMENT, "push constant %s is %s and cannot take %s",
                          push->name, mf_scalar_string(push->type),
                          param->kind == KILN_PARAM_REAL ? "a real number" : "an integer");
}

static const struct kiln_param *kl_push_find(const struct kiln_param *params, size_t count,
                                             const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(params[i].name, name) == 0) {
            return &params[i];
        }
    }
    return NULL;
}

/* Every param names a member of the block, none twice. */
static enum kiln_result kl_push_check_names(const struct mf_artifact *artifact,
                                            const struct kiln_param *params, size_t param_count,
                                            struct kiln_error *error) {
    for (size_t i = 0; i < param_count; i++) {
        bool known = false;
        for (size_t row = 0; row < artifact->push_count; row++) {
            known |= strcmp(artifact->push[row].name, params[i].name) == 0;
        }
        if (!known) {
            return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: has no push constant %s",
                                  artifact->name, params[i].name);
        }
        if (kl_push_find(params, i, params[i].name)) {
            return kiln_error_set(error, KILN_ERR_DUPLICATE, "%s: push constant %s is given twice",
                                  artifact->name, params[i].name);
        }
    }
    return KILN_OK;
}

enum kiln_result kiln_push_fill(const struct mf_artifact *artifact, const struct mf_dim *dims,
                                size_t dim_count, const struct kiln_param *params,
                                size_t param_count, void *block, size_t block_bytes,
                                struct kiln_error *error) {
    if (block_bytes < artifact->requires_.push_bytes) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "%s: a block of %zu bytes, its push constants take %u",
                              artifact->name, block_bytes, artifact->requires_.push_bytes);
    }
    enum kiln_result result = kl_push_check_names(artifact, params, param_count, error);
    memset(block, 0, block_bytes);
    for (size_t i = 0; !result && i < artifact->push_count; i++) {
        const struct mf_push *push = &artifact->push[i];
        if (push->offset_bytes > block_bytes ||
            push->size_bytes > block_bytes - push->offset_bytes ||
            push->size_bytes != mf_scalar_bytes(push->type)) {
            return kiln_error_set(error, KILN_ERR_FORMAT,
                                  "%s: push constant %s: %u bytes of %s at %u in a block of %zu",
                                  artifact->name, push->name, push->size_bytes,
                                  mf_scalar_string(push->type), push->offset_bytes, block_bytes);
        }
        struct kiln_param value = kiln_param_u64(push->name, 0);
        const struct kiln_param *given = kl_push_find(params, param_count, push->name);
        bool found = given != NULL || strcmp(push->name, KL_ROW_FIRST) == 0;
        for (size_t dim = 0; !given && dim < dim_count; dim++) {
            if (strcmp(dims[dim].name, push->name) == 0) {
                value = kiln_param_u64(push->name, dims[dim].value);
                found = true;
            }
        }
        if (!found) {
            return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: push constant %s is not given",
                                  artifact->name, push->name);
        }
        result = kl_push_store(push, given ? given : &value,
                               (unsigned char *)block + push->offset_bytes, error);
    }
    return result;
}
