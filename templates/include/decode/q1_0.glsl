// SPDX-License-Identifier: MIT
// Q1_0, 128 elements: d * (bit ? 1 : -1).
//   0  d   half
//   2  qs  16 bytes, element e is bit e % 8 of byte e / 8
#define BLOCK_ELEMENTS 128
#define BLOCK_BYTES 18
#define SCALE_ELEMENTS 128
#define DECODE_HAS_CODES

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u16(block));
}

uvec2 run_codes(uint block, uint run) {
    uint bits = load_u8(block + 2u + run);
    return uvec2(packed_subtract(2u * packed_spread_1bit(bits), 1u),
                 packed_subtract(2u * packed_spread_1bit(bits >> 4), 1u));
}
