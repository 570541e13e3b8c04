/* SPDX-License-Identifier: MIT */
/* Encoders as docs/block_layouts.md states them: the order of operations is part of the format. */
#include "vf_quantize_block.h"

#include "vf_tables.h"

#include <math.h>
#include <string.h>

void vf_quantize_f32(const float *x, uint8_t *block) {
    vf_store_u32(block, vf_f32_bits(x[0]));
}

void vf_quantize_f16(const float *x, uint8_t *block) {
    vf_store_u16(block, vf_f16_encode(x[0]));
}

void vf_quantize_bf16(const float *x, uint8_t *block) {
    vf_store_u16(block, vf_bf16_encode(x[0]));
}

static void store_half(uint8_t *bytes, float value) {
    vf_store_u16(bytes, vf_f16_encode(value));
}

/* 1/d, or 0 where that has no finite value: such a scale is 0 in binary16 anyway. */
static float invert(float d) {
    return fabsf(d) > 0x1p-128f ? 1.0f / d : 0.0f;
}

/* The first value of largest magnitude, its sign kept. */
static float find_extreme(const float *x, uint32_t count) {
    float extreme = x[0];
    for (uint32_t e = 1; e < count; e++) {
        if (fabsf(x[e]) > fabsf(extreme)) {
            extreme = x[e];
        }
    }
    return extreme;
}

static float find_magnitude(const float *x, uint32_t count) {
    return fabsf(find_extreme(x, count));
}

static int32_t round_away(float value) {
    int32_t whole = (int32_t)value;
    float rest = value - (float)whole; /* exact */
    return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

static int32_t round_limited(float value, int32_t largest) {
    int32_t code = (int32_t)value;
    return code < largest ? code : largest;
}

void vf_quantize_q1_0(const float *x, uint8_t *block) {
    float sum = 0.0f;
    memset(block, 0, 18);
    for (uint32_t e = 0; e < 128; e++) {
        sum += fabsf(x[e]);
        block[2 + e / 8] |= (uint8_t)((x[e] >= 0.0f) << e % 8);
    }
    store_half(block, sum / 128.0f);
}

void vf_quantize_q2_0(const float *x, uint8_t *block) {
    float d = find_magnitude(x, 64);
    float inverse = invert(d);
    memset(block, 0, 18);
    store_half(block, d);
    for (uint32_t e = 0; e < 64; e++) {
        int32_t code = round_away(x[e] * inverse) + 1; /* 0..2: |x| <= d */
        block[2 + e / 4] |= (uint8_t)(code << 2 * (e % 4));
    }
}

void vf_quantize_q4_0(const float *x, uint8_t *block) {
    float d = find_extreme(x, 32) / -8.0f;
    float inverse = invert(d);
    store_half(block, d);
    for (uint32_t j = 0; j < 16; j++) {
        int32_t low = round_limited(x[j] * inverse + 8.5f, 15);
        int32_t high = round_limited(x[j + 16] * inverse + 8.5f, 15);
        block[2 + j] = (uint8_t)(low | high << 4);
    }
}

/* Puts 32 codes of 5 bits into a u32 of top bits and 16 nibble bytes behind it. */
static void store_codes5(uint8_t *bytes, const int32_t codes[32]) {
    uint32_t top_bits = 0;
    for (uint32_t e = 0; e < 32; e++) {
        top_bits |= (uint32_t)(codes[e] >> 4) << e;
    }
    vf_store_u32(bytes, top_bits);
    for (uint32_t j = 0; j < 16; j++) {
        bytes[4 + j] = (uint8_t)((codes[j] & 15) | (codes[j + 16] & 15) << 4);
    }
}

void vf_quantize_q5_0(const float *x, uint8_t *block) {
    int32_t codes[32];
    float d = find_extreme(x, 32) / -16.0f;
    float inverse = invert(d);
    store_half(block, d);
    for (uint32_t e = 0; e < 32; e++) {
        codes[e] = round_limited(x[e] * inverse + 16.5f, 31);
    }
    store_codes5(block + 2, codes);
}

static void find_range(const float *x, float *minimum, float *maximum) {
    *minimum = x[0];
    *maximum = x[0];
    for (uint32_t e = 1; e < 32; e++) {
        *minimum = x[e] < *minimum ? x[e] : *minimum;
        *maximum = x[e] > *maximum ? x[e] : *maximum;
    }
}

void vf_quantize_q4_1(const float *x, uint8_t *block) {
    float m, maximum;
    find_range(x, &m, &maximum);
    float d = (maximum - m) / 15.0f;
    float inverse = invert(d);
    store_half(block, d);
    store_half(block + 2, m);
    for (uint32_t j = 0; j < 16; j++) {
        int32_t low = round_limited((x[j] - m) * inverse + 0.5f, 15);
        int32_t high = round_limited((x[j + 16] - m) * inverse + 0.5f, 15);
        block[4 + j] = (uint8_t)(low | high << 4);
    }
}

void vf_quantize_q5_1(const float *x, uint8_t *block) {
    int32_t codes[32];
    float m, maximum;
    find_range(x, &m, &maximum);
    float d = (maximum - m) / 31.0f;
    float inverse = invert(d);
    store_half(block, d);
    store_half(block + 2, m);
    for (uint32_t e = 0; e < 32; e++) {
        codes[e] = round_limited((x[e] - m) * inverse + 0.5f, 31);
    }
    store_codes5(block + 4, codes);
}

/* 32 signed codes; returns their sum. */
static int32_t quantize_codes8(const float *x, float d, uint8_t *bytes) {
    float inverse = invert(d);
    int32_t sum = 0;
    for (uint32_t e = 0; e < 32; e++) {
        int32_t code = round_away(x[e] * inverse);
        bytes[e] = (uint8_t)code;
        sum += code;
    }
    return sum;
}

void vf_quantize_q8_0(const float *x, uint8_t *block) {
    float d = find_magnitude(x, 32) / 127.0f;
    store_half(block, d);
    quantize_codes8(x, d, block + 2);
}

void vf_quantize_q8_1(const float *x, uint8_t *block) {
    float d = find_magnitude(x, 32) / 127.0f;
    store_half(block, d);
    store_half(block + 2, (float)quantize_codes8(x, d, block + 4) * d);
}

/* Bytes of base-3 digits, most significant first: digit n of byte i is the code of x[width n + i].
 */
static void store_base3(const float *x, float inverse, uint32_t width, uint32_t digit_count,
                        uint8_t *bytes) {
    for (uint32_t i = 0; i < width; i++) {
        uint32_t number = 0;
        for (uint32_t n = 0; n < 5; n++) {
            number *= 3;
            if (n < digit_count) {
                number += (uint32_t)(round_away(x[width * n + i] * inverse) + 1);
            }
        }
        bytes[i] = (uint8_t)((number * 256u + 242u) / 243u);
    }
}

void vf_quantize_tq1_0(const float *x, uint8_t *block) {
    float d = find_magnitude(x, 256);
    float inverse = invert(d);
    store_base3(x, inverse, 32, 5, block);
    store_base3(x + 160, inverse, 16, 5, block + 32);
    store_base3(x + 240, inverse, 4, 4, block + 48);
    store_half(block + 52, d);
}

void vf_quantize_tq2_0(const float *x, uint8_t *block) {
    float d = find_magnitude(x, 256);
    float inverse = invert(d);
    memset(block, 0, 64);
    for (uint32_t e = 0; e < 256; e++) {
        int32_t code = round_away(x[e] * inverse) + 1;
        block[32 * (e / 128) + e % 32] |= (uint8_t)(code << 2 * (e % 128 / 32));
    }
    store_half(block + 64, d);
}

/*
 * Indices of the FP4 levels nearest to 16 values at scale d, the lowest index on ties. A level of
 * the other sign is never nearer than level 0, so magnitudes decide. Errors are compared as
 * integers, which order like the non-negative floats they are and need no branches.
 */
static void find_nearest_fp4(const float *x, float d, int32_t codes[16]) {
    int32_t best[16];
    for (uint32_t e = 0; e < 16; e++) {
        best[e] = (int32_t)vf_f32_bits(fabsf(x[e])); /* level 0 */
        codes[e] = 0;
    }
    for (int32_t i = 1; i < 8; i++) {
        float level = (float)vf_fp4_values[i] * d;
        for (uint32_t e = 0; e < 16; e++) {
            int32_t error = (int32_t)vf_f32_bits(fabsf(level - fabsf(x[e])));
            int32_t less = -(int32_t)(error < best[e]);
            codes[e] += (i - codes[e]) & less;
            best[e] += (error - best[e]) & less;
        }
    }
    for (uint32_t e = 0; e < 16; e++) {
        codes[e] += x[e] < 0.0f && codes[e] > 0 ? 8 : 0;
    }
}

void vf_quantize_mxfp4(const float *x, uint8_t *block) {
    int32_t codes[32];
    uint32_t exponent = vf_f32_bits(find_magnitude(x, 32)) >> 23; /* floor(log2) + 127 */
    block[0] = (uint8_t)(exponent > 2 ? exponent - 2 : 0);
    float d = vf_e8m0_half(block[0]);
    find_nearest_fp4(x, d, codes);
    find_nearest_fp4(x + 16, d, codes + 16);
    for (uint32_t j = 0; j < 16; j++) {
        block[1 + j] = (uint8_t)(codes[j] | codes[j + 16] << 4);
    }
}

void vf_quantize_nvfp4(const float *x, uint8_t *block) {
    int32_t codes[16];
    for (uint32_t s = 0; s < 4; s++) {
        block[s] = vf_ue4m3_encode(find_magnitude(x + 16 * s, 16) / 6.0f);
        find_nearest_fp4(x + 16 * s, 0.5f * vf_ue4m3_decode(block[s]), codes);
        for (uint32_t j = 0; j < 8; j++) {
            block[4 + 8 * s + j] = (uint8_t)(codes[j] | codes[j + 8] << 4);
        }
    }
}
