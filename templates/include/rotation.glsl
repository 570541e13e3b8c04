// SPDX-License-Identifier: MIT
//
// Rotary positions: pair p of a head at a position turns by the angle whose cosine and sine the
// host put into a table,
//
//   a' = a cos - b sin,    b' = b cos + a sin.
//
// The template declares these buffers before it includes this file:
//   int positions[]    of each token
//   float table[]      [position_count][pair_count][2]: cosine, sine
// and the push constants t (tokens) and position_count.
#ifndef ROTATION_GLSL
#define ROTATION_GLSL

#include "words.glsl"

// The angles of one token: where they start in the table, and whether there are any. A position
// outside 0 .. position_count - 1 has none: its rows become 0.
struct Angles {
    uint first;
    bool known;
};

Angles angles_find(uint token, uint pair_count) {
    // As unsigned, negative positions are past the end, too.
    uint position = uint(positions[token]);
    bool known = position < position_count;
    return Angles(known ? position * pair_count * 2u : 0u, known);
}

// Cosine and sine of one pair; both 0 where there is no angle.
vec2 angles_pair(Angles angles, uint pair) {
    if (!angles.known) {
        return vec2(0.0);
    }
    uint at = angles.first + 2u * pair;
    return vec2(table[at], table[at + 1u]);
}

// The pairs of word i: their first elements in one word, their second ones in another (NeoX).
void rotate_words(Angles angles, uint i, inout VALUES a, inout VALUES b) {
    vec2 turn = angles_pair(angles, i * WORD_ELEMENTS);
#if K_DTYPE == DTYPE_F16
    vec2 next = angles_pair(angles, i * WORD_ELEMENTS + 1u);
    VALUES cosine = vec2(turn.x, next.x);
    VALUES sine = vec2(turn.y, next.y);
#else
    VALUES cosine = turn.x;
    VALUES sine = turn.y;
#endif
    VALUES turned = a * cosine - b * sine;
    b = b * cosine + a * sine;
    a = turned;
}

#endif
