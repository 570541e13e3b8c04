/* SPDX-License-Identifier: MIT */
#include "mf_lock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char golden[] =
    "# kiln artifacts.lock 1\n"
    "toolchain glslang 15.1.0; kiln 1\n"
    "add__f32 000102030405060708090a0b0c0d0e0f f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff 20\n"
    "mul__f32 101112131415161718191a1b1c1d1e1f e0e1e2e3e4e5e6e7e8e9eaebecedeeef 4096\n"
    "sub__f32 202122232425262728292a2b2c2d2e2f d0d1d2d3d4d5d6d7d8d9dadbdcdddedf 268435456\n";

struct sample {
    struct mf_artifact artifacts[3];
    struct mf_manifest manifest;
};

static void make_sample(struct sample *sample) {
    *sample = (struct sample){0};
    static const char *const names[] = {"add__f32", "mul__f32", "sub__f32"};
    static const uint64_t sizes[] = {20, 4096, 268435456};
    for (size_t i = 0; i < 3; i++) {
        struct mf_artifact *artifact = &sample->artifacts[i];
        artifact->name = names[i];
        artifact->size_bytes = sizes[i];
        for (size_t j = 0; j < MF_HASH_BYTES; j++) {
            artifact->content.bytes[j] = (uint8_t)(i * 16 + j);
            artifact->iface.bytes[j] = (uint8_t)(0xf0 - i * 16 + j);
        }
    }
    sample->manifest.toolchain.signature = "glslang 15.1.0; kiln 1";
    sample->manifest.artifacts = sample->artifacts;
    sample->manifest.artifact_count = 3;
}

static enum kiln_result compare(const struct sample *sample, const char *text,
                                struct mf_buffer *report, struct kiln_error *error) {
    return mf_lock_compare(&sample->manifest, text, strlen(text), "artifacts.lock", report, error);
}

static void writes_golden_text(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    struct mf_buffer text = {0};
    assert_int_equal(mf_lock_write(&sample.manifest, &text, NULL), KILN_OK);
    assert_string_equal(text.data, golden);
    struct mf_buffer report = {0};
    assert_int_equal(compare(&sample, text.data, &report, NULL), KILN_OK);
    assert_int_equal(report.size_bytes, 0);
    mf_buffer_release(&report);
    mf_buffer_release(&text);
}

static void refuses_to_write_what_cannot_be_read(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    struct mf_buffer text = {0};
    sample.manifest.toolchain.signature = "two\nlines";
    assert_int_equal(mf_lock_write(&sample.manifest, &text, NULL), KILN_ERR_ARGUMENT);
    sample.manifest.toolchain.signature = "";
    assert_int_equal(mf_lock_write(&sample.manifest, &text, NULL), KILN_ERR_ARGUMENT);
    make_sample(&sample);
    sample.artifacts[1].name = "add__f32";
    assert_int_equal(mf_lock_write(&sample.manifest, &text, NULL), KILN_ERR_ARGUMENT);
    mf_buffer_release(&text);
}

static void every_difference_is_one_line(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    sample.artifacts[0].content.bytes[0] = 0xff;
    sample.artifacts[1].name = "neg__f32";
    sample.artifacts[2].iface.bytes[15] = 0;
    sample.artifacts[2].size_bytes = 4;
    struct mf_buffer report = {0};
    struct kiln_error error;
    assert_int_equal(compare(&sample, golden, &report, &error), KILN_ERR_MISMATCH);
    assert_string_equal(report.data,
                        "artifacts.lock:3: add__f32: content hash: expected "
                        "000102030405060708090a0b0c0d0e0f, found ff0102030405060708090a0b0c0d0e0f\n"
                        "artifacts.lock:4: mul__f32: not in the manifest\n"
                        "artifacts.lock:5: neg__f32: not in the lock\n"
                        "artifacts.lock:5: sub__f32: interface hash: expected "
                        "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf, found d0d1d2d3d4d5d6d7d8d9dadbdcddde00\n"
                        "artifacts.lock:5: sub__f32: size: expected 268435456 bytes, found 4\n");
    assert_non_null(strstr(error.message, "5 differences"));
    mf_buffer_clear(&report);
    make_sample(&sample);
    sample.manifest.artifact_count = 0;
    assert_int_equal(compare(&sample, golden, &report, &error), KILN_ERR_MISMATCH);
    assert_non_null(strstr(error.message, "3 differences"));
    mf_buffer_clear(&report);
    make_sample(&sample);
    assert_int_equal(compare(&sample, "# kiln artifacts.lock 1\ntoolchain glslang 15.1.0; kiln 1\n",
                             &report, &error),
                     KILN_ERR_MISMATCH);
    assert_string_equal(report.data, "artifacts.lock:3: add__f32: not in the lock\n"
                                     "artifacts.lock:3: mul__f32: not in the lock\n"
                                     "artifacts.lock:3: sub__f32: not in the lock\n");
    mf_buffer_release(&report);
}

static void another_toolchain_is_told_apart(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    sample.manifest.toolchain.signature = "glslang 16.0.0; kiln 1";
    sample.artifacts[0].size_bytes = 4;
    struct mf_buffer report = {0};
    struct kiln_error error;
    assert_int_equal(compare(&sample, golden, &report, &error), KILN_ERR_VERSION);
    assert_int_equal(report.size_bytes, 0);
    assert_string_equal(
        error.message, "artifacts.lock:2: the lock belongs to toolchain \"glslang 15.1.0; kiln 1\","
                       " this is \"glslang 16.0.0; kiln 1\"");
    mf_buffer_release(&report);
}

#define HEAD "# kiln artifacts.lock 1\ntoolchain glslang 15.1.0; kiln 1\n"
#define A "000102030405060708090a0b0c0d0e0f"
#define B "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

static void malformed_text_names_the_line(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "artifacts.lock:1: expected \"# kiln artifacts.lock 1\""},
        {"\n", "artifacts.lock:1: expected \"# kiln"},
        {"# kiln artifacts.lock 2\ntoolchain x\n", "artifacts.lock:1: expected \"# kiln"},
        {"# kiln artifacts.lock 1", "artifacts.lock:1: expected a newline"},
        {"# kiln artifacts.lock 1\r\ntoolchain x\r\n", "artifacts.lock:1: expected \"# kiln"},
        {"# kiln artifacts.lock 1\n", "artifacts.lock:2: expected \"toolchain \""},
        {"# kiln artifacts.lock 1\ntoolchain \n", "artifacts.lock:2: expected \"toolchain \""},
        {"# kiln artifacts.lock 1\ntools x\n", "artifacts.lock:2: expected \"toolchain \""},
        {HEAD "add__f32 " A " " B " 20", "artifacts.lock:3: expected a newline"},
        {HEAD "\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A " " B "\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A " " B " 20 \n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A " " B " 20 x\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32  " A " " B " 20\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD " add__f32 " A " " B " 20\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A " " B " 020\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A " " B " -1\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A " " B " 99999999999999999999\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A " " B " 20\t\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "Add__f32 " A " " B " 20\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A "0 " B " 20\n", "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 G00102030405060708090a0b0c0d0e0f " B " 20\n",
         "artifacts.lock:3: expected \"<name>"},
        {HEAD "add__f32 " A " " B " 20\nadd__f32 " A " " B " 20\n",
         "artifacts.lock:4: expected names in ascending order"},
        {HEAD "mul__f32 " A " " B " 20\nadd__f32 " A " " B " 20\n",
         "artifacts.lock:4: expected names in ascending order, found add__f32 behind mul__f32"},
    };
    struct sample sample;
    make_sample(&sample);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mf_buffer report = {0};
        struct kiln_error error = {0};
        assert_int_equal(compare(&sample, cases[i].text, &report, &error), KILN_ERR_FORMAT);
        if (!strstr(error.message, cases[i].message)) {
            print_error("case %zu: expected \"%s\", found \"%s\"\n", i, cases[i].message,
                        error.message);
        }
        assert_non_null(strstr(error.message, cases[i].message));
        assert_int_equal(report.size_bytes, 0);
        mf_buffer_release(&report);
    }
}

/* Each text in an allocation of its exact size, so that reading beyond it is found. */
static enum kiln_result compare_exact(const struct sample *sample, const char *text, size_t size) {
    char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    struct mf_buffer report = {0};
    enum kiln_result result = mf_lock_compare(&sample->manifest, copy, size, "lock", &report, NULL);
    mf_buffer_release(&report);
    free(copy);
    return result;
}

static void no_truncation_or_flip_passes(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    const size_t size = sizeof golden - 1;
    assert_int_equal(compare_exact(&sample, golden, size), KILN_OK);
    for (size_t i = 0; i < size; i++) {
        assert_int_not_equal(compare_exact(&sample, golden, i), KILN_OK);
    }
    char flipped[sizeof golden];
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(flipped, golden, sizeof golden);
            flipped[i] = (char)(flipped[i] ^ (1 << bit));
            assert_int_not_equal(compare_exact(&sample, flipped, size), KILN_OK);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_golden_text),
        cmocka_unit_test(refuses_to_write_what_cannot_be_read),
        cmocka_unit_test(every_difference_is_one_line),
        cmocka_unit_test(another_toolchain_is_told_apart),
        cmocka_unit_test(malformed_text_names_the_line),
        cmocka_unit_test(no_truncation_or_flip_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
