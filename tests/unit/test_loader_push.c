/* SPDX-License-Identifier: MIT */
/* Push constant blocks and row windows: the pure arithmetic of dispatches. */
#include "kiln/kiln_dispatch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct mf_push members[] = {
    {"nout", 0, 4, MF_SCALAR_U32},  {"row_first", 4, 4, MF_SCALAR_U32},
    {"eps", 8, 4, MF_SCALAR_F32},   {"shift", 12, 4, MF_SCALAR_I32},
    {"big", 16, 8, MF_SCALAR_U64},  {"real", 24, 8, MF_SCALAR_F64},
    {"small", 32, 1, MF_SCALAR_I8}, {"causal", 36, 4, MF_SCALAR_BOOL},
};

static struct mf_artifact block_artifact(void) {
    return (struct mf_artifact){.name = "a",
                                .push = members,
                                .push_count = sizeof(members) / sizeof(members[0]),
                                .requires_ = {.push_bytes = 40}};
}

static void test_block(void **state) {
    (void)state;
    struct mf_artifact artifact = block_artifact();
    struct mf_dim dims[] = {{"nout", 0x01020304}, {"k", 77}};
    struct kiln_param params[] = {
        kiln_param_f64("eps", 1.5),    kiln_param_i64("shift", -2),   kiln_param_i64("big", 5),
        kiln_param_f64("real", -0.25), kiln_param_i64("small", -128), kiln_param_u64("causal", 1),
    };
    /* Written down by hand: little-endian, IEEE 754. */
    static const unsigned char expected[48] = {
        4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0xc0, 0x3f, 0xfe, 0xff, 0xff, 0xff, 5, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xd0, 0xbf, 0x80, 0,    0,    0,    1, 0, 0, 0};
    unsigned char block[48];
    memset(block, 0xaa, sizeof(block));
    assert_int_equal(kiln_push_fill(&artifact, dims, 2, params, 6, block, sizeof(block), NULL),
                     KILN_OK);
    assert_memory_equal(block, expected, sizeof(block));
    /* A param goes before the dimension of its name. */
    struct kiln_param more[7];
    memcpy(more, params, sizeof(params));
    more[6] = kiln_param_u64("nout", 9);
    assert_int_equal(kiln_push_fill(&artifact, dims, 2, more, 7, block, sizeof(block), NULL),
                     KILN_OK);
    assert_int_equal(block[0], 9);
}

static void expect_refusal(const struct kiln_param *params, size_t count, enum kiln_result expected,
                           const char *words) {
    struct mf_artifact artifact = block_artifact();
    struct mf_dim dim = {"nout", 1};
    unsigned char block[40];
    struct kiln_error error = {0};
    enum kiln_result result =
        kiln_push_fill(&artifact, &dim, 1, params, count, block, sizeof(block), &error);
    if (result != expected || !strstr(error.message, words)) {
        fail_msg("expected %s with \"%s\", found %s: %s", kiln_result_string(expected), words,
                 kiln_result_string(result), error.message);
    }
}

/* All members with good values, but for the one given. */
static void expect_refused_value(struct kiln_param param, enum kiln_result expected,
                                 const char *words) {
    struct kiln_param params[] = {
        kiln_param_f64("eps", 1),  kiln_param_i64("shift", 0), kiln_param_u64("big", 0),
        kiln_param_f64("real", 0), kiln_param_i64("small", 0), kiln_param_u64("causal", 0),
        kiln_param_u64("nout", 1),
    };
    size_t count = sizeof(params) / sizeof(params[0]);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(params[i].name, param.name) == 0) {
            params[i] = param;
        }
    }
    expect_refusal(params, count, expected, words);
}

static void test_refusals(void **state) {
    (void)state;
    struct kiln_param twice[] = {kiln_param_f64("eps", 1), kiln_param_f64("eps", 1)};
    struct kiln_param unknown = kiln_param_u64("n_out", 1);
    expect_refusal(NULL, 0, KILN_ERR_NOT_FOUND, "push constant eps is not given");
    expect_refusal(twice, 2, KILN_ERR_DUPLICATE, "push constant eps is given twice");
    expect_refusal(&unknown, 1, KILN_ERR_NOT_FOUND, "no push constant n_out");
    expect_refused_value(kiln_param_u64("nout", 4294967296u), KILN_ERR_LIMIT,
                         "nout = 4294967296 does not fit u32");
    expect_refused_value(kiln_param_i64("nout", -1), KILN_ERR_LIMIT, "nout = -1 does not fit u32");
    expect_refused_value(kiln_param_i64("shift", -2147483649ll), KILN_ERR_LIMIT, "shift");
    expect_refused_value(kiln_param_u64("shift", 2147483648u), KILN_ERR_LIMIT, "shift");
    expect_refused_value(kiln_param_i64("small", -129), KILN_ERR_LIMIT, "small = -129");
    expect_refused_value(kiln_param_i64("small", 128), KILN_ERR_LIMIT, "small = 128");
    expect_refused_value(kiln_param_u64("causal", 2), KILN_ERR_LIMIT, "causal = 2");
    expect_refused_value(kiln_param_i64("big", -1), KILN_ERR_LIMIT, "big = -1");
    expect_refused_value(kiln_param_f64("eps", 1e39), KILN_ERR_LIMIT, "eps = 1e+39");
    expect_refused_value(kiln_param_u64("eps", 1), KILN_ERR_ARGUMENT, "cannot take an integer");
    expect_refused_value(kiln_param_f64("nout", 1), KILN_ERR_ARGUMENT, "cannot take a real");
    struct mf_artifact artifact = block_artifact();
    unsigned char block[39];
    assert_int_equal(kiln_push_fill(&artifact, NULL, 0, NULL, 0, block, sizeof(block), NULL),
                     KILN_ERR_ARGUMENT);
}

/* Infinity and the type's extremes are values like others. */
static void test_extremes(void **state) {
    (void)state;
    static const struct mf_push push[] = {
        {"eps", 0, 4, MF_SCALAR_F32}, {"shift", 4, 4, MF_SCALAR_I32}, {"big", 8, 8, MF_SCALAR_I64}};
    struct mf_artifact artifact = {
        .name = "a", .push = push, .push_count = 3, .requires_ = {.push_bytes = 16}};
    struct kiln_param params[] = {kiln_param_f64("eps", (double)INFINITY),
                                  kiln_param_i64("shift", INT32_MIN),
                                  kiln_param_i64("big", INT64_MIN)};
    static const unsigned char expected[16] = {0, 0, 0x80, 0x7f, 0, 0, 0, 0x80,
                                               0, 0, 0,    0,    0, 0, 0, 0x80};
    unsigned char block[16];
    assert_int_equal(kiln_push_fill(&artifact, NULL, 0, params, 3, block, sizeof(block), NULL),
                     KILN_OK);
    assert_memory_equal(block, expected, sizeof(block));
}

/* Every promise of kiln_window_next, over rows, sizes, alignments and limits. */
static void check_windows(uint64_t rows, uint64_t row_bytes, uint64_t limit, uint64_t alignment) {
    uint64_t offset = 3 * alignment;
    uint64_t done = 0;
    while (done < rows) {
        struct kiln_window window;
        struct kiln_error error = {0};
        enum kiln_result result =
            kiln_window_next(done, rows, row_bytes, offset, limit, alignment, &window, &error);
        if (result == KILN_ERR_LIMIT) {
            /* Brute force: no number of rows is aligned and fits, short of all. */
            for (uint64_t n = 1; n * row_bytes <= limit; n++) {
                uint64_t padded = (n * row_bytes + 15) / 16 * 16;
                assert_false(padded <= limit &&
                             (n == rows - done || n * row_bytes % alignment == 0));
            }
            return;
        }
        assert_int_equal(result, KILN_OK);
        assert_int_equal(window.row_first, done);
        assert_int_equal(window.offset_bytes, offset + done * row_bytes);
        assert_int_equal(window.offset_bytes % alignment, 0);
        assert_int_equal(window.size_bytes, window.row_count * row_bytes);
        assert_true(window.row_count > 0 && window.row_count <= rows - done);
        assert_true((window.size_bytes + 15) / 16 * 16 <= limit);
        done += window.row_count;
    }
    assert_int_equal(done, rows);
}

static void test_windows(void **state) {
    (void)state;
    static const uint64_t row_bytes[] = {1, 2, 17, 18, 34, 110, 144, 210, 256, 1152, 8192};
    static const uint64_t limits[] = {16, 100, 256, 1000, 4096, 65536};
    for (size_t row = 0; row < sizeof(row_bytes) / sizeof(row_bytes[0]); row++) {
        for (size_t limit = 0; limit < sizeof(limits) / sizeof(limits[0]); limit++) {
            for (uint64_t alignment = 1; alignment <= 256; alignment *= 2) {
                for (uint64_t rows = 1; rows < 300; rows += 1 + rows / 7) {
                    check_windows(rows, row_bytes[row], limits[limit], alignment);
                }
            }
        }
    }
}

static void test_window_numbers(void **state) {
    (void)state;
    struct kiln_window window;
    struct kiln_error error = {0};
    /* Q6_K rows of 4096: 3360 bytes; 128 MiB hold 39945.1 of them, in steps of 2 for 64 bytes. */
    assert_int_equal(kiln_window_next(0, 151936, 3360, 0, 134217728, 64, &window, &error), KILN_OK);
    assert_int_equal(window.row_count, 39944);
    assert_int_equal(window.size_bytes, 134211840);
    /* 32-bit byte offsets, whatever the device's limit: 2^32 / 4096 rows less the padding. */
    assert_int_equal(kiln_window_next(0, 2000000, 4096, 0, UINT64_MAX, 16, &window, &error),
                     KILN_OK);
    assert_int_equal(window.row_count, 1048575);
    assert_int_equal(kiln_window_next(1048575, 2000000, 4096, 0, UINT64_MAX, 16, &window, &error),
                     KILN_OK);
    assert_int_equal(window.offset_bytes, 4294963200u);
    assert_int_equal(window.row_count, 951425);
    /* Refusals name their numbers. */
    assert_int_equal(kiln_window_next(0, 10, 34, 8, 4096, 16, &window, &error), KILN_ERR_LIMIT);
    assert_non_null(strstr(error.message, "offset 8, no multiple of 16"));
    assert_int_equal(window.row_count, 0);
    assert_int_equal(kiln_window_next(0, 1000, 34, 0, 1024, 256, &window, &error), KILN_ERR_LIMIT);
    assert_non_null(strstr(error.message, "128 rows of 34 bytes"));
    assert_int_equal(kiln_window_next(0, 10, 0, 0, 1024, 256, &window, &error), KILN_ERR_ARGUMENT);
    assert_int_equal(kiln_window_next(11, 10, 4, 0, 1024, 4, &window, &error), KILN_ERR_ARGUMENT);
    assert_int_equal(kiln_window_next(0, UINT64_MAX, 2, 0, 1024, 4, &window, &error),
                     KILN_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_extremes),       cmocka_unit_test(test_windows),
        cmocka_unit_test(test_window_numbers),
    };
    return cmocka_run_group_tests_name("loader_push", tests, NULL, NULL);
}
