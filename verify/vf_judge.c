/* SPDX-License-Identifier: MIT */
#include "vf_judge.h"

#include "vf_decode.h"
#include "vf_decode_block.h"
#include "vf_f16.h"
#include "vf_quantize.h"
#include "vf_split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ELEMENTS = 32 };

/* Where a block of a type has its codes. */
static uint32_t header_bytes(enum mf_dtype dtype) {
    return dtype == MF_DTYPE_Q8_1 ? 4 : 2;
}

static int32_t code_load(enum mf_dtype dtype, const uint8_t *block, uint32_t element) {
    const uint8_t *codes = block + header_bytes(dtype);

    if (dtype == MF_DTYPE_Q4_0) {
        return codes[element % 16] >> (element / 16 * 4) & 15;
    }
    return vf_load_i8(codes + element);
}

/* The place of a half in the order of values: neighbours differ by 1, both zeros are 0. */
static int32_t half_place(uint16_t half) {
    const int32_t magnitude = half & 0x7FFF;

    return half & 0x8000 ? -magnitude : magnitude;
}

static bool halves_near(uint16_t a, uint16_t b) {
    return abs(half_place(a) - half_place(b)) <= 1;
}

/* Whether the header (d, and s where there is one) is right up to one half. */
static bool header_near(enum mf_dtype dtype, const uint8_t *got, const uint8_t *expected,
                        float scale) {
    int32_t sum = 0;

    if (!halves_near(vf_load_u16(got), vf_load_u16(expected))) {
        return false;
    }
    if (dtype != MF_DTYPE_Q8_1) {
        return true;
    }
    for (uint32_t e = 0; e < BLOCK_ELEMENTS; e++) {
        sum += code_load(dtype, got, e);
    }
    return halves_near(vf_load_u16(got + 2), vf_f16_encode((float)sum * scale));
}

/* What the elements of a block add to the counts; a wrong header counts as its first element. */
static void block_judge(const struct vf_expected_blocks *data, enum mf_dtype dtype, uint64_t index,
                        const uint8_t *got, bool strict, struct vf_metrics *m) {
    const uint32_t block_bytes = mf_dtype_info(dtype)->block_bytes;
    const uint8_t *expected = data->blocks + index * block_bytes;
    const float scale = data->scales[index];
    const bool same_header = memcmp(got, expected, header_bytes(dtype)) == 0;
    const bool equal_only = strict || isnan(scale);
    bool near = same_header || (!equal_only && header_near(dtype, got, expected, scale));
    bool same = same_header;

    for (uint32_t e = 0; e < BLOCK_ELEMENTS; e++) {
        const int32_t a = code_load(dtype, got, e);
        const int32_t b = code_load(dtype, expected, e);
        same = same && a == b;
        near = near && abs(a - b) <= (equal_only ? 0 : 1);
        m->near_count += near && !same;
        if (!near && m->mismatch_count++ == 0) {
            m->first_index = index * BLOCK_ELEMENTS + e;
            m->first_got = a;
            m->first_expected = b;
        }
        same = near = true;
    }
}

/* The type of the blocks that an output of this type is judged by. */
static enum mf_dtype block_type(enum mf_dtype dtype) {
    return dtype == MF_DTYPE_Q8_1S ? MF_DTYPE_Q8_1 : dtype;
}

/* The buffer's blocks, all of one kind; `wrong` counts sums of q8_1s that are not their codes'. */
static enum mf_dtype join_blocks(const struct vf_buffer *buffer, const void *got, uint8_t *joined,
                                 const uint8_t **blocks, uint64_t *wrong) {
    *blocks = got;
    *wrong = 0;
    if (buffer->dtype != MF_DTYPE_Q8_1S) {
        return buffer->dtype;
    }
    *wrong = vf_split_to_blocks(got, buffer->element_count, joined);
    *blocks = joined;
    return MF_DTYPE_Q8_1;
}

void vf_judge_blocks(const struct vf_buffer *buffer, const void *got, bool strict,
                     struct vf_metrics *out) {
    const struct mf_tolerance none = vf_tolerance_none();
    const uint64_t count = buffer->element_count;
    const uint32_t block_bytes = mf_dtype_info(block_type(buffer->dtype))->block_bytes;
    float *values = malloc((size_t)count * sizeof *values + 1);
    uint8_t *joined = malloc((size_t)(count / BLOCK_ELEMENTS * block_bytes) + 1);
    const uint8_t *blocks = NULL;
    uint64_t wrong = 0;

    *out = vf_metrics_empty();
    if (!values || !joined) {
        out->mismatch_count = count;
        goto done;
    }
    const enum mf_dtype dtype = join_blocks(buffer, got, joined, &blocks, &wrong);
    if (vf_decode(dtype, blocks, count, values) != KILN_OK) {
        out->mismatch_count = count;
        goto done;
    }
    vf_compare(MF_DTYPE_F32, values, buffer->expected, count, &none, false, out);
    out->mismatch_count = wrong;
    out->flushed_count = 0;
    for (uint64_t b = 0; b < count / BLOCK_ELEMENTS; b++) {
        block_judge(buffer->judge_data, dtype, b, blocks + b * block_bytes, strict, out);
    }
done:
    free(values);
    free(joined);
}

/* The scale that vf_quantize rounds to a half. */
static float block_scale(enum mf_dtype dtype, const float *x) {
    float extreme = x[0];

    for (uint32_t e = 1; e < BLOCK_ELEMENTS; e++) {
        extreme = fabsf(x[e]) > fabsf(extreme) ? x[e] : extreme;
    }
    return dtype == MF_DTYPE_Q4_0 ? extreme / -8.0F : fabsf(extreme) / 127.0F;
}

enum kiln_result vf_expect_blocks(struct vf_problem *problem, const char *binding,
                                  enum mf_dtype dtype, const float *x, uint64_t row_count,
                                  uint64_t k, const int32_t *rows, uint64_t output_row_count,
                                  const uint8_t *initial) {
    const uint64_t count = output_row_count * k;
    const uint64_t row_blocks = k / BLOCK_ELEMENTS;
    const bool split = dtype == MF_DTYPE_Q8_1S;
    const enum mf_dtype judged = block_type(dtype);
    const uint64_t row_bytes = row_blocks * mf_dtype_info(judged)->block_bytes;
    const size_t size_bytes = (size_t)(output_row_count * row_bytes);
    struct vf_expected_blocks *data = mf_arena_alloc(&problem->arena, 1, sizeof *data);
    uint8_t *blocks = mf_arena_alloc(&problem->arena, size_bytes + 1, 1);
    float *scales = mf_arena_alloc(&problem->arena, (size_t)(count / 32) + 1, sizeof *scales);
    float *values = mf_arena_alloc(&problem->arena, (size_t)count + 1, sizeof *values);
    double *expected = mf_arena_alloc(&problem->arena, (size_t)count + 1, sizeof *expected);

    if (!data || !blocks || !scales || !values || !expected) {
        return KILN_ERR_MEMORY;
    }
    if (initial) {
        memcpy(blocks, initial, size_bytes);
    }
    for (uint64_t b = 0; b < count / BLOCK_ELEMENTS; b++) {
        scales[b] = NAN;
    }
    for (uint64_t i = 0; i < row_count; i++) {
        const int64_t row = rows ? rows[i] : (int64_t)i;
        if (row < 0 || (uint64_t)row >= output_row_count) {
            continue;
        }
        const uint64_t at = (uint64_t)row;
        const enum kiln_result result = vf_quantize(judged, x + i * k, k, blocks + at * row_bytes);
        if (result != KILN_OK) {
            return result;
        }
        for (uint64_t b = 0; b < row_blocks; b++) {
            scales[at * row_blocks + b] = block_scale(dtype, x + i * k + b * BLOCK_ELEMENTS);
        }
    }
    if (split) { /* the sum of q8_1s has no rounding of its own: blocks as the judge sees them */
        uint8_t *whole = mf_arena_alloc(&problem->arena, (size_t)count / 32 * 48 + 1, 1);
        if (!whole) {
            return KILN_ERR_MEMORY;
        }
        vf_split_from_blocks(blocks, count, whole);
        vf_split_to_blocks(whole, count, blocks);
    }
    const enum kiln_result result = vf_decode(judged, blocks, count, values);
    for (uint64_t i = 0; i < count && result == KILN_OK; i++) {
        expected[i] = (double)values[i];
    }
    *data = (struct vf_expected_blocks){.blocks = blocks, .scales = scales};
    struct vf_buffer *output = vf_problem_output(problem, binding, expected, count);
    output->bytes = initial;
    output->size_bytes = initial ? size_bytes : 0;
    output->dtype = dtype;
    output->judge = vf_judge_blocks;
    output->judge_data = data;
    return result;
}
