// SPDX-License-Identifier: MIT
//
// Softmax attention of K_QUERIES queries over a range of keys, in one pass over keys and values
// (online softmax): the scores of more than K_WORKGROUP keys never exist at once. For each query,
//
//   maximum = max_j score_j    sum = sum_j exp(score_j - maximum)    vector = sum_j exp(...) value_j
//
// and the attention is vector / sum. When a tile of keys raises the maximum, what was summed before
// is multiplied by exp(old - new). A query that sees no key has maximum SCORE_MASKED and sum and
// vector 0.
//
// Work within a tile of K_WORKGROUP keys: an invocation computes the scores of one key, then adds
// up one run of eight elements of the values of every `slices`-th key. All in f32.
//
// The template includes this file at its top (the subgroup tier switches extensions on) and
// defines K_WORKGROUP, K_QUERIES, K_HEAD, the most elements of a head (at most 8 K_WORKGROUP), and
//
//   uint key_offset(uint key), uint value_offset(uint key)     byte offsets of rows
//   float score_of(uint query, uint key, float product)        from q . k; query 0 .. K_QUERIES - 1
//
// then includes attention_keys.glsl.
#ifndef ATTENTION_GLSL
#define ATTENTION_GLSL

#include "params.glsl"
#include "attention_score.glsl"
#define REDUCE_VALUES K_QUERIES
#include "reduce.glsl"


// Totals of the keys seen so far.
struct Attention {
    float maximum[K_QUERIES]; // the same in all invocations
    float sum[K_QUERIES];     // share of this invocation's keys
    vec4 low[K_QUERIES];      // share of this invocation's slice, elements 0..3 of its run
    vec4 high[K_QUERIES];     // and 4..7
};

// The largest value of each query over the workgroup, in all invocations; as reduce_sum.
void attention_maximum(inout float values[K_QUERIES]) {
    barrier(); // an earlier call may still be reading
#if K_TIER == TIER_SUBGROUP
    for (uint i = 0u; i < K_QUERIES; i++) {
        values[i] = subgroupMax(values[i]);
        if (subgroupElect()) {
            reduce_partial[i * K_WORKGROUP + gl_SubgroupID] = values[i];
        }
    }
    barrier();
    uint count = gl_NumSubgroups;
#else
    for (uint i = 0u; i < K_QUERIES; i++) {
        reduce_partial[i * K_WORKGROUP + gl_LocalInvocationIndex] = values[i];
    }
    barrier();
    for (uint width = K_WORKGROUP / 2u; width > 0u; width >>= 1) {
        if (gl_LocalInvocationIndex < width) {
            for (uint i = 0u; i < K_QUERIES; i++) {
                uint slot = i * K_WORKGROUP + gl_LocalInvocationIndex;
                reduce_partial[slot] = max(reduce_partial[slot], reduce_partial[slot + width]);
            }
        }
        barrier();
    }
    uint count = 1u;
#endif
    for (uint i = 0u; i < K_QUERIES; i++) {
        values[i] = reduce_partial[i * K_WORKGROUP];
        for (uint j = 1u; j < count; j++) {
            values[i] = max(values[i], reduce_partial[i * K_WORKGROUP + j]);
        }
    }
}

#endif
