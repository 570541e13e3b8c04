// SPDX-License-Identifier: MIT
// The codebook of IQ1_S and IQ1_M: 2048 entries of eight values -1, 0, 1.
#ifndef DECODE_IQ1_GRID_GLSL
#define DECODE_IQ1_GRID_GLSL

#include "../tables/iq1s_grid.glsl"

// Entry `index` as a number of eight base-3 digits: four entries a word, bits 0..12 the first, then
// what the others are above it, 6 bits each (tables/generate.py).
uint iq1_entry(uint index) {
    uint word = IQ1S_GRID[index >> 2];
    uint position = index & 3u;
    uint above_first = position == 0u ? 0u : bitfieldExtract(word, int(6u * position) + 7, 6);
    return (word & 0x1FFFu) + above_first;
}

// The four base-3 digits of a number below 81, the lowest in byte 0.
uint packed_base3_digits(uint number) {
    // number / 3, / 9 and / 27 by multiplication, exact below 81
    uint quotients = number | (((number * 171u) >> 9) << 8) | (((number * 57u) >> 9) << 16) |
                     (((number * 19u) >> 9) << 24);
    return quotients - 3u * (quotients >> 8);
}

// The digits of an entry times 8.
uvec2 iq1_digits(uint index) {
    uint entry = iq1_entry(index);
    uint high = (entry * 6473u) >> 19; // entry / 81, exact below 6561
    return 8u * uvec2(packed_base3_digits(entry - 81u * high), packed_base3_digits(high));
}

#define LOOKUP_TYPE uvec2
#define LOOKUP_ENTRIES 2048
uvec2 lookup_make(uint index) {
    return iq1_digits(index);
}
#include "lookup.glsl"

// 8 * (value + delta) for the eight values of an entry, delta = -1/8 if negative_delta, else 1/8:
// with digit = value + 1 that is 8 * digit - 9 or 8 * digit - 7.
uvec2 iq1_codes(uint index, bool negative_delta) {
    uvec2 digits = lookup(index);
    uint bias = negative_delta ? 9u : 7u;
    return uvec2(packed_subtract(digits.x, bias), packed_subtract(digits.y, bias));
}

#endif
