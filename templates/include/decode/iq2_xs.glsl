// SPDX-License-Identifier: MIT
// IQ2_XS, 256 elements: d * (scale_g + 1/2) / 4 * magnitude * sign, g = e / 16.
//   0  d       half
//   2  qs      u16 a run: bits 0..8 codebook index, bits 9..15 signs
//  66  scales  8 bytes, scale g is a nibble of byte g / 2, the low one if g is even
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 74
#define SCALE_ELEMENTS 16
#define DECODE_HAS_CODES

#include "../tables/iq2xs_grid.glsl"
#include "iq_signs.glsl"

#define LOOKUP_TYPE uvec2
#define LOOKUP_ENTRIES 512
uvec2 lookup_make(uint index) {
    return iq2_magnitudes(CODEBOOK_ENTRY(IQ2XS_GRID, index));
}
#include "lookup.glsl"

float run_scale(uint block, uint run) {
    uint scale = (load_u8(block + 66u + (run >> 2)) >> (2u * (run & 2u))) & 15u;
    return 0.125 * f16_to_f32(load_u16(block)) * float(2u * scale + 1u);
}

uvec2 run_codes(uint block, uint run) {
    uint word = load_u16(block + 2u + 2u * run);
    return apply_signs(lookup(word & 0x1FFu), even_signs(word >> 9));
}
