/* SPDX-License-Identifier: MIT */
#include "mf_dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Ids as in GGUF files, elements and bytes as in ggml's block structures. */
static const struct {
    const char *name;
    int id;
    uint32_t elements;
    uint32_t bytes;
    bool weight;
} facts[] = {
    {"f32", 0, 1, 4, true},          {"f16", 1, 1, 2, true},
    {"q4_0", 2, 32, 18, true},       {"q4_1", 3, 32, 20, true},
    {"q5_0", 6, 32, 22, true},       {"q5_1", 7, 32, 24, true},
    {"q8_0", 8, 32, 34, true},       {"q8_1", 9, 32, 36, false},
    {"q2_k", 10, 256, 84, true},     {"q3_k", 11, 256, 110, true},
    {"q4_k", 12, 256, 144, true},    {"q5_k", 13, 256, 176, true},
    {"q6_k", 14, 256, 210, true},    {"q8_k", 15, 256, 292, false},
    {"iq2_xxs", 16, 256, 66, true},  {"iq2_xs", 17, 256, 74, true},
    {"iq3_xxs", 18, 256, 98, true},  {"iq1_s", 19, 256, 50, true},
    {"iq4_nl", 20, 32, 18, true},    {"iq3_s", 21, 256, 110, true},
    {"iq2_s", 22, 256, 82, true},    {"iq4_xs", 23, 256, 136, true},
    {"i32", 26, 1, 4, false},        {"iq1_m", 29, 256, 56, true},
    {"bf16", 30, 1, 2, true},        {"tq1_0", 34, 256, 54, true},
    {"tq2_0", 35, 256, 66, true},    {"mxfp4", 39, 32, 17, true},
    {"nvfp4", 40, 64, 36, true},     {"q1_0", 41, 128, 18, true},
    {"q2_0", 42, 64, 18, true},      {"q8_0p", 4104, 32, 36, true},
    {"q8_1s", 4105, 32, 48, false},  {"q3_kp", 4107, 256, 112, true},
    {"q6_kp", 4110, 256, 212, true},
};
#define FACT_COUNT (sizeof facts / sizeof facts[0])

static void table_states_the_facts(void **state) {
    (void)state;
    size_t count = 0;
    size_t weights = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    assert_int_equal(count, FACT_COUNT);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(table[i].name, facts[i].name);
        assert_int_equal(table[i].dtype, facts[i].id);
        assert_int_equal(table[i].block_elements, facts[i].elements);
        assert_int_equal(table[i].block_bytes, facts[i].bytes);
        assert_int_equal(table[i].weight, facts[i].weight);
        assert_true(i == 0 || table[i - 1].dtype < table[i].dtype);
        assert_ptr_equal(mf_dtype_find(facts[i].name), &table[i]);
        assert_ptr_equal(mf_dtype_info((enum mf_dtype)facts[i].id), &table[i]);
        weights += table[i].weight;
    }
    assert_int_equal(weights, 28 + 3);
}

static void repacked_types_name_their_raw_one(void **state) {
    (void)state;
    static const struct {
        const char *name, *raw;
    } rows[] = {{"q8_0p", "q8_0"}, {"q3_kp", "q3_k"}, {"q6_kp", "q6_k"}};
    size_t count = 0;
    size_t repacked = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *raw = table[i].name;
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            raw = strcmp(table[i].name, rows[r].name) == 0 ? rows[r].raw : raw;
        }
        const struct mf_dtype_info *of = mf_dtype_info(table[i].repack_of);
        assert_non_null(of);
        assert_string_equal(of->name, raw);
        assert_int_equal(of->block_elements, table[i].block_elements);
        assert_int_equal(mf_dtype_is_repacked(table[i].dtype), of != &table[i]);
        repacked += mf_dtype_is_repacked(table[i].dtype);
        /* No GGML id, and whole words. */
        assert_true(!mf_dtype_is_repacked(table[i].dtype) ||
                    (table[i].dtype > 255 && table[i].block_bytes % 4 == 0));
    }
    assert_int_equal(repacked, 3);
    assert_false(mf_dtype_is_repacked((enum mf_dtype)4));
}

static void unknown_types_are_not_found(void **state) {
    (void)state;
    assert_null(mf_dtype_find("q4_K"));
    assert_null(mf_dtype_find(""));
    assert_null(mf_dtype_find("q4_k "));
    static const int removed[] = {-1, 4, 5, 24, 25, 27, 28, 31, 32, 33, 36, 37, 38, 43, 1000, 4096};
    for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++) {
        assert_null(mf_dtype_info((enum mf_dtype)removed[i]));
    }
}

static void rows_have_whole_blocks(void **state) {
    (void)state;
    uint64_t bytes = 1;
    assert_int_equal(mf_dtype_row_bytes(MF_DTYPE_Q4_K, 4096, &bytes), KILN_OK);
    assert_true(bytes == 2304);
    assert_int_equal(mf_dtype_row_bytes(MF_DTYPE_MXFP4, 32, &bytes), KILN_OK);
    assert_true(bytes == 17);
    assert_int_equal(mf_dtype_row_bytes(MF_DTYPE_F32, 3, &bytes), KILN_OK);
    assert_true(bytes == 12);
    assert_int_equal(mf_dtype_row_bytes(MF_DTYPE_Q6_K, 0, &bytes), KILN_OK);
    assert_true(bytes == 0);
    assert_int_equal(mf_dtype_row_bytes(MF_DTYPE_Q4_K, 4095, &bytes), KILN_ERR_ARGUMENT);
    assert_true(bytes == 0);
    assert_int_equal(mf_dtype_row_bytes((enum mf_dtype)4, 32, &bytes), KILN_ERR_ARGUMENT);
}

static void row_bytes_do_not_wrap(void **state) {
    (void)state;
    uint64_t bytes = 1;
    assert_int_equal(mf_dtype_row_bytes(MF_DTYPE_F32, UINT64_C(1) << 62, &bytes), KILN_ERR_LIMIT);
    assert_true(bytes == 0);
    assert_int_equal(mf_dtype_row_bytes(MF_DTYPE_F32, (UINT64_C(1) << 62) - 1, &bytes), KILN_OK);
    assert_true(bytes == UINT64_MAX - 3);
    assert_int_equal(mf_dtype_row_bytes(MF_DTYPE_Q8_0, UINT64_C(1) << 40, &bytes), KILN_OK);
    assert_true(bytes == (UINT64_C(1) << 35) * 34);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_states_the_facts),
        cmocka_unit_test(repacked_types_name_their_raw_one),
        cmocka_unit_test(unknown_types_are_not_found),
        cmocka_unit_test(rows_have_whole_blocks),
        cmocka_unit_test(row_bytes_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
