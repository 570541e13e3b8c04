// SPDX-License-Identifier: MIT
//
// Buffers, push constants and tiles of mmq: y = x W^T for t tokens, so
//
//   y[token][row] = sum over i of x[token][i] * W[row][i]
//
// A kernel computes one tile of TILE_TOKENS x TILE_ROWS results a workgroup (it defines both before
// it includes this file) and declares x as binding 1. No dimension needs to be a multiple of a tile:
// tokens and rows past the end are read as the last one and never written.
#ifndef MMQ_TILES_GLSL
#define MMQ_TILES_GLSL

#include "dispatch.glsl"

// W: nout x k, row-major raw blocks; a window of the tensor's rows that ends before 4 GiB.
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    uint weights[];
};
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    float y[]; // t x y_stride
};

layout(push_constant) uniform Push {
    uint t;         // tokens
    uint nout;      // rows of the window
    uint k;         // a multiple of the blocks, and of 8
    uint row_first; // column of y for the window's first row of weights
    uint y_stride;  // elements from a token of y to the next one: the rows of all windows
};

#include "decode.glsl"

// Where a run of a row begins: the byte offset of its block.
uint row_block(uint row, uint run) {
    return row * (k / BLOCK_ELEMENTS * BLOCK_BYTES) + run / BLOCK_RUNS * BLOCK_BYTES;
}

// The tile of this workgroup. Neighbouring groups take the tokens of the same rows, whose weights
// they find in the cache.
struct Tile {
    bool live;      // false for a surplus group of a folded grid
    uint token;     // the first one
    uint row;       // the first one
    uint run_count; // runs of k to add up; the same in the whole group, 0 in a surplus one
};

Tile matmul_tile() {
    uint token_tiles = (t - 1u) / TILE_TOKENS + 1u; // t and nout are at least 1
    uint row_tiles = (nout - 1u) / TILE_ROWS + 1u;
    uint group = dispatch_group_index();
    bool live = group / token_tiles < row_tiles;
    uint token = live ? group % token_tiles * TILE_TOKENS : 0u;
    uint row = live ? group / token_tiles * TILE_ROWS : 0u;
    return Tile(live, token, row, live ? k / RUN_ELEMENTS : 0u);
}

// first + i without wrapping, at most the last index of `count`.
uint clamp_index(uint first, uint i, uint count) {
    return first + min(i, count - 1u - first);
}

// Writes one result, if it is one: token_i and row_i count from the tile's first ones.
void store_y(Tile tile, uint token_i, uint row_i, float value) {
    if (tile.live && token_i < t - tile.token && row_i < nout - tile.row) {
        y[(tile.token + token_i) * y_stride + row_first + tile.row + row_i] = value;
    }
}

#endif
