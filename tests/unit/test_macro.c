/* SPDX-License-Identifier: MIT */
/* The macro lint: what counts as setting and reading a macro, and what each mistake is called. */
#include "gs_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARAMS "#define DTYPE_F32 0\n#define DTYPE_Q4_K 12\n#define TIER_PORTABLE 0\n"

static const struct gs_define defines[] = {
    {.name = "K_DTYPE", .value = "DTYPE_Q4_K", .line = 11},
    {.name = "K_ROWS", .value = "2", .line = 12},
};

/* The diagnostics of a template t.comp that includes params.glsl. */
static void expect_with(const struct gs_define *list, size_t count, const char *text,
                        const char *params, const char *expected) {
    const struct gs_variant variant = {.promise = {.name = "v"},
                                       .yaml_path = "k.yaml",
                                       .template_path = "t.comp",
                                       .defines = list,
                                       .define_count = count};
    const char *const paths[] = {"t.comp", "params.glsl"};
    const char *const texts[] = {text, params};
    struct gs_diag *diag = NULL;
    struct mf_buffer out = {0};
    assert_int_equal(gs_diag_create(&diag), KILN_OK);
    enum kiln_result result = gs_macro_lint(&variant, paths, texts, 2, diag);
    assert_int_equal(gs_diag_format(diag, &out), KILN_OK);
    if (strcmp(out.data != NULL ? out.data : "", expected) != 0)
        fail_msg("%s\nexpected\n%sgot\n%s", text, expected, out.data != NULL ? out.data : "");
    assert_int_equal(result, expected[0] == '\0' ? KILN_OK : KILN_ERR_COMPILE);
    mf_buffer_release(&out);
    gs_diag_destroy(&diag);
}

static void expect(const char *text, const char *expected) {
    expect_with(defines, 2, text, PARAMS, expected);
}

#define READ_BOTH "#if K_DTYPE == DTYPE_Q4_K\nuint r = K_ROWS;\n#endif\n"
#define NEVER_ROWS                                                                                 \
    "k.yaml:12: the macro K_ROWS is set but never read by t.comp or a file it includes [v]\n"

static void test_good(void **state) {
    (void)state;
    expect("#version 450\n" READ_BOTH, "");
    /* Reading in any place: another file, a macro's body, an #ifdef, #if defined. */
    expect("#define TWICE (K_ROWS * 2)\n#if defined(K_DTYPE)\n#endif\n", "");
    expect("#ifdef K_ROWS\n#endif\n#if defined K_DTYPE\n#endif\n", "");
    expect_with(defines, 2, "#version 450\n", PARAMS READ_BOTH, "");
    /* Words that only look like parameters. */
    expect(READ_BOTH "int BLOCK_K_X, k_rows, XK_ROWS;\n", "");
    /* A K_ macro of the files' own. */
    expect(READ_BOTH "#define K_LOCAL 3\nint a = K_LOCAL;\n", "");
    expect(READ_BOTH "#ifndef K_DEFAULTED\n#define K_DEFAULTED 3\n#endif\nint a = K_DEFAULTED;\n",
           "");
}

static void test_never_read(void **state) {
    (void)state;
    expect("#if K_DTYPE == 12\n#endif\n", NEVER_ROWS);
    expect("#if K_DTYPE == 12\n#endif\n// K_ROWS\n", NEVER_ROWS);
    expect("#if K_DTYPE == 12 // K_ROWS\n#endif\n/* K_ROWS\n K_ROWS */\n", NEVER_ROWS);
    expect("#if K_DTYPE == 12\n#endif\n// comment goes on \\\nK_ROWS\n", NEVER_ROWS);
    expect("#if K_DTYPE == 12\n#endif\n#include \"K_ROWS\"\n", NEVER_ROWS);
    expect("#if K_DTYPE == 12\n#endif\nint K_ROWSX_;\n",
           NEVER_ROWS "t.comp:3: nothing sets K_ROWSX_; expected it in defines or constants of "
                      "k.yaml (did you mean 'K_ROWS'?) [v]\n");
    /* A default for a macro that is then not used, or its removal, reads nothing. */
    expect("#if K_DTYPE == 12\n#endif\n#ifndef K_ROWS\n#define K_ROWS 1\n#endif\n", NEVER_ROWS);
    expect("#if K_DTYPE == 12\n#endif\n#undef K_ROWS\n", NEVER_ROWS);
    /* ... and code behind comments and splices does read. */
    expect("#if K_DTYPE == 12\n#endif\n/* x */ int a = K_\\\nROWS;\n", "");
    expect("#if K_DTYPE == 12\n#endif\nint a = 1 /* */ * K_ROWS / 2; // x\n", "");
}

static void test_misspelt(void **state) {
    (void)state;
    expect(READ_BOTH "\nint a = K_ROW;\n",
           "t.comp:5: nothing sets K_ROW; expected it in defines or constants of k.yaml (did you "
           "mean 'K_ROWS'?) [v]\n");
    expect(READ_BOTH "#ifdef K_FAST_PATH\n#endif\n",
           "t.comp:4: nothing sets K_FAST_PATH; expected it in defines or constants of k.yaml "
           "[v]\n");
    expect(READ_BOTH "#ifndef K_FAST_PATH\n#endif\n",
           "t.comp:4: nothing sets K_FAST_PATH; expected it in defines or constants of k.yaml "
           "[v]\n");
    /* The line is that of the word, whatever was spliced or commented before it. */
    expect(READ_BOTH "#define A \\\n  1 + \\\r\n  K_ROW\n",
           "t.comp:6: nothing sets K_ROW; expected it in defines or constants of k.yaml (did you "
           "mean 'K_ROWS'?) [v]\n");
    expect_with(defines, 2, READ_BOTH, PARAMS "/*\n\n*/ int a = K_DTYP;\n",
                "params.glsl:6: nothing sets K_DTYP; expected it in defines or constants of k.yaml "
                "(did you mean 'K_DTYPE'?) [v]\n");
}

static void test_symbols(void **state) {
    (void)state;
    const struct gs_define wrong[] = {{.name = "K_DTYPE", .value = "DTYPE_Q4K", .line = 7}};
    expect_with(wrong, 1, "int a = K_DTYPE;\n", PARAMS,
                "k.yaml:7: K_DTYPE is set to DTYPE_Q4K, which no file that t.comp includes defines "
                "(did you mean 'DTYPE_Q4_K'?) [v]\n");
    /* A constant's words are GLSL, not symbols. */
    const struct gs_define constant[] = {{.name = "K_INIT", .value = "float(1)", .line = 7}};
    expect_with(constant, 1, "float a = K_INIT;\n", PARAMS, "");

    expect(READ_BOTH "#if K_DTYPE == DTYPE_Q5_X\n#elif K_ROWS > MANY\n#endif\n",
           "t.comp:4: DTYPE_Q5_X stands in an #if but no file defines it, so it would be 0 (did "
           "you mean 'DTYPE_Q4_K'?) [v]\n"
           "t.comp:5: MANY stands in an #if but no file defines it, so it would be 0 [v]\n");
    expect(READ_BOTH "#if (DTYPE_SOMETHING) == (K_DTYPE)\n#endif\n",
           "t.comp:4: DTYPE_SOMETHING stands in an #if but no file defines it, so it would be 0 "
           "[v]\n");
    expect(READ_BOTH "#if K_ROWS > 0 && \\\n    NOPE_NOPE\n#endif\n",
           "t.comp:5: NOPE_NOPE stands in an #if but no file defines it, so it would be 0 [v]\n");
    /* Not ours to judge: an #if without a parameter, predefined names, `defined X`, numbers. */
    expect(READ_BOTH "#if FOO == BAR\n#endif\n"
                     "#if K_ROWS == 2 && __VERSION__ >= 450 && GL_EXT_foo && VULKAN > 99\n#endif\n"
                     "#if K_ROWS == 2 && defined(OTHER) && !defined OTHER2 && 0x10u\n#endif\n",
           "");
    /* A comment over two lines does not end its directive. */
    expect(READ_BOTH "#if K_ROWS == /* two\nlines */ ABSENT_WORD\n#endif\n",
           "t.comp:5: ABSENT_WORD stands in an #if but no file defines it, so it would be 0 [v]\n");
}

/* Text that ends anywhere must not be read past its end. */
static void test_cut(void **state) {
    (void)state;
    const char *text =
        "#if K_DTYPE == DTYPE_Q4_K /* c */ \\\n&& K_ROWS\n#include \"a\\\"\n// x\\\n";
    const struct gs_variant variant = {.promise = {.name = "v"},
                                       .yaml_path = "k.yaml",
                                       .template_path = "t.comp",
                                       .defines = defines,
                                       .define_count = 2};
    const char *const paths[] = {"t.comp"};
    for (size_t length = 0; length <= strlen(text); length++) {
        char *copy = malloc(length + 1); /* exact, for the address sanitiser */
        struct gs_diag *diag = NULL;
        assert_non_null(copy);
        memcpy(copy, text, length);
        copy[length] = '\0';
        const char *const texts[] = {copy};
        assert_int_equal(gs_diag_create(&diag), KILN_OK);
        assert_int_equal(gs_macro_lint(&variant, paths, texts, 1, diag), KILN_ERR_COMPILE);
        gs_diag_destroy(&diag);
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),     cmocka_unit_test(test_never_read),
        cmocka_unit_test(test_misspelt), cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
