// SPDX-License-Identifier: MIT
#version 450
//
// Activations to q8_1 blocks, or to the same split into codes and headers (q8_1s), row by row: a
// workgroup makes GROUP_BLOCKS blocks of one row.

#include "quantize.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer X {
    float x[]; // rows x k
};
layout(set = 0, binding = 1, std430) writeonly buffer Blocks {
    // q8_1: rows x k / 32 blocks of 9 words, header and codes
    // q8_1s: rows x k / 32 times 8 words of codes, then as many headers of 4 words
    uint blocks[];
};

layout(push_constant) uniform Push {
    uint rows;
    uint k; // a multiple of 32
};

vec4 load_quarter(uint first) {
    return vec4(x[first], x[first + 1u], x[first + 2u], x[first + 3u]);
}

// Writes word `word` of the group's blocks.
void store_word(uint first_block, uint word) {
    const uint block_words = BLOCK_HALVES / 2u;
#if K_DTYPE == DTYPE_Q8_1S
    uint block = first_block + word / block_words;
    uint part = word % block_words;
    if (part != 0u) {
        blocks[block * (block_words - 1u) + part - 1u] = quantize_word(word);
        return;
    }
    ivec2 sums = quantize_sums(word / block_words);
    uint at = rows * (k / 4u) + 4u * block;
    blocks[at] = floatBitsToUint(f16_to_f32(quantize_word(word) & 0xFFFFu));
    blocks[at + 1u] = floatBitsToUint(float(sums.x));
    blocks[at + 2u] = floatBitsToUint(float(sums.y));
    blocks[at + 3u] = floatBitsToUint(float(sums.x + sums.y));
#else
    blocks[first_block * block_words + word] = quantize_word(word);
#endif
}

void main() {
    uint row_blocks = k / BLOCK_ELEMENTS;
    uint row_groups = (row_blocks + GROUP_BLOCKS - 1u) / GROUP_BLOCKS;
    uint group = dispatch_group_index();
    uint row = group / row_groups;
    uint group_block = group % row_groups * GROUP_BLOCKS;
    // Blocks of this group; a group past the end has none, but takes part in the barriers.
    uint block_count = row < rows ? min(row_blocks - group_block, GROUP_BLOCKS) : 0u;
    uint first_block = row * row_blocks + group_block;

    uint lane = gl_LocalInvocationIndex % BLOCK_LANES;
    uint block = gl_LocalInvocationIndex / BLOCK_LANES;
    vec4 low = vec4(0.0);
    vec4 high = vec4(0.0);
    if (block < block_count) {
        uint element = (first_block + block) * BLOCK_ELEMENTS;
        low = load_quarter(element + quantize_first(lane, 0u));
        high = load_quarter(element + quantize_first(lane, 1u));
    }
    quantize_block(low, high);
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < block_count * BLOCK_HALVES / 2u; i += K_WORKGROUP) {
        store_word(first_block, i);
    }
}
