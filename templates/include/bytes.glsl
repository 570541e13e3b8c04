// SPDX-License-Identifier: MIT
//
// Little-endian fields at byte offsets of the storage buffer `uint weights[]`, which the including
// template declares first; one that reads several buffers defines WEIGHT_WORD(index) instead.
//
// Blocks need not be aligned to words: 34 bytes (Q8_0) put every other block on a half word, 17
// bytes (MXFP4) put them anywhere. Only 32-bit loads are used, and only of words that hold at least
// one byte of the field, so the buffer needs padding to a multiple of 4 bytes and no more.
#ifndef BYTES_GLSL
#define BYTES_GLSL

#ifndef WEIGHT_WORD
#define WEIGHT_WORD(index) weights[index]
#endif

uint load_u8(uint offset) {
    return bitfieldExtract(WEIGHT_WORD(offset >> 2), int(offset & 3u) * 8, 8);
}

int load_i8(uint offset) {
    return bitfieldExtract(int(WEIGHT_WORD(offset >> 2)), int(offset & 3u) * 8, 8);
}

// offset: a multiple of 2.
uint load_u16(uint offset) {
    return bitfieldExtract(WEIGHT_WORD(offset >> 2), int(offset & 2u) * 8, 16);
}

// offset: a multiple of 4.
uint load_u32(uint offset) {
    return WEIGHT_WORD(offset >> 2);
}

// The 8 bytes at offset, a multiple of 4.
uvec2 load_u32x2(uint offset) {
    return uvec2(WEIGHT_WORD(offset >> 2), WEIGHT_WORD((offset >> 2) + 1u));
}

// The 16 bytes at offset, a multiple of 4: adjacent loads, which compilers merge where they can.
uvec4 load_u32x4(uint offset) {
    uint word = offset >> 2;
    return uvec4(WEIGHT_WORD(word), WEIGHT_WORD(word + 1u), WEIGHT_WORD(word + 2u), WEIGHT_WORD(word + 3u));
}

// The 16 bytes at offset, a multiple of 16, in one load where the template defines
// WEIGHT_VECTOR(index), the 16 bytes of that number.
uvec4 load_u32x4_aligned(uint offset) {
#ifdef WEIGHT_VECTOR
    return WEIGHT_VECTOR(offset >> 4);
#else
    return load_u32x4(offset);
#endif
}

// The word that starts `shift` bits (0, 8, 16 or 24) into the pair (low, high). The left shift is
// made in two steps because a shift by 32 is undefined.
uint funnel_shift(uint low, uint high, uint shift) {
    return (low >> shift) | ((high << 1) << (31u - shift));
}

// The words that start at the half word of number `half_word` (0 or 1) of `words`.
uvec4 half_word_shift(uvec4 words, uint last, uint half_word) {
    uvec4 moved = (words >> 16) | (uvec4(words.yzw, last) << 16);
    return half_word != 0u ? moved : words;
}

// The 16 bytes at offset, a multiple of 2.
uvec4 load_u32x4_even(uint offset) {
    uint last = WEIGHT_WORD((offset + 15u) >> 2);
    return half_word_shift(load_u32x4(offset & ~3u), last, (offset >> 1) & 1u);
}

// Any offset. The second word is the one with the last byte, the first one again if aligned.
uint load_u32_unaligned(uint offset) {
    return funnel_shift(WEIGHT_WORD(offset >> 2), WEIGHT_WORD((offset + 3u) >> 2),
                        (offset & 3u) * 8u);
}

// The 8 bytes at any offset.
uvec2 load_u32x2_unaligned(uint offset) {
    uint shift = (offset & 3u) * 8u;
    uint middle = WEIGHT_WORD((offset >> 2) + 1u);
    return uvec2(funnel_shift(WEIGHT_WORD(offset >> 2), middle, shift),
                 funnel_shift(middle, WEIGHT_WORD((offset + 7u) >> 2), shift));
}

// The 16 bytes at any offset.
uvec4 load_u32x4_unaligned(uint offset) {
    uint shift = (offset & 3u) * 8u;
    uvec4 words = load_u32x4(offset & ~3u);
    uint last = WEIGHT_WORD((offset + 15u) >> 2);
    return uvec4(funnel_shift(words.x, words.y, shift), funnel_shift(words.y, words.z, shift),
                 funnel_shift(words.z, words.w, shift), funnel_shift(words.w, last, shift));
}

#endif
