// SPDX-License-Identifier: MIT
// IEEE binary16, 2 bytes an element. A pseudo block of one run, so a row must be a multiple of 8
// elements.
#define BLOCK_ELEMENTS 8
#define BLOCK_BYTES 16

vec4 f16x4_to_vec4(uvec2 words) {
    return vec4(f16_to_f32(words.x & 0xFFFFu), f16_to_f32(words.x >> 16),
                f16_to_f32(words.y & 0xFFFFu), f16_to_f32(words.y >> 16));
}

void decode_run(uint block, uint run, out vec4 low, out vec4 high) {
    uvec4 words = load_u32x4_aligned(block);
    low = f16x4_to_vec4(words.xy);
    high = f16x4_to_vec4(words.zw);
}
