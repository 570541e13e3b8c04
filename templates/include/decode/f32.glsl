// SPDX-License-Identifier: MIT
// f32, 4 bytes an element. A pseudo block of one run, so a row must be a multiple of 8 elements.
#define BLOCK_ELEMENTS 8
#define BLOCK_BYTES 32

void decode_run(uint block, uint run, out vec4 low, out vec4 high) {
    low = uintBitsToFloat(load_u32x4_aligned(block));
    high = uintBitsToFloat(load_u32x4_aligned(block + 16u));
}
