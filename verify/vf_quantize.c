/* SPDX-License-Identifier: MIT */
#include "vf_quantize.h"

#include "vf_quantize_block.h"

#include <kiln/kiln_repack.h>

#include <math.h>

struct quantizer {
    enum mf_dtype dtype;
    vf_quantize_function *quantize;
    bool exact;  /* a stated encoder, not a search */
    float limit; /* largest magnitude a value may have; 0: any value, NaN and infinity included */
};

/* The largest binary16. A scale is at most the largest magnitude divided by the factor below. */
#define HALF_MAX 65504.0f

static const struct quantizer quantizers[] = {
    {MF_DTYPE_F32, vf_quantize_f32, true, 0.0f},
    {MF_DTYPE_F16, vf_quantize_f16, true, 0.0f},
    {MF_DTYPE_BF16, vf_quantize_bf16, true, 0.0f},
    {MF_DTYPE_Q1_0, vf_quantize_q1_0, true, HALF_MAX},
    {MF_DTYPE_Q2_0, vf_quantize_q2_0, true, HALF_MAX},
    {MF_DTYPE_Q4_0, vf_quantize_q4_0, true, HALF_MAX * 8.0f},
    {MF_DTYPE_Q4_1, vf_quantize_q4_1, true, HALF_MAX},
    {MF_DTYPE_Q5_0, vf_quantize_q5_0, true, HALF_MAX * 16.0f},
    {MF_DTYPE_Q5_1, vf_quantize_q5_1, true, HALF_MAX},
    {MF_DTYPE_Q8_0, vf_quantize_q8_0, true, HALF_MAX * 127.0f},
    {MF_DTYPE_Q8_1, vf_quantize_q8_1, true, HALF_MAX * 127.0f},
    {MF_DTYPE_TQ1_0, vf_quantize_tq1_0, true, HALF_MAX},
    {MF_DTYPE_TQ2_0, vf_quantize_tq2_0, true, HALF_MAX},
    {MF_DTYPE_MXFP4, vf_quantize_mxfp4, true, 0x1.fffffep127f},
    {MF_DTYPE_NVFP4, vf_quantize_nvfp4, true, 0x1.fffffep127f},
    {MF_DTYPE_Q2_K, vf_quantize_q2_k, false, HALF_MAX},
    {MF_DTYPE_Q3_K, vf_quantize_q3_k, false, HALF_MAX},
    {MF_DTYPE_Q4_K, vf_quantize_q4_k, false, HALF_MAX},
    {MF_DTYPE_Q5_K, vf_quantize_q5_k, false, HALF_MAX},
    {MF_DTYPE_Q6_K, vf_quantize_q6_k, false, HALF_MAX},
    {MF_DTYPE_IQ4_NL, vf_quantize_iq4_nl, false, HALF_MAX},
    {MF_DTYPE_IQ4_XS, vf_quantize_iq4_xs, false, HALF_MAX},
};

/* Of a repacked type its raw type's. */
static const struct quantizer *find_quantizer(enum mf_dtype dtype) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    if (info != NULL) {
        dtype = info->repack_of;
    }
    for (size_t i = 0; i < sizeof quantizers / sizeof quantizers[0]; i++) {
        if (quantizers[i].dtype == dtype) {
            return &quantizers[i];
        }
    }
    return NULL;
}

bool vf_quantize_supported(enum mf_dtype dtype) {
    return find_quantizer(dtype) != NULL;
}

bool vf_quantize_exact(enum mf_dtype dtype) {
    const struct quantizer *quantizer = find_quantizer(dtype);
    return quantizer != NULL && quantizer->exact;
}

static bool all_within(const float *values, uint64_t count, float limit) {
    bool within = true;
    for (uint64_t i = 0; i < count; i++) {
        within &= fabsf(values[i]) <= limit; /* false for NaN */
    }
    return within;
}

enum kiln_result vf_quantize(enum mf_dtype dtype, const float *values, uint64_t element_count,
                             uint8_t *blocks) {
    const struct quantizer *quantizer = find_quantizer(dtype);
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    if (quantizer == NULL || info == NULL || element_count % info->block_elements != 0) {
        return KILN_ERR_ARGUMENT;
    }
    if (element_count > 0 && (blocks == NULL || values == NULL)) {
        return KILN_ERR_ARGUMENT;
    }
    if (quantizer->limit > 0.0f && !all_within(values, element_count, quantizer->limit)) {
        return KILN_ERR_LIMIT;
    }
    const struct kiln_repacking repacking = {info->repack_of, dtype, info->block_elements};
    const bool repacked = mf_dtype_is_repacked(dtype);
    const uint32_t raw_bytes = mf_dtype_info(info->repack_of)->block_bytes;
    uint8_t raw[512];
    enum kiln_result result = KILN_OK;
    for (uint64_t done = 0; done < element_count && result == KILN_OK;
         done += info->block_elements) {
        quantizer->quantize(values, repacked ? raw : blocks);
        if (repacked) {
            result = kiln_repack(&repacking, raw, raw_bytes, blocks, info->block_bytes, NULL);
        }
        values += info->block_elements;
        blocks += info->block_bytes;
    }
    return result;
}
