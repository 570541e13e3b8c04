/* SPDX-License-Identifier: MIT */
/*
 * vf_quantize_block: one encode function per type, over one block. Internal to vf_quantize.
 *
 * Each reads the type's block_elements values, all within the limits that vf_quantize checks, and
 * writes all of its block_bytes; nothing can fail.
 */
#ifndef VF_QUANTIZE_BLOCK_H
#define VF_QUANTIZE_BLOCK_H

#include "vf_f16.h"

#include <stdint.h>

typedef void vf_quantize_function(const float *x, uint8_t *block);

static inline void vf_store_u16(uint8_t *bytes, uint16_t value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
}

static inline void vf_store_u32(uint8_t *bytes, uint32_t value) {
    vf_store_u16(bytes, (uint16_t)value);
    vf_store_u16(bytes + 2, (uint16_t)(value >> 16));
}

/* Nearest integer, halves to even, as a float; |value| below 2^22. Works by the rounding of f32. */
static inline float vf_round_even(float value) {
    return (value + 0x1.8p23f) - 0x1.8p23f;
}

/* Packs 6-bit scales and minimums of 8 sub-blocks: the inverse of vf_unpack_scale_min. */
void vf_pack_scale_min(uint8_t packed[12], const uint8_t scales[8], const uint8_t minimums[8]);

/* vf_quantize_basic.c: types with a stated encoder */
vf_quantize_function vf_quantize_f32, vf_quantize_f16, vf_quantize_bf16;
vf_quantize_function vf_quantize_q1_0, vf_quantize_q2_0, vf_quantize_q4_0, vf_quantize_q4_1;
vf_quantize_function vf_quantize_q5_0, vf_quantize_q5_1, vf_quantize_q8_0, vf_quantize_q8_1;
vf_quantize_function vf_quantize_tq1_0, vf_quantize_tq2_0, vf_quantize_mxfp4, vf_quantize_nvfp4;

/* vf_quantize_affine.c: value = scale x code - minimum */
vf_quantize_function vf_quantize_q2_k, vf_quantize_q4_k, vf_quantize_q5_k;

/* vf_quantize_scale.c: value = scale x level */
vf_quantize_function vf_quantize_q3_k, vf_quantize_q6_k, vf_quantize_iq4_nl, vf_quantize_iq4_xs;

#endif /* VF_QUANTIZE_BLOCK_H */
