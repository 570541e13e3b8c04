// SPDX-License-Identifier: MIT
#version 450
//
// y = x W^T for many tokens, schedule `tile`: a workgroup computes 64 tokens x 64 rows. It stages
// 32 elements of each of them in shared memory, decoded to f32, then every one of its 16 x 16
// invocations adds up 4 x 4 results. All accumulation in f32.

#include "params.glsl"

#define TILE_TOKENS 64
#define TILE_ROWS 64
#define STAGE_RUNS 4 // one run of a token and one of a row for each invocation
#define STAGE_ELEMENTS (STAGE_RUNS * 8)
#define SIDE 16  // invocations along tokens and along rows
#define EACH 4   // tokens and rows of an invocation, SIDE apart

layout(local_size_x = K_WORKGROUP) in; // SIDE * SIDE = 64 * STAGE_RUNS

#include "matmul.glsl"

// Element-major, so that neighbouring invocations meet neighbouring words.
shared float x_stage[STAGE_ELEMENTS * TILE_TOKENS];
shared float w_stage[STAGE_ELEMENTS * TILE_ROWS];

void stage(Tile tile, uint run_first) {
    uint lane = gl_LocalInvocationIndex % 64u;
    uint run_i = gl_LocalInvocationIndex / 64u;
    vec4 x_low = vec4(0.0);
    vec4 x_high = vec4(0.0);
    vec4 w_low = vec4(0.0);
    vec4 w_high = vec4(0.0);
    if (run_i < tile.run_count - run_first) {
        load_x(clamp_index(tile.token, lane, t), run_first + run_i, x_low, x_high);
        load_w(clamp_index(tile.row, lane, nout), run_first + run_i, w_low, w_high);
    }
    uint slot = run_i * (8u * 64u) + lane;
    for (uint e = 0u; e < 4u; e++) {
        x_stage[slot + e * 64u] = x_low[e];
        x_stage[slot + (e + 4u) * 64u] = x_high[e];
        w_stage[slot + e * 64u] = w_low[e];
        w_stage[slot + (e + 4u) * 64u] = w_high[e];
    }
}

void main() {
    Tile tile = matmul_tile();
    uint row_lane = gl_LocalInvocationIndex % SIDE;
    uint token_lane = gl_LocalInvocationIndex / SIDE;
    vec4 sums[EACH]; // one vector a token, one component a row
    for (uint i = 0u; i < EACH; i++) {
        sums[i] = vec4(0.0);
    }
    for (uint run_first = 0u; run_first < tile.run_count; run_first += STAGE_RUNS) {
        stage(tile, run_first);
        barrier();
        for (uint e = 0u; e < STAGE_ELEMENTS; e++) {
            uint w_slot = e * TILE_ROWS + row_lane;
            uint x_slot = e * TILE_TOKENS + token_lane;
            vec4 w = vec4(w_stage[w_slot], w_stage[w_slot + SIDE], w_stage[w_slot + 2u * SIDE],
                          w_stage[w_slot + 3u * SIDE]);
            for (uint i = 0u; i < EACH; i++) {
                sums[i] += x_stage[x_slot + i * SIDE] * w;
            }
        }
        barrier(); // the next stage overwrites what others may still read
    }
    for (uint i = 0u; i < EACH; i++) {
        for (uint j = 0u; j < EACH; j++) {
            store_y(tile, token_lane + i * SIDE, row_lane + j * SIDE, sums[i][j]);
        }
    }
}
