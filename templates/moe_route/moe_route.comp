// SPDX-License-Identifier: MIT
#version 450
//
// Routing of tokens to experts: softmax over all experts, then the topk of them by (probability
// descending, index ascending), their weights divided by their sum if `normalise`. A workgroup a token.
//
// Experts are ranked by their logits, which order as the probabilities do and do not round: an expert's
// rank is the number of experts before it. The one of rank 0 is the maximum that softmax subtracts.

#include "params.glsl"
#define REDUCE_VALUES 2
#include "reduce.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

#define TOPK_MAX 256

layout(set = 0, binding = 0, std430) readonly buffer Logits {
    uint x[]; // tokens x experts, f32 bits
};
layout(set = 0, binding = 1, std430) writeonly buffer Weights {
    float weights[]; // tokens x topk
};
layout(set = 0, binding = 2, std430) writeonly buffer Ids {
    int ids[]; // tokens x topk
};

layout(push_constant) uniform Push {
    uint tokens;
    uint experts;   // at least 1
    uint topk;      // at most 256; slots beyond the experts get weight 0 and id -1
    uint normalise; // 0 or 1
};

#include "order.glsl"

shared uint chosen[TOPK_MAX];

uint rank_of(uint row, uint expert) {
    uint key = order_key(load_bits(row + expert));
    uint rank = 0u;
    for (uint i = 0u; i < experts; i++) {
        uint other = order_key(load_bits(row + i));
        rank += uint(other > key || (other == key && i < expert));
    }
    return rank;
}

float exponential(uint row, uint expert, float largest) {
    return exp(uintBitsToFloat(x[row + expert]) - largest);
}

void main() {
    uint group = dispatch_group_index();
    uint token = min(group, tokens - 1u); // a group past the end repeats the last and stores nothing
    uint row = token * experts;
    uint slots = min(min(topk, experts), TOPK_MAX);

    for (uint i = gl_LocalInvocationIndex; i < experts; i += K_WORKGROUP) {
        uint rank = rank_of(row, i);
        if (rank < max(slots, 1u)) {
            chosen[rank] = i;
        }
    }
    barrier();

    float largest = uintBitsToFloat(x[row + chosen[0]]);
    float sums[REDUCE_VALUES]; // over all experts, over the chosen ones
    sums[0] = 0.0;
    sums[1] = 0.0;
    for (uint i = gl_LocalInvocationIndex; i < experts; i += K_WORKGROUP) {
        sums[0] += exponential(row, i, largest);
    }
    for (uint i = gl_LocalInvocationIndex; i < slots; i += K_WORKGROUP) {
        sums[1] += exponential(row, chosen[i], largest);
    }
    reduce_sum(sums);

    float total = normalise != 0u ? sums[1] : sums[0];
    for (uint i = gl_LocalInvocationIndex; i < topk && group < tokens; i += K_WORKGROUP) {
        bool filled = i < slots;
        uint expert = filled ? chosen[i] : 0u;
        weights[token * topk + i] = filled ? exponential(row, expert, largest) / total : 0.0;
        ids[token * topk + i] = filled ? int(expert) : -1;
    }
}
