// SPDX-License-Identifier: MIT
//
// Dot products of packed signed bytes in 32-bit integers. A template includes this at its top,
// because it switches an extension on, but in tier `portable`, which multiplies byte by byte.
//
// The plain dot product, not the one that accumulates with saturation: compilers fuse it with the
// addition behind it, whereas few devices have the saturation, and no sum here comes near 2^31.
#ifndef DOT_GLSL
#define DOT_GLSL

#include "params.glsl"

#if K_TIER == TIER_PORTABLE

#include "packed.glsl"

int dot_codes(uint a, uint b) {
    ivec4 products = packed_to_ivec4(a) * packed_to_ivec4(b);
    return (products.x + products.y) + (products.z + products.w);
}

#else

#extension GL_EXT_integer_dot_product : require

int dot_codes(uint a, uint b) {
    return dotPacked4x8EXT(int(a), int(b));
}

#endif

int dot_codes(uvec2 a, uvec2 b) {
    return dot_codes(a.x, b.x) + dot_codes(a.y, b.y);
}

int dot_codes(uvec4 a, uvec4 b) {
    return dot_codes(a.xy, b.xy) + dot_codes(a.zw, b.zw);
}

int sum_codes(uvec2 a) {
    return dot_codes(a, uvec2(0x01010101u));
}

int sum_codes(uvec4 a) {
    return dot_codes(a, uvec4(0x01010101u));
}

// An integer between -2^22 and 2^22, without the conversion, which is slow on many devices: the number
// is put into the low bits of 3 * 2^22.
float small_to_float(int value) {
    return uintBitsToFloat(0x4B400000u + uint(value)) - 12582912.0;
}

#endif
