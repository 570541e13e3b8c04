/* SPDX-License-Identifier: MIT */
/* Diagnostics: order, merging over variants, one tidy line each, JSON, many threads. */
#include "gs_diag.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gs_diag *make(void) {
    struct gs_diag *diag = NULL;
    assert_int_equal(gs_diag_create(&diag), KILN_OK);
    return diag;
}

static void expect_text(const struct gs_diag *diag, const char *text) {
    struct mf_buffer out = {0};
    assert_int_equal(gs_diag_format(diag, &out), KILN_OK);
    assert_string_equal(out.data != NULL ? out.data : "", text);
    mf_buffer_release(&out);
}

static void expect_json(const struct gs_diag *diag, const char *text) {
    struct mf_buffer out = {0};
    assert_int_equal(gs_diag_format_json(diag, &out), KILN_OK);
    assert_string_equal(out.data, text);
    mf_buffer_release(&out);
}

static void test_empty(void **state) {
    (void)state;
    struct gs_diag *diag = make();
    assert_int_equal(gs_diag_count(diag), 0);
    assert_int_equal(gs_diag_result(diag), KILN_OK);
    expect_text(diag, "");
    expect_json(diag, "[]\n");
    gs_diag_destroy(&diag);
    assert_null(diag);
    gs_diag_destroy(&diag);
}

static void test_order(void **state) {
    (void)state;
    struct gs_diag *diag = make();
    assert_int_equal(gs_diag_add(diag, KILN_ERR_COMPILE, "b", 2, NULL, "second"), KILN_ERR_COMPILE);
    gs_diag_add(diag, KILN_ERR_FORMAT, "b", 10, NULL, "tenth line, after the second");
    gs_diag_add(diag, KILN_ERR_IO, "b", 0, NULL, "the file as a whole");
    gs_diag_add(diag, KILN_ERR_LIMIT, "a", 7, NULL, "%s %d", "number", 7);
    gs_diag_add(diag, KILN_ERR_LIMIT, "a", 7, NULL, "letter");
    assert_int_equal(gs_diag_result(diag), KILN_ERR_LIMIT);
    gs_diag_add(diag, KILN_ERR_BUSY, NULL, 99, NULL, "no file");
    assert_int_equal(gs_diag_count(diag), 6);
    assert_int_equal(gs_diag_result(diag), KILN_ERR_BUSY);
    expect_text(diag, "no file\n"
                      "a:7: letter\n"
                      "a:7: number 7\n"
                      "b: the file as a whole\n"
                      "b:2: second\n"
                      "b:10: tenth line, after the second\n");
    gs_diag_destroy(&diag);
}

static void test_variants(void **state) {
    (void)state;
    struct gs_diag *diag = make();
    gs_diag_add(diag, KILN_ERR_COMPILE, "k.comp", 12, "c", "'foo' : undeclared identifier");
    expect_text(diag, "k.comp:12: 'foo' : undeclared identifier [c]\n");
    gs_diag_add(diag, KILN_ERR_COMPILE, "k.comp", 12, "a", "'foo' : undeclared identifier");
    gs_diag_add(diag, KILN_ERR_COMPILE, "k.comp", 12, "c", "'foo' : undeclared identifier");
    gs_diag_add(diag, KILN_ERR_COMPILE, "k.comp", 12, "b", "'foo' : undeclared identifier");
    gs_diag_add(diag, KILN_ERR_COMPILE, "k.comp", 12, NULL, "'foo' : undeclared identifier");
    gs_diag_add(diag, KILN_ERR_COMPILE, "k.comp", 13, "b", "'foo' : undeclared identifier");
    assert_int_equal(gs_diag_count(diag), 2);
    expect_text(diag, "k.comp:12: 'foo' : undeclared identifier [a, and 2 more]\n"
                      "k.comp:13: 'foo' : undeclared identifier [b]\n");
    expect_json(diag, "[{\"file\": \"k.comp\", \"line\": 12, \"message\": \"'foo' : undeclared "
                      "identifier\", \"code\": -11, \"variant\": \"a\", \"count\": 3}, {\"file\": "
                      "\"k.comp\", \"line\": 13, \"message\": \"'foo' : undeclared identifier\", "
                      "\"code\": -11, \"variant\": \"b\", \"count\": 1}]\n");
    gs_diag_destroy(&diag);
}

static void test_tidy(void **state) {
    (void)state;
    struct gs_diag *diag = make();
    gs_diag_add(diag, KILN_ERR_COMPILE, "f", 1, NULL, "first line\nsecond line");
    gs_diag_add(diag, KILN_ERR_COMPILE, "f", 2, NULL, "dos  \r\nend");
    gs_diag_add(diag, KILN_ERR_COMPILE, "f", 3, NULL, "esc \x1b[31m tab\tend");
    expect_text(diag, "f:1: first line\nf:2: dos\nf:3: esc ?[31m tab end\n");
    gs_diag_destroy(&diag);

    /* 1,019 ASCII bytes, then two-byte letters: the cut at 1,021 would fall inside the second. */
    diag = make();
    struct mf_buffer text = {0};
    for (int i = 0; i < 1020; i++)
        mf_buffer_append_string(&text, "x");
    mf_buffer_append_string(&text, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
    gs_diag_add(diag, KILN_ERR_COMPILE, NULL, 0, NULL, "%s", text.data);
    text.data[1020] = '\0';
    struct mf_buffer out = {0};
    assert_int_equal(gs_diag_format(diag, &out), KILN_OK);
    assert_int_equal(out.size_bytes, 1024);
    assert_memory_equal(out.data, text.data, 1020);
    assert_string_equal(out.data + 1020, "...\n");
    mf_buffer_release(&out);
    mf_buffer_release(&text);
    gs_diag_destroy(&diag);
}

static void test_json_escapes(void **state) {
    (void)state;
    struct gs_diag *diag = make();
    gs_diag_add(diag, KILN_ERR_FORMAT, "d\x01ir/\xff\"q\\", 3, NULL,
                "\xc3\xa9 \xe2\x82 \xed\xa0\x80 \xf0\x9f\x98\x80");
    expect_json(diag, "[{\"file\": \"d\\u0001ir/\\ufffd\\\"q\\\\\", \"line\": 3, \"message\": "
                      "\"\xc3\xa9 \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \xf0\x9f\x98\x80\", "
                      "\"code\": -5, \"variant\": \"\", \"count\": 0}]\n");
    gs_diag_destroy(&diag);
}

#define THREADS 4
#define ADDS 300

struct work {
    struct gs_diag *diag;
    int number;
};

static void *add_many(void *argument) {
    const struct work *work = argument;
    for (int i = 0; i < ADDS; i++) {
        char variant[32];
        snprintf(variant, sizeof variant, "v%d_%03d", work->number, i);
        gs_diag_add(work->diag, KILN_ERR_COMPILE, "shared", 1, variant, "same");
        gs_diag_add(work->diag, KILN_ERR_COMPILE, "own", (uint32_t)i + 1, variant, "line %d", i);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct gs_diag *diag = make();
    pthread_t threads[THREADS];
    struct work work[THREADS];
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work){.diag = diag, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &work[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(gs_diag_count(diag), ADDS + 1);
    struct mf_buffer out = {0};
    assert_int_equal(gs_diag_format(diag, &out), KILN_OK);
    char line[96];
    const char *position = out.data;
    for (int i = 0; i < ADDS; i++) {
        snprintf(line, sizeof line, "own:%d: line %d [v0_%03d, and %d more]\n", i + 1, i, i,
                 THREADS - 1);
        assert_memory_equal(position, line, strlen(line));
        position += strlen(line);
    }
    snprintf(line, sizeof line, "shared:1: same [v0_000, and %d more]\n", THREADS * ADDS - 1);
    assert_string_equal(position, line);
    mf_buffer_release(&out);
    gs_diag_destroy(&diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_variants),     cmocka_unit_test(test_tidy),
        cmocka_unit_test(test_json_escapes), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
