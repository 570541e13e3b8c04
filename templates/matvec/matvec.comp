// SPDX-License-Identifier: MIT
#version 450
//
// y = W x for one token, schedule `row`: a workgroup computes K_ROWS rows of W, its invocations
// taking runs of eight elements in turn and summing at the end. All accumulation in f32.

#include "params.glsl"
#define REDUCE_VALUES K_ROWS
#include "reduce.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

// W: nout x k, row-major raw blocks; a window of the tensor's rows that ends before 4 GiB.
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    uint weights[];
};
layout(set = 0, binding = 1, std430) readonly buffer X {
    float x[]; // k
};
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    float y[]; // row_first + nout
};

layout(push_constant) uniform Push {
    uint nout;
    uint k;         // a multiple of the block, and of 8
    uint row_first; // row of y for the window's first row of weights
};

#include "decode.glsl"

void main() {
    uint row = dispatch_group_index() * K_ROWS;
    // A group past the end has no runs to read, but takes part in the barriers.
    uint run_count = row < nout ? k / RUN_ELEMENTS : 0u;
    uint row_bytes = k / BLOCK_ELEMENTS * BLOCK_BYTES;

    float sums[K_ROWS];
    uint row_offset[K_ROWS];
    for (uint i = 0u; i < K_ROWS; i++) {
        sums[i] = 0.0;
        row_offset[i] = min(row + i, nout - 1u) * row_bytes; // rows past the end repeat the last
    }
    for (uint run = gl_LocalInvocationIndex; run < run_count; run += K_WORKGROUP) {
        uint first = run * RUN_ELEMENTS;
        vec4 x_low = vec4(x[first], x[first + 1u], x[first + 2u], x[first + 3u]);
        vec4 x_high = vec4(x[first + 4u], x[first + 5u], x[first + 6u], x[first + 7u]);
        uint block = run / BLOCK_RUNS * BLOCK_BYTES;
        for (uint i = 0u; i < K_ROWS; i++) {
            sums[i] += dot_run(row_offset[i] + block, run % BLOCK_RUNS, x_low, x_high);
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
