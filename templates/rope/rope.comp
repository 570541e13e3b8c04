// SPDX-License-Identifier: MIT
#version 450
//
// Rotary positions: in each row of d elements (a head of a token) the pairs of the first n_rot turn
// by the token's angles (rotation.glsl), the others are copied. Pairs are (i, i + n_rot/2) in mode
// `neox`, (2i, 2i + 1) in mode `interleaved`. Schedule `block`: a workgroup a row.

#include "params.glsl"
#include "dispatch.glsl"
#include "words.glsl"

#define MODE_NEOX 0
#define MODE_INTERLEAVED 1

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer X {
    WORD x[]; // b x h x t x d
};
layout(set = 0, binding = 1, std430) readonly buffer Positions {
    int positions[]; // t
};
layout(set = 0, binding = 2, std430) readonly buffer Table {
    float table[]; // position_count x n_rot/2 x (cosine, sine)
};
layout(set = 0, binding = 3, std430) writeonly buffer Y {
    WORD y[]; // b x h x t x d
};

layout(push_constant) uniform Push {
    uint b;
    uint h;
    uint t;
    uint d;     // even for f16
    uint n_rot; // at most d; even, for f16 in mode neox a multiple of 4
    uint position_count;
};

#include "rotation.glsl"

// Turns the pairs that step i of n_rot/2 / PAIRS_A_STEP holds, in a row that starts at word `first`.
#if K_MODE == MODE_NEOX

#define PAIRS_A_STEP WORD_ELEMENTS

void rotate_step(Angles angles, uint first, uint i) {
    uint second = first + n_rot / 2u / WORD_ELEMENTS;
    VALUES a = word_decode(x[first + i]);
    VALUES b = word_decode(x[second + i]);
    rotate_words(angles, i, a, b);
    y[first + i] = word_encode(a);
    y[second + i] = word_encode(b);
}

#else

#define PAIRS_A_STEP 1u

void rotate_step(Angles angles, uint first, uint i) {
    vec2 turn = angles_pair(angles, i);
#if K_DTYPE == DTYPE_F16
    vec2 v = word_decode(x[first + i]);
    vec2 turned = vec2(v.x * turn.x - v.y * turn.y, v.y * turn.x + v.x * turn.y);
    y[first + i] = word_encode(turned);
#else
    uint at = first + 2u * i;
    vec2 v = vec2(x[at], x[at + 1u]);
    y[at] = v.x * turn.x - v.y * turn.y;
    y[at + 1u] = v.y * turn.x + v.x * turn.y;
#endif
}

#endif

void main() {
    uint row = dispatch_group_index();
    if (row < b * h * t) {
        uint first = row * (d / WORD_ELEMENTS);
        uint pair_count = n_rot / 2u;
        Angles angles = angles_find(row % t, pair_count);

        for (uint i = gl_LocalInvocationIndex; i < pair_count / PAIRS_A_STEP; i += K_WORKGROUP) {
            rotate_step(angles, first, i);
        }
        for (uint i = n_rot / WORD_ELEMENTS + gl_LocalInvocationIndex; i < d / WORD_ELEMENTS;
             i += K_WORKGROUP) {
            y[first + i] = angles.known ? x[first + i] : WORD(0);
        }
    }
}
