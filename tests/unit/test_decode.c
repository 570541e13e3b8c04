/* SPDX-License-Identifier: MIT */
/* Decoders against the golden vectors, bit for bit, and their contract's corners. */
#include "vf_decode.h"

#include "golden_files.h"
#include "vf_decode_block.h"
#include "vf_f16.h"
#include "vf_quantize_block.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool values_equal(float a, float b) {
    return vf_f32_bits(a) == vf_f32_bits(b) || (a == 0.0f && b == 0.0f);
}

static uint64_t count_different(const float *a, const float *b, uint64_t count) {
    uint64_t different = 0;
    for (uint64_t i = 0; i < count; i++) {
        different += !values_equal(a[i], b[i]);
    }
    return different;
}

static void check_golden(const struct mf_dtype_info *info, const char *case_name, uint32_t *cases) {
    struct golden_files files;
    if (!golden_files_read(info, case_name, &files)) {
        return;
    }
    float *found = malloc((files.element_count + 1) * sizeof *found);
    /* One byte off: blocks need no alignment. */
    uint8_t *shifted = malloc(files.blocks_bytes + 1);
    assert_true(found != NULL && shifted != NULL);
    memcpy(shifted + 1, files.blocks, files.blocks_bytes);
    found[files.element_count] = 7.0f;
    assert_int_equal(vf_decode(info->dtype, shifted + 1, files.element_count, found), KILN_OK);
    uint64_t different = count_different(found, files.values, files.element_count);
    if (different > 0) {
        print_error("%s %s: %llu values differ\n", info->name, case_name,
                    (unsigned long long)different);
    }
    assert_int_equal(different, 0);
    assert_true(found[files.element_count] == 7.0f);
    (*cases)++;
    free(found);
    free(shifted);
    golden_files_free(&files);
}

static void test_golden(void **state) {
    (void)state;
    size_t count;
    uint32_t cases = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (vf_decode_supported(table[i].dtype)) {
            check_golden(&table[i], "rand", &cases);
            check_golden(&table[i], "quant", &cases);
        }
    }
    /* 29 types; iq1_s, iq2_xxs and iq2_xs have no quant case. */
    assert_int_equal(cases, 29 + 26);
}

static void test_supported(void **state) {
    (void)state;
    size_t count;
    size_t supported = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    for (size_t i = 0; i < count; i++) {
        supported += vf_decode_supported(table[i].dtype);
        assert_true(vf_decode_supported(table[i].dtype) || !table[i].weight);
    }
    assert_int_equal(supported, 30 + 3);
    assert_false(vf_decode_supported(MF_DTYPE_I32));
    assert_false(vf_decode_supported((enum mf_dtype)4));
}

static void test_arguments(void **state) {
    (void)state;
    uint8_t blocks[512] = {0};
    float values[256];
    values[0] = 5.0f;
    assert_int_equal(vf_decode(MF_DTYPE_I32, blocks, 1, values), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_decode((enum mf_dtype)31, blocks, 32, values), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_decode(MF_DTYPE_Q4_0, blocks, 33, values), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_decode(MF_DTYPE_Q6_K, blocks, 128, values), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_decode(MF_DTYPE_Q4_0, NULL, 32, values), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_decode(MF_DTYPE_Q4_0, blocks, 32, NULL), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_decode(MF_DTYPE_Q4_0, NULL, 0, NULL), KILN_OK);
    assert_true(values[0] == 5.0f);
}

/*
 * Flips every bit of a block in turn: the values must change, unless the bit is redundant. So no
 * decoder ignores a field. The count of bits without effect is known for each type.
 */
static uint32_t count_idle_bits(const struct mf_dtype_info *info, uint8_t *block) {
    float before[256];
    float after[256];
    uint32_t idle = 0;
    assert_int_equal(vf_decode(info->dtype, block, info->block_elements, before), KILN_OK);
    for (uint32_t bit = 0; bit < 8 * info->block_bytes; bit++) {
        block[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(vf_decode(info->dtype, block, info->block_elements, after), KILN_OK);
        idle += count_different(before, after, info->block_elements) == 0;
        block[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    return idle;
}

static void test_every_bit_matters(void **state) {
    (void)state;
    static const struct {
        enum mf_dtype dtype;
        uint32_t idle;
    } redundant[] = {
        {MF_DTYPE_Q8_1, 16},  /* the sum */
        {MF_DTYPE_Q8_K, 256}, /* the sums */
        {MF_DTYPE_NVFP4, 7},  /* bit 7 of each scale, and signs of zero codes */
        {MF_DTYPE_TQ1_0, 4},  /* neighbouring bytes that hold the same digits */
    };
    size_t count;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct golden_files files;
        uint32_t expected = 0;
        if (!golden_files_read(&table[i], "rand", &files)) {
            continue;
        }
        for (size_t r = 0; r < sizeof redundant / sizeof redundant[0]; r++) {
            expected = redundant[r].dtype == table[i].dtype ? redundant[r].idle : expected;
        }
        /* Codes under a sub-scale of 0 and signs of 0 are idle by chance: the least block counts.
         */
        uint32_t least = UINT32_MAX;
        for (size_t at = 0; at < files.blocks_bytes; at += table[i].block_bytes) {
            uint32_t idle = count_idle_bits(&table[i], files.blocks + at);
            least = idle < least ? idle : least;
        }
        if (least != expected) {
            print_message("# %s: %u of %u bits idle\n", table[i].name, least,
                          8 * table[i].block_bytes);
        }
        assert_int_equal(least, expected);
        golden_files_free(&files);
    }
}

/* Infinite and NaN scales follow IEEE 754; a mxfp4 exponent of 255 is 2^127, not a NaN. */
static void test_special_scales(void **state) {
    (void)state;
    uint8_t block[34] = {0x00, 0x7C, 1, 0xFF, 0};
    float values[32];
    assert_int_equal(vf_decode(MF_DTYPE_Q8_0, block, 32, values), KILN_OK);
    assert_true(values[0] == INFINITY && values[1] == -INFINITY && isnan(values[2]));
    memset(block, 0, sizeof block);
    block[0] = 255;
    block[1] = 0x0A; /* element 0: level -2 of the doubled table; element 16: 0 */
    assert_int_equal(vf_decode(MF_DTYPE_MXFP4, block, 32, values), KILN_OK);
    assert_true(values[0] == -INFINITY); /* -2^128 is beyond binary32 */
    assert_true(values[16] == 0.0f);
    block[1] = 0x19; /* levels -1 and 1 */
    assert_int_equal(vf_decode(MF_DTYPE_MXFP4, block, 32, values), KILN_OK);
    assert_true((double)values[0] == ldexp(-1.0, 127) && (double)values[16] == ldexp(1.0, 127));
}

static void test_scale_min_packing(void **state) {
    (void)state;
    uint8_t scales[8], minimums[8], packed[12];
    for (uint32_t i = 0; i < 64; i++) {
        for (uint32_t j = 0; j < 8; j++) {
            scales[j] = (uint8_t)((i + 11 * j) % 64);
            minimums[j] = (uint8_t)((63 - i + 5 * j) % 64);
        }
        vf_pack_scale_min(packed, scales, minimums);
        for (uint32_t j = 0; j < 8; j++) {
            uint32_t scale, minimum;
            vf_unpack_scale_min(packed, j, &scale, &minimum);
            assert_int_equal(scale, scales[j]);
            assert_int_equal(minimum, minimums[j]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),         cmocka_unit_test(test_supported),
        cmocka_unit_test(test_arguments),      cmocka_unit_test(test_every_bit_matters),
        cmocka_unit_test(test_special_scales), cmocka_unit_test(test_scale_min_packing),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
