// SPDX-License-Identifier: MIT
//
// What all matmul kernels have in common: y = x W^T (product.glsl) with x in f32 or f16. Runs past
// the end of k count as zeros.
#ifndef MATMUL_GLSL
#define MATMUL_GLSL

// Type of the activations (`x_type`).
#define X_TYPE_F32 0
#define X_TYPE_F16 1

#include "product.glsl"

layout(set = 0, binding = 1, std430) readonly buffer X {
#if K_X_TYPE == X_TYPE_F16
    uint x[]; // t x k, two halves a word
#else
    float x[]; // t x k
#endif
};

// The eight activations of a run of a token.
#if K_X_TYPE == X_TYPE_F16
uvec4 load_x_words(uint token, uint run) {
    uint first = token * (k / 2u) + run * (RUN_ELEMENTS / 2u);
    return uvec4(x[first], x[first + 1u], x[first + 2u], x[first + 3u]);
}

void load_x(uint token, uint run, out vec4 low, out vec4 high) {
    uvec4 words = load_x_words(token, run);
    uvec4 even = words & 0xFFFFu;
    uvec4 odd = words >> 16;
    low = vec4(f16_to_f32(even.x), f16_to_f32(odd.x), f16_to_f32(even.y), f16_to_f32(odd.y));
    high = vec4(f16_to_f32(even.z), f16_to_f32(odd.z), f16_to_f32(even.w), f16_to_f32(odd.w));
}
#else
void load_x(uint token, uint run, out vec4 low, out vec4 high) {
    uint first = token * k + run * RUN_ELEMENTS;
    low = vec4(x[first], x[first + 1u], x[first + 2u], x[first + 3u]);
    high = vec4(x[first + 4u], x[first + 5u], x[first + 6u], x[first + 7u]);
}
#endif

// The eight weights of a run of a row.
void load_w(uint row, uint run, out vec4 low, out vec4 high) {
    decode_run(row_block(row, run), run % BLOCK_RUNS, low, high);
}

#endif
