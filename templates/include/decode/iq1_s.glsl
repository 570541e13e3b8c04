// SPDX-License-Identifier: MIT
// IQ1_S, 256 elements: d * (2 * scale_b + 1) * (value + delta), b = e / 32, delta = +-1/8.
//   0  d   half
//   2  qs  32 bytes, byte r: bits 0..7 of the codebook index of run r
//  34  qh  u16 a group b: bits 3l..3l+2 index bits 8..10 of run 4b + l, 12..14 scale, 15 delta < 0
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 50
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES

#include "iq1_grid.glsl"

float run_scale(uint block, uint run) {
    uint scale = (load_u16(block + 34u + 2u * (run >> 2)) >> 12) & 7u;
    return 0.125 * f16_to_f32(load_u16(block)) * float(2u * scale + 1u);
}

uvec2 run_codes(uint block, uint run) {
    uint high = load_u16(block + 34u + 2u * (run >> 2));
    uint index = load_u8(block + 2u + run) | (((high >> (3u * (run & 3u))) & 7u) << 8);
    return iq1_codes(index, (high & 0x8000u) != 0u);
}
