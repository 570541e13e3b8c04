// SPDX-License-Identifier: MIT
// Q8_0, 32 elements: d * code.
//   0  d   half
//   2  qs  32 signed bytes
#define BLOCK_ELEMENTS 32
#define BLOCK_BYTES 34
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u16(block));
}

uvec2 run_codes(uint block, uint run) {
    return load_u32x2_unaligned(block + 2u + 8u * run);
}

uvec2 slice_elements(uint slice) {
    return uvec2(0u, 16u);
}

void slice_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    low = load_u32x4_unaligned(block + 2u);
    high = load_u32x4_unaligned(block + 18u);
}
