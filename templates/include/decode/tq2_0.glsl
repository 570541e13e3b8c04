// SPDX-License-Identifier: MIT
// TQ2_0, 256 elements: d * (code - 1).
//   0  qs  64 bytes; with h = e / 128, r = e % 128: byte 32h + r % 32, bits 2(r / 32)..+1
//  64  d   half
#define BLOCK_ELEMENTS 256
#define BLOCK_BYTES 66
#define SCALE_ELEMENTS 256
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 32
#define SLICE_BIAS 1

float run_scale(uint block, uint run) {
    return f16_to_f32(load_u16(block + 64u));
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2_unaligned(block + 32u * (run >> 4) + 8u * (run & 3u));
    uvec2 codes = (bytes >> (2u * ((run >> 2) & 3u))) & 0x03030303u;
    return uvec2(packed_subtract(codes.x, 1u), packed_subtract(codes.y, 1u));
}

// Slice s: 16 bytes of qs, two of their four pairs of bits: elements 64(s / 2) + 16(s % 2) on and
// those 32 further on.
uvec2 slice_elements(uint slice) {
    return 64u * (slice >> 1) + 16u * (slice & 1u) + uvec2(0u, 32u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4_even(block + 32u * (slice >> 2) + 16u * (slice & 1u));
    bytes >>= 2u * (slice & 2u);
    low = bytes & 0x03030303u;
    high = (bytes >> 2) & 0x03030303u;
}
