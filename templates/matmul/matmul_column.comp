// SPDX-License-Identifier: MIT
#version 450
//
// Products for a few tokens, schedule `column`: a workgroup computes K_ROWS rows for K_TOKENS
// tokens, its invocations taking runs of eight elements in turn and summing at the end. A run of
// weights is decoded once for all the tokens. All accumulation in f32.

#include "params.glsl"
#define TILE_TOKENS K_TOKENS
#define TILE_ROWS K_ROWS
#define REDUCE_VALUES (K_TOKENS * K_ROWS)
#include "reduce.glsl"

layout(local_size_x = K_WORKGROUP) in;

#include "matmul.glsl"

void compute(Tile tile) {
    float sums[K_TOKENS * K_ROWS];
    for (uint i = 0u; i < K_TOKENS * K_ROWS; i++) {
        sums[i] = 0.0;
    }
    uint x_rows[K_TOKENS];
    for (uint i = 0u; i < K_TOKENS; i++) {
        x_rows[i] = tile_x_row(tile, i);
    }
    for (uint run = gl_LocalInvocationIndex; run < run_count(); run += K_WORKGROUP) {
        vec4 w_low[K_ROWS];
        vec4 w_high[K_ROWS];
        for (uint j = 0u; j < K_ROWS; j++) {
            load_w(tile_w_row(tile, j), run, w_low[j], w_high[j]);
        }
        for (uint i = 0u; i < K_TOKENS; i++) {
            vec4 x_low;
            vec4 x_high;
            load_x(x_rows[i], run, x_low, x_high);
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

void main() {
    Tile tile;
    if (tile_first(tile)) {
        do {
            compute(tile);
        } while (tile_next(tile));
    }
    store_rest();
}
