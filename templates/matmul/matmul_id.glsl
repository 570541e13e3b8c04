// SPDX-License-Identifier: MIT
//
// The tiles of matmul_id (matmul.glsl): a mixture of experts, the routing weight not applied,
//
//   y[slot] = W[expert of the slot] x[row of the slot],   slot = token * topk + j
//
// Here the tokens of a tile are places in perm, which lists the slots expert by expert, as the
// kernel moe_group makes it. How many slots an expert has is not known when the grid is made. It is
// at most t if no token names an expert twice, so every expert gets ceil(t / TILE_TOKENS) groups
// for each tile of rows; most find nothing to do and end. Groups of an expert that yet has more
// slots take several tiles.
#ifndef MATMUL_ID_GLSL
#define MATMUL_ID_GLSL

layout(set = 0, binding = 1, std430) readonly buffer Perm {
    int perm[]; // t x topk slots; from offsets[expert_count] on those that have no expert
};
layout(set = 0, binding = 2, std430) readonly buffer Offsets {
    int offsets[]; // expert_count + 1: expert e has perm[offsets[e]] .. perm[offsets[e + 1] - 1]
};
layout(set = 0, binding = 3, std430) readonly buffer X {
    X_ELEMENT x[]; // t x slots x k
};
layout(set = 0, binding = 4, std430) writeonly buffer Y {
    float y[]; // t x topk x nout
};

layout(push_constant) uniform Push {
    uint experts; // in the window of whole experts
    uint nout;
    uint k; // a multiple of the block, and of 8
    uint t;
    uint topk;
    uint slots;        // 1: the experts of a token share one x (gate, up); topk: one each (down)
    uint row_first;    // the window's first expert
    uint expert_count; // of the whole tensor
};

// This group's share: every `lanes`-th tile of an expert, from tile `lane` on, for a tile of rows.
struct Share {
    uint lane, lanes;
    uint row;
    uint expert; // in the window; from `experts` on in a surplus group of a folded grid
};

// Neighbouring groups take the slots of the same rows, whose weights they find in the cache.
Share group_share() {
    uint lanes = (t - 1u) / TILE_TOKENS + 1u; // t and nout are at least 1
    uint row_tiles = (nout - 1u) / TILE_ROWS + 1u;
    uint group = dispatch_group_index();
    uint rest = group / lanes;
    return Share(group % lanes, lanes, rest % row_tiles * TILE_ROWS, rest / row_tiles);
}

bool tile_first(out Tile tile) {
    Share share = group_share();
    uint expert = row_first + min(share.expert, experts - 1u);
    uint first = uint(offsets[expert]);
    uint end = uint(offsets[expert + 1u]);
    uint skipped = share.lane * TILE_TOKENS;
    tile = Tile(first + skipped, end, share.row, share.expert * nout);
    return share.expert < experts && skipped < end - first;
}

bool tile_next(inout Tile tile) {
    uint step = ((t - 1u) / TILE_TOKENS + 1u) * TILE_TOKENS;
    bool more = step < tile.token_end - tile.token;
    tile.token += more ? step : 0u;
    return more;
}

uint x_row(uint token) {
    uint slot = uint(perm[token]);
    return slot / topk * slots + min(slot % topk, slots - 1u);
}

uint y_first(uint token) {
    return uint(perm[token]) * nout;
}

// Zeros for the slots without an expert. All groups of a tile of rows share them; each window
// writes them.
void store_rest() {
    Share share = group_share();
    uint first = uint(offsets[expert_count]) + share.expert * share.lanes + share.lane;
    for (uint place = first; place < t * topk; place += experts * share.lanes) {
        for (uint i = gl_LocalInvocationIndex; i < TILE_ROWS; i += K_WORKGROUP) {
            if (i < nout - share.row) {
                y[y_first(place) + share.row + i] = 0.0;
            }
        }
    }
}

#endif
