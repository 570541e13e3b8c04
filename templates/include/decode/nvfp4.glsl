// SPDX-License-Identifier: MIT
// NVFP4, 64 elements: (scale_s / 2) * (twice the E2M1 value of the nibble), s = e / 16.
//   0  d   4 bytes, UE4M3 scale s in byte s
//   4  qs  32 bytes; byte j of the 8 bytes of s: low nibble element 16s + j, high 16s + 8 + j
#define BLOCK_ELEMENTS 64
#define BLOCK_BYTES 36
#define SCALE_ELEMENTS 16
#define DECODE_HAS_CODES

float run_scale(uint block, uint run) {
    return 0.5 * ue4m3_to_f32(load_u8(block + (run >> 1)));
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2(block + 4u + 8u * (run >> 1));
    uvec2 nibbles = (bytes >> (4u * (run & 1u))) & 0x0F0F0F0Fu;
    return uvec2(packed_e2m1_doubled(nibbles.x), packed_e2m1_doubled(nibbles.y));
}
