/* SPDX-License-Identifier: MIT */
/* Bundles, whole and damaged: every damage has its own error, and nothing unlisted is read. */
#include "kiln/kiln_bundle.h"

#include "loader_bundles.h"
#include "mf_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int set_up(void **state) {
    struct loader_bundle *made = calloc(1, sizeof(*made));
    loader_bundle_make(made);
    *state = made;
    return 0;
}

static int tear_down(void **state) {
    loader_bundle_remove(*state);
    free(*state);
    return 0;
}

static void expect_open(const struct loader_bundle *made, enum kiln_result expected,
                        const char *words) {
    struct kiln_bundle *bundle = (struct kiln_bundle *)8;
    struct kiln_error error = {0};
    enum kiln_result result = kiln_bundle_open_directory(made->directory, &bundle, &error);
    if (result != expected || (expected && !strstr(error.message, words))) {
        fail_msg("expected %s with \"%s\", found %s: %s", kiln_result_string(expected), words,
                 kiln_result_string(result), error.message);
    }
    if (expected) {
        assert_null(bundle);
        assert_int_equal(error.code, expected);
    }
    kiln_bundle_close(&bundle);
}

static void expect_module(const struct loader_bundle *made, const char *name,
                          enum kiln_result expected, const char *words) {
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error = {0};
    struct kiln_module module = {(uint32_t *)8, 8};
    if (kiln_bundle_open_directory(made->directory, &bundle, &error)) {
        fail_msg("%s", error.message);
    }
    enum kiln_result result =
        kiln_bundle_module(bundle, kiln_bundle_find(bundle, name), &module, &error);
    if (result != expected || (expected && !strstr(error.message, words))) {
        fail_msg("expected %s with \"%s\", found %s: %s", kiln_result_string(expected), words,
                 kiln_result_string(result), error.message);
    }
    if (expected) {
        assert_null(module.words);
        assert_int_equal(module.word_count, 0);
    }
    kiln_module_release(&module);
    kiln_bundle_close(&bundle);
    assert_null(bundle);
}

static void test_whole(void **state) {
    const struct loader_bundle *made = *state;
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error = {0};
    assert_int_equal(kiln_bundle_open_directory(made->directory, &bundle, &error), KILN_OK);
    assert_int_equal(kiln_bundle_artifact_count(bundle), LOADER_ARTIFACT_COUNT);
    assert_null(kiln_bundle_artifact(bundle, LOADER_ARTIFACT_COUNT));
    assert_null(kiln_bundle_find(bundle, "matvec__f32__any__rows__coopmat"));
    assert_string_equal(kiln_bundle_manifest(bundle)->toolchain.signature, "a test's toolchain");
    for (size_t i = 0; i < LOADER_ARTIFACT_COUNT; i++) {
        struct kiln_module module = {0};
        const struct mf_artifact *artifact = kiln_bundle_artifact(bundle, i);
        assert_string_equal(artifact->name, made->artifacts[i].name);
        assert_int_equal(kiln_bundle_module(bundle, artifact, &module, &error), KILN_OK);
        assert_int_equal(4 * module.word_count, made->artifacts[i].size_bytes);
        assert_memory_equal(module.words, made->words[i], 4 * module.word_count);
        kiln_module_release(&module);
        assert_null(module.words);
    }
    kiln_bundle_close(&bundle);
    kiln_bundle_close(&bundle);
    kiln_bundle_close(NULL);
}

static void test_foreign_artifact(void **state) {
    const struct loader_bundle *made = *state;
    struct kiln_bundle *bundle = NULL;
    struct kiln_module module = {0};
    struct kiln_error error = {0};
    assert_int_equal(kiln_bundle_open_directory(made->directory, &bundle, NULL), KILN_OK);
    /* Equal in every field, but not this bundle's. */
    assert_int_equal(kiln_bundle_module(bundle, &made->artifacts[0], &module, &error),
                     KILN_ERR_NOT_FOUND);
    assert_int_equal(kiln_bundle_module(bundle, NULL, &module, &error), KILN_ERR_NOT_FOUND);
    kiln_bundle_close(&bundle);
}

static void test_no_bundle(void **state) {
    struct loader_bundle *made = *state;
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error = {0};
    char path[512];
    assert_int_equal(kiln_bundle_open_directory("/nonexistent/bundle", &bundle, &error),
                     KILN_ERR_NOT_FOUND);
    loader_bundle_path(made, "manifest.json", path);
    assert_int_equal(kiln_bundle_open_directory(path, &bundle, &error), KILN_ERR_PATH);
    assert_int_equal(kiln_bundle_open_directory(NULL, &bundle, &error), KILN_ERR_ARGUMENT);
    assert_int_equal(unlink(path), 0);
    expect_open(made, KILN_ERR_NOT_FOUND, "manifest.json");
}

/* Each byte of one module in turn: the hash must notice every single one. */
static void test_flipped_byte(void **state) {
    struct loader_bundle *made = *state;
    struct kiln_bundle *bundle = NULL;
    size_t size = (size_t)made->artifacts[0].size_bytes;
    unsigned char *bytes = malloc(size);
    char path[512];
    memcpy(bytes, made->words[0], size);
    loader_bundle_path(made, "rows.spv", path);
    assert_int_equal(kiln_bundle_open_directory(made->directory, &bundle, NULL), KILN_OK);
    for (size_t i = 0; i < size; i++) {
        struct kiln_module module = {0};
        struct kiln_error error = {0};
        FILE *file = fopen(path, "r+b");
        bytes[i] ^= (unsigned char)(1u << i % 8);
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
        bytes[i] ^= (unsigned char)(1u << i % 8);
        enum kiln_result result =
            kiln_bundle_module(bundle, kiln_bundle_find(bundle, LOADER_ROWS), &module, &error);
        if (result != KILN_ERR_HASH) {
            fail_msg("byte %zu: %s", i, kiln_result_string(result));
        }
        assert_non_null(strstr(error.message, "content hash"));
    }
    loader_bundle_put(made, "rows.spv", bytes, size);
    expect_module(made, LOADER_ROWS, KILN_OK, "");
    free(bytes);
    kiln_bundle_close(&bundle);
}

static void test_wrong_size(void **state) {
    struct loader_bundle *made = *state;
    size_t size = (size_t)made->artifacts[0].size_bytes;
    unsigned char *longer = calloc(1, size + 4);
    memcpy(longer, made->words[0], size);
    for (size_t i = 0; i < size; i += i < 32 ? 1 : 97) {
        loader_bundle_put(made, "rows.spv", longer, i);
        expect_module(made, LOADER_ROWS, KILN_ERR_HASH, "bytes, the manifest states");
    }
    loader_bundle_put(made, "rows.spv", longer, size + 4);
    expect_module(made, LOADER_ROWS, KILN_ERR_HASH, "bytes, the manifest states");
    free(longer);
}

static void test_missing_module(void **state) {
    struct loader_bundle *made = *state;
    char path[512];
    assert_int_equal(unlink(loader_bundle_path(made, "rows.spv", path)), 0);
    expect_module(made, LOADER_ROWS, KILN_ERR_NOT_FOUND, "rows.spv");
    expect_module(made, LOADER_SUBGROUP, KILN_OK, "");
    /* A directory of its name, then a named pipe, which must not block. */
    assert_int_equal(mkdir(path, 0755), 0);
    expect_module(made, LOADER_ROWS, KILN_ERR_PATH, "not a regular file");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0644), 0);
    expect_module(made, LOADER_ROWS, KILN_ERR_PATH, "not a regular file");
}

/* Links to a file with the right bytes are refused all the same: as file, and as directory. */
static void test_symbolic_links(void **state) {
    struct loader_bundle *made = *state;
    char path[512];
    char other[512];
    loader_bundle_path(made, "rows.spv", path);
    loader_bundle_path(made, "elsewhere.spv", other);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("elsewhere.spv", path), 0);
    expect_module(made, LOADER_ROWS, KILN_ERR_PATH, "symbolic link");

    loader_bundle_path(made, "sub", path);
    loader_bundle_path(made, "elsewhere", other);
    expect_module(made, LOADER_SPEC, KILN_OK, "");
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("elsewhere", path), 0);
    expect_module(made, LOADER_SPEC, KILN_ERR_PATH, "sub is a symbolic link");
    assert_int_equal(unlink(path), 0);
    loader_bundle_put(made, "sub", "a file", 6);
    expect_module(made, LOADER_SPEC, KILN_ERR_PATH, "sub is not a directory");

    loader_bundle_path(made, "manifest.json", path);
    loader_bundle_path(made, "other.json", other);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("other.json", path), 0);
    expect_open(made, KILN_ERR_PATH, "symbolic link");
}

/* A manifest whose paths lead out of the bundle does not even open. */
static void test_unsafe_paths(void **state) {
    static const char *const paths[] = {"../rows.spv",   "/etc/passwd.spv", "sub/../rows.spv",
                                        "./rows.spv",    "sub//rows.spv",   "rows\\n.spv",
                                        "a/../../b.spv", "..spv/../c.spv"};
    struct loader_bundle *made = *state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct mf_buffer json = {0};
        assert_int_equal(mf_manifest_write(&made->manifest, &json, NULL), KILN_OK);
        char *at = strstr(json.data, "\"rows.spv\"");
        assert_non_null(at);
        struct mf_buffer changed = {0};
        mf_buffer_append(&changed, json.data, (size_t)(at - json.data) + 1);
        mf_buffer_append_string(&changed, paths[i]);
        mf_buffer_append_string(&changed, at + sizeof("rows.spv"));
        loader_bundle_put(made, "manifest.json", changed.data, changed.size_bytes);
        mf_buffer_release(&changed);
        mf_buffer_release(&json);
        expect_open(made, KILN_ERR_PATH, "");
    }
}

static void test_newer_formats(void **state) {
    struct loader_bundle *made = *state;
    static const char format_field[] = "\"format\": 1";
    static const char abi_field[] = "\"abi\": 1";
    const char *const fields[] = {format_field, abi_field};
    for (size_t i = 0; i < 2; i++) {
        struct mf_buffer json = {0};
        assert_int_equal(mf_manifest_write(&made->manifest, &json, NULL), KILN_OK);
        char *at = strstr(json.data, fields[i]);
        assert_non_null(at);
        at[strlen(fields[i]) - 1] = '2';
        loader_bundle_put(made, "manifest.json", json.data, json.size_bytes);
        mf_buffer_release(&json);
        expect_open(made, KILN_ERR_VERSION, "2");
    }
}

static void test_broken_manifest(void **state) {
    struct loader_bundle *made = *state;
    struct mf_buffer json = {0};
    assert_int_equal(mf_manifest_write(&made->manifest, &json, NULL), KILN_OK);
    for (size_t size = 0; size + 1 < json.size_bytes; size += 173) {
        loader_bundle_put(made, "manifest.json", json.data, size);
        expect_open(made, KILN_ERR_FORMAT, "manifest.json");
    }
    mf_buffer_release(&json);
}

/* Sparse files: refused by their size, before memory is taken. */
static void test_huge(void **state) {
    struct loader_bundle *made = *state;
    char path[512];
    assert_int_equal(truncate(loader_bundle_path(made, "rows.spv", path), (off_t)1 << 40), 0);
    expect_module(made, LOADER_ROWS, KILN_ERR_LIMIT, "1099511627776");
    assert_int_equal(truncate(loader_bundle_path(made, "manifest.json", path), (off_t)1 << 40), 0);
    expect_open(made, KILN_ERR_LIMIT, "1099511627776");
}

/* Structure is checked even where the hash is right: the words come from a sealed bundle. */
static void expect_words(struct loader_bundle *made, size_t at, uint32_t word, const char *words) {
    uint32_t copy[1024];
    size_t size = (size_t)made->artifacts[0].size_bytes;
    assert_true(size <= sizeof(copy));
    memcpy(copy, made->words[0], size);
    copy[at] = word;
    const uint32_t *saved = made->words[0];
    made->words[0] = copy;
    loader_bundle_seal(made);
    loader_bundle_write_manifest(made);
    loader_bundle_write_modules(made);
    made->words[0] = saved;
    expect_module(made, LOADER_ROWS, KILN_ERR_SPIRV, words);
}

static void test_structure(void **state) {
    struct loader_bundle *made = *state;
    expect_words(made, 0, 0x03022307, "byte-swapped");
    expect_words(made, 0, 0x07230204, "magic");
    expect_words(made, 1, 0x00010700, "version");
    expect_words(made, 1, 0x01010300, "version");
    expect_words(made, 3, 0, "bound");
    expect_words(made, 3, 4194304, "bound");
    expect_words(made, 4, 1, "schema");
    expect_words(made, 5, 0x00000011, "instruction");
    expect_words(made, 5, 0xffff0011, "instruction");
    size_t entry = 5;
    while ((made->words[0][entry] & 0xffff) != 15) {
        entry += made->words[0][entry] >> 16;
    }
    expect_words(made, entry + 1, 4, "execution model 4");
    expect_words(made, entry + 3, 0x6e69616e, "expected \"main\"");
    expect_words(made, entry, (made->words[0][entry] & 0xffff0000u) | 16, "0 entry points");
}

/* The check alone, on bytes that are no module at all: every prefix of a good one. */
static void test_prefixes(void **state) {
    const struct loader_bundle *made = *state;
    size_t count = (size_t)made->artifacts[0].size_bytes / 4;
    size_t refused = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *exact = malloc(i ? 4 * i : 1);
        struct kiln_error error = {0};
        memcpy(exact, made->words[0], 4 * i);
        refused += kiln_module_check(exact, i, "prefix", &error) == KILN_ERR_SPIRV;
        free(exact);
    }
    /* Prefixes that end between two instructions behind the entry point look whole. */
    assert_true(refused > count / 2 && refused < count);
    assert_int_equal(kiln_module_check(made->words[0], count, "whole", NULL), KILN_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_foreign_artifact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_bundle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_flipped_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_module, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_symbolic_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unsafe_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_newer_formats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broken_manifest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_huge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_structure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prefixes, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("loader_bundle", tests, NULL, NULL);
}
