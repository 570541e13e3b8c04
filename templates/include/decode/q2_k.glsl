// SPDX-License-Identifier: MIT
// Q2_K, 256 elements: (d * scale_g) * code - (dmin * minimum_g), g = e / 16.
//   0  scales  16 bytes, byte g: low nibble scale, high nibble minimum
//  16  qs      64 bytes; with h = e / 128, r = e % 128: byte 32h + r % 32, bits 2(r / 32)..+1
//  80  d       half
//  82  dmin    half
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 84
#define SCALE_ELEMENTS 16
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 32
#define DECODE_HAS_OFFSET

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u32(block + 80u) & 0xFFFFu) * float(load_u8(block + (run >> 1)) & 15u);
}

float run_offset(uint block, uint run) {
    return -f16_to_f32(load_u32(block + 80u) >> 16) * float(load_u8(block + (run >> 1)) >> 4);
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2(block + 16u + 32u * (run >> 4) + 8u * (run & 3u));
    return (bytes >> (2u * ((run >> 2) & 3u))) & 0x03030303u;
}

// Slice s: 16 bytes of qs, two of their four pairs of bits: elements 64(s / 2) + 16(s % 2) on and
// those 32 further on.
uvec2 slice_elements(uint slice) {
    return 64u * (slice >> 1) + 16u * (slice & 1u) + uvec2(0u, 32u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4(block + 16u + 32u * (slice >> 2) + 16u * (slice & 1u));
    bytes >>= 2u * (slice & 2u);
    low = bytes & 0x03030303u;
    high = (bytes >> 2) & 0x03030303u;
}
