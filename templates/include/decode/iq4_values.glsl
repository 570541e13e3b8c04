// SPDX-License-Identifier: MIT
// The sixteen values of IQ4_NL and IQ4_XS:
//   -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
#ifndef DECODE_IQ4_VALUES_GLSL
#define DECODE_IQ4_VALUES_GLSL

// The values of four nibbles, one in each byte: a tree of bitwise selections, since an indexed table
// of sixteen bytes ends up in slow memory on many devices.
uint packed_iq4_values(uint nibbles) {
    uint bit0 = packed_mask(nibbles);
    uint bit1 = packed_mask(nibbles >> 1);
    uint bit2 = packed_mask(nibbles >> 2);
    uint bit3 = packed_mask(nibbles >> 3);
    uint v0 = packed_select(bit0, 0x98989898u, 0x81818181u); // -127, -104
    uint v2 = packed_select(bit0, 0xBFBFBFBFu, 0xADADADADu); // -83, -65
    uint v4 = packed_select(bit0, 0xDDDDDDDDu, 0xCFCFCFCFu); // -49, -35
    uint v6 = packed_select(bit0, 0xF6F6F6F6u, 0xEAEAEAEAu); // -22, -10
    uint v8 = packed_select(bit0, 0x0D0D0D0Du, 0x01010101u); // 1, 13
    uint vA = packed_select(bit0, 0x26262626u, 0x19191919u); // 25, 38
    uint vC = packed_select(bit0, 0x45454545u, 0x35353535u); // 53, 69
    uint vE = packed_select(bit0, 0x71717171u, 0x59595959u); // 89, 113
    uint low_half = packed_select(bit2, packed_select(bit1, v6, v4), packed_select(bit1, v2, v0));
    uint high_half = packed_select(bit2, packed_select(bit1, vE, vC), packed_select(bit1, vA, v8));
    return packed_select(bit3, high_half, low_half);
}

uint nibble_values(uint nibbles) {
    return packed_iq4_values(nibbles);
}
#include "nibble_values.glsl"

#endif
