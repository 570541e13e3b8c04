/* SPDX-License-Identifier: MIT */
#include "vf_random.h"

#include "vf_decode_block.h"
#include "vf_pseudo.h"
#include "vf_quantize_block.h"

#include <kiln/kiln_repack.h>

#define TARGET_RMS 0.3f
#define NONE 0xFFFFu

/* Random words a block may use: bytes from word 0, scales from word 56. 292 bytes are 37 words. */
#define BLOCK_WORDS 64u
#define SCALE_WORD 56u

/*
 * Where a block keeps its binary16 scale and minimum. `gain` is the RMS of the values of a block of
 * random codes whose scale is 1, its minimum (`centre` times the scale, the mean of the values
 * without it) included: measured with vf_decode over 10,000 blocks.
 */
struct layout {
    enum mf_dtype dtype;
    uint16_t scale_offset;
    uint16_t minimum_offset;
    float gain;
    float centre; /* minimum that centres the values, in units of the scale */
};

static const struct layout layouts[] = {
    {MF_DTYPE_Q1_0, 0, NONE, 1.0f, 0.0f},      {MF_DTYPE_Q2_0, 0, NONE, 1.22f, 0.0f},
    {MF_DTYPE_Q4_0, 0, NONE, 4.64f, 0.0f},     {MF_DTYPE_Q4_1, 0, 2, 4.61f, -7.5f},
    {MF_DTYPE_Q5_0, 0, NONE, 9.25f, 0.0f},     {MF_DTYPE_Q5_1, 0, 2, 9.23f, -15.5f},
    {MF_DTYPE_Q8_0, 0, NONE, 73.9f, 0.0f},     {MF_DTYPE_Q8_1, 0, NONE, 73.9f, 0.0f},
    {MF_DTYPE_Q2_K, 80, 82, 14.0f, 1.5f},      {MF_DTYPE_Q3_K, 108, NONE, 43.4f, 0.0f},
    {MF_DTYPE_Q4_K, 0, 2, 261.0f, 7.5f},       {MF_DTYPE_Q5_K, 0, 2, 533.0f, 15.5f},
    {MF_DTYPE_Q6_K, 208, NONE, 1365.0f, 0.0f}, {MF_DTYPE_IQ2_XXS, 0, NONE, 53.4f, 0.0f},
    {MF_DTYPE_IQ2_XS, 0, NONE, 55.8f, 0.0f},   {MF_DTYPE_IQ2_S, 0, NONE, 56.3f, 0.0f},
    {MF_DTYPE_IQ3_XXS, 0, NONE, 142.0f, 0.0f}, {MF_DTYPE_IQ3_S, 0, NONE, 140.0f, 0.0f},
    {MF_DTYPE_IQ1_S, 0, NONE, 7.19f, 0.0f},    {MF_DTYPE_IQ1_M, NONE, NONE, 7.18f, 0.0f},
    {MF_DTYPE_IQ4_NL, 0, NONE, 67.4f, 0.0f},   {MF_DTYPE_IQ4_XS, 0, NONE, 1246.0f, 0.0f},
    {MF_DTYPE_TQ1_0, 52, NONE, 0.816f, 0.0f},  {MF_DTYPE_TQ2_0, 64, NONE, 1.22f, 0.0f},
};

static const struct layout *find_layout(enum mf_dtype dtype) {
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layouts[i].dtype == dtype) {
            return &layouts[i];
        }
    }
    return NULL;
}

/* Uniform in [0.5, 1.5), with a random sign. */
static float random_factor(uint64_t bits) {
    float magnitude = 0.5f + (float)(int32_t)(bits >> 40) * 0x1p-24f;
    return (bits & 1u) != 0 ? -magnitude : magnitude;
}

/* iq1_m keeps its scale in the top nibbles of four u16. */
static void spread_scale(uint8_t *scales, uint16_t half) {
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t low = vf_load_u16(scales + 2 * i) & 0xFFFu;
        uint32_t nibble = (uint32_t)half >> 4 * i & 15u;
        vf_store_u16(scales + 2 * i, (uint16_t)(low | nibble << 12));
    }
}

static void set_scales(const struct layout *layout, uint64_t first, uint8_t *block) {
    float scale = TARGET_RMS / layout->gain * random_factor(vf_pseudo_bits(first));
    uint16_t half = vf_f16_encode(scale);
    if (layout->dtype == MF_DTYPE_IQ1_M) {
        spread_scale(block + 48, half);
        return;
    }
    vf_store_u16(block + layout->scale_offset, half);
    if (layout->minimum_offset != NONE) {
        float near_one = 1.0f + 0.25f * vf_pseudo(first + 1);
        float minimum = layout->centre * scale * near_one;
        vf_store_u16(block + layout->minimum_offset, vf_f16_encode(minimum));
    }
    if (layout->dtype == MF_DTYPE_Q8_1) {
        int32_t sum = 0;
        for (uint32_t e = 0; e < 32; e++) {
            sum += vf_load_i8(block + 4 + e);
        }
        vf_store_u16(block + 2, vf_f16_encode((float)sum * vf_f16_decode(half)));
    }
}

static void set_q8_k(uint64_t first, uint8_t *block) {
    float scale = TARGET_RMS / 73.9f * random_factor(vf_pseudo_bits(first));
    vf_store_u32(block, vf_f32_bits(scale));
    for (uint32_t g = 0; g < 16; g++) {
        int32_t sum = 0;
        for (uint32_t e = 0; e < 16; e++) {
            sum += vf_load_i8(block + 4 + 16 * g + e);
        }
        vf_store_u16(block + 260 + 2 * g, (uint16_t)sum);
    }
}

/* Types whose scales are not binary16, and the plain ones. False: not supported. */
static bool set_special(enum mf_dtype dtype, uint64_t first, uint8_t *block) {
    uint64_t bits = vf_pseudo_bits(first);
    float value = 0.5f * vf_pseudo(first);
    switch (dtype) {
    case MF_DTYPE_F32:
        vf_store_u32(block, vf_f32_bits(value));
        return true;
    case MF_DTYPE_F16:
        vf_store_u16(block, vf_f16_encode(value));
        return true;
    case MF_DTYPE_BF16:
        vf_store_u16(block, vf_bf16_encode(value));
        return true;
    case MF_DTYPE_MXFP4:
        block[0] = (uint8_t)(123 + (bits & 1u)); /* 2^-5 or 2^-4, times codes of RMS 5.9 */
        return true;
    case MF_DTYPE_NVFP4:
        for (uint32_t s = 0; s < 4; s++) {
            /* Exponent 2^-4 or 2^-3, halved by the decoder; mantissa and the unused bit 7 random.
             */
            block[s] = (uint8_t)((block[s] & 0x87u) | (3u + (bits >> s & 1u)) << 3);
        }
        return true;
    case MF_DTYPE_Q8_K:
        set_q8_k(first, block);
        return true;
    default:
        return false;
    }
}

static void fill_bytes(uint64_t first, uint32_t size_bytes, uint8_t *bytes) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < size_bytes; i++) {
        word = i % 8 == 0 ? vf_pseudo_bits(first + i / 8) : word >> 8;
        bytes[i] = (uint8_t)word;
    }
}

static enum kiln_result fill_raw_blocks(const struct mf_dtype_info *info, uint64_t base,
                                        uint64_t block_first, uint64_t block_count,
                                        uint8_t *blocks) {
    const struct layout *layout = find_layout(info->dtype);
    uint8_t probe[512];
    if (layout == NULL && !set_special(info->dtype, 0, probe)) {
        return KILN_ERR_ARGUMENT;
    }
    for (uint64_t b = 0; b < block_count; b++, blocks += info->block_bytes) {
        uint64_t first = base + (block_first + b) * BLOCK_WORDS;
        fill_bytes(first, info->block_bytes, blocks);
        if (layout != NULL) {
            set_scales(layout, first + SCALE_WORD, blocks);
        } else {
            set_special(info->dtype, first + SCALE_WORD, blocks);
        }
    }
    return KILN_OK;
}

enum kiln_result vf_random_blocks(enum mf_dtype dtype, uint64_t seed, uint64_t block_count,
                                  uint8_t *blocks) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    if (info == NULL || (block_count > 0 && blocks == NULL)) {
        return KILN_ERR_ARGUMENT;
    }
    uint64_t base = vf_pseudo_bits(seed); /* so that seed + 1 is not the same stream shifted */
    if (!mf_dtype_is_repacked(dtype)) {
        return fill_raw_blocks(info, base, 0, block_count, blocks);
    }
    const struct mf_dtype_info *raw = mf_dtype_info(info->repack_of);
    const struct kiln_repacking repacking = {raw->dtype, dtype, info->block_elements};
    uint8_t block[512];
    enum kiln_result result = KILN_OK;
    for (uint64_t b = 0; b < block_count && result == KILN_OK; b++, blocks += info->block_bytes) {
        result = fill_raw_blocks(raw, base, b, 1, block);
        if (result == KILN_OK) {
            result =
                kiln_repack(&repacking, block, raw->block_bytes, blocks, info->block_bytes, NULL);
        }
    }
    return result;
}
