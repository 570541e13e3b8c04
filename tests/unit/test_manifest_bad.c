/* SPDX-License-Identifier: MIT */
/* What mf_manifest_parse refuses: tests/fixtures/manifest/manifest.json with one thing changed at a
 * time. */
#include "mf_file.h"
#include "mf_manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct mf_buffer golden;

static int load_golden(void **state) {
    (void)state;
    struct kiln_error error;
    if (mf_file_read("tests/fixtures/manifest/manifest.json", 0, &golden, &error) != KILN_OK) {
        print_error("%s\n", error.message);
        return -1;
    }
    return 0;
}

static int release_golden(void **state) {
    (void)state;
    mf_buffer_release(&golden);
    return 0;
}

/* The golden text with the first occurrence of `find` behind `after` replaced. */
static void replace(const char *after, const char *find, const char *with, struct mf_buffer *out) {
    const char *start = after ? strstr(golden.data, after) : golden.data;
    assert_non_null(start);
    const char *at = strstr(start, find);
    if (!at) {
        print_error("the golden text has no %s behind %s\n", find, after ? after : "its start");
    }
    assert_non_null(at);
    mf_buffer_clear(out);
    (void)mf_buffer_append(out, golden.data, (size_t)(at - golden.data));
    (void)mf_buffer_append_string(out, with);
    assert_int_equal(mf_buffer_append_string(out, at + strlen(find)), KILN_OK);
}

static void expect_failure(const struct mf_buffer *text, enum kiln_result code,
                           const char *message) {
    struct mf_manifest manifest;
    struct kiln_error error = {0};
    enum kiln_result result =
        mf_manifest_parse(text->data, text->size_bytes, "m.json", &manifest, &error);
    if (result != code || !strstr(error.message, message) ||
        strncmp(error.message, "m.json:", 7) != 0) {
        print_error("expected %d \"%s\", found %d \"%s\"\n", code, message, result, error.message);
    }
    assert_int_equal(result, code);
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.message, message));
    assert_true(strncmp(error.message, "m.json:", 7) == 0);
    static const struct mf_manifest zero;
    assert_memory_equal(&manifest, &zero, sizeof zero);
}

struct bad_case {
    const char *after, *find, *with;
    enum kiln_result code;
    const char *message;
};

static void run_cases(const struct bad_case *cases, size_t count) {
    struct mf_buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        replace(cases[i].after, cases[i].find, cases[i].with, &text);
        expect_failure(&text, cases[i].code, cases[i].message);
    }
    mf_buffer_release(&text);
}

#define MATMUL "artifact matmul__q4_k_f16__any__mma_16x16x16w128__coopmat: "
#define BAD KILN_ERR_FORMAT
#define TWICE KILN_ERR_DUPLICATE

static void versions_and_top_level_are_checked(void **state) {
    (void)state;
    static const struct bad_case cases[] = {
        {NULL, "\"format\": 1", "\"format\": 2", KILN_ERR_VERSION,
         "format: expected at most 1, found 2"},
        {NULL, "\"format\": 1", "\"format\": 2, \"later\": []", KILN_ERR_VERSION, "format"},
        {NULL, "\"format\": 1", "\"format\": 0", BAD, "format: expected an integer from 1"},
        {NULL, "\"format\": 1", "\"format\": 1.0", BAD, "format: expected an integer"},
        {NULL, "\"format\": 1", "\"format\": \"1\"", BAD, "found \"1\""},
        {NULL, "\"format\": 1", "\"format\": -1", BAD, "found -1"},
        {NULL, "\"format\": 1", "\"formats\": 1", BAD,
         "format: expected an integer from 1 to 4294967295, found nothing"},
        {NULL, "\"format\": 1", "\"format\": 4294967297", BAD, "format"},
        {NULL, "\"abi\": 1", "\"abi\": 2", KILN_ERR_VERSION, "abi"},
        {NULL, "\"abi\": 1", "\"abi\": 1, \"more\": 0", BAD, "unknown key \"more\""},
        {NULL, "\"abi\": 1", "\"abi\": 1, \"abi\": 1", TWICE, "m.json:2: expected JSON: duplicate"},
        {NULL, "\"pipeline\": \"1\"", "\"pipeline\": 1", BAD,
         "toolchain.pipeline: expected a string"},
        {NULL, "\"pipeline\": \"1\"", "\"pipeline\": \"\"", BAD,
         "toolchain.pipeline: expected a text"},
        {NULL, "\"pipeline\": \"1\"", "\"pipeline\": \"a\\nb\"", BAD, "control"},
        {NULL, "\"pipeline\": \"1\"", "\"pipeline\": \"a\\u0000b\"", BAD, "expected JSON"},
        {NULL, "\"pipeline\": \"1\"", "\"pipeline\": \"\xff\"", BAD, "expected JSON"},
        {NULL, "\"pipeline\": \"1\"", "\"pipe\": \"1\"", BAD, "unknown key \"pipe\""},
        {NULL, "\"excluded\": [", "\"excluded\": [[],", BAD, "excluded[0]: expected an object"},
        {NULL, "\"excluded\": [", "\"excludes\": [", BAD, "unknown key"},
        {"excluded", "\"reason\": \"codes", "\"reason\": \"\", \"x\": \"codes", BAD,
         "excluded[1]."},
        {"excluded", "codes exceed int8\"", "codes exceed int8\", \"name\": \"x\"", TWICE,
         "m.json:370: "},
        {"excluded", "matvec__iq1_s", "add__iq1_s", BAD,
         "excluded: expected names in ascending order"},
        {"excluded", "matvec__iq1_s_f32__any__row_w64r2__dp4a",
         "matvec__q4_k_f32__any__row_w64r2__subgroup", TWICE, "is an artifact too"},
        {"\"format\"", "}\n}\n", "}\n}\n{}", BAD, "end of file expected"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void artifact_fields_are_checked(void **state) {
    (void)state;
    static const struct bad_case cases[] = {
        {"matmul_coopmat\"", "\"name\": \"matmul__", "\"name\": \"Matmul__", BAD,
         "artifacts[1]: name: name \"Matmul__"},
        {"matmul_coopmat\"", "\"name\": \"matmul__", "\"name\": \"aaa__", BAD,
         "artifacts: expected names in ascending order, found \"aaa__"},
        {"matmul_coopmat\"", "\"name\": \"matmul__q4_k_f16__any__mma_16x16x16w128__coopmat",
         "\"name\": \"add__f32_f32__any__flat_w256__portable", TWICE, "occurs twice"},
        {NULL, "\"family\": \"matmul\"", "\"family\": \"mat__mul\"", BAD,
         MATMUL "family: name part"},
        {NULL, "\"family\": \"matmul\"", "\"family\": null", BAD,
         MATMUL "family: expected a string, found null"},
        {NULL, "\"family\": \"matmul\"", "\"family\": \"matmul\", \"extra\": 1", BAD,
         MATMUL "unknown key \"extra\""},
        {NULL, "\"family\": \"matmul\",", "", BAD,
         MATMUL "family: expected a string, found nothing"},
        {NULL, "\"kernel\": \"matmul_coopmat\"", "\"kernel\": \"a-b\"", BAD,
         MATMUL "kernel: expected an identifier"},
        {"\"dtypes\": [\n        \"q4_k\"", "\"f16\"", "\"F16\"", BAD,
         MATMUL "dtypes: name part \"F16\""},
        {"\"dtypes\": [\n        \"q4_k\"", "\"f16\"", "16", BAD,
         MATMUL "dtypes[1]: expected a string, found 16"},
        {NULL, "\"schedule\": \"mma_16x16x16w128\"", "\"schedule\": \"\"", BAD,
         MATMUL "schedule: name part \"\" is empty"},
        {NULL, "\"tier\": \"coopmat\"", "\"tier\": \"co op\"", BAD, MATMUL "tier"},
        {NULL, "\"size\": 123456", "\"size\": 123457", BAD,
         MATMUL "size: expected a multiple of 4"},
        {NULL, "\"size\": 123456", "\"size\": 16", BAD, MATMUL "size: expected an integer from 20"},
        {NULL, "\"size\": 123456", "\"size\": 268435460", BAD, MATMUL "size"},
        {NULL, "\"size\": 123456", "\"size\": 9223372036854775807", BAD, MATMUL "size"},
        {NULL, "\"size\": 123456", "\"size\": 99999999999999999999", BAD, "too big integer"},
        {NULL, "\"size\": 123456", "\"size\": -4", BAD, MATMUL "size"},
        {NULL, "\"size\": 123456", "\"size\": 1e6", BAD, MATMUL "size"},
        {NULL, "\"recipe\": \"fedc", "\"recipe\": \"FEDC", BAD,
         MATMUL "recipe: expected 32 lower-case"},
        {NULL, "\"recipe\": \"fedc", "\"recipe\": \"fed", BAD, MATMUL "recipe"},
        {NULL, "\"tuple\": \"16x16x16\"", "\"tuple\": 16", BAD,
         MATMUL "axes.tuple: expected a string"},
        {NULL, "\"tuple\": \"16x16x16\"", "\"a b\": \"16x16x16\"", BAD,
         MATMUL "axes.expected an identifier"},
        {NULL, "\"tuple\": \"16x16x16\"", "\"dtype\": \"x\"", TWICE, "duplicate"},
        {"w64r2", "\"reference\": \"matvec\"", "\"reference\": \"mat vec\"", BAD, "reference"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void interface_fields_are_checked(void **state) {
    (void)state;
    static const struct bad_case cases[] = {
        {NULL, "\"vulkan\": \"1.3\"", "\"vulkan\": \"1\"", BAD,
         MATMUL "requires.vulkan: expected a version"},
        {NULL, "\"vulkan\": \"1.3\"", "\"vulkan\": \"1.03\"", BAD, MATMUL "requires.vulkan"},
        {NULL, "\"vulkan\": \"1.3\"", "\"vulkan\": \"1.3.0\"", BAD, MATMUL "requires.vulkan"},
        {NULL, "\"vulkan\": \"1.3\"", "\"vulkan\": \"1.1000\"", BAD, MATMUL "requires.vulkan"},
        {NULL, "\"vulkan\": \"1.3\"", "\"vulkan\": \".3\"", BAD, MATMUL "requires.vulkan"},
        {NULL, "\"spirv\": \"1.6\"", "\"spirv\": 1.6", BAD,
         MATMUL "requires.spirv: expected a string, found 1.6"},
        {NULL, "128,\n          2,\n", "128,\n          0,\n", BAD,
         MATMUL "requires.local_size[1]: expected an integer from 1"},
        {NULL, "128,\n          2,\n", "128,\n", BAD,
         MATMUL "requires.local_size: expected 3 numbers, found 2"},
        {NULL, "128,\n          2,\n", "65536,\n          65536,\n", BAD,
         MATMUL "requires.local_size: expected a product"},
        {NULL, "\"subgroup_size\": 32", "\"subgroup_size\": 24", BAD,
         MATMUL "requires.subgroup_size: expected 0 or a power of two"},
        {NULL, "\"subgroup_size\": 32", "\"subgroup_size\": 256", BAD,
         MATMUL "requires.subgroup_size"},
        {NULL, "\"workgroup_bytes\": 16384", "\"workgroup_bytes\": 4294967296", BAD,
         MATMUL "requires.workgroup_bytes"},
        {NULL, "\"push_bytes\": 20", "\"push_bytes\": 24", BAD,
         MATMUL "requires.push_bytes: expected 20"},
        {NULL, "\"shaderFloat16\"", "\"zzz\"", BAD,
         MATMUL "requires.features: expected ascending order"},
        {NULL, "\"shaderFloat16\"", "\"cooperativeMatrix\"", BAD,
         MATMUL "requires.features: expected ascending order"},
        {NULL, "\"shaderFloat16\"", "\"shader Float16\"", BAD,
         MATMUL "requires.features: expected an identifier"},
        {NULL, "\"access\": \"read_write\"", "\"access\": \"rw\"", BAD,
         MATMUL "bindings[2].access: expected \"read\""},
        {"\"name\": \"x\",\n", "\"set\": 0", "\"set\": 7", BAD,
         MATMUL "bindings[2].binding: expected ascending set and binding"},
        {"\"element\": \"struct\"", "\"set\": 1", "\"set\": 0", BAD,
         MATMUL "bindings[3].binding: expected ascending set and binding"},
        {NULL, "\"name\": \"ids\"", "\"name\": \"x\"", TWICE,
         MATMUL "bindings[3].name: \"x\" occurs twice"},
        {NULL, "\"name\": \"ids\"", "\"name\": \"2x\"", BAD,
         MATMUL "bindings[3].name: expected an identifier"},
        {NULL, "\"element\": \"struct\"", "\"element\": \"vec4\"", BAD,
         MATMUL "bindings[3].element: expected a scalar type"},
        {NULL, "\"stride\": 12", "\"stride\": 0", BAD, MATMUL "bindings[3].stride"},
        {NULL, "\"name\": \"eps\"", "\"name\": \"k\"", TWICE, MATMUL "push[3].name"},
        {"\"name\": \"eps\"", "\"offset\": 16", "\"offset\": 10", BAD,
         MATMUL "push[3].offset: expected ascending"},
        {"\"name\": \"eps\"", "\"size\": 4", "\"size\": 6", BAD,
         MATMUL "push[3].size: expected a multiple of 4"},
        {NULL, "\"default\": \"0x3c00\"", "\"default\": \"0x00003c00\"", BAD,
         MATMUL "spec[3].default: expected \"0x\" and 4"},
        {NULL, "\"default\": \"0x3c00\"", "\"default\": \"0x3C00\"", BAD, MATMUL "spec[3].default"},
        {NULL, "\"default\": \"0x3c00\"", "\"default\": 15360", BAD,
         MATMUL "spec[3].default: expected a string"},
        {NULL, "\"id\": 9", "\"id\": 7", BAD, MATMUL "spec[3].id: expected ascending ids"},
        {NULL, "\"type\": \"f64\"", "\"type\": \"struct\"", BAD,
         MATMUL "spec[1].type: expected a scalar type"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void grid_and_tolerance_are_checked(void **state) {
    (void)state;
    static const struct bad_case cases[] = {
        {NULL, "\"tile\": 4294967295", "\"tile\": 0", BAD,
         MATMUL "grid.y[1].tile: expected an integer from 1"},
        {"\"dims\": [\n        \"t\"", "\"fold\": false", "\"fold\": 0", BAD,
         MATMUL "grid.fold: expected true or false"},
        {"\"fold\": false,\n        \"x\": [\n", "\"dim\": \"nout\"", "\"dim\": \"rows\"", BAD,
         MATMUL "grid.x[0].dim: expected one of"},
        {"\"dims\": [\n        \"t\"", "\"fold\": false", "\"fold\": true", BAD,
         MATMUL "grid.fold: expected no factors on y and z"},
        {NULL, "\"max\": 65536", "\"max\": 0", BAD,
         MATMUL "limits[1].max: expected an integer from 1"},
        {NULL, "\"multiple\": 7", "\"multiple\": 0", BAD,
         MATMUL "limits[0].multiple: expected an integer from 1"},
        {NULL, "\"multiple\": 7", "\"factor\": 7", BAD, MATMUL "limits[0].unknown key"},
        {"\"limits\": [\n        {", "\"dim\": \"t\"", "\"dim\": \"rows\"", BAD,
         MATMUL "limits[0].dim: expected the artifact's dims"},
        {"\"limits\": [\n        {", "\"dim\": \"t\"", "\"dim\": \"k\"", BAD,
         MATMUL "limits[1].dim: expected the artifact's dims in their order"},
        {NULL, "\"max\": 65536", "\"max\": 65535", KILN_ERR_HASH, MATMUL "iface"},
        {NULL, "\"rel\": 1e-05", "\"rel\": -1", BAD,
         MATMUL "tolerance.rel: expected a bound of at least 0"},
        {NULL, "\"rel\": 1e-05", "\"rel\": \"1e-05\"", BAD,
         MATMUL "tolerance.rel: expected a number"},
        {NULL, "\"rel\": 1e-05", "\"rel\": 1e999", BAD, "real number overflow"},
        {NULL, "\"rel\": 1e-05", "\"rel\": NaN", BAD, "expected JSON"},
        {NULL, "\"rel\": 1e-05", "\"relative\": 1e-05", BAD, MATMUL "tolerance.unknown key"},
        {NULL, "\"ulp_f16\": 1", "\"ulp_f16\": 0", BAD, MATMUL "tolerance.ulp_f16"},
        /* Well-formed changes of the interface are found by its hash. */
        {NULL, "\"stride\": 12", "\"stride\": 16", KILN_ERR_HASH, MATMUL "iface: expected"},
        {NULL, "\"subgroup_size\": 32", "\"subgroup_size\": 0", KILN_ERR_HASH, MATMUL "iface"},
        {NULL, "\"fold\": true", "\"fold\": false", KILN_ERR_HASH,
         "artifact matvec__q4_k_f32__any__row_w64r2__subgroup: iface"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void unsafe_paths_are_refused(void **state) {
    (void)state;
    static const char *const paths[] = {"/etc/a.spv",   "../a.spv",     "a/../b.spv",   "./a.spv",
                                        "a//b.spv",     "a\\\\b.spv",   "a b.spv",      "C:a.spv",
                                        "a/./b.spv",    "..",           "a\\u0001.spv", "",
                                        "\xc3\xa9.spv", "%2e%2e/a.spv", "a.spv/",       "~a.spv"};
    struct mf_buffer text = {0};
    char with[300];
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        (void)snprintf(with, sizeof with, "\"file\": \"%s\", \"family\": \"matmul\"", paths[i]);
        replace(NULL, "\"family\": \"matmul\"", with, &text);
        char *original = strstr(text.data + (strstr(text.data, with) - text.data) + strlen(with),
                                "\"file\": \"matmul");
        assert_non_null(original);
        char *end = strchr(original, ',');
        memset(original, ' ', (size_t)(end - original) + 1);
        expect_failure(&text, KILN_ERR_PATH, MATMUL "file: path \"");
    }
    mf_buffer_release(&text);
    static const struct bad_case cases[] = {
        {"\"file\": \"matmul", ".spv\"", ".so\"", BAD, MATMUL "file: expected a name that ends in"},
        {NULL, "\"file\": \"matmul__q4_k_f16__any__mma_16x16x16w128__coopmat",
         "\"file\": \"sub/../x", KILN_ERR_PATH, "file"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void nesting_is_limited(void **state) {
    (void)state;
    struct mf_buffer text = {0};
    static const char *const openings[] = {"[", "{\"a\":", "[[{\"b\":"};
    for (size_t i = 0; i < COUNT_OF(openings); i++) {
        mf_buffer_clear(&text);
        for (size_t level = 0; level < 200000; level++) {
            (void)mf_buffer_append_string(&text, openings[i]);
        }
        expect_failure(&text, BAD, "m.json:1: expected JSON: maximum parsing depth");
    }
    /* As deep as is allowed, where a number is expected. */
    char deep[2001];
    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    deep[2000] = '\0';
    char with[2100];
    (void)snprintf(with, sizeof with, "\"size\": %s", deep);
    replace(NULL, "\"size\": 123456", with, &text);
    expect_failure(&text, BAD,
                   MATMUL "size: expected an integer from 20 to 268435456, found an array");
    mf_buffer_release(&text);
}

static void every_truncation_fails(void **state) {
    (void)state;
    /* The last byte is a newline, which JSON does not need. */
    for (size_t size = 0; size + 1 < golden.size_bytes; size++) {
        char *copy = malloc(size > 0 ? size : 1);
        assert_non_null(copy);
        memcpy(copy, golden.data, size);
        struct mf_manifest manifest;
        struct kiln_error error = {0};
        assert_int_equal(mf_manifest_parse(copy, size, "m", &manifest, &error), KILN_ERR_FORMAT);
        assert_true(strncmp(error.message, "m:", 2) == 0);
        free(copy);
    }
}

/* A flipped byte may leave a valid manifest (in a size, say): then it must be one that round-trips.
 */
static void every_flipped_byte_is_handled(void **state) {
    (void)state;
    static const unsigned char masks[] = {0x01, 0x20, 0x80};
    char *copy = malloc(golden.size_bytes);
    assert_non_null(copy);
    size_t accepted = 0;
    for (size_t i = 0; i < golden.size_bytes; i++) {
        for (size_t j = 0; j < COUNT_OF(masks); j++) {
            memcpy(copy, golden.data, golden.size_bytes);
            copy[i] = (char)((unsigned char)copy[i] ^ masks[j]);
            struct mf_manifest manifest;
            struct kiln_error error = {0};
            if (mf_manifest_parse(copy, golden.size_bytes, "m", &manifest, &error) != KILN_OK) {
                assert_null(manifest.artifacts);
                assert_true(strncmp(error.message, "m:", 2) == 0);
                continue;
            }
            accepted++;
            struct mf_buffer text = {0};
            assert_int_equal(mf_manifest_write(&manifest, &text, NULL), KILN_OK);
            /* Only 1e-05 has another spelling one bit away: 1E-05. */
            if (strcmp(text.data, golden.data) == 0) {
                assert_int_equal(copy[i], 'E');
            }
            mf_manifest_release(&manifest);
            assert_int_equal(mf_manifest_parse(text.data, text.size_bytes, "m", &manifest, NULL),
                             KILN_OK);
            mf_manifest_release(&manifest);
            mf_buffer_release(&text);
        }
    }
    free(copy);
    assert_in_range(accepted, 1, golden.size_bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_top_level_are_checked),
        cmocka_unit_test(artifact_fields_are_checked),
        cmocka_unit_test(interface_fields_are_checked),
        cmocka_unit_test(grid_and_tolerance_are_checked),
        cmocka_unit_test(unsafe_paths_are_refused),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(every_truncation_fails),
        cmocka_unit_test(every_flipped_byte_is_handled),
    };
    return cmocka_run_group_tests(tests, load_golden, release_golden);
}
