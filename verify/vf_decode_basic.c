/* SPDX-License-Identifier: MIT */
#include "vf_decode_block.h"

#include "vf_tables.h"

void vf_decode_f32(const uint8_t *block, float *y) {
    y[0] = vf_f32_from_bits(vf_load_u32(block));
}

void vf_decode_f16(const uint8_t *block, float *y) {
    y[0] = vf_load_half(block);
}

void vf_decode_bf16(const uint8_t *block, float *y) {
    y[0] = vf_bf16_decode(vf_load_u16(block));
}

void vf_decode_q1_0(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t e = 0; e < 128; e++) {
        y[e] = (block[2 + e / 8] >> e % 8 & 1) != 0 ? d : -d;
    }
}

void vf_decode_q2_0(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t e = 0; e < 64; e++) {
        y[e] = d * (float)((block[2 + e / 4] >> 2 * (e % 4) & 3) - 1);
    }
}

void vf_decode_q4_0(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t j = 0; j < 16; j++) {
        y[j] = d * (float)((block[2 + j] & 15) - 8);
        y[j + 16] = d * (float)((block[2 + j] >> 4) - 8);
    }
}

void vf_decode_q4_1(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    float m = vf_load_half(block + 2);
    for (uint32_t j = 0; j < 16; j++) {
        y[j] = d * (float)(block[4 + j] & 15) + m;
        y[j + 16] = d * (float)(block[4 + j] >> 4) + m;
    }
}

/* The 5-bit code of element e from u32 top bits and 16 nibble bytes (q5_0 and q5_1). */
static int32_t load_code5(uint32_t top_bits, const uint8_t *nibbles, uint32_t e) {
    int32_t low = e < 16 ? nibbles[e] & 15 : nibbles[e - 16] >> 4;
    return low | (int32_t)(top_bits >> e & 1u) << 4;
}

void vf_decode_q5_0(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    uint32_t top_bits = vf_load_u32(block + 2);
    for (uint32_t e = 0; e < 32; e++) {
        y[e] = d * (float)(load_code5(top_bits, block + 6, e) - 16);
    }
}

void vf_decode_q5_1(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    float m = vf_load_half(block + 2);
    uint32_t top_bits = vf_load_u32(block + 4);
    for (uint32_t e = 0; e < 32; e++) {
        y[e] = d * (float)load_code5(top_bits, block + 8, e) + m;
    }
}

void vf_decode_q8_0(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t e = 0; e < 32; e++) {
        y[e] = d * (float)vf_load_i8(block + 2 + e);
    }
}

/* The stored sum (at offset 2) repeats what the codes say. */
void vf_decode_q8_1(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t e = 0; e < 32; e++) {
        y[e] = d * (float)vf_load_i8(block + 4 + e);
    }
}

void vf_decode_iq4_nl(const uint8_t *block, float *y) {
    float d = vf_load_half(block);
    for (uint32_t j = 0; j < 16; j++) {
        y[j] = d * (float)vf_iq4_nl_values[block[2 + j] & 15];
        y[j + 16] = d * (float)vf_iq4_nl_values[block[2 + j] >> 4];
    }
}

void vf_decode_mxfp4(const uint8_t *block, float *y) {
    float d = vf_e8m0_half(block[0]);
    for (uint32_t j = 0; j < 16; j++) {
        y[j] = d * (float)vf_fp4_values[block[1 + j] & 15];
        y[j + 16] = d * (float)vf_fp4_values[block[1 + j] >> 4];
    }
}

void vf_decode_nvfp4(const uint8_t *block, float *y) {
    for (uint32_t s = 0; s < 4; s++) {
        /* The codebook is doubled, so the scale is halved. */
        float d = 0.5f * vf_ue4m3_decode(block[s]);
        for (uint32_t j = 0; j < 8; j++) {
            uint8_t byte = block[4 + 8 * s + j];
            y[16 * s + j] = d * (float)vf_fp4_values[byte & 15];
            y[16 * s + 8 + j] = d * (float)vf_fp4_values[byte >> 4];
        }
    }
}

/* Digits n = 0..digit_count-1 of `width` bytes; digit n of byte i goes to y[width * n + i]. */
static void decode_base3(const uint8_t *bytes, uint32_t width, uint32_t digit_count, float d,
                         float *y) {
    uint32_t power = 1;
    for (uint32_t n = 0; n < digit_count; n++) {
        for (uint32_t i = 0; i < width; i++) {
            uint32_t fraction = bytes[i] * power & 255u;
            y[width * n + i] = d * (float)((int32_t)(fraction * 3u >> 8) - 1);
        }
        power *= 3u;
    }
}

void vf_decode_tq1_0(const uint8_t *block, float *y) {
    float d = vf_load_half(block + 52);
    decode_base3(block, 32, 5, d, y);
    decode_base3(block + 32, 16, 5, d, y + 160);
    decode_base3(block + 48, 4, 4, d, y + 240);
}

void vf_decode_tq2_0(const uint8_t *block, float *y) {
    float d = vf_load_half(block + 64);
    for (uint32_t e = 0; e < 256; e++) {
        uint32_t byte = 32 * (e / 128) + e % 32;
        y[e] = d * (float)((block[byte] >> 2 * (e % 128 / 32) & 3) - 1);
    }
}
