// SPDX-License-Identifier: MIT
// IQ1_M, 256 elements: d * (2 * scale_g + 1) * (value + delta), g = e / 16, delta = +-1/8.
//   0  qs      32 bytes, byte r: bits 0..7 of the codebook index of run r
//  32  qh      16 bytes, a nibble a run, low one first: index bits 8..10, bit 3 delta < 0
//  48  scales  four u16 of 3-bit scales: scale g is bits 3(g % 4)..+2 of number g / 4; the half d
//              is made of their top nibbles, the first one lowest
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 56
#define SCALE_ELEMENTS 16
#define DECODE_HAS_CODES

#include "iq1_grid.glsl"

float run_scale(uint block, uint run) {
    uint group = run >> 1;
    uvec2 words = load_u32x2(block + 48u);
    uvec2 nibbles = ((words >> 12) & 0xFu) | ((words >> 24) & 0xF0u);
    uint scale = (load_u16(block + 48u + 2u * (group >> 2)) >> (3u * (group & 3u))) & 7u;
    return 0.125 * f16_to_f32(nibbles.x | (nibbles.y << 8)) * float(2u * scale + 1u);
}

uvec2 run_codes(uint block, uint run) {
    uint nibble = load_u32(block + 32u + 4u * (run >> 3)) >> (4u * (run & 7u));
    uint index = load_u8(block + run) | ((nibble & 7u) << 8);
    return iq1_codes(index, (nibble & 8u) != 0u);
}
