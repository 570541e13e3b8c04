/* SPDX-License-Identifier: MIT */
#include "vf_operand.h"

#include "vf_decode.h"
#include "vf_pseudo.h"
#include "vf_quantize.h"
#include "vf_random.h"
#include "vf_split.h"

/* What a type of activations is quantised to first. */
static enum mf_dtype block_type(enum mf_dtype dtype) {
    return dtype == MF_DTYPE_Q8_1S ? MF_DTYPE_Q8_1 : dtype;
}

double vf_operand_dot(const float *a, const float *b, uint64_t count) {
    double sums[4] = {0, 0, 0, 0};
    uint64_t i = 0;

    for (; i + 4 <= count; i += 4) {
        for (unsigned lane = 0; lane < 4; lane++) {
            sums[lane] += (double)a[i + lane] * (double)b[i + lane];
        }
    }
    for (; i < count; i++) {
        sums[0] += (double)a[i] * (double)b[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

enum kiln_result vf_operand_row(enum mf_dtype dtype, uint64_t row, uint64_t k, uint64_t seed,
                                uint8_t *blocks, float *values) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    enum kiln_result result;

    if (vf_quantize_supported(dtype)) {
        vf_pseudo_fill(values, (size_t)k, 0, seed + row * k, 0.5F);
        result = vf_quantize(dtype, values, k, blocks);
    } else {
        result = vf_random_blocks(dtype, seed + row, k / info->block_elements, blocks);
    }
    return result == KILN_OK ? vf_decode(dtype, blocks, k, values) : result;
}

enum kiln_result vf_operand_activations(struct vf_problem *problem, const char *binding,
                                        enum mf_dtype dtype, const float *x, uint64_t count) {
    uint64_t size_bytes = 0;
    uint8_t *blocks = NULL;

    if (dtype == MF_DTYPE_F32) {
        return vf_problem_input(problem, binding, x, count * sizeof *x) ? KILN_OK : KILN_ERR_LIMIT;
    }
    enum kiln_result result = mf_dtype_row_bytes(dtype, count, &size_bytes);
    if (result == KILN_OK) {
        blocks = mf_arena_alloc(&problem->arena, (size_t)size_bytes + 1, 1);
        result = blocks ? vf_quantize(block_type(dtype), x, count, blocks) : KILN_ERR_MEMORY;
    }
    if (result == KILN_OK && dtype == MF_DTYPE_Q8_1S) {
        uint8_t *split = mf_arena_alloc(&problem->arena, (size_t)size_bytes + 1, 1);
        if (split) {
            vf_split_from_blocks(blocks, count, split);
        }
        blocks = split;
        result = split ? KILN_OK : KILN_ERR_MEMORY;
    }
    if (result == KILN_OK && !vf_problem_input(problem, binding, blocks, size_bytes)) {
        result = KILN_ERR_LIMIT;
    }
    return result;
}

enum kiln_result vf_operand_round(enum mf_dtype dtype, float *x, uint64_t count,
                                  struct mf_arena *arena) {
    uint64_t size_bytes = 0;

    if (dtype == MF_DTYPE_F32) {
        return KILN_OK;
    }
    enum kiln_result result = mf_dtype_row_bytes(dtype, count, &size_bytes);
    if (result != KILN_OK) {
        return result;
    }
    uint8_t *blocks = mf_arena_alloc(arena, (size_t)size_bytes + 1, 1);
    if (!blocks) {
        return KILN_ERR_MEMORY;
    }
    result = vf_quantize(block_type(dtype), x, count, blocks);
    return result == KILN_OK ? vf_decode(block_type(dtype), blocks, count, x) : result;
}
