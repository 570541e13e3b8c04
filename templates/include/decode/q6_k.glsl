// SPDX-License-Identifier: MIT
// Q6_K, 256 elements: (d * scale_g) * (low + 16 * high - 32), g = e / 16.
//   0  ql      128 bytes; with h = e / 128, r = e % 128: byte 64h + r % 64, low nibble if r < 64
//  128 qh      64 bytes: byte 32h + r % 32, bits 2(r / 32)..+1
//  192 scales  16 signed bytes
//  208 d       half
#define BLOCK_ELEMENTS 256
#ifndef BLOCK_BYTES
#define BLOCK_BYTES 210
#endif
#define SCALE_ELEMENTS 16
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 64
#define SLICE_BIAS 32

#include "fields.glsl"

float run_scale(uint block, uint run) {
    return f16_to_f32(load_field_half(block + 208u)) * float(load_i8(block + 192u + (run >> 1)));
}

uvec2 run_codes(uint block, uint run) {
    uint half_block = run >> 4;
    uvec2 low_bytes = load_field_u32x2(block + 64u * half_block + 8u * (run & 7u));
    uvec2 low = (low_bytes >> (4u * ((run >> 3) & 1u))) & 0x0F0F0F0Fu;
    uvec2 high_bytes = load_field_u32x2(block + 128u + 32u * half_block + 8u * (run & 3u));
    uvec2 high = (high_bytes >> (2u * ((run >> 2) & 3u))) & 0x03030303u;
    uvec2 codes = low | (high << 4);
    return uvec2(packed_subtract(codes.x, 32u), packed_subtract(codes.y, 32u));
}

// Slice s: 16 bytes of ql from 16s on. Their low nibbles are elements of r < 64, their high nibbles
// those 64 further on; the upper bits of both are in the same 16 bytes of qh.
uvec2 slice_elements(uint slice) {
    return 128u * (slice >> 2) + 16u * (slice & 3u) + uvec2(0u, 64u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 nibbles = load_field_u32x4(block + 16u * slice);
    uvec4 pairs = load_field_u32x4(block + 128u + 32u * (slice >> 2) + 16u * (slice & 1u));
    pairs >>= slice & 2u;
    low = (nibbles & 0x0F0F0F0Fu) | ((pairs & 0x03030303u) << 4);
    high = ((nibbles >> 4) & 0x0F0F0F0Fu) | (pairs & 0x30303030u);
}
