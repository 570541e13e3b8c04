// SPDX-License-Identifier: MIT
//
// Fields of types that exist raw and repacked. A raw block begins at any multiple of 2 bytes; a repacked
// one is a whole number of words, with every field at a word and zeros behind the half.
#if BLOCK_BYTES % 4 == 0
#define load_field_half(offset) load_u32(offset)
#define load_field_u32x2(offset) load_u32x2(offset)
#define load_field_u32x4(offset) load_u32x4(offset)
#else
#define load_field_half(offset) load_u16(offset)
#define load_field_u32x2(offset) load_u32x2_unaligned(offset)
#define load_field_u32x4(offset) load_u32x4_even(offset)
#endif
