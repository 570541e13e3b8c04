/* SPDX-License-Identifier: MIT */
#include "kiln_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Numbers are stable: the list is the contract, written out once more. */
static void codes_keep_their_numbers(void **state) {
    (void)state;
    assert_int_equal(KILN_OK, 0);
    assert_int_equal(KILN_ERR_MEMORY, -1);
    assert_int_equal(KILN_ERR_ARGUMENT, -2);
    assert_int_equal(KILN_ERR_IO, -3);
    assert_int_equal(KILN_ERR_NOT_FOUND, -4);
    assert_int_equal(KILN_ERR_FORMAT, -5);
    assert_int_equal(KILN_ERR_VERSION, -6);
    assert_int_equal(KILN_ERR_HASH, -7);
    assert_int_equal(KILN_ERR_LIMIT, -8);
    assert_int_equal(KILN_ERR_PATH, -9);
    assert_int_equal(KILN_ERR_DUPLICATE, -10);
    assert_int_equal(KILN_ERR_COMPILE, -11);
    assert_int_equal(KILN_ERR_SPIRV, -12);
    assert_int_equal(KILN_ERR_INTERFACE, -13);
    assert_int_equal(KILN_ERR_NO_LOADER, -14);
    assert_int_equal(KILN_ERR_NO_DRIVER, -15);
    assert_int_equal(KILN_ERR_NO_DEVICE, -16);
    assert_int_equal(KILN_ERR_NO_VARIANT, -17);
    assert_int_equal(KILN_ERR_UNSUPPORTED, -18);
    assert_int_equal(KILN_ERR_DEVICE_LOST, -19);
    assert_int_equal(KILN_ERR_VULKAN, -20);
    assert_int_equal(KILN_ERR_MISMATCH, -21);
    assert_int_equal(KILN_ERR_BUSY, -22);
    assert_int_equal(KILN_ERR_CANCELLED, -23);
    assert_int_equal(KILN_ERR_SYSTEM, -24);
}

static void every_code_has_its_own_name(void **state) {
    (void)state;
    for (int i = KILN_ERR_SYSTEM; i <= KILN_OK; i++) {
        const char *name = kiln_result_string((enum kiln_result)i);
        assert_non_null(name);
        assert_string_not_equal(name, "unknown error");
        for (int j = KILN_ERR_SYSTEM; j < i; j++) {
            assert_string_not_equal(name, kiln_result_string((enum kiln_result)j));
        }
    }
    assert_string_equal(kiln_result_string((enum kiln_result)1), "unknown error");
    assert_string_equal(kiln_result_string((enum kiln_result)(KILN_ERR_SYSTEM - 1)),
                        "unknown error");
}

static void set_stores_code_and_text(void **state) {
    (void)state;
    struct kiln_error error = {KILN_OK, "before"};
    assert_int_equal(kiln_error_set(&error, KILN_ERR_IO, "%s:%d: no", "file", 7), KILN_ERR_IO);
    assert_int_equal(error.code, KILN_ERR_IO);
    assert_string_equal(error.message, "file:7: no");
    assert_int_equal(kiln_error_set(NULL, KILN_ERR_LIMIT, "x"), KILN_ERR_LIMIT);
}

static void set_takes_its_own_message_as_argument(void **state) {
    (void)state;
    struct kiln_error error = {KILN_OK, "inner"};
    (void)kiln_error_set(&error, KILN_ERR_FORMAT, "outer: %s", error.message);
    assert_string_equal(error.message, "outer: inner");
}

static void set_gives_one_printable_line(void **state) {
    (void)state;
    struct kiln_error error;
    (void)kiln_error_set(&error, KILN_ERR_FORMAT, "a\nb\tc\x1b[31m\x7f\xc3\xa9\n\n");
    assert_string_equal(error.message, "a b c?[31m?\xc3\xa9");
}

static void set_cuts_long_messages(void **state) {
    (void)state;
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    struct kiln_error error;
    (void)kiln_error_set(&error, KILN_ERR_FORMAT, "%s", text);
    assert_int_equal(strlen(error.message), 511);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_keep_their_numbers),
        cmocka_unit_test(every_code_has_its_own_name),
        cmocka_unit_test(set_stores_code_and_text),
        cmocka_unit_test(set_takes_its_own_message_as_argument),
        cmocka_unit_test(set_gives_one_printable_line),
        cmocka_unit_test(set_cuts_long_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
