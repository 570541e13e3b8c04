/* SPDX-License-Identifier: MIT */
/* Groups b of 32 elements hold runs l of 8 elements; run number r = 4b + l. */
#include "vf_decode_block.h"

#include "vf_tables.h"

/* ksigns_iq2xs: bit 7 makes the number of ones even. */
static uint32_t expand_signs(uint32_t index) {
    uint32_t parity = index ^ index >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return index | (parity & 1u) << 7;
}

/* y[k] = scale x byte k of the entry, negated where bit k of `signs` is set. */
static void decode_run(float scale, uint64_t entry, uint32_t signs, uint32_t count, float *y) {
    for (uint32_t k = 0; k < count; k++) {
        float magnitude = scale * (float)(entry >> 8 * k & 255u);
        y[k] = (signs >> k & 1u) != 0 ? -magnitude : magnitude;
    }
}

void vf_decode_iq2_xxs(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t b = 0; b < 8; b++) {
        const uint8_t *group = block + 2 + 8 * b;
        uint32_t word = vf_load_u32(group + 4);
        float scale = d * ((float)(word >> 28) + 0.5f) * 0.25f;
        for (uint32_t l = 0; l < 4; l++) {
            uint32_t signs = expand_signs(word >> 7 * l & 127u);
            decode_run(scale, vf_iq2_xxs_grid[group[l]], signs, 8, y + 32 * b + 8 * l);
        }
    }
}

/* The scale of run r, from one nibble per two runs (iq2_xs, iq2_s). */
static float load_scale4(const uint8_t *scales, uint32_t r, float d) {
    uint32_t nibble = (uint32_t)scales[r / 4] >> 4 * (r % 4 / 2) & 15u;
    return d * ((float)nibble + 0.5f) * 0.25f;
}

void vf_decode_iq2_xs(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t r = 0; r < 32; r++) {
        uint32_t code = vf_load_u16(block + 2 + 2 * r);
        float scale = load_scale4(block + 66, r, d);
        decode_run(scale, vf_iq2_xs_grid[code & 511u], expand_signs(code >> 9), 8, y + 8 * r);
    }
}

void vf_decode_iq2_s(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t r = 0; r < 32; r++) {
        uint32_t high = (uint32_t)block[66 + r / 4] >> 2 * (r % 4) & 3u;
        uint32_t index = block[2 + r] | high << 8;
        float scale = load_scale4(block + 74, r, d);
        decode_run(scale, vf_iq2_s_grid[index], block[34 + r], 8, y + 8 * r);
    }
}

void vf_decode_iq3_xxs(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t b = 0; b < 8; b++) {
        uint32_t word = vf_load_u32(block + 66 + 4 * b);
        float scale = d * ((float)(word >> 28) + 0.5f) * 0.5f;
        for (uint32_t l = 0; l < 4; l++) {
            uint32_t r = 4 * b + l;
            uint32_t signs = expand_signs(word >> 7 * l & 127u);
            decode_run(scale, vf_iq3_xxs_grid[block[2 + 2 * r]], signs, 4, y + 8 * r);
            decode_run(scale, vf_iq3_xxs_grid[block[3 + 2 * r]], signs >> 4, 4, y + 8 * r + 4);
        }
    }
}

void vf_decode_iq3_s(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t q = 0; q < 64; q++) { /* four elements each */
        uint32_t b = q / 8;
        uint32_t index = block[2 + q] | (uint32_t)(block[66 + b] >> q % 8 & 1) << 8;
        uint32_t nibble = (uint32_t)block[106 + b / 2] >> 4 * (b % 2) & 15u;
        uint32_t signs = (uint32_t)block[74 + q / 2] >> 4 * (q % 2);
        float scale = d * (float)(1 + 2 * nibble);
        decode_run(scale, vf_iq3_s_grid[index], signs, 4, y + 4 * q);
    }
}

/* y[k] = scale x (signed byte k of the iq1 grid + delta). */
static void decode_run1(float scale, uint32_t index, float delta, float *y) {
    uint64_t entry = vf_iq1_s_grid[index];
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t byte = (uint32_t)(entry >> 8 * k) & 255u;
        float level = byte == 255u ? -1.0f : (float)byte;
        y[k] = scale * (level + delta);
    }
}

void vf_decode_iq1_s(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t b = 0; b < 8; b++) {
        uint32_t qh = vf_load_u16(block + 34 + 2 * b);
        float scale = d * (float)(2 * (qh >> 12 & 7u) + 1);
        float delta = (qh >> 15) != 0 ? -0.125f : 0.125f;
        for (uint32_t l = 0; l < 4; l++) {
            uint32_t index = block[2 + 4 * b + l] | (qh >> 3 * l & 7u) << 8;
            decode_run1(scale, index, delta, y + 32 * b + 8 * l);
        }
    }
}

void vf_decode_iq1_m(const uint8_t *block, float *y) {
    const uint8_t *scales = block + 48;
    uint32_t half = 0;
    for (uint32_t i = 0; i < 4; i++) {
        half |= (uint32_t)(vf_load_u16(scales + 2 * i) >> 12) << 4 * i;
    }
    float d = vf_f16_decode((uint16_t)half);
    for (uint32_t r = 0; r < 32; r++) {
        uint32_t nibble = (uint32_t)block[32 + r / 2] >> 4 * (r % 2) & 15u;
        uint32_t index = block[r] | (nibble & 7u) << 8;
        uint32_t t = r % 8 / 2;
        uint32_t scale = (uint32_t)vf_load_u16(scales + 2 * (r / 8)) >> 3 * t & 7u;
        float delta = (nibble & 8u) != 0 ? -0.125f : 0.125f;
        decode_run1(d * (float)(2 * scale + 1), index, delta, y + 8 * r);
    }
}
