// SPDX-License-Identifier: MIT
// Q4_K, 256 elements: (d * scale_j) * nibble - (dmin * minimum_j), j = e / 32.
//   0  d       half
//   2  dmin    half
//   4  scales  12 bytes (k_scales.glsl)
//  16  qs      128 bytes; element e: byte 32(e / 64) + e % 32, low nibble if e % 64 < 32, else high
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 144
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
    uvec2 bytes = load_u32x2(block + 16u + 32u * (run >> 3) + 8u * (run & 3u));
    return (bytes >> (run & 4u)) & 0x0F0F0F0Fu;
}

// Slice s: 16 bytes of qs from 16s on. Their low nibbles are elements of group 2(s / 2), their high
// nibbles those of the next group.
uvec2 slice_elements(uint slice) {
    return 64u * (slice >> 1) + 16u * (slice & 1u) + uvec2(0u, 32u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4_aligned(block + 16u + 16u * slice);
    low = bytes & 0x0F0F0F0Fu;
    high = (bytes >> 4) & 0x0F0F0F0Fu;
}
