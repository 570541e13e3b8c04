/* SPDX-License-Identifier: MIT */
/* The template tree: path arithmetic, absence, and nothing from outside the root. */
#include "gs_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void text_write(const char *directory, const char *name, const char *text,
                       size_t size_bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

struct fixture {
    char directory[128];
    char tree[160];
};

static int fixture_make(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    const char *base = getenv("TMPDIR");
    char inner[256], link_path[272];
    snprintf(fixture->directory, sizeof fixture->directory, "%s/kiln-source-XXXXXX",
             base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->tree, sizeof fixture->tree, "%s/tree", fixture->directory);
    snprintf(inner, sizeof inner, "%s/include", fixture->tree);
    assert_int_equal(mkdir(fixture->tree, 0755), 0);
    assert_int_equal(mkdir(inner, 0755), 0);
    text_write(fixture->directory, "secret.glsl", "secret", 6);
    text_write(inner, "a.glsl", "float a;\n", 9);
    text_write(inner, "zero.glsl", "a\0b", 3);
    text_write(inner, "empty.glsl", "", 0);
    snprintf(link_path, sizeof link_path, "%s/out.glsl", inner);
    assert_int_equal(symlink("../../secret.glsl", link_path), 0);
    *state = fixture;
    return 0;
}

static int fixture_remove(void **state) {
    struct fixture *fixture = *state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", fixture->directory);
    int status = system(command);
    free(fixture);
    return status;
}

static void test_resolve(void **state) {
    (void)state;
    static const struct {
        const char *includer, *name, *expected; /* NULL: refused */
    } rows[] = {
        {"", "a.glsl", "a.glsl"},
        {"matvec/matvec.comp", "a.glsl", "matvec/a.glsl"},
        {"matvec/matvec.comp", "../include/a.glsl", "include/a.glsl"},
        {"matvec/matvec.comp", "./x/../a.glsl", "matvec/a.glsl"},
        {"include/decode/q4_k.glsl", "../../a.glsl", "a.glsl"},
        {"matvec/matvec.comp", "b//c.glsl", "matvec/b/c.glsl"},
        {"matvec/matvec.comp", "../../a.glsl", NULL},
        {"", "../a.glsl", NULL},
        {"x.comp", "/etc/passwd", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[64] = "";
        struct kiln_error error;
        enum kiln_result result =
            gs_source_resolve(rows[i].includer, rows[i].name, path, sizeof path, &error);
        assert_int_equal(result, rows[i].expected != NULL ? KILN_OK : KILN_ERR_PATH);
        if (rows[i].expected != NULL) {
            assert_string_equal(path, rows[i].expected);
        }
    }
    char small[8];
    assert_int_equal(gs_source_resolve("", "12345678.glsl", small, sizeof small, NULL),
                     KILN_ERR_PATH);
}

static void test_get(void **state) {
    struct fixture *fixture = *state;
    struct gs_source_tree *tree = NULL;
    struct kiln_error error;
    const struct gs_source_file *file = NULL, *again = NULL;
    assert_int_equal(gs_source_open(fixture->tree, &tree, &error), KILN_OK);
    assert_int_equal(gs_source_get(tree, "include/a.glsl", &file, &error), KILN_OK);
    assert_string_equal(file->text, "float a;\n");
    assert_int_equal(file->size_bytes, 9);
    struct mf_hash expected = mf_hash_bytes(MF_HASH_FILE, "float a;\n", 9);
    assert_true(mf_hash_equal(&file->hash, &expected));

    text_write(fixture->tree, "include/a.glsl", "changed", 7);
    assert_int_equal(gs_source_get(tree, "include/a.glsl", &again, &error), KILN_OK);
    assert_ptr_equal(again, file);

    assert_int_equal(gs_source_get(tree, "include/none.glsl", &file, &error), KILN_OK);
    assert_null(file->text);
    assert_int_equal(gs_source_get(tree, "include/empty.glsl", &file, &error), KILN_OK);
    assert_string_equal(file->text, "");
    gs_source_close(&tree);
    assert_null(tree);
}

static void test_refused(void **state) {
    struct fixture *fixture = *state;
    struct gs_source_tree *tree = NULL;
    struct kiln_error error;
    const struct gs_source_file *file = NULL;
    assert_int_equal(gs_source_open("/nonexistent/tree", &tree, &error), KILN_ERR_NOT_FOUND);
    assert_null(tree);
    assert_non_null(strstr(error.message, "/nonexistent/tree"));
    assert_int_equal(gs_source_open(fixture->tree, &tree, &error), KILN_OK);
    for (int i = 0; i < 2; i++) { /* the second answer comes from memory and must not differ */
        assert_int_equal(gs_source_get(tree, "include/out.glsl", &file, &error), KILN_ERR_PATH);
        assert_null(file);
        assert_non_null(strstr(error.message, "include/out.glsl"));
        assert_int_equal(gs_source_get(tree, "include/zero.glsl", &file, &error), KILN_ERR_FORMAT);
        assert_non_null(strstr(error.message, "zero byte"));
    }
    gs_source_close(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resolve),
        cmocka_unit_test_setup_teardown(test_get, fixture_make, fixture_remove),
        cmocka_unit_test_setup_teardown(test_refused, fixture_make, fixture_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
