// SPDX-License-Identifier: MIT
#version 450
//
// y = W x for one token: a workgroup computes K_ROWS rows of W. An invocation takes one unit
// of every (K_WORKGROUP / BLOCK_UNITS)th block, and they sum up at the end. All accumulation in f32.
//   schedule `row`    a unit is a run of eight elements
//   schedule `block`  a unit is a slice of 32 elements, read 16 bytes at a time
//   tier `dp4a`       x is q8_1, and codes are multiplied as integers

#include "params.glsl"
#define REDUCE_VALUES K_ROWS
#include "reduce.glsl"
#include "dispatch.glsl"
#if K_TIER == TIER_DP4A
#include "dot.glsl"
#endif

layout(local_size_x = K_WORKGROUP) in;

// W: nout x k, row-major raw blocks; a window of the tensor's rows that ends before 4 GiB.
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    uint weights[];
};
#if K_TIER == TIER_DP4A
layout(set = 0, binding = 1, std430) readonly buffer X {
    uint x[]; // k as q8_1, 9 words for 32 elements
};
#else
layout(set = 0, binding = 1, std430) readonly buffer X {
    float x[]; // k
};
#endif
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    float y[]; // row_first + nout
};

layout(push_constant) uniform Push {
    uint nout;
    uint k;         // a multiple of the block, and of 8
    uint row_first; // row of y for the window's first row of weights
};

#include "decode.glsl"
#include "units.glsl"

#if K_WORKGROUP % BLOCK_UNITS != 0
#error "a workgroup covers whole blocks"
#endif

void main() {
    uint row = dispatch_group_index() * K_ROWS;
    // A group past the end has no blocks to read, but takes part in the barriers.
    uint block_count = row < nout ? k / BLOCK_ELEMENTS : 0u;
    uint row_bytes = k / BLOCK_ELEMENTS * BLOCK_BYTES;

    float sums[K_ROWS];
    uint row_offset[K_ROWS];
    for (uint i = 0u; i < K_ROWS; i++) {
        sums[i] = 0.0;
        row_offset[i] = min(row + i, nout - 1u) * row_bytes; // rows past the end repeat the last
    }
    uint unit = gl_LocalInvocationIndex % BLOCK_UNITS;
    for (uint block = gl_LocalInvocationIndex / BLOCK_UNITS; block < block_count;
         block += K_WORKGROUP / BLOCK_UNITS) {
        UnitX a = load_unit(block * BLOCK_ELEMENTS, unit);
        for (uint i = 0u; i < K_ROWS; i++) {
            sums[i] += dot_unit(row_offset[i] + block * BLOCK_BYTES, unit, a);
        }
    }

    reduce_sum(sums);
    if (gl_LocalInvocationIndex == 0u) {
        for (uint i = 0u; i < K_ROWS; i++) {
            if (row + i < nout) {
                y[row_first + row + i] = sums[i];
            }
        }
    }
}
