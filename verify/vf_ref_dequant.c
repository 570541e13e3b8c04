/* SPDX-License-Identifier: MIT */
#include "vf_decode.h"
#include "vf_f16.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

#include <kiln/kiln_repack.h>

#include <string.h>

enum { FOLD_GROUP_LIMIT = 3 };

/* How the bytes that scale a block, which may not be arbitrary, are made. */
enum scale_kind {
    SCALE_F16,         /* `count` halves at `offset` */
    SCALE_E8M0,        /* one exponent byte */
    SCALE_UE4M3,       /* four bytes, every value of which is finite */
    SCALE_IQ1_M,       /* a half spread over the top nibbles of four u16 at `offset` */
    SCALE_ELEMENT_F16, /* no scale: the element itself */
    SCALE_ELEMENT_BF16,
    SCALE_ELEMENT_F32
};

struct scale_field {
    enum mf_dtype dtype;
    enum scale_kind kind;
    uint32_t offset_bytes;
    uint32_t count;
};

/* Offsets: docs/block_layouts.md. */
static const struct scale_field scale_fields[] = {
    {MF_DTYPE_F32, SCALE_ELEMENT_F32, 0, 1},   {MF_DTYPE_F16, SCALE_ELEMENT_F16, 0, 1},
    {MF_DTYPE_BF16, SCALE_ELEMENT_BF16, 0, 1}, {MF_DTYPE_Q4_0, SCALE_F16, 0, 1},
    {MF_DTYPE_Q4_1, SCALE_F16, 0, 2},          {MF_DTYPE_Q5_0, SCALE_F16, 0, 1},
    {MF_DTYPE_Q5_1, SCALE_F16, 0, 2},          {MF_DTYPE_Q8_0, SCALE_F16, 0, 1},
    {MF_DTYPE_Q2_K, SCALE_F16, 80, 2},         {MF_DTYPE_Q3_K, SCALE_F16, 108, 1},
    {MF_DTYPE_Q4_K, SCALE_F16, 0, 2},          {MF_DTYPE_Q5_K, SCALE_F16, 0, 2},
    {MF_DTYPE_Q6_K, SCALE_F16, 208, 1},        {MF_DTYPE_IQ2_XXS, SCALE_F16, 0, 1},
    {MF_DTYPE_IQ2_XS, SCALE_F16, 0, 1},        {MF_DTYPE_IQ2_S, SCALE_F16, 0, 1},
    {MF_DTYPE_IQ3_XXS, SCALE_F16, 0, 1},       {MF_DTYPE_IQ3_S, SCALE_F16, 0, 1},
    {MF_DTYPE_IQ1_S, SCALE_F16, 0, 1},         {MF_DTYPE_IQ1_M, SCALE_IQ1_M, 48, 4},
    {MF_DTYPE_IQ4_NL, SCALE_F16, 0, 1},        {MF_DTYPE_IQ4_XS, SCALE_F16, 0, 1},
    {MF_DTYPE_TQ1_0, SCALE_F16, 52, 1},        {MF_DTYPE_TQ2_0, SCALE_F16, 64, 1},
    {MF_DTYPE_MXFP4, SCALE_E8M0, 0, 1},        {MF_DTYPE_NVFP4, SCALE_UE4M3, 0, 4},
    {MF_DTYPE_Q1_0, SCALE_F16, 0, 1},          {MF_DTYPE_Q2_0, SCALE_F16, 0, 1},
};

static const struct scale_field *scale_field_find(enum mf_dtype dtype) {
    for (size_t i = 0; i < sizeof scale_fields / sizeof scale_fields[0]; i++) {
        if (scale_fields[i].dtype == dtype) {
            return &scale_fields[i];
        }
    }
    return NULL;
}

/* A half of either sign: subnormal or zero when `small`, else of exponents 1..top (11: < 0.125). */
static uint16_t random_half(uint64_t bits, bool small, uint64_t top) {
    const uint64_t exponent = small ? 0 : 1 + (bits >> 16) % top;
    const uint64_t mantissa = small && (bits >> 32) % 4 == 0 ? 0 : bits & 0x3FF;

    return (uint16_t)((bits >> 63) << 15 | exponent << 10 | mantissa);
}

/* A finite binary32: subnormal or zero when `small`, else within 2^-20..2^8. */
static uint32_t random_single(uint64_t bits, bool small) {
    const uint64_t exponent = small ? 0 : 107 + (bits >> 32) % 28;
    const uint64_t mantissa = small && (bits >> 40) % 4 == 0 ? 0 : bits & 0x7FFFFF;

    return (uint32_t)((bits >> 63) << 31 | exponent << 23 | mantissa);
}

static void store_u16(uint8_t *bytes, uint32_t value) {
    bytes[0] = (uint8_t)(value & 0xFF);
    bytes[1] = (uint8_t)(value >> 8 & 0xFF);
}

static void make_scale(const struct scale_field *field, uint64_t bits, bool small, uint8_t *at) {
    switch (field->kind) {
    case SCALE_F16:
        for (uint32_t i = 0; i < field->count; i++) {
            store_u16(at + 2 * i, random_half(vf_pseudo_bits(bits + i), small, 11));
        }
        break;
    case SCALE_E8M0:
        at[0] = (uint8_t)(small ? bits % 4 : 113 + bits % 12);
        break;
    case SCALE_UE4M3:
        for (uint32_t i = 0; i < field->count; i++) {
            at[i] = (uint8_t)(small ? bits >> (8 * i) & 7 : bits >> (8 * i) & 0xFF);
        }
        break;
    case SCALE_IQ1_M: {
        const uint32_t half = random_half(bits, small, 11);
        for (uint32_t i = 0; i < field->count; i++) {
            at[2 * i + 1] = (uint8_t)((at[2 * i + 1] & 0x0F) | (half >> (4 * i) & 0xF) << 4);
        }
        break;
    }
    case SCALE_ELEMENT_F16:
        store_u16(at, random_half(bits, small, 30));
        break;
    case SCALE_ELEMENT_BF16:
        store_u16(at, random_single(bits, small) >> 16);
        break;
    case SCALE_ELEMENT_F32:
        store_u16(at, random_single(bits, small) & 0xFFFF);
        store_u16(at + 2, random_single(bits, small) >> 16);
        break;
    }
}

static enum kiln_result dequant_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    const struct mf_dtype_info *info = mf_dtype_info(dtypes[0]);
    const uint64_t unit = info && info->block_elements > 32 ? info->block_elements : 32;
    static const char *const dims[] = {"count"};
    const struct vf_case_row rows[] = {
        {{(uint64_t)64 * 256}, QUICK | FULL, 0, 0},
        {{37 * unit}, QUICK | FULL, 0, 0},
        {{unit}, FULL, 0, 0},
        {{3 * unit}, FULL, 0, 0},
        {{(uint64_t)4096 * 256}, SEEDS | FULL, 0, 0},
        {{(uint64_t)64 * 256}, FULL, FOLD_GROUP_LIMIT, 0},
        {{0}, FULL, 0, 0},
    };

    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

static void fill_blocks(const struct mf_dtype_info *info, const struct scale_field *field,
                        uint64_t seed, uint64_t block_count, uint8_t *blocks) {
    const uint64_t size_bytes = block_count * info->block_bytes;

    for (uint64_t i = 0; i < size_bytes; i += 8) {
        const uint64_t bits = vf_pseudo_bits(seed + i / 8);
        memcpy(blocks + i, &bits, size_bytes - i < 8 ? (size_t)(size_bytes - i) : 8);
    }
    for (uint64_t b = 0; b < block_count; b++) {
        const uint64_t bits = vf_pseudo_bits(~seed + b);
        make_scale(field, bits, b % 8 == 7, blocks + b * info->block_bytes + field->offset_bytes);
    }
}

/* Raw blocks of `count` elements, for a repacked type repacked. */
static enum kiln_result make_blocks(const struct mf_dtype_info *info,
                                    const struct scale_field *field, uint64_t seed, uint64_t count,
                                    uint64_t size_bytes, uint8_t *blocks, struct mf_arena *arena) {
    const struct mf_dtype_info *raw = mf_dtype_info(info->repack_of);
    const uint64_t block_count = count / info->block_elements;
    const uint64_t raw_bytes = block_count * raw->block_bytes;

    if (raw == info) {
        fill_blocks(info, field, seed, block_count, blocks);
        return KILN_OK;
    }
    uint8_t *raw_blocks = mf_arena_alloc(arena, (size_t)raw_bytes + 8, 1);
    if (!raw_blocks) {
        return KILN_ERR_MEMORY;
    }
    fill_blocks(raw, field, seed, block_count, raw_blocks);
    const struct kiln_repacking repacking = {raw->dtype, info->dtype, info->block_elements};
    return kiln_repack(&repacking, raw_blocks, raw_bytes, blocks, size_bytes, NULL);
}

enum kiln_result vf_dequant_problem(const uint8_t *blocks, uint64_t size_bytes, const float *values,
                                    uint64_t count, bool non_finite, struct vf_problem *out) {
    double *expected = mf_arena_alloc(&out->arena, (size_t)count + 1, sizeof *expected);

    if (!expected) {
        return KILN_ERR_MEMORY;
    }
    for (uint64_t i = 0; i < count; i++) {
        expected[i] = (double)values[i];
    }
    vf_problem_input(out, "weights", blocks, size_bytes);
    struct vf_buffer *output = vf_problem_output(out, "values", expected, count);
    output->dtype_index = 1;
    output->non_finite = non_finite;
    return KILN_OK;
}

static enum kiln_result dequant_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                        uint64_t seed, struct vf_problem *out,
                                        struct kiln_error *error) {
    const uint64_t count = vf_case_dim(problem, "count");
    const struct mf_dtype_info *info = mf_dtype_info(dtypes[0]);
    const struct scale_field *field = info ? scale_field_find(info->repack_of) : NULL;
    uint64_t size_bytes = 0;

    if (!info || !field || mf_dtype_row_bytes(dtypes[0], count, &size_bytes) != KILN_OK) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "dequant %s: no such blocks", problem->id);
    }
    uint8_t *blocks = mf_arena_alloc(&out->arena, (size_t)size_bytes + 8, 1);
    float *values = mf_arena_alloc(&out->arena, (size_t)count + 1, sizeof *values);
    if (!blocks || !values) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "dequant %s: out of memory", problem->id);
    }
    enum kiln_result result =
        make_blocks(info, field, seed, count, size_bytes, blocks, &out->arena);
    if (result == KILN_OK) {
        result = vf_decode(dtypes[0], blocks, count, values);
    }
    if (result == KILN_OK) {
        result = vf_dequant_problem(blocks, size_bytes, values, count, false, out);
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "dequant %s: no blocks: %s", problem->id,
                              kiln_result_string(result));
    }
    return KILN_OK;
}

static struct mf_tolerance dequant_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    if (artifact->dtype_count > 1 && strcmp(artifact->dtypes[1], "f16") == 0) {
        gate.ulp_f16 = 1;
    } else {
        gate.exact = true;
    }
    return gate;
}

const struct vf_family vf_ref_dequant = {
    .reference = "dequant",
    .shared_dtype_count = 1,
    .list_cases = dequant_list_cases,
    .prepare = dequant_prepare,
    .ceiling = dequant_ceiling,
};
