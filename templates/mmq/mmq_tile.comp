// SPDX-License-Identifier: MIT
#version 450
//
// y = x W^T for many tokens with x in q8_1, schedule `tile`: a workgroup computes 64 tokens x 64
// rows. It stages a chunk of 32 elements of each of them in shared memory, as codes and scales, then
// every one of its 16 x 16 invocations adds up 4 x 4 results.
//   tier `dp4a`      four codes are multiplied by one instruction
//   tier `portable`  one by one

#include "params.glsl"

#define TILE_TOKENS 64
#define TILE_ROWS 64
#define SIDE 16 // invocations along tokens and along rows
#define EACH 4  // tokens and rows of an invocation, SIDE apart

layout(local_size_x = K_WORKGROUP) in; // SIDE * SIDE = 64 * CHUNK_RUNS

#include "mmq.glsl"

// Run-major and group-major, so that neighbouring invocations meet neighbouring words when they
// multiply. They stage neighbouring runs, which the padding spreads over the banks.
#define RUN_STRIDE (64 + 4)
shared uvec2 x_codes[CHUNK_RUNS * RUN_STRIDE];
shared uvec2 w_codes[CHUNK_RUNS * RUN_STRIDE];
shared float x_scales[TILE_TOKENS];
shared float w_scales[CHUNK_GROUPS * TILE_ROWS];
#ifdef DECODE_HAS_OFFSET
shared float x_sums[CHUNK_GROUPS * TILE_TOKENS];
shared float w_offsets[CHUNK_GROUPS * TILE_ROWS];
#endif

// Every invocation stages one run of a token and of a row, and the first one of a group its scales.
void stage(Tile tile, uint run_first) {
    uint lane = gl_LocalInvocationIndex / CHUNK_RUNS;
    uint run_i = gl_LocalInvocationIndex % CHUNK_RUNS;
    uint run = run_first + run_i;
    uint token = clamp_index(tile.token, lane, t);
    uint row = clamp_index(tile.row, lane, nout);
    x_codes[run_i * RUN_STRIDE + lane] = load_x_codes(token, run);
    w_codes[run_i * RUN_STRIDE + lane] = load_w_codes(row, run);
    if (run_i == 0u) {
        x_scales[lane] = load_x_scale(token, run);
    }
    if (run_i % GROUP_RUNS == 0u) {
        uint group = run_i / GROUP_RUNS;
        w_scales[group * TILE_ROWS + lane] = load_w_scale(row, run);
#ifdef DECODE_HAS_OFFSET
        x_sums[group * TILE_TOKENS + lane] = load_x_sum(token, run);
        w_offsets[group * TILE_ROWS + lane] = load_w_offset(row, run);
#endif
    }
}

// The scales or offsets of the invocation's four rows in a group.
#define ROWS_OF(table, group, lane)                                                                \
    vec4(table[(group) * TILE_ROWS + (lane)], table[(group) * TILE_ROWS + (lane) + SIDE],          \
         table[(group) * TILE_ROWS + (lane) + 2u * SIDE],                                          \
         table[(group) * TILE_ROWS + (lane) + 3u * SIDE])

// Adds a group of the stage to the sums, one vector a token, one component a row.
void add_group(uint group, uint token_lane, uint row_lane, inout vec4 sums[EACH]) {
    ivec4 products[EACH];
    for (uint i = 0u; i < EACH; i++) {
        products[i] = ivec4(0);
    }
    for (uint run_i = group * GROUP_RUNS; run_i < (group + 1u) * GROUP_RUNS; run_i++) {
        uint w_slot = run_i * RUN_STRIDE + row_lane;
        uint x_slot = run_i * RUN_STRIDE + token_lane;
        uvec2 w0 = w_codes[w_slot];
        uvec2 w1 = w_codes[w_slot + SIDE];
        uvec2 w2 = w_codes[w_slot + 2u * SIDE];
        uvec2 w3 = w_codes[w_slot + 3u * SIDE];
        for (uint i = 0u; i < EACH; i++) {
            uvec2 a = x_codes[x_slot + i * SIDE];
            products[i] +=
                ivec4(dot_codes(w0, a), dot_codes(w1, a), dot_codes(w2, a), dot_codes(w3, a));
        }
    }
    vec4 scales = ROWS_OF(w_scales, group, row_lane);
#ifdef DECODE_HAS_OFFSET
    vec4 offsets = ROWS_OF(w_offsets, group, row_lane);
#endif
    for (uint i = 0u; i < EACH; i++) {
        uint token_i = token_lane + i * SIDE;
        sums[i] += x_scales[token_i] * (scales * vec4(products[i]));
#ifdef DECODE_HAS_OFFSET
        sums[i] += x_sums[group * TILE_TOKENS + token_i] * offsets;
#endif
    }
}

void main() {
    Tile tile = matmul_tile();
    uint row_lane = gl_LocalInvocationIndex % SIDE;
    uint token_lane = gl_LocalInvocationIndex / SIDE;
    vec4 sums[EACH];
    for (uint i = 0u; i < EACH; i++) {
        sums[i] = vec4(0.0);
    }
    for (uint run_first = 0u; run_first < tile.run_count; run_first += CHUNK_RUNS) {
        stage(tile, run_first);
        barrier();
        for (uint group = 0u; group < CHUNK_GROUPS; group++) {
            add_group(group, token_lane, row_lane, sums);
        }
        barrier(); // the next stage overwrites what others may still read
    }
    for (uint i = 0u; i < EACH; i++) {
        for (uint j = 0u; j < EACH; j++) {
            store_y(tile, token_lane + i * SIDE, row_lane + j * SIDE, sums[i][j]);
        }
    }
}
