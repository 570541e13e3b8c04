// SPDX-License-Identifier: MIT
//
// Small floating-point formats to and from f32, all exact but the rounding in f32_to_f16.
//
// Subnormal halves are real values: block scales are often below 2^-14. A device may flush them in
// (un)packHalf2x16, so they go through integer conversions, which it may not. As f32 every one of
// them is a normal number.
#ifndef FLOATS_GLSL
#define FLOATS_GLSL

// bits: IEEE binary16 in the low half, the high half 0. A template that may take subnormal halves for 0
// defines HALVES_MAY_FLUSH and gets the conversion as the device has it.
float f16_to_f32(uint bits) {
#ifdef HALVES_MAY_FLUSH
    return unpackHalf2x16(bits).x;
#else
    float value = unpackHalf2x16(bits).x;
    // A subnormal: with exponent bits of 2^-15 it is 2^-15 + magnitude / 2.
    float halved = uintBitsToFloat(0x38000000u | ((bits & 0x3FFu) << 13));
    float magnitude = halved * 2.0 - 6.103515625e-5; // 2^-14, exact
    float subnormal = (bits & 0x8000u) != 0u ? -magnitude : magnitude;
    return (bits & 0x7C00u) != 0u ? value : subnormal;
#endif
}

// The binary16 nearest to value, up to the direction in which the device rounds. The ends of the range
// are not left to packHalf2x16, which makes NaN of large values on some devices.
uint f32_to_f16(float value) {
    float magnitude = abs(value);
    uint sign_bit = (floatBitsToUint(value) >> 16) & 0x8000u;
    if (magnitude >= 65520.0) {
        return sign_bit | 0x7C00u; // infinity
    }
    if (magnitude < 6.103515625e-5) { // 2^-14, the least normal half
        return sign_bit | uint(roundEven(magnitude * 16777216.0)); // 2^24
    }
    return packHalf2x16(vec2(value, 0.0));
}

float bf16_to_f32(uint bits) {
    return uintBitsToFloat(bits << 16);
}

// 2^exponent for -126 <= exponent <= 127.
float exp2_exact(int exponent) {
    return uintBitsToFloat(uint(exponent + 127) << 23);
}

// Unsigned E4M3 of NVFP4: bits 3..6 the exponent (bias 7), bits 0..2 the mantissa, bit 7 ignored;
// the byte 0x7F means 0.
float ue4m3_to_f32(uint bits) {
    uint magnitude = bits & 0x7Fu;
    if (bits == 0x7Fu) {
        return 0.0;
    }
    if (magnitude < 8u) {
        return float(magnitude) * 0.001953125; // 2^-9
    }
    return uintBitsToFloat((magnitude << 20) + (120u << 23)); // f32 bias 127 - 7
}

#endif
