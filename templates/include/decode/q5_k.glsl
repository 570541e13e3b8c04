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
#define DECODE_HAS_SLICES
#define SLICE_APART 32
#define DECODE_HAS_OFFSET
#define DECODE_HAS_PAIRS

#include "k_scales.glsl"

vec2 run_scale_offset(uint block, uint run) {
    uvec4 header = load_u32x4_aligned(block);
    vec2 factors = vec2(f16_to_f32(header.x & 0xFFFFu), -f16_to_f32(header.x >> 16));
    return factors * vec2(k_scale(header.yzw, run >> 2));
}

float run_scale(uint block, uint run) {
    return run_scale_offset(block, run).x;
}

float run_offset(uint block, uint run) {
    return run_scale_offset(block, run).y;
}

uvec2 run_codes(uint block, uint run) {
    uint column = 8u * (run & 3u);
    uvec2 bytes = load_u32x2(block + 48u + 32u * (run >> 3) + column);
    uvec2 nibbles = (bytes >> (run & 4u)) & 0x0F0F0F0Fu;
    uvec2 high = (load_u32x2(block + 16u + column) >> (run >> 2)) & 0x01010101u;
    return nibbles | (high << 4);
}

// Slice s: 16 bytes of qs from 16s on, as in Q4_K; bits of qh by the group of 32 elements.
uvec2 slice_elements(uint slice) {
    return 64u * (slice >> 1) + 16u * (slice & 1u) + uvec2(0u, 32u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4_aligned(block + 48u + 16u * slice);
    uvec4 bits = load_u32x4_aligned(block + 16u + 16u * (slice & 1u)) >> (slice & 6u);
    low = (bytes & 0x0F0F0F0Fu) | ((bits & 0x01010101u) << 4);
    high = ((bytes >> 4) & 0x0F0F0F0Fu) | ((bits & 0x02020202u) << 3);
}
