// SPDX-License-Identifier: MIT
// IQ3_XXS, 256 elements: d * (scale_b + 1/2) / 2 * magnitude * sign, b = e / 32.
//   0  d   half
//   2  qs  64 bytes, byte e / 4: codebook index of four elements
//  66  ss  u32 a group b: bits 7l..7l+6 the signs of run 4b + l, bits 28..31 the scale
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 98
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES

#include "../tables/iq3xxs_grid.glsl"
#include "iq_signs.glsl"

float run_scale(uint block, uint run) {
    uint scale = load_u8(block + 69u + 4u * (run >> 2)) >> 4;
    return 0.25 * f16_to_f32(load_u16(block)) * float(2u * scale + 1u);
}

// Codes 0..7 as 4, 12, .. 52 and 62.
uint iq3_xxs_magnitudes(uint index) {
    uint codes = packed_spread_4bit(CODEBOOK_ENTRY(IQ3XXS_GRID, index));
    uint seven = codes & (codes >> 1) & (codes >> 2) & 0x01010101u;
    return 0x04040404u + 8u * codes + 2u * seven;
}

#define LOOKUP_TYPE uint
#define LOOKUP_ENTRIES 256
uint lookup_make(uint index) {
    return iq3_xxs_magnitudes(index);
}
#include "lookup.glsl"

uvec2 run_codes(uint block, uint run) {
    uint indices = load_u16(block + 2u + 2u * run);
    uint signs = load_u32_unaligned(block + 66u + 4u * (run >> 2)) >> (7u * (run & 3u));
    uvec2 magnitudes =
        uvec2(lookup(indices & 0xFFu), lookup(indices >> 8));
    return apply_signs(magnitudes, even_signs(signs & 0x7Fu));
}
