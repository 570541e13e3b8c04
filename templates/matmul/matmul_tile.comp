// SPDX-License-Identifier: MIT
#version 450
//
// Products for many tokens, schedule `tile`: a workgroup computes K_TOKENS tokens x 64 rows. It
// stages 32 elements of each of them in shared memory, decoded to f32, then every one of its 16 x 16
// invocations adds up K_TOKENS / 16 x 4 results. All accumulation in f32.

#include "params.glsl"

#define TILE_TOKENS K_TOKENS // at most 64
#define TILE_ROWS 64
#define STAGE_RUNS 4 // one run of a row, and at most one of a token, for each invocation
#define STAGE_ELEMENTS (STAGE_RUNS * 8)
#define SIDE 16 // invocations along tokens and along rows; theirs are SIDE apart
#define EACH_TOKENS (TILE_TOKENS / SIDE)
#define EACH_ROWS 4

layout(local_size_x = K_WORKGROUP) in; // SIDE * SIDE = 64 * STAGE_RUNS

#include "matmul.glsl"

// Element-major, so that neighbouring invocations meet neighbouring words.
shared float x_stage[STAGE_ELEMENTS * TILE_TOKENS];
shared float w_stage[STAGE_ELEMENTS * TILE_ROWS];

// What an invocation stages runs of.
struct StageRows {
    uint x;
    uint w;
};

void stage(StageRows rows, uint run_first) {
    uint lane = gl_LocalInvocationIndex % 64u;
    uint run_i = gl_LocalInvocationIndex / 64u;
    bool has_token = lane < TILE_TOKENS;
    vec4 x_low = vec4(0.0);
    vec4 x_high = vec4(0.0);
    vec4 w_low = vec4(0.0);
    vec4 w_high = vec4(0.0);
    if (run_i < run_count() - run_first) {
        if (has_token) {
            load_x(rows.x, run_first + run_i, x_low, x_high);
        }
        load_w(rows.w, run_first + run_i, w_low, w_high);
    }
    uint x_slot = run_i * (8u * TILE_TOKENS) + lane;
    uint w_slot = run_i * (8u * TILE_ROWS) + lane;
    for (uint e = 0u; e < 4u; e++) {
        if (has_token) {
            x_stage[x_slot + e * TILE_TOKENS] = x_low[e];
            x_stage[x_slot + (e + 4u) * TILE_TOKENS] = x_high[e];
        }
        w_stage[w_slot + e * TILE_ROWS] = w_low[e];
        w_stage[w_slot + (e + 4u) * TILE_ROWS] = w_high[e];
    }
}

void compute(Tile tile) {
    uint row_lane = gl_LocalInvocationIndex % SIDE;
    uint token_lane = gl_LocalInvocationIndex / SIDE;
    vec4 sums[EACH_TOKENS]; // one vector a token, one component a row
    for (uint i = 0u; i < EACH_TOKENS; i++) {
        sums[i] = vec4(0.0);
    }
    StageRows rows = StageRows(tile_x_row(tile, gl_LocalInvocationIndex % 64u),
                               tile_w_row(tile, gl_LocalInvocationIndex % 64u));
    for (uint run_first = 0u; run_first < run_count(); run_first += STAGE_RUNS) {
        stage(rows, run_first);
        barrier();
        for (uint e = 0u; e < STAGE_ELEMENTS; e++) {
            uint w_slot = e * TILE_ROWS + row_lane;
            uint x_slot = e * TILE_TOKENS + token_lane;
            vec4 w = vec4(w_stage[w_slot], w_stage[w_slot + SIDE], w_stage[w_slot + 2u * SIDE],
                          w_stage[w_slot + 3u * SIDE]);
            for (uint i = 0u; i < EACH_TOKENS; i++) {
                sums[i] += x_stage[x_slot + i * SIDE] * w;
            }
        }
        barrier(); // the next stage overwrites what others may still read
    }
    for (uint i = 0u; i < EACH_TOKENS; i++) {
        for (uint j = 0u; j < EACH_ROWS; j++) {
            store_y(tile, token_lane + i * SIDE, row_lane + j * SIDE, sums[i][j]);
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
