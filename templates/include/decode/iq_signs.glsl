// SPDX-License-Identifier: MIT
// Magnitudes and signs of IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S.
#ifndef DECODE_IQ_SIGNS_GLSL
#define DECODE_IQ_SIGNS_GLSL

// Eight 2-bit codes, entry of an iq2 codebook, as bytes 8, 25 and 43.
uvec2 iq2_magnitudes(uint entry) {
    uvec2 codes = uvec2(packed_spread_2bit(entry & 0xFFu), packed_spread_2bit(entry >> 8));
    return 0x08080808u + 17u * codes + ((codes >> 1) & 0x01010101u);
}

// Bit i of `signs` set: byte i is negated.
uvec2 apply_signs(uvec2 magnitudes, uint signs) {
    return uvec2(packed_negate_where(magnitudes.x, packed_spread_1bit(signs)),
                 packed_negate_where(magnitudes.y, packed_spread_1bit(signs >> 4)));
}

// Eight signs stored in 7 bits: the last one makes the number of negatives even.
uint even_signs(uint bits) {
    return bits | (uint(bitCount(bits) & 1) << 7);
}

#endif
