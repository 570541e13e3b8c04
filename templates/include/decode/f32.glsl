// SPDX-License-Identifier: MIT
// f32, 4 bytes an element. A pseudo block of one run, so a row must be a multiple of 8 elements.
#define BLOCK_ELEMENTS 8
#define BLOCK_BYTES 32

void decode_run(uint block, uint run, out vec4 low, out vec4 high) {
    uvec4 a = uvec4(load_u32x2(block), load_u32x2(block + 8u));
    uvec4 b = uvec4(load_u32x2(block + 16u), load_u32x2(block + 24u));
    low = uintBitsToFloat(a);
    high = uintBitsToFloat(b);
}
