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

#define x_elements k

#if K_STAGED
// Each subgroup stages the bytes that it is about to decode: it reads them 16 at a time side by side,
// however the blocks lie, and each invocation then takes its own from shared memory.
#define LOOKUP_STAGED
uint staged_word(uint index);
uvec4 staged_vector(uint index);
#define WEIGHT_WORD(index) staged_word(index)
#define WEIGHT_VECTOR(index) staged_vector(index)
#else
#define WEIGHT_VECTOR(index) weights16[index]
#endif

#include "decode.glsl"
#include "units.glsl"

// Adds unit i of a row, whose bytes begin at `offset`, and of the one that begins at `second`.
void add_unit(inout vec2 sums, uint offset, uint second, uint i, UnitX a) {
    uint at = i / BLOCK_UNITS * BLOCK_BYTES;
    sums.x += dot_unit(offset + at, i % BLOCK_UNITS, a);
#if K_TOGETHER == 2
    sums.y += dot_unit(second + at, i % BLOCK_UNITS, a);
#endif
}

UnitX load_x(uint i) {
    return load_unit(i / BLOCK_UNITS * BLOCK_ELEMENTS, i % BLOCK_UNITS);
}

#if K_STAGED

// Vectors of an invocation: its units' bytes, and a share of what is read to be aligned.
#define STAGE_VECTORS ((K_AHEAD * BLOCK_BYTES + BLOCK_UNITS * 16 - 1) / (BLOCK_UNITS * 16) + 1)
shared uvec4 weight_stage[K_WORKGROUP * K_TOGETHER * STAGE_VECTORS];

uint staged_word(uint index) {
    return weight_stage[index >> 2][index & 3u];
}

uvec4 staged_vector(uint index) {
    return weight_stage[index];
}

// Stages bytes first .. first + count - 1 of W as row `which` of this subgroup. Returns the offset at
// which `first` then is. The barriers are the workgroup's: some drivers run one that not all
// subgroups reach as if they did.
uint stage(uint first, uint count, uint which) {
    uint at = (gl_SubgroupID * K_TOGETHER + which) * gl_SubgroupSize * STAGE_VECTORS;
    uint vector_first = first / 16u;
    uint vector_count = (first + count + 15u) / 16u - vector_first;
    for (uint i = gl_SubgroupInvocationID; i < vector_count; i += gl_SubgroupSize) {
        weight_stage[at + i] = weights16[vector_first + i];
    }
    return at * 16u + first % 16u;
}

// first, second: where the rows begin. All subgroups together; without `live` nothing is read.
vec2 sum_rows(bool live, uint first, uint second, uint unit_count) {
    vec2 sums = vec2(0.0);
    uint step = K_AHEAD * gl_SubgroupSize; // a whole number of blocks
    for (uint begin = 0u; begin < unit_count; begin += step) {
        uint units = live ? min(step, unit_count - begin) : 0u;
        uint at = begin / BLOCK_UNITS * BLOCK_BYTES;
        uint count = units / BLOCK_UNITS * BLOCK_BYTES;
        barrier(); // others may still read the stage before
        uint stage_first = stage(first + at, count, 0u);
#if K_TOGETHER == 2
        uint stage_second = stage(second + at, count, 1u);
#else
        uint stage_second = 0u;
#endif
        barrier();
        [[unroll]] for (uint ahead = 0u; ahead < K_AHEAD; ahead++) {
            uint i = ahead * gl_SubgroupSize + gl_SubgroupInvocationID;
            if (i < units) {
                add_unit(sums, stage_first, stage_second, i, load_x(begin + i));
            }
        }
    }
    return sums;
}

#else

vec2 sum_rows(bool live, uint first, uint second, uint unit_count) {
    vec2 sums = vec2(0.0);
    uint lanes = gl_SubgroupSize;
    uint i = live ? gl_SubgroupInvocationID : unit_count;
    for (; i + (K_AHEAD - 1) * lanes < unit_count; i += K_AHEAD * lanes) {
        [[unroll]] for (uint ahead = 0u; ahead < K_AHEAD; ahead++) {
            uint unit = i + ahead * lanes;
            add_unit(sums, first, second, unit, load_x(unit));
        }
    }
    for (; i < unit_count; i += lanes) {
        add_unit(sums, first, second, i, load_x(i));
    }
    return sums;
}

#endif

void main() {
    uint group_row = dispatch_group_index() * K_ROWS;
    uint row_end = group_row < nout ? min(group_row + K_ROWS, nout) : group_row; // none past the end
    uint unit_count = k / BLOCK_ELEMENTS * BLOCK_UNITS;
    uint row_bytes = k / BLOCK_ELEMENTS * BLOCK_BYTES;
#ifdef DECODE_HAS_SIGNS_FILL
    sign_fill();
#endif
#ifdef DECODE_HAS_FILL
    lookup_fill();
#endif
    for (uint base = group_row; base < row_end; base += gl_NumSubgroups * K_TOGETHER) {
        uint row = base + gl_SubgroupID * K_TOGETHER;
        bool live = row < row_end;
        uint second = min(row + 1u, row_end - 1u); // past the end the last one again
        vec2 sums = sum_rows(live, row * row_bytes, second * row_bytes, unit_count);
        sums = subgroupAdd(sums);
        if (live && subgroupElect()) {
            y[row_first + row] = sums.x;
#if K_TOGETHER == 2
            if (row + 1u < row_end) {
                y[row_first + row + 1u] = sums.y;
            }
#endif
        }
    }
}
