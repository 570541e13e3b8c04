// SPDX-License-Identifier: MIT
#version 450
//
// Rows of f32 into a quantised cache: row i of x becomes row positions[i] of the cache, the other rows
// stay as they are. A workgroup makes GROUP_BLOCKS blocks of one row. Positions must differ from each
// other; a row whose position lies outside 0 .. capacity - 1 is left out.

#include "quantize.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer X {
    float x[]; // rows x k
};
layout(set = 0, binding = 1, std430) readonly buffer Positions {
    int positions[]; // rows
};
// capacity x k / 32 blocks. A multiple of 64 elements is whole words, so no two rows share a word.
layout(set = 0, binding = 2, std430) writeonly buffer Cache {
    uint cache[];
};

layout(push_constant) uniform Push {
    uint rows;
    uint k; // a multiple of 64
    uint capacity;
};

vec4 load_quarter(uint first) {
    return vec4(x[first], x[first + 1u], x[first + 2u], x[first + 3u]);
}

void main() {
    uint row_blocks = k / BLOCK_ELEMENTS;
    uint row_groups = (row_blocks + GROUP_BLOCKS - 1u) / GROUP_BLOCKS;
    uint group = dispatch_group_index();
    uint row = group / row_groups;
    uint group_block = group % row_groups * GROUP_BLOCKS;
    // A negative position is a large number. Groups without a row take part in the barriers.
    uint position = row < rows ? uint(positions[row]) : 0xFFFFFFFFu;
    uint block_count = position < capacity ? min(row_blocks - group_block, GROUP_BLOCKS) : 0u;

    uint lane = gl_LocalInvocationIndex % BLOCK_LANES;
    uint block = gl_LocalInvocationIndex / BLOCK_LANES;
    vec4 low = vec4(0.0);
    vec4 high = vec4(0.0);
    if (block < block_count) {
        uint element = row * k + (group_block + block) * BLOCK_ELEMENTS;
        low = load_quarter(element + quantize_first(lane, 0u));
        high = load_quarter(element + quantize_first(lane, 1u));
    }
    quantize_block(low, high);
    barrier();
    uint row_word = position * (row_blocks * BLOCK_HALVES / 2u);
    uint first_word = row_word + group_block * BLOCK_HALVES / 2u;
    for (uint i = gl_LocalInvocationIndex; i < block_count * BLOCK_HALVES / 2u; i += K_WORKGROUP) {
        cache[first_word + i] = quantize_word(i);
    }
}
