/* SPDX-License-Identifier: MIT */
/* Random blocks: values in range, every code seen, redundant fields right, seeds unrelated. */
#include "vf_random.h"

#include "vf_decode.h"
#include "vf_f16.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t *make_blocks(const struct mf_dtype_info *info, uint64_t seed, uint64_t block_count) {
    uint8_t *blocks = malloc(block_count * info->block_bytes + 1);
    assert_non_null(blocks);
    blocks[block_count * info->block_bytes] = 0x5A;
    assert_int_equal(vf_random_blocks(info->dtype, seed, block_count, blocks), KILN_OK);
    assert_int_equal(blocks[block_count * info->block_bytes], 0x5A);
    return blocks;
}

static void test_values_in_range(void **state) {
    (void)state;
    enum { COUNT = 256 * 2048 };
    size_t count;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    float *values = malloc(COUNT * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) {
        if (!vf_decode_supported(table[i].dtype)) {
            continue;
        }
        uint8_t *blocks = make_blocks(&table[i], 11, COUNT / table[i].block_elements);
        double sum = 0.0;
        double squares = 0.0;
        assert_int_equal(vf_decode(table[i].dtype, blocks, COUNT, values), KILN_OK);
        for (uint32_t e = 0; e < COUNT; e++) {
            assert_true(fabsf(values[e]) < 2.0f); /* false for NaN */
            sum += (double)values[e];
            squares += (double)values[e] * (double)values[e];
        }
        double rms = sqrt(squares / COUNT);
        print_message("# %-7s RMS %.3f\n", table[i].name, rms);
        assert_true(rms > 0.25 && rms < 0.5);
        assert_true(fabs(sum / COUNT) < 0.02);
        free(blocks);
    }
    free(values);
}

/* Every byte position takes nearly all of its possible values, and each bit is set about half. */
static void test_codes_random(void **state) {
    (void)state;
    enum { BLOCKS = 4096 };
    size_t count;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (table[i].block_elements == 1 || table[i].dtype == MF_DTYPE_Q8_1S) {
            continue;
        }
        uint8_t *blocks = make_blocks(&table[i], 3, BLOCKS);
        uint32_t even_bits = 0;
        for (uint32_t bit = 0; bit < 8 * table[i].block_bytes; bit++) {
            uint32_t set = 0;
            for (uint32_t b = 0; b < BLOCKS; b++) {
                set += (uint32_t)blocks[b * table[i].block_bytes + bit / 8] >> bit % 8 & 1u;
            }
            even_bits += set > BLOCKS / 2 - 192 && set < BLOCKS / 2 + 192; /* 6 sigma */
        }
        /* All but exponents of scales, minimums and (16 sums of 16 bits) the tops of q8_k's sums.
         */
        assert_true(8 * table[i].block_bytes - even_bits <= 32);
        free(blocks);
    }
}

static int32_t load_i16(const uint8_t *bytes) {
    return (int16_t)(uint16_t)(bytes[0] | bytes[1] << 8);
}

static void test_redundant_fields(void **state) {
    (void)state;
    enum { BLOCKS = 64 };
    const struct mf_dtype_info *q8_1 = mf_dtype_info(MF_DTYPE_Q8_1);
    const struct mf_dtype_info *q8_k = mf_dtype_info(MF_DTYPE_Q8_K);
    float values[256];
    uint8_t *blocks = make_blocks(q8_1, 5, BLOCKS);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const uint8_t *block = blocks + b * q8_1->block_bytes;
        double sum = 0.0;
        assert_int_equal(vf_decode(MF_DTYPE_Q8_1, block, 32, values), KILN_OK);
        for (uint32_t e = 0; e < 32; e++) {
            sum += (double)values[e];
        }
        double stored = (double)vf_f16_decode((uint16_t)load_i16(block + 2));
        assert_true(fabs(stored - sum) <= 0x1p-11 * fabs(sum));
    }
    free(blocks);
    blocks = make_blocks(q8_k, 5, BLOCKS);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const uint8_t *block = blocks + b * q8_k->block_bytes;
        for (uint32_t g = 0; g < 16; g++) {
            int32_t sum = 0;
            for (uint32_t e = 0; e < 16; e++) {
                sum += (int8_t)block[4 + 16 * g + e];
            }
            assert_int_equal(load_i16(block + 260 + 2 * g), sum);
        }
    }
    free(blocks);
}

static void test_seeds(void **state) {
    (void)state;
    enum { BLOCKS = 100 };
    const struct mf_dtype_info *info = mf_dtype_info(MF_DTYPE_IQ2_XS);
    uint8_t *long_fill = make_blocks(info, 100, BLOCKS);
    uint8_t *short_fill = make_blocks(info, 100, 10);
    assert_memory_equal(long_fill, short_fill, 10 * info->block_bytes);
    /* Seeds at any small distance share no run of 8 bytes at the same place of any two blocks. */
    for (uint64_t distance = 1; distance <= 256; distance *= 2) {
        uint8_t *other = make_blocks(info, 100 + distance, BLOCKS);
        for (uint32_t a = 0; a < BLOCKS; a++) {
            for (uint32_t b = 0; b < BLOCKS; b++) {
                const uint8_t *one = long_fill + a * info->block_bytes;
                const uint8_t *two = other + b * info->block_bytes;
                assert_memory_not_equal(one + 8, two + 8, 8);
                assert_memory_not_equal(one + 16, two + 8, 8);
            }
        }
        free(other);
    }
    free(long_fill);
    free(short_fill);
}

static void test_arguments(void **state) {
    (void)state;
    uint8_t block[4] = {1, 2, 3, 4};
    assert_int_equal(vf_random_blocks(MF_DTYPE_I32, 0, 1, block), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_random_blocks((enum mf_dtype)5, 0, 1, block), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_random_blocks(MF_DTYPE_F32, 0, 1, NULL), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_random_blocks(MF_DTYPE_F32, 0, 0, NULL), KILN_OK);
    assert_int_equal(block[0], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_in_range),  cmocka_unit_test(test_codes_random),
        cmocka_unit_test(test_redundant_fields), cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
