// SPDX-License-Identifier: MIT
//
// What all flash_attn kernels have in common: o = softmax(scale q k^T + mask) v for each of bh heads,
// without materialising the scores.
//
// With `causal` query i sees the keys j <= i + lk - lq: the last query sees them all. With `mask`
// mask_values[i][j] is added to the scaled score; a mask of -infinity, or one so low that the score
// leaves the range of f32, excludes the key. The output of a query that sees no key is 0.
//
// A workgroup computes K_QUERIES consecutive queries of a head. Bindings: q 0, keys 1, values 2,
// o 4.
#ifndef FLASH_ATTN_GLSL
#define FLASH_ATTN_GLSL

#include "attention_score.glsl"
#include "dispatch.glsl"

layout(set = 0, binding = 3, std430) readonly buffer Mask {
    float mask_values[]; // lq x lk; not read without `mask`
};

layout(push_constant) uniform Push {
    uint bh;
    uint lq;
    uint lk;
    uint d;      // at most K_HEAD; a multiple of the block, and of 8
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

#endif
