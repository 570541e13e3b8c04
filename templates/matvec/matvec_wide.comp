// SPDX-License-Identifier: MIT
#version 450
//
// y = W x for one token, schedule `wide`: K_ROWS rows of W a workgroup, shared out among its
// subgroups, K_TOGETHER (1 or 2) at a time. The invocations of a subgroup take units of a row in
// turn (units.glsl), K_AHEAD of them at once so that their loads overlap. No shared memory and no
// barrier; any subgroup size is right. In tier dp4a x is q8_1s and codes are multiplied as integers.

#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require

#include "params.glsl"
#include "dispatch.glsl"
#if K_TIER == TIER_DP4A
#include "dot.glsl"
#endif

layout(local_size_x = K_WORKGROUP) in;

// W: nout x k, row-major raw blocks; a window of the tensor's rows that ends before 4 GiB.
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    uint weights[];
};
layout(set = 0, binding = 0, std430) readonly buffer Weights16 {
    uvec4 weights16[]; // the same
};
#if K_TIER == TIER_DP4A
layout(set = 0, binding = 1, std430) readonly buffer X {
    uint x[]; // k as q8_1s
};
layout(set = 0, binding = 1, std430) readonly buffer X16 {
    uvec4 x16[]; // the same
};
#else
layout(set = 0, binding = 1, std430) readonly buffer X {
    vec4 x[]; // k
};
#define x16 x
#endif
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    float y[]; // row_first + nout
};

layout(push_constant) uniform Push {
    uint nout;
    uint k;         // a multiple of the block, and of 32; of 8 without blocks
    uint row_first; // row of y for the window's first row of weights
};

#define WEIGHT_VIEW_16
#define x_elements k

#include "decode.glsl"
#include "units.glsl"

struct Rows {
    uint offset; // of the first row, in bytes
    uint next;   // from it to the second one: 0 where there is none
};

// Adds unit i of the rows to their sums.
void add_unit(inout vec2 sums, Rows rows, uint i) {
    uint block = i / BLOCK_UNITS;
    uint at = rows.offset + block * BLOCK_BYTES;
    UnitX a = load_unit(block * BLOCK_ELEMENTS, i % BLOCK_UNITS);
    sums.x += dot_unit(at, i % BLOCK_UNITS, a);
#if K_TOGETHER == 2
    sums.y += dot_unit(at + rows.next, i % BLOCK_UNITS, a);
#endif
}

void main() {
    uint unit_count = k / BLOCK_ELEMENTS * BLOCK_UNITS;
    uint row_bytes = k / BLOCK_ELEMENTS * BLOCK_BYTES;
    uint lanes = gl_SubgroupSize;
    uint group_row = dispatch_group_index() * K_ROWS;
    uint row_end = group_row < nout ? min(group_row + K_ROWS, nout) : group_row;
    for (uint row = group_row + gl_SubgroupID * K_TOGETHER; row < row_end;
         row += gl_NumSubgroups * K_TOGETHER) {
        Rows rows = Rows(row * row_bytes, row + 1u < row_end ? row_bytes : 0u);
        vec2 sums = vec2(0.0);
        uint i = gl_SubgroupInvocationID;
        for (; i + (K_AHEAD - 1) * lanes < unit_count; i += K_AHEAD * lanes) {
            [[unroll]] for (uint ahead = 0u; ahead < K_AHEAD; ahead++) {
                add_unit(sums, rows, i + ahead * lanes);
            }
        }
        for (; i < unit_count; i += lanes) {
            add_unit(sums, rows, i);
        }
        sums = subgroupAdd(sums);
        if (subgroupElect()) {
            y[row_first + row] = sums.x;
#if K_TOGETHER == 2
            if (row + 1u < row_end) {
                y[row_first + row + 1u] = sums.y;
            }
#endif
        }
    }
}
