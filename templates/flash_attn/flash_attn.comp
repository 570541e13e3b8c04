// SPDX-License-Identifier: MIT
#version 450
//
// flash_attn, schedule `block`: attention.glsl over the keys of K_QUERIES queries.

#include "attention.glsl"
#include "flash_attn.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer Q {
    float q[]; // bh x lq x d
};
// k, v: bh x lk x d, rows of raw blocks; below 4 GiB each. Declared by attention_keys.glsl.
layout(set = 0, binding = 4, std430) writeonly buffer O {
    float o[]; // bh x lq x d
};

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
