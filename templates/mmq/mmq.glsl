// SPDX-License-Identifier: MIT
//
// What all mmq kernels have in common: y = x W^T (mmq_tiles.glsl) with x in q8_1. Products of codes
// are summed as integers, exactly, over groups of elements that have one scale on either side:
//
//   y[token][row] = sum over groups of d * (scale * sum(code * a) + offset * sum(a))
//
// with x = d * a in blocks of 32 elements, here called chunks, and W = scale * code + offset. A
// group is a chunk, or half of one for the types with a scale for 16 elements. k is a multiple of 32.
//
// The template includes this file at its top, because it switches extensions on.
#ifndef MMQ_GLSL
#define MMQ_GLSL

#include "dot.glsl"
#include "mmq_tiles.glsl"

// A block of q8_1: the half d (and a half that is not needed here), then 32 codes.
#define X_BLOCK_WORDS 9u
layout(set = 0, binding = 1, std430) readonly buffer X {
    uint x[]; // t x k / 32 blocks
};

#ifndef DECODE_HAS_CODES
#error "the type has no codes"
#endif

#define CHUNK_RUNS 4
#if SCALE_ELEMENTS >= 32
#define GROUP_RUNS 4
#else
#define GROUP_RUNS (SCALE_ELEMENTS / RUN_ELEMENTS)
#endif
#define CHUNK_GROUPS (CHUNK_RUNS / GROUP_RUNS)

// The first word of the block of x that a run is in.
uint x_block(uint token, uint run) {
    return (token * (k / 32u) + run / CHUNK_RUNS) * X_BLOCK_WORDS;
}

float load_x_scale(uint token, uint run) {
    return f16_to_f32(x[x_block(token, run)] & 0xFFFFu);
}

uvec2 load_x_codes(uint token, uint run) {
    uint word = x_block(token, run) + 1u + 2u * (run % CHUNK_RUNS);
    return uvec2(x[word], x[word + 1u]);
}

// d * sum(a) over the group that begins with a run.
float load_x_sum(uint token, uint run) {
    int sum = 0;
    for (uint i = 0u; i < GROUP_RUNS; i++) {
        sum += sum_codes(load_x_codes(token, run + i));
    }
    return load_x_scale(token, run) * float(sum);
}

uvec2 load_w_codes(uint row, uint run) {
    return run_codes(row_block(row, run), run % BLOCK_RUNS);
}

float load_w_scale(uint row, uint run) {
    return run_scale(row_block(row, run), run % BLOCK_RUNS);
}

#ifdef DECODE_HAS_OFFSET
float load_w_offset(uint row, uint run) {
    return run_offset(row_block(row, run), run % BLOCK_RUNS);
}
#endif

#endif
