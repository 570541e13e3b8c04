// SPDX-License-Identifier: MIT
//
// f32 and f16 as bits, from one to the other. NaN stays NaN and infinity infinity, which a device's
// own conversions and arithmetic need not keep.
#ifndef HALF_BITS_GLSL
#define HALF_BITS_GLSL

#include "floats.glsl"

uint half_bits(uint f32_bits) {
    if ((f32_bits & 0x7FFFFFFFu) > 0x7F800000u) {
        return ((f32_bits >> 16) & 0x8000u) | 0x7E00u;
    }
    return f32_to_f16(uintBitsToFloat(f32_bits));
}

uint single_bits(uint f16_bits) {
    if ((f16_bits & 0x7C00u) == 0x7C00u) { // infinity or NaN
        return ((f16_bits & 0x8000u) << 16) | 0x7F800000u | ((f16_bits & 0x3FFu) << 13);
    }
    return floatBitsToUint(f16_to_f32(f16_bits));
}

#endif
