// SPDX-License-Identifier: MIT
// IQ4_NL, 32 elements: d * value(nibble).
//   0  d   half
//   2  qs  16 bytes, byte j: low nibble element j, high nibble element j + 16
#define BLOCK_ELEMENTS 32
#define BLOCK_BYTES 18
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 16

#include "iq4_values.glsl"

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u16(block));
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2_unaligned(block + 2u + 8u * (run & 1u));
    uvec2 nibbles = (bytes >> (4u * (run >> 1))) & 0x0F0F0F0Fu;
    return uvec2(packed_iq4_values(nibbles.x), packed_iq4_values(nibbles.y));
}

uvec2 slice_elements(uint slice) {
    return uvec2(0u, 16u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4_even(block + 2u);
    nibble_slice(bytes, low, high);
}
