// SPDX-License-Identifier: MIT
// Q5_0, 32 elements: d * (nibble + 16 * bit - 16).
//   0  d   half
//   2  qh  u32, bit e belongs to element e
//   6  qs  16 bytes, byte j: low nibble element j, high nibble element j + 16
#define BLOCK_ELEMENTS 32
#define BLOCK_BYTES 22
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 16
#define SLICE_BIAS 16

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u16(block));
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2_unaligned(block + 6u + 8u * (run & 1u));
    uvec2 nibbles = (bytes >> (4u * (run >> 1))) & 0x0F0F0F0Fu;
    uint bits = load_u8(block + 2u + run);
    return uvec2(packed_subtract(nibbles.x | (packed_spread_1bit(bits) << 4), 16u),
                 packed_subtract(nibbles.y | (packed_spread_1bit(bits >> 4) << 4), 16u));
}

uvec2 slice_elements(uint slice) {
    return uvec2(0u, 16u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4_even(block + 6u);
    uint bits = load_u32_unaligned(block + 2u);
    low = (bytes & 0x0F0F0F0Fu) | (packed_spread_16bit(bits) << 4);
    high = ((bytes >> 4) & 0x0F0F0F0Fu) | (packed_spread_16bit(bits >> 16) << 4);
}
