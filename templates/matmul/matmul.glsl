// SPDX-License-Identifier: MIT
//
// What all matmul kernels have in common: products of rows of x with rows of weights,
//
//   sum over i of x[row of x][i] * W[row of weights][i]
//
// A kernel computes tiles of TILE_TOKENS x TILE_ROWS results (it defines both before it includes
// this file). Which rows a tile has, and where its results go, is the family's (K_FAMILY):
//
//   matmul.glsl      included by the kernels
//   matmul_all.glsl  y = x W^T, every token with every row
//   matmul_id.glsl   a mixture of experts: tokens with the rows of the experts that they chose
//
// Either has Push, the buffers X and Y and
//
//   bool tile_first(out Tile)    this workgroup's first tile, and whether there is one
//   bool tile_next(inout Tile)   the one after it
//   uint x_row(uint token)       the row of x of a tile's token
//   uint y_first(uint token)     the element of y of its row 0
//   void store_rest()            writes what belongs to no tile
//
// A tile is the same in the whole group and has at least one result.
//
// A kernel that loads whole tiles as tensors (MATMUL_TENSORS) has x, and weights in f16, as halves.
//
// No dimension needs to be a multiple of a tile: tokens and rows past the end are read as the last
// one and never written, runs past the end of k count as zeros.
#ifndef MATMUL_GLSL
#define MATMUL_GLSL

#include "dispatch.glsl"

// Type of the activations (`x_type`).
#define X_TYPE_F32 0
#define X_TYPE_F16 1
#if K_X_TYPE == X_TYPE_F32
#define X_ELEMENT float
#elif defined(MATMUL_TENSORS)
#define X_ELEMENT float16_t
#else
#define X_ELEMENT uint // two halves a word
#endif

#define FAMILY_MATMUL 0
#define FAMILY_MATMUL_ID 1

// Raw blocks, row-major: a window of the tensor that ends before 4 GiB.
#if defined(MATMUL_TENSORS) && K_DTYPE == DTYPE_F16
#define W_HALVES
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    float16_t weights[];
};
#else
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    uint weights[];
};

#include "decode.glsl"
#endif

struct Tile {
    uint token;     // the first one
    uint token_end; // behind the last one that exists
    uint row;       // the first one, of nout
    uint w_first;   // the row of weights that is row 0
};

#if K_FAMILY == FAMILY_MATMUL_ID
#include "matmul_id.glsl"
#else
#include "matmul_all.glsl"
#endif

#ifndef W_HALVES
uint run_count() {
    return k / RUN_ELEMENTS;
}
#endif

#ifndef MATMUL_TENSORS
// The eight activations of a run of a row of x.
#if K_X_TYPE == X_TYPE_F16
uvec4 load_x_words(uint row, uint run) {
    uint first = row * (k / 2u) + run * (RUN_ELEMENTS / 2u);
    return uvec4(x[first], x[first + 1u], x[first + 2u], x[first + 3u]);
}

void load_x(uint row, uint run, out vec4 low, out vec4 high) {
    uvec4 words = load_x_words(row, run);
    uvec4 even = words & 0xFFFFu;
    uvec4 odd = words >> 16;
    low = vec4(f16_to_f32(even.x), f16_to_f32(odd.x), f16_to_f32(even.y), f16_to_f32(odd.y));
    high = vec4(f16_to_f32(even.z), f16_to_f32(odd.z), f16_to_f32(even.w), f16_to_f32(odd.w));
}
#else
void load_x(uint row, uint run, out vec4 low, out vec4 high) {
    uint first = row * k + run * RUN_ELEMENTS;
    low = vec4(x[first], x[first + 1u], x[first + 2u], x[first + 3u]);
    high = vec4(x[first + 4u], x[first + 5u], x[first + 6u], x[first + 7u]);
}
#endif
#endif // MATMUL_TENSORS

#ifndef W_HALVES
// The eight weights of a run of a row of weights.
void load_w(uint row, uint run, out vec4 low, out vec4 high) {
    uint row_bytes = k / BLOCK_ELEMENTS * BLOCK_BYTES;
    decode_run(row * row_bytes + run / BLOCK_RUNS * BLOCK_BYTES, run % BLOCK_RUNS, low, high);
}
#endif // W_HALVES

// first + i without wrapping, at most the last index of `count`.
uint clamp_index(uint first, uint i, uint count) {
    return first + min(i, count - 1u - first);
}

// The row of x of the tile's i-th token, and the row of weights of its i-th row.
uint tile_x_row(Tile tile, uint i) {
    return x_row(clamp_index(tile.token, i, tile.token_end));
}

uint tile_w_row(Tile tile, uint i) {
    return tile.w_first + clamp_index(tile.row, i, nout);
}

// Writes one result, if it is one: token_i and row_i count from the tile's first ones.
void store_y(Tile tile, uint token_i, uint row_i, float value) {
    if (token_i < tile.token_end - tile.token && row_i < nout - tile.row) {
        y[y_first(tile.token + token_i) + tile.row + row_i] = value;
    }
}

#endif
