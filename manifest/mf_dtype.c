/* SPDX-License-Identifier: MIT */
#include "mf_dtype.h"

#include <string.h>

/*
 * Ascending ids. Elements and bytes a block: docs/block_layouts.md, "Summary", and
 * docs/repacked_layouts.md.
 */
static const struct mf_dtype_info dtypes[] = {
    {MF_DTYPE_F32, "f32", 1, 4, true, MF_DTYPE_F32},
    {MF_DTYPE_F16, "f16", 1, 2, true, MF_DTYPE_F16},
    {MF_DTYPE_Q4_0, "q4_0", 32, 18, true, MF_DTYPE_Q4_0},
    {MF_DTYPE_Q4_1, "q4_1", 32, 20, true, MF_DTYPE_Q4_1},
    {MF_DTYPE_Q5_0, "q5_0", 32, 22, true, MF_DTYPE_Q5_0},
    {MF_DTYPE_Q5_1, "q5_1", 32, 24, true, MF_DTYPE_Q5_1},
    {MF_DTYPE_Q8_0, "q8_0", 32, 34, true, MF_DTYPE_Q8_0},
    {MF_DTYPE_Q8_1, "q8_1", 32, 36, false, MF_DTYPE_Q8_1},
    {MF_DTYPE_Q2_K, "q2_k", 256, 84, true, MF_DTYPE_Q2_K},
    {MF_DTYPE_Q3_K, "q3_k", 256, 110, true, MF_DTYPE_Q3_K},
    {MF_DTYPE_Q4_K, "q4_k", 256, 144, true, MF_DTYPE_Q4_K},
    {MF_DTYPE_Q5_K, "q5_k", 256, 176, true, MF_DTYPE_Q5_K},
    {MF_DTYPE_Q6_K, "q6_k", 256, 210, true, MF_DTYPE_Q6_K},
    {MF_DTYPE_Q8_K, "q8_k", 256, 292, false, MF_DTYPE_Q8_K},
    {MF_DTYPE_IQ2_XXS, "iq2_xxs", 256, 66, true, MF_DTYPE_IQ2_XXS},
    {MF_DTYPE_IQ2_XS, "iq2_xs", 256, 74, true, MF_DTYPE_IQ2_XS},
    {MF_DTYPE_IQ3_XXS, "iq3_xxs", 256, 98, true, MF_DTYPE_IQ3_XXS},
    {MF_DTYPE_IQ1_S, "iq1_s", 256, 50, true, MF_DTYPE_IQ1_S},
    {MF_DTYPE_IQ4_NL, "iq4_nl", 32, 18, true, MF_DTYPE_IQ4_NL},
    {MF_DTYPE_IQ3_S, "iq3_s", 256, 110, true, MF_DTYPE_IQ3_S},
    {MF_DTYPE_IQ2_S, "iq2_s", 256, 82, true, MF_DTYPE_IQ2_S},
    {MF_DTYPE_IQ4_XS, "iq4_xs", 256, 136, true, MF_DTYPE_IQ4_XS},
    {MF_DTYPE_I32, "i32", 1, 4, false, MF_DTYPE_I32},
    {MF_DTYPE_IQ1_M, "iq1_m", 256, 56, true, MF_DTYPE_IQ1_M},
    {MF_DTYPE_BF16, "bf16", 1, 2, true, MF_DTYPE_BF16},
    {MF_DTYPE_TQ1_0, "tq1_0", 256, 54, true, MF_DTYPE_TQ1_0},
    {MF_DTYPE_TQ2_0, "tq2_0", 256, 66, true, MF_DTYPE_TQ2_0},
    {MF_DTYPE_MXFP4, "mxfp4", 32, 17, true, MF_DTYPE_MXFP4},
    {MF_DTYPE_NVFP4, "nvfp4", 64, 36, true, MF_DTYPE_NVFP4},
    {MF_DTYPE_Q1_0, "q1_0", 128, 18, true, MF_DTYPE_Q1_0},
    {MF_DTYPE_Q2_0, "q2_0", 64, 18, true, MF_DTYPE_Q2_0},
    {MF_DTYPE_Q8_0P, "q8_0p", 32, 36, true, MF_DTYPE_Q8_0},
    {MF_DTYPE_Q8_1S, "q8_1s", 32, 48, false, MF_DTYPE_Q8_1S},
    {MF_DTYPE_Q3_KP, "q3_kp", 256, 112, true, MF_DTYPE_Q3_K},
    {MF_DTYPE_Q6_KP, "q6_kp", 256, 212, true, MF_DTYPE_Q6_K},
};
#define DTYPE_COUNT (sizeof dtypes / sizeof dtypes[0])

const struct mf_dtype_info *mf_dtype_table(size_t *count) {
    *count = DTYPE_COUNT;
    return dtypes;
}

const struct mf_dtype_info *mf_dtype_info(enum mf_dtype dtype) {
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        if (dtypes[i].dtype == dtype) {
            return &dtypes[i];
        }
    }
    return NULL;
}

const struct mf_dtype_info *mf_dtype_find(const char *name) {
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            return &dtypes[i];
        }
    }
    return NULL;
}

bool mf_dtype_is_repacked(enum mf_dtype dtype) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    return info != NULL && info->repack_of != dtype;
}

enum kiln_result mf_dtype_row_bytes(enum mf_dtype dtype, uint64_t element_count,
                                    uint64_t *size_bytes) {
    *size_bytes = 0;
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    if (!info || element_count % info->block_elements != 0) {
        return KILN_ERR_ARGUMENT;
    }
    uint64_t product = 0;
    if (__builtin_mul_overflow(element_count / info->block_elements, (uint64_t)info->block_bytes,
                               &product)) {
        return KILN_ERR_LIMIT;
    }
    *size_bytes = product;
    return KILN_OK;
}
