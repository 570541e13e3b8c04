/* SPDX-License-Identifier: MIT */
/*
 * vf_attention: softmax attention of one query in double precision, for the references of the
 * attention families.
 *
 * Two passes over stored scores: it has nothing in common with the kernels' online softmax.
 */
#ifndef VF_ATTENTION_H
#define VF_ATTENTION_H

#include "kiln_result.h"
#include "mf_buffer.h"
#include "mf_dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* One query and the keys key_first .. key_end - 1 of its head. Strides count elements. */
struct vf_attention {
    const float *query; /* d elements */
    const float *keys;  /* key 0 of the head */
    const float *values;
    uint64_t key_stride, value_stride;
    const float *mask; /* added to the scaled score of key j: mask[j]; NULL: none */
    uint64_t key_first, key_end;
    uint64_t d;
    float scale;
    double *scores; /* scratch, key_end elements */
};

/*
 * The sums that two ranges of keys can be combined from: the maximum score, the sum of
 * exp(score - maximum) and, in vector[d], that sum with each term times the key's values. A mask
 * of -infinity or -FLT_MAX and less excludes the key. Without any key all of them are 0.
 */
void vf_attention_partial(const struct vf_attention *attention, double *maximum, double *sum,
                          double *vector);

/* vector / sum: the attention's output[d]; 0 without any key. */
void vf_attention_output(const struct vf_attention *attention, double *output);

/* How many keys query `query` of lq sees, from key 0: with causal, the keys j <= i + lk - lq. */
uint64_t vf_attention_keys_seen(bool causal, uint64_t query, uint64_t lq, uint64_t lk);

/* The push constant 1/sqrt(d) as the kernels get it. */
float vf_attention_scale(uint64_t d);

/*
 * A tensor of keys or values from the arena: pseudo data of tensor `tensor_number` in type dtype
 * (raw blocks, *size_bytes) and the values that these mean. KILN_ERR_ARGUMENT: the type cannot hold
 * `count` elements. KILN_ERR_MEMORY.
 */
enum kiln_result vf_attention_tensor(struct mf_arena *arena, enum mf_dtype dtype, uint64_t count,
                                     uint64_t tensor_number, uint64_t seed, uint8_t **blocks,
                                     uint64_t *size_bytes, float **values);

#endif /* VF_ATTENTION_H */
