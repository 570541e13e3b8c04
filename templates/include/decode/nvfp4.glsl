// SPDX-License-Identifier: MIT
// NVFP4, 64 elements: (scale_s / 2) * (twice the E2M1 value of the nibble), s = e / 16.
//   0  d   4 bytes, UE4M3 scale s in byte s
//   4  qs  32 bytes; byte j of the 8 bytes of s: low nibble element 16s + j, high 16s + 8 + j
#define BLOCK_ELEMENTS 64
#define BLOCK_BYTES 36
#define SCALE_ELEMENTS 16
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 16

float run_scale(uint block, uint run) {
    return 0.5 * ue4m3_to_f32(load_u8(block + (run >> 1)));
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2(block + 4u + 8u * (run >> 1));
    uvec2 nibbles = (bytes >> (4u * (run & 1u))) & 0x0F0F0F0Fu;
    return uvec2(packed_e2m1_doubled(nibbles.x), packed_e2m1_doubled(nibbles.y));
}

uint nibble_values(uint nibbles) {
    return packed_e2m1_doubled(nibbles);
}
#include "nibble_values.glsl"

uvec2 slice_elements(uint slice) {
    return 32u * slice + uvec2(0u, 16u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4(block + 4u + 16u * slice);
    uvec4 even;
    uvec4 odd;
    nibble_slice(bytes, even, odd);
    low = uvec4(even.xy, odd.xy);
    high = uvec4(even.zw, odd.zw);
}
