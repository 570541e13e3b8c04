// SPDX-License-Identifier: MIT
// IQ2_S, 256 elements: d * (scale_g + 1/2) / 4 * magnitude * sign, g = e / 16.
//   0  d       half
//   2  qs      32 bytes, byte r: bits 0..7 of the codebook index of run r
//  34  signs   32 bytes, byte r: the signs of run r
//  66  qh      8 bytes, bits 2(r % 4)..+1 of byte r / 4: index bits 8..9 of run r
//  74  scales  8 bytes, scale g is a nibble of byte g / 2, the low one if g is even
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 82
#define SCALE_ELEMENTS 16
#define DECODE_HAS_CODES

#include "../tables/iq2s_grid.glsl"
#include "iq_signs.glsl"

#define LOOKUP_TYPE uvec2
#define LOOKUP_ENTRIES 1024
uvec2 lookup_make(uint index) {
    return iq2_magnitudes(CODEBOOK_ENTRY(IQ2S_GRID, index));
}
#include "lookup.glsl"

float run_scale(uint block, uint run) {
    uint scale = (load_u8(block + 74u + (run >> 2)) >> (2u * (run & 2u))) & 15u;
    return 0.125 * f16_to_f32(load_u16(block)) * float(2u * scale + 1u);
}

uvec2 run_codes(uint block, uint run) {
    uint high = (load_u8(block + 66u + (run >> 2)) >> (2u * (run & 3u))) & 3u;
    uint index = load_u8(block + 2u + run) | (high << 8);
    return apply_signs(lookup(index), load_u8(block + 34u + run));
}
