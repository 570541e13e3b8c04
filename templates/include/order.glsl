// SPDX-License-Identifier: MIT
//
// The order in which kernels choose among values: greatest first, equal ones by ascending index, NaN
// after everything else. Values are compared as integers, because devices may treat NaN in
// comparisons as they like and subnormal numbers as 0. Zeros of either sign are equal.
//
// The template declares the storage buffer `uint x[]` of K_DTYPE first: f32 bits, or two f16 a word.
#ifndef ORDER_GLSL
#define ORDER_GLSL

#include "params.glsl"

#if K_DTYPE == DTYPE_F16
#define ORDER_INFINITY 0x7C000000u

uint load_bits(uint element) { // in the upper half
    uint word = x[element >> 1];
    return (element & 1u) != 0u ? word & 0xFFFF0000u : word << 16;
}

#else
#define ORDER_INFINITY 0x7F800000u

uint load_bits(uint element) {
    return x[element];
}

#endif

// Greater for greater values; 0 for NaN, and for nothing else.
uint order_key(uint bits) {
    uint magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > ORDER_INFINITY) {
        return 0u;
    }
    bool negative = bits != magnitude && magnitude != 0u;
    return negative ? ~bits : magnitude | 0x80000000u;
}

#endif
