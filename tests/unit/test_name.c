/* SPDX-License-Identifier: MIT */
#include "mf_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void parts_are_checked(void **state) {
    (void)state;
    static const char *const good[] = {"a", "7", "q4_k", "row_w64r2", "mma_16x16x16w128", "a_b_c"};
    static const char *const bad[] = {"",     "_",    "_a",    "a_",   "a__b",     "A",
                                      "q4-k", "a b",  "a.b",   "a/b",  "\xc3\xa9", "a\n",
                                      "__",   "q4_K", "a___b", "x\x7f"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(mf_name_check_part(good[i], NULL), KILN_OK);
        assert_int_equal(mf_name_check(good[i], NULL), KILN_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct kiln_error error = {0};
        assert_int_equal(mf_name_check_part(bad[i], &error), KILN_ERR_FORMAT);
        assert_int_equal(error.code, KILN_ERR_FORMAT);
        assert_true(strlen(error.message) > 10);
    }
}

static void whole_names_are_checked(void **state) {
    (void)state;
    assert_int_equal(mf_name_check("matvec__q4_k_f32__any__row_w64r2__subgroup", NULL), KILN_OK);
    static const char *const bad[] = {"",      "a__",  "__a",   "a____b",
                                      "a___b", "a__B", "a__b_", "_a__b"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(mf_name_check(bad[i], NULL), KILN_ERR_FORMAT);
    }
    char name[98];
    memset(name, 'a', sizeof name);
    name[96] = '\0';
    assert_int_equal(mf_name_check(name, NULL), KILN_OK);
    name[96] = 'a';
    name[97] = '\0';
    assert_int_equal(mf_name_check(name, NULL), KILN_ERR_LIMIT);
}

static void names_are_joined(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    const char *const dtypes[] = {"q4_k", "f16"};
    char *name = NULL;
    assert_int_equal(mf_name_make(&arena, "matmul", dtypes, 2, "any", "mma_16x16x16w128", "coopmat",
                                  &name, NULL),
                     KILN_OK);
    assert_string_equal(name, "matmul__q4_k_f16__any__mma_16x16x16w128__coopmat");
    assert_int_equal(mf_name_make(&arena, "matvec", (const char *const[]){"q4_k", "f32"}, 2, "any",
                                  "row_w64r2", "subgroup", &name, NULL),
                     KILN_OK);
    assert_string_equal(name, "matvec__q4_k_f32__any__row_w64r2__subgroup");
    mf_arena_release(&arena);
}

static void the_offending_part_is_named(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    struct kiln_error error;
    char *name = NULL;
    const char *const good[] = {"f32"};
    const char *const bad[] = {"f32", "Q4"};
    assert_int_equal(mf_name_make(&arena, "a__b", good, 1, "any", "s", "t", &name, &error),
                     KILN_ERR_FORMAT);
    assert_null(name);
    assert_string_equal(error.message, "family: name part \"a__b\" holds \"__\"");
    (void)mf_name_make(&arena, "a", bad, 2, "any", "s", "t", &name, &error);
    assert_string_equal(error.message,
                        "dtypes: name part \"Q4\" has a character outside [a-z0-9_]");
    (void)mf_name_make(&arena, "a", bad, 0, "any", "s", "t", &name, &error);
    assert_string_equal(error.message, "dtypes: expected at least one");
    (void)mf_name_make(&arena, "a", good, 1, "", "s", "t", &name, &error);
    assert_string_equal(error.message, "shape: name part \"\" is empty");
    (void)mf_name_make(&arena, "a", good, 1, "any", "s_", "t", &name, &error);
    assert_string_equal(error.message, "schedule: name part \"s_\" begins or ends with '_'");
    (void)mf_name_make(&arena, "a", good, 1, "any", "s", "T", &name, &error);
    assert_string_equal(error.message, "tier: name part \"T\" has a character outside [a-z0-9_]");
    char longest[97];
    memset(longest, 'l', 96);
    longest[96] = '\0';
    assert_int_equal(mf_name_make(&arena, longest, good, 1, "any", "s", "t", &name, &error),
                     KILN_ERR_LIMIT);
    assert_null(name);
    mf_arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_checked),
        cmocka_unit_test(whole_names_are_checked),
        cmocka_unit_test(names_are_joined),
        cmocka_unit_test(the_offending_part_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
