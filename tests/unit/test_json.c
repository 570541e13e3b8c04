/* SPDX-License-Identifier: MIT */
#include "mf_json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void reals_are_the_shortest_text(void **state) {
    (void)state;
    /* As Python's repr. */
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.001, "0.001"},
        {0.3, "0.3"},
        {0.1, "0.1"},
        {1e-5, "1e-05"},
        {1.5e-7, "1.5e-07"},
        {0.0001, "0.0001"},
        {100.0, "100.0"},
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1e16, "1e+16"},
        {1e15, "1000000000000000.0"},
        {123456.789, "123456.789"},
        {-2.5, "-2.5"},
        {1e300, "1e+300"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3.0, "0.3333333333333333"},
        {9007199254740993.0, "9007199254740992.0"},
        {INFINITY, "null"},
        {NAN, "null"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mf_buffer text = {0};
        assert_int_equal(mf_json_append_real(&text, cases[i].value), KILN_OK);
        assert_string_equal(text.data, cases[i].text);
        mf_buffer_release(&text);
    }
}

static void builder_gives_canonical_text(void **state) {
    (void)state;
    struct mf_json_builder builder = {0};
    struct mf_json *root = mf_json_new_object(&builder);
    mf_json_put_string(&builder, root, "z", "tab\t quote\" back\\ bell\a del\x7f \xe2\x82\xac");
    mf_json_put_i64(&builder, root, "i", INT64_MIN);
    mf_json_put_u64(&builder, root, "u", INT64_MAX);
    mf_json_put_real(&builder, root, "nan", NAN);
    mf_json_put_null(&builder, root, "n");
    struct mf_json *array = mf_json_put_array(&builder, root, "a");
    mf_json_put_bool(&builder, array, NULL, true);
    (void)mf_json_put_object(&builder, array, NULL);
    (void)mf_json_put_array(&builder, array, NULL);
    mf_json_put_copy(&builder, root, "Copy", array);
    assert_int_equal(builder.failed, KILN_OK);
    struct mf_buffer text = {0};
    assert_int_equal(mf_json_dump(root, false, &text), KILN_OK);
    assert_string_equal(text.data,
                        "{\"Copy\":[true,{},[]],\"a\":[true,{},[]],\"i\":-9223372036854775808,"
                        "\"n\":null,\"nan\":null,\"u\":9223372036854775807,"
                        "\"z\":\"tab\\t quote\\\" back\\\\ bell\\u0007 del\x7f \xe2\x82\xac\"}");
    struct mf_json *back = NULL;
    assert_int_equal(mf_json_parse(text.data, text.size_bytes, "t", &back, NULL), KILN_OK);
    struct mf_buffer again = {0};
    assert_int_equal(mf_json_dump(back, false, &again), KILN_OK);
    assert_string_equal(again.data, text.data);
    mf_json_release(&back);
    mf_json_release(&root);
    assert_null(root);
    mf_json_release(&root);
    mf_buffer_release(&text);
    mf_buffer_release(&again);
}

static void builder_failures_stick(void **state) {
    (void)state;
    static const enum kiln_result expected[] = {KILN_ERR_DUPLICATE, KILN_ERR_FORMAT, KILN_ERR_LIMIT,
                                                KILN_ERR_ARGUMENT, KILN_ERR_ARGUMENT};
    for (int i = 0; i < 5; i++) {
        struct mf_json_builder builder = {0};
        struct mf_json *root = mf_json_new_object(&builder);
        mf_json_put_bool(&builder, root, "k", true);
        if (i == 0) {
            mf_json_put_bool(&builder, root, "k", false);
        } else if (i == 1) {
            mf_json_put_string(&builder, root, "s", "\xc0\x80");
        } else if (i == 2) {
            mf_json_put_u64(&builder, root, "u", (uint64_t)INT64_MAX + 1);
        } else if (i == 3) {
            mf_json_put_null(&builder, root, NULL);
        } else {
            mf_json_put_null(&builder, mf_json_child(root, "k"), "x");
        }
        assert_int_equal(builder.failed, expected[i]);
        assert_null(mf_json_put_object(&builder, root, "later"));
        assert_int_equal(builder.failed, expected[i]);
        assert_int_equal(mf_json_count(root), 1);
        mf_json_release(&root);
    }
}

static void getters_fail_once_and_say_where(void **state) {
    (void)state;
    const char *text = "{\"list\":[1,\"two\",[],{},2.5],\"flag\":false}";
    struct mf_json *root = NULL;
    assert_int_equal(mf_json_parse(text, strlen(text), "report", &root, NULL), KILN_OK);
    struct kiln_error error = {0};
    struct mf_json_reader reader;
    mf_json_reader_init(&reader, "report", &error);
    struct mf_json *list = mf_json_get_array(&reader, root, "list");
    assert_int_equal(mf_json_count(list), 5);
    assert_int_equal(mf_json_item_u64(&reader, list, "list", 0, 0, 9), 1);
    assert_string_equal(mf_json_item_string(&reader, list, "list", 1), "two");
    assert_non_null(mf_json_item_array(&reader, list, "list", 2));
    assert_non_null(mf_json_item_object(&reader, list, "list", 3));
    assert_true(mf_json_item_number(&reader, list, "list", 4) == 2.5);
    assert_true(mf_json_item_number(&reader, list, "list", 0) == 1.0);
    assert_false(mf_json_get_bool(&reader, root, "flag"));
    assert_int_equal(reader.failed, KILN_OK);
    size_t where = mf_json_enter(&reader, "case %d: ", 3);
    assert_string_equal(mf_json_item_string(&reader, list, "list", 5), "");
    mf_json_leave(&reader, where);
    assert_string_equal(error.message, "report: case 3: list[5]: expected a string, found nothing");
    assert_int_equal(mf_json_item_u64(&reader, list, "list", 0, 0, 9), 0);
    assert_null(mf_json_get_array(&reader, root, "list"));
    assert_int_equal(mf_json_fail(&reader, KILN_ERR_LIMIT, "x", "y"), KILN_ERR_FORMAT);
    assert_string_equal(error.message, "report: case 3: list[5]: expected a string, found nothing");
    mf_json_release(&root);
    /* Scopes longer than their storage are cut, not written beyond it. */
    mf_json_reader_init(&reader, "r", &error);
    for (int i = 0; i < 100; i++) {
        (void)mf_json_enter(&reader, "%s", "level.");
    }
    assert_int_equal(strlen(reader.where), MF_JSON_WHERE_BYTES - 1);
    mf_json_leave(&reader, 0);
    assert_string_equal(reader.where, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals_are_the_shortest_text),
        cmocka_unit_test(builder_gives_canonical_text),
        cmocka_unit_test(builder_failures_stick),
        cmocka_unit_test(getters_fail_once_and_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
