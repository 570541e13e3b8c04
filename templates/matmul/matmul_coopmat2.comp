// SPDX-License-Identifier: MIT
#version 450
//
// Products for many tokens, schedules `tensor` and `stage`: cooperative matrices of K_TOKENS tokens x
// K_ROWS rows x K_STEP elements that belong to the whole workgroup, halves multiplied, f32 added.
// How its invocations share them is the driver's business.
//
// x, and weights in f16, are loaded as tensors. So are blocks in schedule `tensor`: a function decodes
// the elements that the driver asks for, one by one. In `stage` the workgroup decodes them run by run
// into shared memory, each element once.
//
// Clamped tensors are zeros past their ends and load slower, so only tiles at an end of t or nout use
// them, and what is left of k.

#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_control_flow_attributes : require

#include "params.glsl"

#define TILE_TOKENS K_TOKENS
#define TILE_ROWS K_ROWS

layout(local_size_x = K_WORKGROUP) in;

#define MATMUL_TENSORS
#include "matmul.glsl"

#include "matmul_tensors.glsl"

// k, a multiple of 8: said in a way that tells the compiler how the rows are aligned.
uint k_aligned() {
    return k & ~7u;
}

// Elements that are not halves in memory: `block` counts blocks from the tensor's first one, `element`
// from the block's.
#if K_X_TYPE == X_TYPE_F32
float16_t x_half(PLACE, const in uint[2] block, const in uint[2] element) {
    return float16_t(x[block[0] * k_aligned() + block[1]]);
}
#define X_DECODE , x_half
#else
#define X_DECODE
#endif

#if K_LOAD == LOAD_TENSOR && defined(W_HALVES)
#define W_BLOCK_ELEMENTS 1
#define W_DECODE
#elif K_LOAD == LOAD_TENSOR
#define W_BLOCK_ELEMENTS BLOCK_ELEMENTS
float16_t w_half(PLACE, const in uint[2] block, const in uint[2] element) {
    uint row_bytes = k / BLOCK_ELEMENTS * BLOCK_BYTES;
    return float16_t(decode_element(block[0] * row_bytes + block[1] * BLOCK_BYTES, element[1]));
}
#define W_DECODE , w_half
#else
#define W_BLOCK_ELEMENTS BLOCK_ELEMENTS
#define STEP_RUNS (K_STEP / RUN_ELEMENTS)
#define STAGE_STRIDE (STEP_RUNS + 1) // runs; one of padding spreads the rows over the banks
#define STAGE_HALF (K_ROWS * STAGE_STRIDE)

// Two halves: one is multiplied while the next step is decoded into the other.
shared uvec4 w_stage[2 * STAGE_HALF];

uint stage_half(uint i) {
    return i / K_STEP % 2u * STAGE_HALF;
}

uvec4 w_halves(uint row, uint run) {
    vec4 low;
    vec4 high;
    load_w(row, run, low, high);
    return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy),
                 packHalf2x16(high.zw));
}

// The rows' elements i .. i + K_STEP - 1.
void stage(Tile tile, uint i) {
    for (uint at = gl_LocalInvocationIndex; at < K_ROWS * STEP_RUNS; at += K_WORKGROUP) {
        uint run = i / RUN_ELEMENTS + at % STEP_RUNS;
        uint lane = at / STEP_RUNS;
        w_stage[stage_half(i) + lane * STAGE_STRIDE + at % STEP_RUNS] =
            run < run_count() ? w_halves(tile_w_row(tile, lane), run) : uvec4(0u);
    }
}
#endif

#if K_LOAD == LOAD_TENSOR
#define BEGIN_STEP
#define LOAD_W(piece, layout)                                                                      \
    LOAD_W_TENSOR(piece, sliceTensorLayoutNV(layout, tile.row, K_ROWS, i, K_STEP))
#else
#define BEGIN_STEP barrier() // this step is staged, and the one before is no longer read
#define LOAD_W(piece, layout)                                                                      \
    LOAD_W_STAGE(piece, stage_half(i));                                                            \
    stage(tile, i + K_STEP)
#endif

#define MULTIPLY_STEPS(x_layout, w_layout, end)                                                    \
    [[dont_unroll]] for (; i < (end); i += K_STEP) {                                               \
        XPiece x_piece;                                                                            \
        WPiece w_piece;                                                                            \
        BEGIN_STEP;                                                                                \
        LOAD_X_TENSOR(x_piece,                                                                     \
                      sliceTensorLayoutNV(x_layout, tile.token, K_TOKENS, i, K_STEP));             \
        LOAD_W(w_piece, w_layout);                                                                 \
        sum = coopMatMulAdd(x_piece, w_piece, sum);                                                \
    }

#define SET_LAYOUT(layout, row_count, block_elements)                                              \
    layout = setTensorLayoutBlockSizeNV(layout, 1, block_elements);                                \
    layout = setTensorLayoutDimensionNV(layout, row_count, k_aligned());                           \
    layout = setTensorLayoutStrideNV(layout, k_aligned() / (block_elements), 1)

void compute(Tile tile) {
    Tensor x_tensor = TENSOR;
    Tensor w_tensor = TENSOR;
    ClampedTensor x_clamped = CLAMPED_TENSOR;
    ClampedTensor w_clamped = CLAMPED_TENSOR;
    ClampedTensor y_clamped = CLAMPED_TENSOR;
    SET_LAYOUT(x_tensor, t, 1);
    SET_LAYOUT(x_clamped, t, 1);
    SET_LAYOUT(w_tensor, nout, W_BLOCK_ELEMENTS);
    SET_LAYOUT(w_clamped, nout, W_BLOCK_ELEMENTS);
    y_clamped = setTensorLayoutDimensionNV(y_clamped, t, nout);
    y_clamped = setTensorLayoutStrideNV(y_clamped, y_stride, 1);

    Sum sum = ZERO_SUM;
    bool x_inside = K_TOKENS <= t - tile.token;
    uint whole_steps = k_aligned() / K_STEP * K_STEP;
    uint i = 0u;
#if K_LOAD == LOAD_STAGE
    stage(tile, 0u);
    if (x_inside) {
        MULTIPLY_STEPS(x_tensor, w_tensor, whole_steps)
    }
#else
    bool w_inside = K_ROWS <= nout - tile.row;
    if (x_inside && w_inside) {
        MULTIPLY_STEPS(x_tensor, w_tensor, whole_steps)
    } else if (w_inside) {
        MULTIPLY_STEPS(x_clamped, w_tensor, whole_steps)
    }
#endif
    MULTIPLY_STEPS(x_clamped, w_clamped, k_aligned())
    STORE_Y(sum, sliceTensorLayoutNV(y_clamped, tile.token, K_TOKENS, tile.row, K_ROWS));
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
