// SPDX-License-Identifier: MIT
#version 450
//
// Rows of a table of weights by number, decoded to f32: an invocation decodes one run of eight
// elements. An id outside 0 .. table_rows - 1 gives zeros and reads nothing.
//
// A table larger than a buffer range comes as windows of its rows, one dispatch each: a window writes
// the rows it has. Rows of zeros are written by every window, all the same.

#include "params.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

// rows x k, row-major raw blocks; a window of the table that ends before 4 GiB.
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    uint weights[];
};
layout(set = 0, binding = 1, std430) readonly buffer Ids {
    int ids[]; // count
};
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    float y[]; // count x k
};

layout(push_constant) uniform Push {
    uint count;
    uint k; // a multiple of the block, and of 8
    uint rows;       // of the window
    uint row_first;  // the window's first row
    uint table_rows; // of all windows together
};

#include "decode.glsl"

void store_run(uint first, vec4 low, vec4 high) {
    for (uint i = 0u; i < 4u; i++) {
        y[first + i] = low[i];
        y[first + 4u + i] = high[i];
    }
}

void main() {
    uint row_runs = k / RUN_ELEMENTS;
    uint row_groups = (row_runs + K_WORKGROUP - 1u) / K_WORKGROUP;
    uint group = dispatch_group_index();
    uint item = group / row_groups;
    uint run = group % row_groups * K_WORKGROUP + gl_LocalInvocationIndex;
    if (item >= count || run >= row_runs) {
        return;
    }
    uint id = uint(ids[item]); // a negative one is a large number
    uint row = id - row_first; // and so is a row before the window
    vec4 low = vec4(0.0);
    vec4 high = vec4(0.0);
    if (id < table_rows) {
        if (id < row_first || row >= rows) {
            return; // another window's
        }
        uint block = row * (k / BLOCK_ELEMENTS * BLOCK_BYTES) + run / BLOCK_RUNS * BLOCK_BYTES;
        decode_run(block, run % BLOCK_RUNS, low, high);
    }
    store_run(item * k + run * RUN_ELEMENTS, low, high);
}
