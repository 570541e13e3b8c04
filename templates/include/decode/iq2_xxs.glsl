// SPDX-License-Identifier: MIT
// IQ2_XXS, 256 elements: d * (scale_b + 1/2) / 4 * magnitude * sign, b = e / 32.
//   0  d   half
//   2  qs  8 bytes a group b: four codebook indices, then a u32: bits 7l..7l+6 the signs of run
//          4b + l, bits 28..31 the scale
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 66
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES

#include "../tables/iq2xxs_grid.glsl"
#include "iq_signs.glsl"

#define LOOKUP_TYPE uvec2
#define LOOKUP_ENTRIES 256
uvec2 lookup_make(uint index) {
    return iq2_magnitudes(CODEBOOK_ENTRY(IQ2XXS_GRID, index));
}
#include "lookup.glsl"

float run_scale(uint block, uint run) {
    uint scale = load_u8(block + 9u + 8u * (run >> 2)) >> 4;
    return 0.125 * f16_to_f32(load_u16(block)) * float(2u * scale + 1u);
}

uvec2 run_codes(uint block, uint run) {
    uint part = run & 3u;
    uvec2 group = load_u32x2_unaligned(block + 2u + 8u * (run >> 2));
    uint index = (group.x >> (8u * part)) & 0xFFu;
    uint signs = even_signs((group.y >> (7u * part)) & 0x7Fu);
    return apply_signs(lookup(index), signs);
}
