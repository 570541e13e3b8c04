/* SPDX-License-Identifier: MIT */
#include "vf_weights.h"

#include "vf_decode.h"
#include "vf_pseudo.h"
#include "vf_quantize.h"
#include "vf_random.h"

enum kiln_result vf_weights_row(enum mf_dtype dtype, uint64_t row, uint64_t k, uint64_t seed,
                                uint8_t *blocks, float *values) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    enum kiln_result result;

    if (!info || k % info->block_elements) {
        return KILN_ERR_ARGUMENT;
    }
    if (vf_quantize_supported(dtype)) {
        vf_pseudo_fill(values, (size_t)k, 0, seed + row * k, 0.5F);
        result = vf_quantize(dtype, values, k, blocks);
    } else {
        result = vf_random_blocks(dtype, seed + row, k / info->block_elements, blocks);
    }
    return result == KILN_OK ? vf_decode(dtype, blocks, k, values) : result;
}
