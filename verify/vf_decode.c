/* SPDX-License-Identifier: MIT */
#include "vf_decode.h"

#include "vf_decode_block.h"

struct decoder {
    enum mf_dtype dtype;
    vf_decode_function *decode;
};

static const struct decoder decoders[] = {
    {MF_DTYPE_F32, vf_decode_f32},         {MF_DTYPE_F16, vf_decode_f16},
    {MF_DTYPE_Q4_0, vf_decode_q4_0},       {MF_DTYPE_Q4_1, vf_decode_q4_1},
    {MF_DTYPE_Q5_0, vf_decode_q5_0},       {MF_DTYPE_Q5_1, vf_decode_q5_1},
    {MF_DTYPE_Q8_0, vf_decode_q8_0},       {MF_DTYPE_Q8_1, vf_decode_q8_1},
    {MF_DTYPE_Q2_K, vf_decode_q2_k},       {MF_DTYPE_Q3_K, vf_decode_q3_k},
    {MF_DTYPE_Q4_K, vf_decode_q4_k},       {MF_DTYPE_Q5_K, vf_decode_q5_k},
    {MF_DTYPE_Q6_K, vf_decode_q6_k},       {MF_DTYPE_Q8_K, vf_decode_q8_k},
    {MF_DTYPE_IQ2_XXS, vf_decode_iq2_xxs}, {MF_DTYPE_IQ2_XS, vf_decode_iq2_xs},
    {MF_DTYPE_IQ3_XXS, vf_decode_iq3_xxs}, {MF_DTYPE_IQ1_S, vf_decode_iq1_s},
    {MF_DTYPE_IQ4_NL, vf_decode_iq4_nl},   {MF_DTYPE_IQ3_S, vf_decode_iq3_s},
    {MF_DTYPE_IQ2_S, vf_decode_iq2_s},     {MF_DTYPE_IQ4_XS, vf_decode_iq4_xs},
    {MF_DTYPE_IQ1_M, vf_decode_iq1_m},     {MF_DTYPE_BF16, vf_decode_bf16},
    {MF_DTYPE_TQ1_0, vf_decode_tq1_0},     {MF_DTYPE_TQ2_0, vf_decode_tq2_0},
    {MF_DTYPE_MXFP4, vf_decode_mxfp4},     {MF_DTYPE_NVFP4, vf_decode_nvfp4},
    {MF_DTYPE_Q1_0, vf_decode_q1_0},       {MF_DTYPE_Q2_0, vf_decode_q2_0},
    {MF_DTYPE_Q8_0P, vf_decode_q8_0p},     {MF_DTYPE_Q3_KP, vf_decode_q3_kp},
    {MF_DTYPE_Q6_KP, vf_decode_q6_kp},
};

static vf_decode_function *find_decoder(enum mf_dtype dtype) {
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++) {
        if (decoders[i].dtype == dtype) {
            return decoders[i].decode;
        }
    }
    return NULL;
}

bool vf_decode_supported(enum mf_dtype dtype) {
    return find_decoder(dtype) != NULL;
}

enum kiln_result vf_decode(enum mf_dtype dtype, const uint8_t *blocks, uint64_t element_count,
                           float *values) {
    vf_decode_function *decode = find_decoder(dtype);
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    if (decode == NULL || info == NULL || element_count % info->block_elements != 0) {
        return KILN_ERR_ARGUMENT;
    }
    if (element_count > 0 && (blocks == NULL || values == NULL)) {
        return KILN_ERR_ARGUMENT;
    }
    for (uint64_t done = 0; done < element_count; done += info->block_elements) {
        decode(blocks, values);
        blocks += info->block_bytes;
        values += info->block_elements;
    }
    return KILN_OK;
}
