// SPDX-License-Identifier: MIT
// Magnitudes and signs of IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S.
#ifndef DECODE_IQ_SIGNS_GLSL
#define DECODE_IQ_SIGNS_GLSL

// Eight 2-bit codes, entry of an iq2 codebook, as bytes 8, 25 and 43.
uvec2 iq2_magnitudes(uint entry) {
    uvec2 codes = uvec2(packed_spread_2bit(entry & 0xFFu), packed_spread_2bit(entry >> 8));
    return 0x08080808u + 17u * codes + ((codes >> 1) & 0x01010101u);
}

// Bit i of `signs` set: byte i is 0xFF, else 0.
uvec2 sign_masks_make(uint signs) {
    return 0xFFu * uvec2(packed_spread_1bit(signs), packed_spread_1bit(signs >> 4));
}

#ifdef LOOKUP_STAGED
#define DECODE_HAS_SIGNS_FILL

shared uvec2 sign_stage[256]; // as lookup.glsl

uvec2 sign_masks(uint signs) {
    return sign_stage[signs];
}

void sign_fill() {
    for (uint i = gl_LocalInvocationIndex; i < 256u; i += gl_WorkGroupSize.x) {
        sign_stage[i] = sign_masks_make(i);
    }
}
#else
uvec2 sign_masks(uint signs) {
    return sign_masks_make(signs);
}
#endif

// Bit i of `signs` (below 256) set: byte i is negated. No magnitude is 0, so nothing carries.
uvec2 apply_signs(uvec2 magnitudes, uint signs) {
    uvec2 masks = sign_masks(signs);
    return (magnitudes ^ masks) + (masks & 0x01010101u);
}

// Eight signs stored in 7 bits: the last one makes the number of negatives even.
uint even_signs(uint bits) {
    return bits | (uint(bitCount(bits) & 1) << 7);
}

#endif
