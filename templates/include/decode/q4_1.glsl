// SPDX-License-Identifier: MIT
// Q4_1, 32 elements: d * nibble + m.
//   0  d   half
//   2  m   half
//   4  qs  16 bytes, byte j: low nibble element j, high nibble element j + 16
#define BLOCK_ELEMENTS 32
#define BLOCK_BYTES 20
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 16
#define DECODE_HAS_OFFSET

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u32(block) & 0xFFFFu);
}

float run_offset(uint block, uint run) {
    return f16_to_f32(load_u32(block) >> 16);
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2(block + 4u + 8u * (run & 1u));
    return (bytes >> (4u * (run >> 1))) & 0x0F0F0F0Fu;
}

uvec2 slice_elements(uint slice) {
    return uvec2(0u, 16u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4(block + 4u);
    low = bytes & 0x0F0F0F0Fu;
    high = (bytes >> 4) & 0x0F0F0F0Fu;
}
