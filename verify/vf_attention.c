/* SPDX-License-Identifier: MIT */
#include "vf_attention.h"

#include "vf_decode.h"
#include "vf_pseudo.h"
#include "vf_quantize.h"

#include <float.h>
#include <math.h>

/* The scores of all keys in range, -infinity for excluded ones; returns the largest. */
static double attention_scores(const struct vf_attention *a) {
    double maximum = -INFINITY;

    for (uint64_t key = a->key_first; key < a->key_end; key++) {
        const float *row = a->keys + key * a->key_stride;
        double product = 0;

        for (uint64_t i = 0; i < a->d; i++) {
            product += (double)a->query[i] * (double)row[i];
        }
        a->scores[key] = (double)a->scale * product;
        if (a->mask && a->mask[key] <= -FLT_MAX) {
            a->scores[key] = -INFINITY;
        } else if (a->mask) {
            a->scores[key] += (double)a->mask[key];
        }
        maximum = fmax(maximum, a->scores[key]);
    }
    return maximum;
}

void vf_attention_partial(const struct vf_attention *a, double *maximum, double *sum,
                          double *vector) {
    const double largest = attention_scores(a);

    *maximum = 0;
    *sum = 0;
    for (uint64_t i = 0; i < a->d; i++) {
        vector[i] = 0;
    }
    if (largest == -INFINITY) {
        return;
    }
    *maximum = largest;
    for (uint64_t key = a->key_first; key < a->key_end; key++) {
        const float *row = a->values + key * a->value_stride;
        const double weight = exp(a->scores[key] - largest);

        *sum += weight;
        for (uint64_t i = 0; weight > 0 && i < a->d; i++) {
            vector[i] += weight * (double)row[i];
        }
    }
}

void vf_attention_output(const struct vf_attention *attention, double *output) {
    double maximum;
    double sum;

    vf_attention_partial(attention, &maximum, &sum, output);
    for (uint64_t i = 0; sum > 0 && i < attention->d; i++) {
        output[i] /= sum;
    }
}

uint64_t vf_attention_keys_seen(bool causal, uint64_t query, uint64_t lq, uint64_t lk) {
    if (!causal) {
        return lk;
    }
    return query + 1 + lk > lq ? query + 1 + lk - lq : 0;
}

float vf_attention_scale(uint64_t d) {
    return (float)(1 / sqrt((double)d));
}

enum kiln_result vf_attention_tensor(struct mf_arena *arena, enum mf_dtype dtype, uint64_t count,
                                     uint64_t tensor_number, uint64_t seed, uint8_t **blocks,
                                     uint64_t *size_bytes, float **values) {
    enum kiln_result result = mf_dtype_row_bytes(dtype, count, size_bytes);

    if (result != KILN_OK) {
        return result;
    }
    *blocks = mf_arena_alloc(arena, (size_t)*size_bytes + 1, 1);
    *values = mf_arena_alloc(arena, (size_t)count + 1, sizeof **values);
    if (!*blocks || !*values) {
        return KILN_ERR_MEMORY;
    }
    vf_pseudo_fill(*values, (size_t)count, tensor_number, seed, 1.0F);
    result = vf_quantize(dtype, *values, count, *blocks);
    return result == KILN_OK ? vf_decode(dtype, *blocks, count, *values) : result;
}
