// SPDX-License-Identifier: MIT
//
// Four bytes in a word, element i in bits 8i..8i+7, computed on all at once. No operation here
// carries from one byte into the next.
#ifndef PACKED_GLSL
#define PACKED_GLSL

// The same byte four times.
uint packed_splat(uint byte_value) {
    return byte_value * 0x01010101u;
}

// Bit 0 of each byte to a byte of 0 or 0xFF.
uint packed_mask(uint bytes) {
    return (bytes & 0x01010101u) * 0xFFu;
}

// Bits of one where the mask is set, else of zero.
uint packed_select(uint mask, uint one, uint zero) {
    return (one & mask) | (zero & ~mask);
}

// Bytes a - b as signed bytes, for bytes a of 0..127 and one b of 0..128.
uint packed_subtract(uint a, uint b) {
    return ((a | 0x80808080u) - packed_splat(b)) ^ 0x80808080u;
}

// The same on 16 bytes.
uvec4 packed_subtract(uvec4 a, uint b) {
    return ((a | 0x80808080u) - packed_splat(b)) ^ 0x80808080u;
}

// Bytes a, negated where bit 0 of the byte of `negative` is set; a of 0..127.
uint packed_negate_where(uint a, uint negative) {
    return packed_select(packed_mask(negative), (0x80808080u - a) ^ 0x80808080u, a);
}

// Bits 0..3 to four bytes of 0 or 1.
uint packed_spread_1bit(uint bits) {
    return ((bits & 0xFu) * 0x00204081u) & 0x01010101u;
}

// Bits 0..15 to sixteen bytes of 0 or 1.
uvec4 packed_spread_16bit(uint bits) {
    return (((uvec4(bits) >> uvec4(0u, 4u, 8u, 12u)) & 0xFu) * 0x00204081u) & 0x01010101u;
}

// Bits 0..7, four codes of 2 bits, to four bytes.
uint packed_spread_2bit(uint bits) {
    uint pairs = (bits | (bits << 12)) & 0x000F000Fu;
    return (pairs | (pairs << 6)) & 0x03030303u;
}

// Bits 0..15, four codes of 4 bits, to four bytes.
uint packed_spread_4bit(uint bits) {
    uint pairs = (bits | (bits << 8)) & 0x00FF00FFu;
    return (pairs | (pairs << 4)) & 0x0F0F0F0Fu;
}

// Twice the value of E2M1 codes (bit 3 the sign): 0 1 2 3 4 6 8 12 and their negatives. With m the
// low three bits this is m, plus 0 1 2 5 (by the low two bits) where bit 2 is set.
uint packed_e2m1_doubled(uint codes) {
    uint low = codes & 0x03030303u;
    uint both_low = codes & (codes >> 1) & 0x01010101u;
    uint extra = (low + 2u * both_low) & packed_mask(codes >> 2);
    return packed_negate_where((codes & 0x07070707u) + extra, codes >> 3);
}

// The four signed bytes as floats.
vec4 packed_to_vec4(uint bytes) {
    int word = int(bytes);
    return vec4(bitfieldExtract(word, 0, 8), bitfieldExtract(word, 8, 8),
                bitfieldExtract(word, 16, 8), word >> 24);
}

// The same as integers.
ivec4 packed_to_ivec4(uint bytes) {
    int word = int(bytes);
    return ivec4(bitfieldExtract(word, 0, 8), bitfieldExtract(word, 8, 8),
                 bitfieldExtract(word, 16, 8), word >> 24);
}

#endif
