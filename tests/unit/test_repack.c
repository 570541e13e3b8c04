/* SPDX-License-Identifier: MIT */
/* The loader's repacking against layouts written out here and against the golden values. */
#include "kiln/kiln_repack.h"

#include "golden_files.h"
#include "vf_decode.h"
#include "vf_f16.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Blocks: elements, raw bytes, repacked bytes, and where the repacked padding is. */
static const struct {
    enum mf_dtype from, to;
    uint32_t elements, raw_bytes, bytes, padding;
} rows[] = {{MF_DTYPE_Q8_0, MF_DTYPE_Q8_0P, 32, 34, 36, 2},
            {MF_DTYPE_Q3_K, MF_DTYPE_Q3_KP, 256, 110, 112, 110},
            {MF_DTYPE_Q6_K, MF_DTYPE_Q6_KP, 256, 210, 212, 210}};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void expect_error(enum kiln_result result, enum kiln_result expected,
                         struct kiln_error *error, const char *words) {
    assert_int_equal(result, expected);
    assert_int_equal(error->code, expected);
    if (!strstr(error->message, words)) {
        fail_msg("'%s', expected '%s'", error->message, words);
    }
    *error = (struct kiln_error){KILN_OK, ""};
}

static void test_pairs(void **state) {
    (void)state;
    size_t count = 0;
    size_t found = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    struct kiln_error error = {KILN_OK, ""};
    for (size_t i = 0; i < count; i++) {
        enum mf_dtype to = MF_DTYPE_I32;
        enum kiln_result result = kiln_repack_find(table[i].dtype, &to);
        for (size_t r = 0; r < ROW_COUNT; r++) {
            if (rows[r].from == table[i].dtype) {
                assert_int_equal(result, KILN_OK);
                assert_int_equal(to, rows[r].to);
                found++;
            }
        }
        assert_true(result == KILN_OK || to == table[i].dtype);
        /* Every other pair is refused, the way back included. */
        for (size_t j = 0; j < count; j++) {
            const struct kiln_repacking repacking = {table[i].dtype, table[j].dtype, 256};
            uint64_t bytes = 1;
            result = kiln_repack_size(&repacking, 0, &bytes, &error);
            if (to != table[i].dtype && to == table[j].dtype) {
                assert_int_equal(result, KILN_OK);
            } else {
                expect_error(result, KILN_ERR_ARGUMENT, &error, "cannot be repacked as");
            }
            assert_int_equal(bytes, 0);
        }
    }
    assert_int_equal(found, ROW_COUNT);
    const struct kiln_repacking unknown = {MF_DTYPE_Q8_0, (enum mf_dtype)4, 32};
    uint64_t bytes = 1;
    expect_error(kiln_repack_size(&unknown, 34, &bytes, &error), KILN_ERR_ARGUMENT, &error,
                 "q8_0 cannot be repacked as no type");
}

static void test_sizes(void **state) {
    (void)state;
    struct kiln_error error = {KILN_OK, ""};
    uint64_t bytes = 0;
    for (size_t r = 0; r < ROW_COUNT; r++) {
        const struct kiln_repacking repacking = {rows[r].from, rows[r].to, 3 * rows[r].elements};
        const uint64_t row_bytes = 3 * rows[r].raw_bytes;
        static const uint64_t row_counts[] = {0, 1, 7, UINT64_C(1) << 33};
        for (size_t i = 0; i < sizeof row_counts / sizeof row_counts[0]; i++) {
            assert_int_equal(kiln_repack_size(&repacking, row_counts[i] * row_bytes, &bytes, NULL),
                             KILN_OK);
            assert_true(bytes == row_counts[i] * 3 * rows[r].bytes);
        }
        /* Whole blocks, but a part of a row. */
        bytes = 1;
        expect_error(
            kiln_repack_size(&repacking, 5 * row_bytes + rows[r].raw_bytes, &bytes, &error),
            KILN_ERR_ARGUMENT, &error, "5 rows of");
        assert_int_equal(bytes, 0);
        const struct kiln_repacking odd = {rows[r].from, rows[r].to, rows[r].elements + 8};
        expect_error(kiln_repack_size(&odd, 0, &bytes, &error), KILN_ERR_ARGUMENT, &error,
                     "no multiple of");
    }
    const struct kiln_repacking q8 = {MF_DTYPE_Q8_0, MF_DTYPE_Q8_0P, 64};
    expect_error(kiln_repack_size(&q8, 1000, &bytes, &error), KILN_ERR_ARGUMENT, &error,
                 "q8_0 to q8_0p: 1000 bytes are 14 rows of 68 bytes and 48 bytes over");
    const struct kiln_repacking empty = {MF_DTYPE_Q8_0, MF_DTYPE_Q8_0P, 0};
    assert_int_equal(kiln_repack_size(&empty, 0, &bytes, NULL), KILN_OK);
    assert_int_equal(bytes, 0);
    expect_error(kiln_repack_size(&empty, 34, &bytes, &error), KILN_ERR_ARGUMENT, &error,
                 "0 rows of 0 bytes and 34 bytes over");
    /* 2^64 - 1 rounded down to blocks of 34 bytes: as 36 they do not fit. */
    const struct kiln_repacking one = {MF_DTYPE_Q8_0, MF_DTYPE_Q8_0P, 32};
    const uint64_t most = UINT64_MAX / 36;
    assert_int_equal(kiln_repack_size(&one, most * 34, &bytes, NULL), KILN_OK);
    assert_true(bytes == most * 36);
    expect_error(kiln_repack_size(&one, (most + 1) * 34, &bytes, &error), KILN_ERR_LIMIT, &error,
                 "64 bits");
    const struct kiln_repacking wide = {MF_DTYPE_Q8_0, MF_DTYPE_Q8_0P, UINT64_MAX - 31};
    expect_error(kiln_repack_size(&wide, 0, &bytes, &error), KILN_ERR_LIMIT, &error, "64 bits");
}

/* Every byte of a block at its place, in an odd number of rows, at odd addresses. */
static void test_layouts(void **state) {
    (void)state;
    enum { BLOCKS = 5 * 3 };
    for (size_t r = 0; r < ROW_COUNT; r++) {
        const struct kiln_repacking repacking = {rows[r].from, rows[r].to, 3 * rows[r].elements};
        const uint64_t raw_bytes = BLOCKS * rows[r].raw_bytes;
        const uint64_t size_bytes = BLOCKS * rows[r].bytes;
        uint8_t raw[BLOCKS * 210 + 1];
        uint8_t found[BLOCKS * 212 + 2];
        for (size_t i = 0; i < raw_bytes; i++) {
            raw[1 + i] = (uint8_t)(1 + i % 255); /* never 0 */
        }
        memset(found, 0xA5, sizeof found);
        assert_int_equal(
            kiln_repack(&repacking, raw + 1, raw_bytes, found + 1, sizeof found - 1, NULL),
            KILN_OK);
        assert_int_equal(found[0], 0xA5);
        assert_int_equal(found[1 + size_bytes], 0xA5);
        for (size_t b = 0; b < BLOCKS; b++) {
            const uint8_t *from = raw + 1 + b * rows[r].raw_bytes;
            const uint8_t *to = found + 1 + b * rows[r].bytes;
            for (uint32_t i = 0; i < rows[r].bytes; i++) {
                if (i == rows[r].padding || i == rows[r].padding + 1) {
                    assert_int_equal(to[i], 0);
                } else {
                    assert_int_equal(to[i], from[i < rows[r].padding ? i : i - 2]);
                }
            }
        }
        /* Rows 2 and 3 alone are those of the whole. */
        uint8_t part[6 * 212];
        assert_int_equal(kiln_repack(&repacking, raw + 1 + 6 * rows[r].raw_bytes,
                                     6 * rows[r].raw_bytes, part, sizeof part, NULL),
                         KILN_OK);
        assert_memory_equal(part, found + 1 + 6 * rows[r].bytes, 6 * rows[r].bytes);
    }
}

static void check_golden(size_t r, const char *case_name) {
    struct golden_files files;
    assert_true(golden_files_read(mf_dtype_info(rows[r].from), case_name, &files));
    const struct kiln_repacking repacking = {rows[r].from, rows[r].to, rows[r].elements};
    const size_t block_count = files.blocks_bytes / rows[r].raw_bytes;
    uint8_t *repacked = malloc(block_count * rows[r].bytes);
    float *found = malloc(files.element_count * sizeof *found);
    assert_true(repacked && found && block_count > 0);
    assert_int_equal(kiln_repack(&repacking, files.blocks, files.blocks_bytes, repacked,
                                 block_count * rows[r].bytes, NULL),
                     KILN_OK);
    assert_int_equal(vf_decode(rows[r].to, repacked, files.element_count, found), KILN_OK);
    for (uint64_t i = 0; i < files.element_count; i++) {
        assert_true(vf_f32_bits(found[i]) == vf_f32_bits(files.values[i]) ||
                    (found[i] == 0.0f && files.values[i] == 0.0f));
    }
    /* Every bit but those of the padding counts, in one block at least. */
    uint32_t least = UINT32_MAX;
    for (size_t b = 0; b < block_count; b++) {
        uint8_t *block = repacked + b * rows[r].bytes;
        float after[256];
        uint32_t idle = 0;
        for (uint32_t bit = 0; bit < 8 * rows[r].bytes; bit++) {
            block[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_equal(vf_decode(rows[r].to, block, rows[r].elements, after), KILN_OK);
            bool same =
                memcmp(after, found + b * rows[r].elements, rows[r].elements * sizeof *after) == 0;
            assert_true(same || bit / 16 != rows[r].padding / 2);
            idle += same;
            block[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        least = idle < least ? idle : least;
    }
    assert_int_equal(least, 16);
    free(repacked);
    free(found);
    golden_files_free(&files);
}

static void test_golden(void **state) {
    (void)state;
    for (size_t r = 0; r < ROW_COUNT; r++) {
        check_golden(r, "rand");
        check_golden(r, "quant");
    }
}

/* Refused calls write nothing. */
static void test_refusals(void **state) {
    (void)state;
    const struct kiln_repacking q8 = {MF_DTYPE_Q8_0, MF_DTYPE_Q8_0P, 64};
    struct kiln_error error = {KILN_OK, ""};
    uint8_t bytes[512], before[512];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = before[i] = (uint8_t)(i * 7 + 1);
    }
    expect_error(kiln_repack(&q8, bytes, 136, bytes + 200, 143, &error), KILN_ERR_LIMIT, &error,
                 "room for 143 bytes, needed 144");
    expect_error(kiln_repack(&q8, bytes, 135, bytes + 200, 300, &error), KILN_ERR_ARGUMENT, &error,
                 "135 bytes are 1 rows of 68 bytes and 67 bytes over");
    expect_error(kiln_repack(&q8, bytes, 136, NULL, 144, &error), KILN_ERR_ARGUMENT, &error,
                 "no memory given");
    expect_error(kiln_repack(&q8, NULL, 136, bytes, 144, &error), KILN_ERR_ARGUMENT, &error,
                 "no memory given");
    /* In place, one byte into either end; side by side is fine. */
    expect_error(kiln_repack(&q8, bytes, 136, bytes, 144, &error), KILN_ERR_ARGUMENT, &error,
                 "overlap");
    expect_error(kiln_repack(&q8, bytes, 136, bytes + 135, 144, &error), KILN_ERR_ARGUMENT, &error,
                 "overlap");
    expect_error(kiln_repack(&q8, bytes + 143, 136, bytes, 144, &error), KILN_ERR_ARGUMENT, &error,
                 "overlap");
    assert_memory_equal(bytes, before, sizeof bytes);
    assert_int_equal(kiln_repack(&q8, NULL, 0, NULL, 0, NULL), KILN_OK);
    assert_int_equal(kiln_repack(&q8, bytes + 144, 136, bytes, 144, NULL), KILN_OK);
    assert_int_equal(kiln_repack(&q8, bytes + 144, 136, bytes + 280, 144, NULL), KILN_OK);
    assert_memory_equal(bytes, bytes + 280, 144);
    assert_memory_equal(bytes + 144, before + 144, 136);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_layouts),  cmocka_unit_test(test_golden),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("repack", tests, NULL, NULL);
}
