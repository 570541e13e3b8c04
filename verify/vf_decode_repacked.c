/* SPDX-License-Identifier: MIT */
/*
 * Follows the tables of docs/repacked_layouts.md, not the code that repacks, which it checks. The
 * fields of q3_kp and q6_kp are where q3_k and q6_k have them; their padding is behind.
 */
#include "vf_decode_block.h"

void vf_decode_q8_0p(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t e = 0; e < 32; e++) {
        y[e] = d * (float)vf_load_i8(block + 4 + e);
    }
}

void vf_decode_q3_kp(const uint8_t *block, float *y) {
    vf_decode_q3_k(block, y);
}

void vf_decode_q6_kp(const uint8_t *block, float *y) {
    vf_decode_q6_k(block, y);
}
