/* SPDX-License-Identifier: MIT */
/*
 * vf_decode_block: one decode function per type, over one block. Internal to vf_decode.
 *
 * Each reads exactly the type's block_bytes and writes its block_elements values; nothing can fail.
 * The vf_load_* helpers read little-endian fields at any alignment.
 */
#ifndef VF_DECODE_BLOCK_H
#define VF_DECODE_BLOCK_H

#include "vf_f16.h"

#include <stdint.h>

typedef void vf_decode_function(const uint8_t *block, float *y);

static inline uint16_t vf_load_u16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t vf_load_u32(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline int32_t vf_load_i8(const uint8_t *byte) {
    return *byte < 128 ? *byte : *byte - 256;
}

static inline float vf_load_half(const uint8_t *bytes) {
    return vf_f16_decode(vf_load_u16(bytes));
}

/*
 * 6-bit scale and minimum of sub-block j (0..7) from the 12 bytes of a q4_k or q5_k block
 * ("SM(j)" in docs/block_layouts.md).
 */
void vf_unpack_scale_min(const uint8_t packed[12], uint32_t j, uint32_t *scale, uint32_t *minimum);

/* vf_decode_basic.c: plain floats and types with one scale level */
vf_decode_function vf_decode_f32, vf_decode_f16, vf_decode_bf16;
vf_decode_function vf_decode_q1_0, vf_decode_q2_0, vf_decode_q4_0, vf_decode_q4_1, vf_decode_q5_0;
vf_decode_function vf_decode_q5_1, vf_decode_q8_0, vf_decode_q8_1, vf_decode_iq4_nl;
vf_decode_function vf_decode_mxfp4, vf_decode_nvfp4, vf_decode_tq1_0, vf_decode_tq2_0;

/* vf_decode_k.c: blocks of 256 with scaled sub-blocks */
vf_decode_function vf_decode_q2_k, vf_decode_q3_k, vf_decode_q4_k, vf_decode_q5_k, vf_decode_q6_k;
vf_decode_function vf_decode_q8_k, vf_decode_iq4_xs;

/* vf_decode_repacked.c: repacked types */
vf_decode_function vf_decode_q8_0p, vf_decode_q3_kp, vf_decode_q6_kp;

/* vf_decode_iq.c: codebook types */
vf_decode_function vf_decode_iq1_s, vf_decode_iq1_m, vf_decode_iq2_xxs, vf_decode_iq2_xs;
vf_decode_function vf_decode_iq2_s, vf_decode_iq3_xxs, vf_decode_iq3_s;

#endif /* VF_DECODE_BLOCK_H */
