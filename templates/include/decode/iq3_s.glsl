// SPDX-License-Identifier: MIT
// IQ3_S, 256 elements: d * (1 + 2 * scale_b) * magnitude * sign, b = e / 32.
//   0  d       half
//   2  qs      64 bytes, byte e / 4: bits 0..7 of the codebook index of four elements
//  66  qh      8 bytes, bit (e % 32) / 4 of byte e / 32: index bit 8
//  74  signs   32 bytes, byte r: the signs of run r
// 106  scales  4 bytes, scale b is a nibble of byte b / 2, the low one if b is even
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 110
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES

#include "../tables/iq3s_grid.glsl"
#include "iq_signs.glsl"

float run_scale(uint block, uint run) {
    uint scale = (load_u8(block + 106u + (run >> 3)) >> (run & 4u)) & 15u;
    return f16_to_f32(load_u16(block)) * float(2u * scale + 1u);
}

// Codes 0..7 as 1, 3, .. 15.
uint iq3_s_magnitudes(uint index) {
    return 2u * packed_spread_4bit(CODEBOOK_ENTRY(IQ3S_GRID, index)) + 0x01010101u;
}

#define LOOKUP_TYPE uint
#define LOOKUP_ENTRIES 512
uint lookup_make(uint index) {
    return iq3_s_magnitudes(index);
}
#include "lookup.glsl"

uvec2 run_codes(uint block, uint run) {
    uint low = load_u16(block + 2u + 2u * run);
    uint high = load_u8(block + 66u + (run >> 2)) >> (2u * (run & 3u));
    uvec2 magnitudes = uvec2(lookup((low & 0xFFu) | ((high & 1u) << 8)),
                             lookup((low >> 8) | ((high & 2u) << 7)));
    return apply_signs(magnitudes, load_u8(block + 74u + run));
}
