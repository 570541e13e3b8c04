// SPDX-License-Identifier: MIT
// Q5_K, 256 elements: (d * scale_j) * (nibble + 16 * bit) - (dmin * minimum_j), j = e / 32.
//   0  d       half
//   2  dmin    half
//   4  scales  12 bytes (k_scales.glsl)
//  16  qh      32 bytes, element e is bit e / 32 of byte e % 32
//  48  qs      128 bytes; element e: byte 32(e / 64) + e % 32, low nibble if e % 64 < 32, else high
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 176
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES
#define DECODE_HAS_OFFSET

#include "k_scales.glsl"

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u32(block) & 0xFFFFu) * float(load_k_scale(block + 4u, run >> 2).x);
}

float run_offset(uint block, uint run) {
    return -f16_to_f32(load_u32(block) >> 16) * float(load_k_scale(block + 4u, run >> 2).y);
}

uvec2 run_codes(uint block, uint run) {
    uint column = 8u * (run & 3u);
    uvec2 bytes = load_u32x2(block + 48u + 32u * (run >> 3) + column);
    uvec2 nibbles = (bytes >> (run & 4u)) & 0x0F0F0F0Fu;
    uvec2 high = (load_u32x2(block + 16u + column) >> (run >> 2)) & 0x01010101u;
    return nibbles | (high << 4);
}
