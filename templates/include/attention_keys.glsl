// SPDX-License-Identifier: MIT
//
// The loop over keys of attention.glsl. Bindings: q 0, and attention_cache.glsl's.
#ifndef ATTENTION_KEYS_GLSL
#define ATTENTION_KEYS_GLSL

#include "attention_cache.glsl"

shared vec4 attention_queries[K_QUERIES * K_HEAD / 4];
shared float attention_weights[K_QUERIES * K_WORKGROUP];
shared float attention_slices[K_WORKGROUP * RUN_ELEMENTS];

// Puts element `element` of query `query` into place, for all invocations after a barrier.
void attention_query_set(uint query, uint element, float value) {
    attention_queries[(query * K_HEAD + element) / 4u][element % 4u] = value;
}

void attention_clear(out Attention a) {
    for (uint i = 0u; i < K_QUERIES; i++) {
        a.maximum[i] = SCORE_MASKED;
        a.sum[i] = 0.0;
        a.low[i] = vec4(0.0);
        a.high[i] = vec4(0.0);
    }
}

// The scores of one key with all queries; d elements a head.
void attention_score(uint key, uint d, out float scores[K_QUERIES]) {
    float products[K_QUERIES];
    for (uint i = 0u; i < K_QUERIES; i++) {
        products[i] = 0.0;
    }
    for (uint run = 0u; run < d / RUN_ELEMENTS; run++) {
        vec4 low;
        vec4 high;
        decode_key(key, run, low, high);
        for (uint i = 0u; i < K_QUERIES; i++) {
            uint at = i * (K_HEAD / 4) + 2u * run;
            products[i] += dot(attention_queries[at], low) + dot(attention_queries[at + 1u], high);
        }
    }
    for (uint i = 0u; i < K_QUERIES; i++) {
        scores[i] = score_of(i, key, products[i]);
    }
}

// Adds keys key_first .. key_end - 1, the same in all invocations, to the totals.
void attention_add(inout Attention a, uint d, uint key_first, uint key_end) {
    uint thread = gl_LocalInvocationIndex;
    uint run_count = d / RUN_ELEMENTS;
    uint slices = K_WORKGROUP / run_count; // invocations beyond slices * run_count have no slice
    uint slice = thread / run_count;
    for (uint tile = key_first; tile < key_end; tile += K_WORKGROUP) {
        uint tile_keys = min(uint(K_WORKGROUP), key_end - tile);
        float scores[K_QUERIES];
        for (uint i = 0u; i < K_QUERIES; i++) {
            scores[i] = SCORE_MASKED;
        }
        if (thread < tile_keys) {
            attention_score(tile + thread, d, scores);
        }
        float maxima[K_QUERIES] = scores;
        attention_maximum(maxima); // its barriers: the last tile's weights have been read
        for (uint i = 0u; i < K_QUERIES; i++) {
            float maximum = max(a.maximum[i], maxima[i]);
            float shrink = score_weight(a.maximum[i], maximum);
            float weight = score_weight(scores[i], maximum);
            a.maximum[i] = maximum;
            a.sum[i] = a.sum[i] * shrink + weight;
            a.low[i] *= shrink;
            a.high[i] *= shrink;
            attention_weights[i * K_WORKGROUP + thread] = weight;
        }
        barrier();
        for (uint key = slice; slice < slices && key < tile_keys; key += slices) {
            vec4 low;
            vec4 high;
            decode_value(tile + key, thread % run_count, low, high);
            for (uint i = 0u; i < K_QUERIES; i++) {
                float weight = attention_weights[i * K_WORKGROUP + key];
                a.low[i] += weight * low;
                a.high[i] += weight * high;
            }
        }
    }
}

// Sums the invocations' shares: a.sum becomes the total in all invocations.
void attention_finish(inout Attention a) {
    reduce_sum(a.sum);
}

// Shares the slices of one query's vector, so that attention_vector can add them up.
void attention_share(Attention a, uint query) {
    uint first = gl_LocalInvocationIndex * RUN_ELEMENTS;
    barrier(); // an earlier query may still be read
    for (uint i = 0u; i < 4u; i++) {
        attention_slices[first + i] = a.low[query][i];
        attention_slices[first + 4u + i] = a.high[query][i];
    }
    barrier();
}

// Element `element` of the vector that was shared last.
float attention_vector(uint d, uint element) {
    float total = 0.0;
    for (uint slice = 0u; slice < K_WORKGROUP / (d / RUN_ELEMENTS); slice++) {
        total += attention_slices[slice * d + element];
    }
    return total;
}

#endif
