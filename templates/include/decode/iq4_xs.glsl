// SPDX-License-Identifier: MIT
// IQ4_XS, 256 elements: (d * (scale_b - 32)) * value(nibble), b = e / 32.
//   0  d         half
//   2  scales_h  u16, bits 2b..2b+1 are bits 4..5 of scale b
//   4  scales_l  4 bytes, bits 0..3 of scale b: byte b / 2, low nibble if b is even
//   8  qs        16 bytes a group b, byte j: low nibble element 32b + j, high element 32b + 16 + j
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 136
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 16

#include "iq4_values.glsl"

float run_scale(uint block, uint run) {
    uint group = run >> 2;
    uint first = load_u32(block);
    uint low = (load_u32(block + 4u) >> (4u * group)) & 15u;
    uint high = (first >> (16u + 2u * group)) & 3u;
    return f16_to_f32(first & 0xFFFFu) * float(int(low | (high << 4)) - 32);
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2(block + 8u + 16u * (run >> 2) + 8u * (run & 1u));
    uvec2 nibbles = (bytes >> (2u * (run & 2u))) & 0x0F0F0F0Fu;
    return uvec2(packed_iq4_values(nibbles.x), packed_iq4_values(nibbles.y));
}

uvec2 slice_elements(uint slice) {
    return 32u * slice + uvec2(0u, 16u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4(block + 8u + 16u * slice);
    nibble_slice(bytes, low, high);
}
