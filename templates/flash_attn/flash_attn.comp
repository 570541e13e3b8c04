// SPDX-License-Identifier: MIT
#version 450
//
// o = softmax(scale q k^T + mask) v for each of bh heads, without materialising the scores.
//
// With `causal` query i sees the keys j <= i + lk - lq: the last query sees them all. With `mask`
// mask_values[i][j] is added to the scaled score; a mask of -infinity, or one so low that the score
// leaves the range of f32, excludes the key. The output of a query that sees no key is 0.
//
// A workgroup computes K_QUERIES consecutive queries of a head. See attention.glsl.

#include "attention.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer Q {
    float q[]; // bh x lq x d
};
// k, v: bh x lk x d, rows of raw blocks; below 4 GiB each. Declared by attention_keys.glsl.
layout(set = 0, binding = 3, std430) readonly buffer Mask {
    float mask_values[]; // lq x lk; not read without `mask`
};
layout(set = 0, binding = 4, std430) writeonly buffer O {
    float o[]; // bh x lq x d
};

layout(push_constant) uniform Push {
    uint bh;
    uint lq;
    uint lk;
    uint d;      // at most HEAD_ELEMENTS_MAX; a multiple of the block, and of 8
    uint causal; // 0 or 1
    uint mask;   // 0 or 1
    float scale;
};

uint head;        // of this workgroup; bh in the surplus groups
uint query_first; // of this workgroup

// How many keys a query sees, counted from key 0.
uint keys_seen(uint query) {
    if (causal == 0u) {
        return lk;
    }
    return query + 1u + lk > lq ? query + 1u + lk - lq : 0u;
}

uint key_offset(uint key);
uint value_offset(uint key);

float score_of(uint query, uint key, float product) {
    uint row = query_first + query;
    if (row >= lq || key >= keys_seen(row)) {
        return SCORE_MASKED;
    }
    float score = scale * product;
    return mask != 0u ? score_masked(score, mask_values[row * lk + key]) : score;
}

#include "attention_keys.glsl"

uint key_offset(uint key) {
    return (head * lk + key) * (d / BLOCK_ELEMENTS * BLOCK_BYTES);
}

uint value_offset(uint key) {
    return key_offset(key);
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint group = dispatch_group_index();
    uint groups_per_head = (lq + K_QUERIES - 1u) / K_QUERIES;
    head = group / groups_per_head;
    query_first = group % groups_per_head * K_QUERIES;
    uint query_count = head < bh ? min(uint(K_QUERIES), lq - query_first) : 0u;
    uint output_first = (head * lq + query_first) * d;

    // Queries past the end are 0. A group without queries has no keys either, but takes part in the
    // barriers.
    for (uint i = thread; i < K_QUERIES * d; i += K_WORKGROUP) {
        attention_query_set(i / d, i % d, i < query_count * d ? q[output_first + i] : 0.0);
    }
    barrier();
    uint key_end = query_count > 0u ? keys_seen(query_first + query_count - 1u) : 0u;

    Attention a;
    attention_clear(a);
    attention_add(a, d, 0u, key_end);
    attention_finish(a);
    for (uint i = 0u; i < K_QUERIES; i++) {
        attention_share(a, i);
        for (uint element = thread; i < query_count && element < d; element += K_WORKGROUP) {
            float total = attention_vector(d, element);
            o[output_first + i * d + element] = a.sum[i] == 0.0 ? 0.0 : total / a.sum[i];
        }
    }
}
