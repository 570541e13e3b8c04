/* SPDX-License-Identifier: MIT */
#include "vf_decode_block.h"

#include "vf_tables.h"

void vf_unpack_scale_min(const uint8_t packed[12], uint32_t j, uint32_t *scale, uint32_t *minimum) {
    if (j < 4) {
        *scale = packed[j] & 63u;
        *minimum = packed[j + 4] & 63u;
    } else {
        *scale = (packed[j + 4] & 15u) | (uint32_t)(packed[j - 4] >> 6) << 4;
        *minimum = (uint32_t)(packed[j + 4] >> 4) | (uint32_t)(packed[j] >> 6) << 4;
    }
}

/* 2-bit code of element e in the 64 bytes that q2_k and q3_k share the placement of. */
static int32_t load_code2(const uint8_t *codes, uint32_t e) {
    return codes[32 * (e / 128) + e % 32] >> 2 * (e % 128 / 32) & 3;
}

void vf_decode_q2_k(const uint8_t *block, float *y) {
    float d = vf_load_half(block + 80);
    float dmin = vf_load_half(block + 82);
    for (uint32_t g = 0; g < 16; g++) {
        float scale = d * (float)(block[g] & 15);
        float minimum = dmin * (float)(block[g] >> 4);
        for (uint32_t e = 16 * g; e < 16 * g + 16; e++) {
            y[e] = scale * (float)load_code2(block + 16, e) - minimum;
        }
    }
}

void vf_decode_q3_k(const uint8_t *block, float *y) {
    const uint8_t *packed = block + 96;
    float d = vf_load_half(block + 108);
    for (uint32_t g = 0; g < 16; g++) {
        int32_t low = g < 8 ? packed[g] & 15 : packed[g - 8] >> 4;
        int32_t high = packed[8 + g % 4] >> 2 * (g / 4) & 3;
        float scale = d * (float)(low + 16 * high - 32);
        for (uint32_t e = 16 * g; e < 16 * g + 16; e++) {
            int32_t top = block[e % 32] >> e / 32 & 1;
            y[e] = scale * (float)(load_code2(block + 32, e) + 4 * top - 4);
        }
    }
}

void vf_decode_q4_k(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    float dmin = vf_load_half(block + 2);
    for (uint32_t j = 0; j < 8; j++) {
        uint32_t scale, minimum;
        const uint8_t *codes = block + 16 + 32 * (j / 2);
        vf_unpack_scale_min(block + 4, j, &scale, &minimum);
        float ds = d * (float)scale;
        float dm = dmin * (float)minimum;
        for (uint32_t i = 0; i < 32; i++) {
            y[32 * j + i] = ds * (float)(codes[i] >> 4 * (j % 2) & 15) - dm;
        }
    }
}

void vf_decode_q5_k(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    float dmin = vf_load_half(block + 2);
    for (uint32_t j = 0; j < 8; j++) {
        uint32_t scale, minimum;
        const uint8_t *codes = block + 48 + 32 * (j / 2);
        vf_unpack_scale_min(block + 4, j, &scale, &minimum);
        float ds = d * (float)scale;
        float dm = dmin * (float)minimum;
        for (uint32_t i = 0; i < 32; i++) {
            int32_t low = codes[i] >> 4 * (j % 2) & 15;
            int32_t top = block[16 + i] >> j & 1;
            y[32 * j + i] = ds * (float)(low + 16 * top) - dm;
        }
    }
}

void vf_decode_q6_k(const uint8_t *block, float *y) {
    float d = vf_load_half(block + 208);
    for (uint32_t g = 0; g < 16; g++) {
        float scale = d * (float)vf_load_i8(block + 192 + g);
        for (uint32_t e = 16 * g; e < 16 * g + 16; e++) {
            uint32_t half = e / 128;
            uint32_t r = e % 128;
            int32_t low = block[64 * half + r % 64] >> (r < 64 ? 0 : 4) & 15;
            int32_t high = block[128 + 32 * half + r % 32] >> 2 * (r / 32) & 3;
            y[e] = scale * (float)(low + 16 * high - 32);
        }
    }
}

/* The sums of 16 codes each (at offset 260) repeat what the codes say. */
void vf_decode_q8_k(const uint8_t *block, float *y) {
    float d = vf_f32_from_bits(vf_load_u32(block));
    for (uint32_t e = 0; e < 256; e++) {
        y[e] = d * (float)vf_load_i8(block + 4 + e);
    }
}

void vf_decode_iq4_xs(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    uint32_t scales_high = vf_load_u16(block + 2);
    for (uint32_t b = 0; b < 8; b++) {
        uint32_t low = block[4 + b / 2] >> 4 * (b % 2) & 15;
        uint32_t high = scales_high >> 2 * b & 3u;
        float scale = d * (float)((int32_t)(low | high << 4) - 32);
        for (uint32_t j = 0; j < 16; j++) {
            uint8_t byte = block[8 + 16 * b + j];
            y[32 * b + j] = scale * (float)vf_iq4_nl_values[byte & 15];
            y[32 * b + 16 + j] = scale * (float)vf_iq4_nl_values[byte >> 4];
        }
    }
}
