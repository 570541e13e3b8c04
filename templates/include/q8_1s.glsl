// SPDX-License-Identifier: MIT
//
// Activations as q8_1s (docs/repacked_layouts.md): codes by vectors of 16, transposed in groups of 32
// vectors, so that invocations that take four (or two) vectors in a row each read side by side.
#ifndef Q8_1S_GLSL
#define Q8_1S_GLSL

// Where vector `piece`, elements 16 piece .. 16 piece + 15 of so many, is.
uint q8_1s_vector(uint piece, uint elements) {
    uint whole = elements / 512u * 32u;
    return piece < whole ? (piece & ~31u) | ((piece & 3u) << 3) | ((piece >> 2) & 7u) : piece;
}

#endif
