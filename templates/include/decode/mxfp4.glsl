// SPDX-License-Identifier: MIT
// MXFP4, 32 elements: 2^(e - 128) * (twice the E2M1 value of the nibble).
//   0  e   exponent
//   1  qs  16 bytes, byte j: low nibble element j, high nibble element j + 16
#define BLOCK_ELEMENTS 32
#define BLOCK_BYTES 17
#define SCALE_ELEMENTS 32
#define DECODE_HAS_CODES
#define DECODE_HAS_SLICES
#define SLICE_APART 16
#define DECODE_HAS_OWN_RUN

// Below 2^-126 (e of 0 and 1) the scale is subnormal, and 0 on devices that flush.
float run_scale(uint block, uint run) {
    uint exponent = load_u8(block);
    return exponent < 2u ? uintBitsToFloat(0x00200000u << exponent)
                         : uintBitsToFloat((exponent - 1u) << 23);
}

uvec2 run_codes(uint block, uint run) {
    uvec2 bytes = load_u32x2_unaligned(block + 1u + 8u * (run & 1u));
    uvec2 nibbles = (bytes >> (4u * (run >> 1))) & 0x0F0F0F0Fu;
    return uvec2(packed_e2m1_doubled(nibbles.x), packed_e2m1_doubled(nibbles.y));
}

// Elements of a block with a subnormal scale may be normal: the scale goes in as two factors, in an
// order that the compiler must keep.
void decode_run(uint block, uint run, out vec4 low, out vec4 high) {
    int exponent = int(load_u8(block)) - 128;
    float fine = exp2_exact(min(exponent + 126, 0)); // 1/4, 1/2 or 1
    float coarse = exp2_exact(max(exponent, -126));
    uvec2 codes = run_codes(block, run);
    precise vec4 low_fine = packed_to_vec4(codes.x) * fine;
    precise vec4 high_fine = packed_to_vec4(codes.y) * fine;
    precise vec4 low_exact = low_fine * coarse;
    precise vec4 high_exact = high_fine * coarse;
    low = low_exact;
    high = high_exact;
}

uint nibble_values(uint nibbles) {
    return packed_e2m1_doubled(nibbles);
}
#include "nibble_values.glsl"

uvec2 slice_elements(uint slice) {
    return uvec2(0u, 16u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    uvec4 bytes = load_u32x4_unaligned(block + 1u);
    nibble_slice(bytes, low, high);
}
