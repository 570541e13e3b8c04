// SPDX-License-Identifier: MIT
#version 450
//
// Mixture of experts, one token at a time: y[token][j] = W[ids[token][j]] x[token][j], the routing
// weight not applied. A workgroup computes K_ROWS rows of one pair (token, j) as matvec does; see
// matvec.comp for schedules and tiers. An id outside 0 .. expert_count - 1 reads no weights and
// gives zeros.

#include "params.glsl"
#define REDUCE_VALUES K_ROWS
#include "reduce.glsl"
#include "dispatch.glsl"
#if K_TIER == TIER_DP4A
#include "dot.glsl"
#endif

layout(local_size_x = K_WORKGROUP) in;

// W: experts x nout x k, raw blocks; a window of whole experts that ends before 4 GiB.
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    uint weights[];
};
layout(set = 0, binding = 1, std430) readonly buffer Ids {
    int ids[]; // t x topk
};
#if K_TIER == TIER_DP4A
layout(set = 0, binding = 2, std430) readonly buffer X {
    uint x[]; // t x slots x k as q8_1, 9 words for 32 elements
};
#else
layout(set = 0, binding = 2, std430) readonly buffer X {
    float x[]; // t x slots x k
};
#endif
layout(set = 0, binding = 3, std430) writeonly buffer Y {
    float y[]; // t x topk x nout
};

layout(push_constant) uniform Push {
    uint experts; // in the window
    uint nout;
    uint k; // a multiple of the block, and of 8
    uint t;
    uint topk;
    uint slots;        // 1: the experts of a token share one x (gate, up); topk: one each (down)
    uint row_first;    // the window's first expert
    uint expert_count; // of the whole tensor
};

#include "decode.glsl"
#include "units.glsl"

#if K_WORKGROUP % BLOCK_UNITS != 0
#error "a workgroup covers whole blocks"
#endif

void main() {
    uint groups_per_pair = (nout - 1u) / K_ROWS + 1u;
    uint group = dispatch_group_index();
    uint pair = group / groups_per_pair; // token * topk + j
    uint row = group % groups_per_pair * K_ROWS;

    bool in_grid = pair < t * topk;
    uint id = in_grid ? uint(ids[pair]) : expert_count; // negative ids become large ones
    bool exists = id < expert_count;
    uint expert = id - row_first; // in the window; large if the id is below it
    bool in_window = exists && expert < experts;

    // Without an expert there are no blocks to read, but barriers to take part in.
    uint block_count = in_window ? k / BLOCK_ELEMENTS : 0u;
    uint row_bytes = k / BLOCK_ELEMENTS * BLOCK_BYTES;
    uint x_first = (pair / topk * slots + min(pair % topk, slots - 1u)) * k;

    float sums[K_ROWS];
    uint row_offset[K_ROWS];
    for (uint i = 0u; i < K_ROWS; i++) {
        sums[i] = 0.0;
        row_offset[i] = (expert * nout + min(row + i, nout - 1u)) * row_bytes;
    }
    uint unit = gl_LocalInvocationIndex % BLOCK_UNITS;
    for (uint block = gl_LocalInvocationIndex / BLOCK_UNITS; block < block_count;
         block += K_WORKGROUP / BLOCK_UNITS) {
        UnitX a = load_unit(x_first + block * BLOCK_ELEMENTS, unit);
        for (uint i = 0u; i < K_ROWS; i++) {
            sums[i] += dot_unit(row_offset[i] + block * BLOCK_BYTES, unit, a);
        }
    }

    reduce_sum(sums);
    // Another window writes the rows of its experts.
    if (gl_LocalInvocationIndex == 0u && in_grid && (in_window || !exists)) {
        for (uint i = 0u; i < K_ROWS; i++) {
            if (row + i < nout) {
                y[pair * nout + row + i] = sums[i];
            }
        }
    }
}
