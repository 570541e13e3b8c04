// SPDX-License-Identifier: MIT
// Q3_K, 256 elements: (d * (scale_g - 32)) * (low + 4 * bit - 4), g = e / 16.
//   0  hmask   32 bytes, element e is bit e / 32 of byte e % 32
//  32  qs      64 bytes; with h = e / 128, r = e % 128: byte 32h + r % 32, bits 2(r / 32)..+1
//  96  scales  12 bytes S, sixteen 6-bit scales: low 4 bits from the low nibble of S[g] (g < 8)
//              or the high nibble of S[g - 8]; high 2 bits are bits 2(g / 4)..+1 of S[8 + g % 4]
// 108  d       half
#define BLOCK_ELEMENTS 256
#ifndef BLOCK_BYTES
#define BLOCK_BYTES 110
#endif
#define SCALE_ELEMENTS 16
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 32
#define SLICE_BIAS 4

#include "fields.glsl"

float run_scale(uint block, uint run) {
    uint group = run >> 1;
    uint low = (load_u8(block + 96u + (group & 7u)) >> (4u * (group >> 3))) & 15u;
    uint high = (load_u8(block + 104u + (group & 3u)) >> (2u * (group >> 2))) & 3u;
    return f16_to_f32(load_field_half(block + 108u)) * float(int(low | (high << 4)) - 32);
}

uvec2 run_codes(uint block, uint run) {
    uint column = 8u * (run & 3u);
    uvec2 bytes = load_field_u32x2(block + 32u + 32u * (run >> 4) + column);
    uvec2 low = (bytes >> (2u * ((run >> 2) & 3u))) & 0x03030303u;
    uvec2 high = (load_field_u32x2(block + column) >> (run >> 2)) & 0x01010101u;
    uvec2 codes = low | (high << 2);
    return uvec2(packed_subtract(codes.x, 4u), packed_subtract(codes.y, 4u));
}

// Slice s: 16 bytes of qs, two of their four pairs of bits: elements 64(s / 2) + 16(s % 2) on and
// those 32 further on.
uvec2 slice_elements(uint slice) {
    return 64u * (slice >> 1) + 16u * (slice & 1u) + uvec2(0u, 32u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uint column = 16u * (slice & 1u);
    uvec4 bytes = load_field_u32x4(block + 32u + 32u * (slice >> 2) + column);
    uvec4 bits = load_field_u32x4(block + column) >> (slice & 6u);
    bytes >>= 2u * (slice & 2u);
    low = (bytes & 0x03030303u) | ((bits & 0x01010101u) << 2);
    high = ((bytes >> 2) & 0x03030303u) | ((bits & 0x02020202u) << 1);
}
