// SPDX-License-Identifier: MIT
// Q2_0, 64 elements: d * (code - 1).
//   0  d   half
//   2  qs  16 bytes, element e is bits 2(e % 4)..+1 of byte e / 4
#define BLOCK_ELEMENTS 64
#define BLOCK_BYTES 18
#define SCALE_ELEMENTS 64
#define DECODE_HAS_CODES

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u16(block));
}

uvec2 run_codes(uint block, uint run) {
    uint bits = load_u16(block + 2u + 2u * run);
    return uvec2(packed_subtract(packed_spread_2bit(bits & 0xFFu), 1u),
                 packed_subtract(packed_spread_2bit(bits >> 8), 1u));
}
