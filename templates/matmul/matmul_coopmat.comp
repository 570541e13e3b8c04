// SPDX-License-Identifier: MIT
#version 450
//
// y = x W^T for many tokens, schedule `mma`: cooperative matrices of K_M tokens x K_N rows x K_KK
// elements, halves multiplied, f32 added.
//
// A workgroup computes STRIPS x STRIP_PIECES of them. It stages STAGE_ELEMENTS elements of each
// token and row in shared memory, as halves; a subgroup then adds up one strip, which is K_M tokens
// times all rows of the tile. With fewer subgroups than strips, the workgroup goes over its tile
// again for the next ones; with more, the others only stage. So any subgroup size is right that
// the driver allows cooperative matrices in and that divides K_WORKGROUP.

#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_control_flow_attributes : require

#include "params.glsl"

#define STRIPS (64 / K_M)
#define STRIP_PIECES 4
#define TILE_TOKENS 64
#define TILE_ROWS (STRIP_PIECES * K_N)
#define STAGE_RUNS 4
#define STAGE_ELEMENTS (STAGE_RUNS * 8)
#define STAGE_STRIDE (STAGE_RUNS + 1) // runs; one of padding spreads the rows over the banks

layout(local_size_x = K_WORKGROUP) in;

#include "matmul.glsl"

// A run of eight halves is one uvec4, so every piece starts at a multiple of 16 bytes.
shared uvec4 x_stage[TILE_TOKENS * STAGE_STRIDE];
shared uvec4 w_stage[TILE_ROWS * STAGE_STRIDE];
shared float y_stage[STRIPS * K_M * K_N]; // one piece of each strip

uvec4 pack_halves(vec4 low, vec4 high) {
    return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy),
                 packHalf2x16(high.zw));
}

uvec4 x_halves(uint token, uint run) {
#if K_X_TYPE == X_TYPE_F16
    return load_x_words(token, run);
#else
    vec4 low;
    vec4 high;
    load_x(token, run, low, high);
    return pack_halves(low, high);
#endif
}

uvec4 w_halves(uint row, uint run) {
    vec4 low;
    vec4 high;
    load_w(row, run, low, high);
    return pack_halves(low, high);
}

void stage(Tile tile, uint run_first) {
    for (uint i = gl_LocalInvocationIndex; i < TILE_TOKENS * STAGE_RUNS; i += K_WORKGROUP) {
        uint run = run_first + i % STAGE_RUNS;
        uint lane = i / STAGE_RUNS;
        x_stage[lane * STAGE_STRIDE + i % STAGE_RUNS] =
            run < tile.run_count ? x_halves(clamp_index(tile.token, lane, t), run) : uvec4(0u);
    }
    for (uint i = gl_LocalInvocationIndex; i < TILE_ROWS * STAGE_RUNS; i += K_WORKGROUP) {
        uint run = run_first + i % STAGE_RUNS;
        uint lane = i / STAGE_RUNS;
        w_stage[lane * STAGE_STRIDE + i % STAGE_RUNS] =
            run < tile.run_count ? w_halves(clamp_index(tile.row, lane, nout), run) : uvec4(0u);
    }
}

coopmat<float, gl_ScopeSubgroup, K_M, K_N, gl_MatrixUseAccumulator> sums[STRIP_PIECES];

// Adds the staged elements to the sums of one strip.
void multiply(uint strip) {
    // A step's products are enough to overlap; all steps unrolled take software drivers long to compile.
    [[dont_unroll]] for (uint e = 0u; e < STAGE_ELEMENTS / K_KK; e++) {
        coopmat<float16_t, gl_ScopeSubgroup, K_M, K_KK, gl_MatrixUseA> x_piece;
        coopMatLoad(x_piece, x_stage, strip * K_M * STAGE_STRIDE + e * (K_KK / 8), STAGE_STRIDE,
                    gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint j = 0u; j < STRIP_PIECES; j++) {
            coopmat<float16_t, gl_ScopeSubgroup, K_KK, K_N, gl_MatrixUseB> w_piece;
            coopMatLoad(w_piece, w_stage, j * K_N * STAGE_STRIDE + e * (K_KK / 8), STAGE_STRIDE,
                        gl_CooperativeMatrixLayoutColumnMajor);
            sums[j] = coopMatMulAdd(x_piece, w_piece, sums[j]);
        }
    }
}

// Writes a piece of each strip of this pass, strip_first + 0, 1 .. pass_strips - 1.
void store_pieces(Tile tile, uint strip_first, uint pass_strips, uint j) {
    for (uint i = gl_LocalInvocationIndex; i < pass_strips * (K_M * K_N); i += K_WORKGROUP) {
        uint token = strip_first * K_M + i / K_N;
        store_y(tile, token, j * K_N + i % K_N, y_stage[i]);
    }
}

void main() {
    Tile tile = matmul_tile();
    uint pass_strips = min(gl_NumSubgroups, STRIPS);
    for (uint strip_first = 0u; strip_first < STRIPS; strip_first += pass_strips) {
        uint strip = strip_first + gl_SubgroupID;
        bool working = gl_SubgroupID < pass_strips && strip < STRIPS;
        [[unroll]] for (uint j = 0u; j < STRIP_PIECES; j++) {
            sums[j] =
                coopmat<float, gl_ScopeSubgroup, K_M, K_N, gl_MatrixUseAccumulator>(0.0);
        }
        for (uint run_first = 0u; run_first < tile.run_count; run_first += STAGE_RUNS) {
            stage(tile, run_first);
            barrier();
            if (working) {
                multiply(strip);
            }
            barrier(); // the next stage overwrites what others may still read
        }
        [[unroll]] for (uint j = 0u; j < STRIP_PIECES; j++) {
            if (working) {
                coopMatStore(sums[j], y_stage, gl_SubgroupID * K_M * K_N, K_N,
                             gl_CooperativeMatrixLayoutRowMajor);
            }
            barrier();
            store_pieces(tile, strip_first, min(pass_strips, STRIPS - strip_first), j);
            barrier(); // the next piece overwrites what others may still read
        }
    }
}
