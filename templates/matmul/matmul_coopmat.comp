// SPDX-License-Identifier: MIT
#version 450
//
// Products for many tokens, schedule `mma`: cooperative matrices of K_M tokens x K_N rows x K_KK
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
#define STRIP_PIECES 4 // sum0 .. sum3
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
shared uint x_rows[TILE_TOKENS];

#define XPiece coopmat<float16_t, gl_ScopeSubgroup, K_M, K_KK, gl_MatrixUseA>
#define WPiece coopmat<float16_t, gl_ScopeSubgroup, K_KK, K_N, gl_MatrixUseB>
#define Sum coopmat<float, gl_ScopeSubgroup, K_M, K_N, gl_MatrixUseAccumulator>

uvec4 pack_halves(vec4 low, vec4 high) {
    return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy),
                 packHalf2x16(high.zw));
}

uvec4 x_halves(uint row, uint run) {
#if K_X_TYPE == X_TYPE_F16
    return load_x_words(row, run);
#else
    vec4 low;
    vec4 high;
    load_x(row, run, low, high);
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
            run < run_count() ? x_halves(x_rows[lane], run) : uvec4(0u);
    }
    for (uint i = gl_LocalInvocationIndex; i < TILE_ROWS * STAGE_RUNS; i += K_WORKGROUP) {
        uint run = run_first + i % STAGE_RUNS;
        uint lane = i / STAGE_RUNS;
        w_stage[lane * STAGE_STRIDE + i % STAGE_RUNS] =
            run < run_count() ? w_halves(tile_w_row(tile, lane), run) : uvec4(0u);
    }
}

// Adds a step of K_KK staged elements, the step'th of the stage, to piece j of a strip.
void multiply(XPiece x_piece, uint step, uint j, inout Sum sum) {
    WPiece w_piece;
    coopMatLoad(w_piece, w_stage, j * K_N * STAGE_STRIDE + step * (K_KK / 8), STAGE_STRIDE,
                gl_CooperativeMatrixLayoutColumnMajor);
    sum = coopMatMulAdd(x_piece, w_piece, sum);
}

// The strips of a pass: one for each subgroup that has one left.
struct Pass {
    uint first; // strip of subgroup 0
    uint count;
};

// Writes piece j of the pass's strips. They leave through shared memory, because y need not be
// aligned as a cooperative store wants it. All invocations take part.
void store_pieces(Tile tile, Pass pass, uint j, Sum sum) {
    barrier(); // others may still read the piece before
    if (gl_SubgroupID < pass.count) {
        coopMatStore(sum, y_stage, gl_SubgroupID * K_M * K_N, K_N,
                     gl_CooperativeMatrixLayoutRowMajor);
    }
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < pass.count * (K_M * K_N); i += K_WORKGROUP) {
        store_y(tile, pass.first * K_M + i / K_N, j * K_N + i % K_N, y_stage[i]);
    }
}

void compute_pass(Tile tile, Pass pass) {
    // By name, not in an array, which some drivers keep in memory.
    Sum sum0 = Sum(0.0);
    Sum sum1 = Sum(0.0);
    Sum sum2 = Sum(0.0);
    Sum sum3 = Sum(0.0);
    for (uint i = gl_LocalInvocationIndex; i < TILE_TOKENS; i += K_WORKGROUP) {
        x_rows[i] = tile_x_row(tile, i);
    }
    for (uint run_first = 0u; run_first < run_count(); run_first += STAGE_RUNS) {
        barrier(); // the rows are there; others may still read the stage before
        stage(tile, run_first);
        barrier();
        if (gl_SubgroupID < pass.count) {
            uint strip = pass.first + gl_SubgroupID;
            // A step's products are enough to overlap, and all steps unrolled compile slowly.
            [[dont_unroll]] for (uint step = 0u; step < STAGE_ELEMENTS / K_KK; step++) {
                XPiece x_piece;
                coopMatLoad(x_piece, x_stage, strip * K_M * STAGE_STRIDE + step * (K_KK / 8),
                            STAGE_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
                multiply(x_piece, step, 0u, sum0);
                multiply(x_piece, step, 1u, sum1);
                multiply(x_piece, step, 2u, sum2);
                multiply(x_piece, step, 3u, sum3);
            }
        }
    }
    store_pieces(tile, pass, 0u, sum0);
    store_pieces(tile, pass, 1u, sum1);
    store_pieces(tile, pass, 2u, sum2);
    store_pieces(tile, pass, 3u, sum3);
}

void compute(Tile tile) {
    uint strips_each = min(gl_NumSubgroups, STRIPS);
    for (uint first = 0u; first < STRIPS; first += strips_each) {
        compute_pass(tile, Pass(first, min(strips_each, STRIPS - first)));
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
