// SPDX-License-Identifier: MIT
//
// Activations of type K_DTYPE in storage buffers of 32-bit words: an f32 a word, or two halves a
// word, the element of even number in the low one. A kernel computes on VALUES, the elements of one
// word in f32, and is written once for both types.
//
//   WORD x[]                         declares such a buffer
//   VALUES word_decode(WORD word)    exact
//   WORD word_encode(VALUES values)  rounds halves
//   VALUES_OF_F32(table, i)          the f32 numbers of word i's elements in `float table[]`
//   float values_sum(VALUES values), values_max    over the elements of one word
//
// A row or vector is WORD_ELEMENTS times some elements long, so that no word belongs to two rows.
#ifndef WORDS_GLSL
#define WORDS_GLSL

#include "params.glsl"
#include "floats.glsl"

#if K_DTYPE == DTYPE_F16

#define WORD uint
#define WORD_ELEMENTS 2u
#define VALUES vec2
#define VALUES_OF_F32(table, i) vec2(table[2u * (i)], table[2u * (i) + 1u])

VALUES word_decode(WORD word) {
    return vec2(f16_to_f32(word & 0xFFFFu), f16_to_f32(word >> 16));
}

WORD word_encode(VALUES values) {
    return f32_to_f16(values.x) | (f32_to_f16(values.y) << 16);
}

float values_sum(VALUES values) {
    return values.x + values.y;
}

float values_max(VALUES values) {
    return max(values.x, values.y);
}

#elif K_DTYPE == DTYPE_F32

#define WORD float
#define WORD_ELEMENTS 1u
#define VALUES float
#define VALUES_OF_F32(table, i) table[i]

VALUES word_decode(WORD word) {
    return word;
}

WORD word_encode(VALUES values) {
    return values;
}

float values_sum(VALUES values) {
    return values;
}

float values_max(VALUES values) {
    return values;
}

#else
#error "K_DTYPE is not an activation type"
#endif

#endif
