// SPDX-License-Identifier: MIT
// bfloat16, 2 bytes an element: the upper half of an f32. A pseudo block of one run, so a row must
// be a multiple of 8 elements.
#define BLOCK_ELEMENTS 8
#define BLOCK_BYTES 16

vec4 bf16x4_to_vec4(uvec2 words) {
    return vec4(bf16_to_f32(words.x), uintBitsToFloat(words.x & 0xFFFF0000u),
                bf16_to_f32(words.y), uintBitsToFloat(words.y & 0xFFFF0000u));
}

void decode_run(uint block, uint run, out vec4 low, out vec4 high) {
    uvec4 words = load_u32x4_aligned(block);
    low = bf16x4_to_vec4(words.xy);
    high = bf16x4_to_vec4(words.zw);
}
