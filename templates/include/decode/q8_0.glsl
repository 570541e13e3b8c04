// SPDX-License-Identifier: MIT
// Q8_0, 32 elements: d * code.
//   0  d   half
//   2  qs  32 signed bytes
#define BLOCK_ELEMENTS 32
#ifndef BLOCK_BYTES
#define BLOCK_BYTES 34
#endif
#define Q8_0_CODES (BLOCK_BYTES - 32u)
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 16

#include "fields.glsl"

float run_scale(uint block, uint run) {
    return f16_to_f32(load_field_half(block));
}

uvec2 run_codes(uint block, uint run) {
    return load_field_u32x2(block + Q8_0_CODES + 8u * run);
}

uvec2 slice_elements(uint slice) {
    return uvec2(0u, 16u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    low = load_field_u32x4(block + Q8_0_CODES);
    high = load_field_u32x4(block + (Q8_0_CODES + 16u));
}
