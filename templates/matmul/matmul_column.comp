// SPDX-License-Identifier: MIT
#version 450
//
// y = x W^T for a few tokens, schedule `column`: a workgroup computes K_ROWS rows for K_TOKENS
// tokens, its invocations taking runs of eight elements in turn and summing at the end. A run of
// weights is decoded once for all the tokens. All accumulation in f32.

#include "params.glsl"
#define TILE_TOKENS K_TOKENS
#define TILE_ROWS K_ROWS
#define REDUCE_VALUES (K_TOKENS * K_ROWS)
#include "reduce.glsl"

layout(local_size_x = K_WORKGROUP) in;

#include "matmul.glsl"

void main() {
    Tile tile = matmul_tile();
    float sums[K_TOKENS * K_ROWS];
    for (uint i = 0u; i < K_TOKENS * K_ROWS; i++) {
        sums[i] = 0.0;
    }
    for (uint run = gl_LocalInvocationIndex; run < tile.run_count; run += K_WORKGROUP) {
        vec4 w_low[K_ROWS];
        vec4 w_high[K_ROWS];
        for (uint j = 0u; j < K_ROWS; j++) {
            load_w(clamp_index(tile.row, j, nout), run, w_low[j], w_high[j]);
        }
        for (uint i = 0u; i < K_TOKENS; i++) {
            vec4 x_low;
            vec4 x_high;
            load_x(clamp_index(tile.token, i, t), run, x_low, x_high);
            for (uint j = 0u; j < K_ROWS; j++) {
                sums[i * K_ROWS + j] += dot(w_low[j], x_low) + dot(w_high[j], x_high);
            }
        }
    }

    reduce_sum(sums);
    // One invocation a result; the index into `sums` stays a constant of the unrolled loop.
    for (uint i = 0u; i < K_TOKENS * K_ROWS; i++) {
        if (gl_LocalInvocationIndex == i) {
            store_y(tile, i / K_ROWS, i % K_ROWS, sums[i]);
        }
    }
}
