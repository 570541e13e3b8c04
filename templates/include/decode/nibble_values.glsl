// SPDX-License-Identifier: MIT
// Types whose elements are nibbles that stand for one of sixteen values: the decoder gives
// `uint nibble_values(uint nibbles)`, the values of four nibbles, one in each byte. Whole slices go
// through a table of pairs (lookup.glsl) where there is one.
#define LOOKUP_TYPE uint
#define LOOKUP_ENTRIES 256
// The value of the low nibble of a byte in bits 0..7, of the high one in bits 16..23.
uint lookup_make(uint index) {
    return nibble_values((index & 15u) | ((index >> 4) << 16)) & 0x00FF00FFu;
}
#include "lookup.glsl"

#ifdef LOOKUP_STAGED
void nibble_slice(uvec4 bytes, out uvec4 low, out uvec4 high) {
    for (uint i = 0u; i < 4u; i++) {
        uint word = bytes[i];
        uint first = lookup(word & 0xFFu) | (lookup((word >> 8) & 0xFFu) << 8);
        uint last = lookup((word >> 16) & 0xFFu) | (lookup(word >> 24) << 8);
        low[i] = (first & 0xFFFFu) | (last << 16);
        high[i] = (first >> 16) | (last & 0xFFFF0000u);
    }
}
#else
void nibble_slice(uvec4 bytes, out uvec4 low, out uvec4 high) {
    for (uint i = 0u; i < 4u; i++) {
        low[i] = nibble_values(bytes[i] & 0x0F0F0F0Fu);
        high[i] = nibble_values((bytes[i] >> 4) & 0x0F0F0F0Fu);
    }
}
#endif
