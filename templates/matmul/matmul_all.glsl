// SPDX-License-Identifier: MIT
//
// The tiles of matmul (matmul.glsl): y = x W^T for t tokens, a tile a workgroup.
#ifndef MATMUL_ALL_GLSL
#define MATMUL_ALL_GLSL

layout(set = 0, binding = 1, std430) readonly buffer X {
    X_ELEMENT x[]; // t x k
};
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    float y[]; // t x y_stride
};

layout(push_constant) uniform Push {
    uint t;         // tokens
    uint nout;      // rows of the window
    uint k;         // a multiple of the block, and of 8
    uint row_first; // column of y for the window's first row of weights
    uint y_stride;  // elements from a token of y to the next one: the rows of all windows
};

// Neighbouring groups take the tokens of the same rows, whose weights they find in the cache. A
// surplus group of a folded grid has no tile.
bool tile_first(out Tile tile) {
    uint token_tiles = (t - 1u) / TILE_TOKENS + 1u; // t and nout are at least 1
    uint row_tiles = (nout - 1u) / TILE_ROWS + 1u;
    uint group = dispatch_group_index();
    tile = Tile(group % token_tiles * TILE_TOKENS, t, group / token_tiles * TILE_ROWS, 0u);
    return group / token_tiles < row_tiles;
}

bool tile_next(inout Tile tile) {
    return false;
}

uint x_row(uint token) {
    return token;
}

uint y_first(uint token) {
    return token * y_stride + row_first;
}

void store_rest() {}

#endif
