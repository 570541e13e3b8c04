// SPDX-License-Identifier: MIT
// TQ1_0, 256 elements: d * (digit - 1), five base-3 digits a byte.
//   0  qs  48 bytes  elements   0..159: byte e % 32, digit e / 32
//                    elements 160..239: r = e - 160: byte 32 + r % 16, digit r / 16
//  48  qh   4 bytes  elements 240..255: r = e - 240: byte r % 4, digit r / 4
//  52  d   half
// Digit n of byte q, the most significant one first: (((q * 3^n) mod 256) * 3) div 256.
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 54
#define SCALE_ELEMENTS 256
#define DECODE_HAS_CODES

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u16(block + 52u));
}

uint power_of_3(uint n) {
    return n < 2u ? 1u + 2u * n : (n < 4u ? 9u + 18u * (n - 2u) : 81u); // 1 3 9 27 81
}

// Digit n of four bytes, two at a time in halves of a word: 255 * 81 fits in 16 bits.
uint packed_ternary_digit(uint bytes, uint n) {
    uvec2 halves = uvec2(bytes, bytes >> 8) & 0x00FF00FFu;
    uvec2 shifted = (halves * power_of_3(n)) & 0x00FF00FFu;
    uvec2 digits = ((shifted * 3u) >> 8) & 0x00030003u;
    return digits.x | (digits.y << 8);
}

uvec2 run_codes(uint block, uint run) {
    uint byte_offset = 8u * (run & 3u);
    uvec2 digit = uvec2(run >> 2);
    if (run >= 30u) { // all eight elements are in the four bytes of qh, the second word from 44
        byte_offset = 44u;
        digit = 2u * (run - 30u) + uvec2(0u, 1u);
    } else if (run >= 20u) {
        byte_offset = 32u + 8u * (run & 1u);
        digit = uvec2((run - 20u) >> 1);
    }
    uvec2 bytes = load_u32x2_unaligned(block + byte_offset);
    uint first = run >= 30u ? bytes.y : bytes.x;
    return uvec2(packed_subtract(packed_ternary_digit(first, digit.x), 1u),
                 packed_subtract(packed_ternary_digit(bytes.y, digit.y), 1u));
}
