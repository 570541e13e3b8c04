/* SPDX-License-Identifier: MIT */
/* The golden runner: all of tests/golden passes; every kind of damage is found and named. */
#include "vf_golden.h"

#include "golden_files.h"
#include "vf_decode.h"
#include "vf_quantize.h"
#include "vf_sha256.h"

#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* What the callbacks saw: the last failing row, and counts. */
struct log {
    uint32_t passed, failed, vectors;
    char type[64], case_name[64], check[16];
    char detail[512];
    bool wrong_values; /* the directory's values are not those of its blocks */
    enum kiln_result vector_result;
};

static void log_row(void *user, const struct vf_golden_row *row) {
    struct log *log = user;
    assert_true(row->detail[0] != '\0' && strchr(row->detail, '\n') == NULL);
    if (row->passed) {
        log->passed++;
        return;
    }
    log->failed++;
    snprintf(log->type, sizeof log->type, "%s", row->type);
    snprintf(log->case_name, sizeof log->case_name, "%s", row->case_name);
    snprintf(log->check, sizeof log->check, "%s", row->check);
    snprintf(log->detail, sizeof log->detail, "%s", row->detail);
}

static enum kiln_result log_vector(void *user, const struct vf_golden_vector *vector,
                                   struct kiln_error *error) {
    struct log *log = user;
    float first[256];
    const struct mf_dtype_info *info = mf_dtype_info(vector->dtype);
    assert_string_equal(vector->type, info->name);
    assert_int_equal(vector->element_count % info->block_elements, 0);
    assert_int_equal(vf_decode(vector->dtype, vector->blocks, info->block_elements, first),
                     KILN_OK);
    assert_true(log->wrong_values || first[0] == vector->values[0]);
    log->vectors++;
    if (log->vector_result != KILN_OK) {
        return kiln_error_set(error, log->vector_result, "no more, please");
    }
    return KILN_OK;
}

static enum kiln_result run(const char *directory, struct log *log,
                            struct vf_golden_summary *summary, struct kiln_error *error) {
    struct vf_golden_callbacks callbacks = {log, log_row, log_vector};
    enum kiln_result keep = log->vector_result;
    *log = (struct log){.vector_result = keep, .wrong_values = log->wrong_values};
    *error = (struct kiln_error){KILN_OK, ""};
    enum kiln_result result = vf_golden_run(directory, &callbacks, summary, error);
    assert_int_equal(summary->pass_count, log->passed);
    assert_int_equal(summary->fail_count, log->failed);
    if (result != KILN_OK) {
        print_message("# %s\n", error->message);
        assert_int_equal(error->code, result);
        assert_true(error->message[0] != '\0');
    }
    return result;
}

static void test_all_pass(void **state) {
    (void)state;
    struct log log = {.vector_result = KILN_OK};
    struct vf_golden_summary summary;
    struct kiln_error error;
    enum kiln_result result = run(GOLDEN_ROOT, &log, &summary, &error);
    if (result != KILN_OK) {
        print_error("%s %s %s: %s\n", log.type, log.case_name, log.check, log.detail);
    }
    assert_int_equal(result, KILN_OK);
    assert_int_equal(summary.type_count, 29);
    assert_int_equal(summary.case_count, 55);
    assert_int_equal(log.vectors, 55 + 6);
    /* files and decode for each case; quantize for 13 exact types without q8_1 and 7 that search;
     * repack for both cases of three types. */
    assert_int_equal(summary.pass_count, 55 + 55 + 13 + 7 + 6);
    assert_int_equal(vf_golden_run(GOLDEN_ROOT, NULL, &summary, NULL), KILN_OK);
}

/* ---- small golden directories to damage ---- */

static void write_file(const char *root, const char *name, const void *bytes, size_t size_bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

static void make_directory(const char *root, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* Copies one golden file, appends its index entry to `index`. */
static void copy_file(const char *root, const char *name, char *index, size_t index_bytes) {
    char path[512], digest[VF_SHA256_TEXT_BYTES];
    size_t size_bytes;
    snprintf(path, sizeof path, "%s/%s", GOLDEN_ROOT, name);
    uint8_t *bytes = golden_file_read(path, &size_bytes);
    assert_non_null(bytes);
    write_file(root, name, bytes, size_bytes);
    vf_sha256_text(bytes, size_bytes, digest);
    free(bytes);
    size_t used = strlen(index);
    snprintf(index + used, index_bytes - used, "\"%s\": {\"bytes\": %zu, \"sha256\": \"%s\"}",
             strrchr(name, '/') + 1, size_bytes, digest);
}

static const char index_name[] = "index.json";

/* Two types, q8_0 and q4_k, each with its quant case. */
static void make_golden(const char *root) {
    static const char *const types[] = {"q8_0", "q4_k"};
    static const char *const files[] = {"blocks.bin", "deq_f32.bin", "in_f32.bin"};
    char index[4096] = "{\"types\": [";
    for (size_t t = 0; t < 2; t++) {
        char name[256];
        const struct mf_dtype_info *info = mf_dtype_find(types[t]);
        make_directory(root, types[t]);
        snprintf(name, sizeof name, "%s/quant", types[t]);
        make_directory(root, name);
        size_t used = strlen(index);
        snprintf(index + used, sizeof index - used,
                 "%s\n{\"name\": \"%s\", \"dir\": \"%s\", \"block_elements\": %u, "
                 "\"type_bytes\": %u,\n\"cases\": [{\"case\": \"quant\", \"blocks\": %u, "
                 "\"elements\": 2048, \"files\": {\n",
                 t > 0 ? "," : "", types[t], types[t], info->block_elements, info->block_bytes,
                 2048 / info->block_elements);
        for (size_t f = 0; f < 3; f++) {
            snprintf(name, sizeof name, "%s/quant/%s", types[t], files[f]);
            copy_file(root, name, index, sizeof index);
            used = strlen(index);
            snprintf(index + used, sizeof index - used, f < 2 ? ",\n" : "}}]}");
        }
    }
    size_t used = strlen(index);
    snprintf(index + used, sizeof index - used, "]}\n");
    write_file(root, index_name, index, strlen(index));
}

/* Replaces the first `from` of index.json. */
static void edit_index(const char *root, const char *from, const char *to) {
    char path[512], edited[4096];
    size_t size_bytes;
    snprintf(path, sizeof path, "%s/%s", root, index_name);
    char *text = (char *)golden_file_read(path, &size_bytes);
    assert_non_null(text);
    char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    write_file(root, index_name, edited, strlen(edited));
    free(text);
}

/* Gives the file another size and flips a byte at `at`; with `listed`, the index follows. */
static void edit_file(const char *root, const char *name, size_t cut_bytes, size_t at,
                      bool listed) {
    char path[512], before[VF_SHA256_TEXT_BYTES], after[VF_SHA256_TEXT_BYTES];
    size_t size_bytes;
    snprintf(path, sizeof path, "%s/%s", root, name);
    uint8_t *bytes = golden_file_read(path, &size_bytes);
    assert_non_null(bytes);
    vf_sha256_text(bytes, size_bytes, before);
    if (at < size_bytes) {
        bytes[at] ^= 0x10;
    }
    vf_sha256_text(bytes, size_bytes, after);
    write_file(root, name, bytes, size_bytes - cut_bytes);
    if (listed) {
        edit_index(root, before, after);
    }
    free(bytes);
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *walk) {
    (void)stat;
    (void)type;
    (void)walk;
    return remove(path);
}

static int set_up(void **state) {
    static char root[256];
    const char *directory = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/kiln golden-XXXXXX", directory != NULL ? directory : "/tmp");
    if (mkdtemp(root) == NULL) {
        return -1;
    }
    make_golden(root);
    *state = root;
    return 0;
}

static int tear_down(void **state) {
    return nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_subset_passes(void **state) {
    struct log log = {.vector_result = KILN_OK};
    struct vf_golden_summary summary;
    struct kiln_error error;
    assert_int_equal(run(*state, &log, &summary, &error), KILN_OK);
    assert_int_equal(summary.pass_count, 7);
    assert_int_equal(summary.type_count, 2);
}

/* Runs, expects one failing row, and that its detail holds `words`. */
static void expect_row(const char *root, const char *type, const char *check, const char *words) {
    struct log log = {.vector_result = KILN_OK};
    struct vf_golden_summary summary;
    struct kiln_error error;
    assert_int_equal(run(root, &log, &summary, &error), KILN_ERR_MISMATCH);
    print_message("# %s %s %s: %s\n", log.type, log.case_name, log.check, log.detail);
    assert_int_equal(log.failed, 1);
    assert_string_equal(log.type, type);
    assert_string_equal(log.check, check);
    assert_non_null(strstr(log.detail, words));
}

static void test_damaged_files(void **state) {
    const char *root = *state;
    edit_file(root, "q8_0/quant/blocks.bin", 0, 40, false);
    expect_row(root, "q8_0", "files", "q8_0/quant/blocks.bin: expected SHA-256 ");
    edit_file(root, "q8_0/quant/blocks.bin", 0, 40, false); /* as it was */
    edit_file(root, "q8_0/quant/deq_f32.bin", 3, SIZE_MAX, false);
    expect_row(root, "q8_0", "files", "deq_f32.bin: expected 8192 bytes, found 8189");
    char path[512];
    snprintf(path, sizeof path, "%s/q8_0/quant/deq_f32.bin", root);
    assert_int_equal(unlink(path), 0);
    expect_row(root, "q8_0", "files", "deq_f32.bin");
}

/* Files that are as listed, but whose content is not what the formats say. */
static void test_wrong_content(void **state) {
    const char *root = *state;
    edit_file(root, "q8_0/quant/deq_f32.bin", 0, 4 * 70 + 1, true);
    expect_row(root, "q8_0", "decode", "1 of 2048 values differ; element 70 (block 2): expected ");
    edit_file(root, "q8_0/quant/deq_f32.bin", 0, 4 * 70 + 1, true);
    edit_file(root, "q8_0/quant/in_f32.bin", 0, 4 * 33 + 3, true); /* an exponent bit */
    expect_row(root, "q8_0", "quantize", "1 of 64 blocks differ; block 1 byte ");
    edit_file(root, "q8_0/quant/in_f32.bin", 0, 4 * 33 + 3, true);
    struct log log = {.vector_result = KILN_OK};
    struct vf_golden_summary summary;
    struct kiln_error error;
    assert_int_equal(run(root, &log, &summary, &error), KILN_OK);
}

/* RMS error of the q4_k quantiser over that of the golden blocks. */
static double measure_ratio(const struct golden_files *files) {
    float found[2048];
    uint8_t blocks[8 * 144];
    double own = 0.0;
    double golden = 0.0;
    assert_int_equal(files->element_count, 2048);
    assert_int_equal(vf_quantize(MF_DTYPE_Q4_K, files->inputs, 2048, blocks), KILN_OK);
    assert_int_equal(vf_decode(MF_DTYPE_Q4_K, blocks, 2048, found), KILN_OK);
    for (size_t i = 0; i < 2048; i++) {
        own += pow((double)found[i] - (double)files->inputs[i], 2.0);
        golden += pow((double)files->values[i] - (double)files->inputs[i], 2.0);
    }
    return sqrt(own / golden);
}

/* Moves the golden values toward the input until the quantiser's ratio is `ratio`; runs. */
static void run_at_ratio(const char *root, double ratio, struct log *log) {
    struct golden_files files;
    char index[4096] = "{\"types\": [{\"name\": \"q4_k\", \"dir\": \"q4_k\", "
                       "\"block_elements\": 256, \"type_bytes\": 144, \"cases\": [{\"case\": "
                       "\"quant\", \"blocks\": 8, \"elements\": 2048, \"files\": {";
    char digest[VF_SHA256_TEXT_BYTES];
    struct vf_golden_summary summary;
    struct kiln_error error;
    assert_true(golden_files_read(mf_dtype_find("q4_k"), "quant", &files));
    double share = measure_ratio(&files) / ratio;
    for (size_t i = 0; i < 2048; i++) {
        double error_here = (double)files.values[i] - (double)files.inputs[i];
        files.values[i] = (float)((double)files.inputs[i] + share * error_here);
    }
    write_file(root, "q4_k/quant/deq_f32.bin", files.values, 8192);
    vf_sha256_text(files.values, 8192, digest);
    copy_file(root, "q4_k/quant/blocks.bin", index, sizeof index);
    snprintf(index + strlen(index), 4, ", ");
    copy_file(root, "q4_k/quant/in_f32.bin", index, sizeof index);
    size_t used = strlen(index);
    snprintf(index + used, sizeof index - used,
             ", \"deq_f32.bin\": {\"bytes\": 8192, \"sha256\": \"%s\"}}}]}]}", digest);
    write_file(root, index_name, index, strlen(index));
    golden_files_free(&files);
    *log = (struct log){.wrong_values = true};
    assert_int_equal(run(root, log, &summary, &error), KILN_ERR_MISMATCH);
}

static void test_rms_gate(void **state) {
    struct log log;
    run_at_ratio(*state, 1.0497, &log); /* only the values are wrong */
    assert_int_equal(log.failed, 1);
    assert_string_equal(log.check, "decode");
    run_at_ratio(*state, 1.0503, &log);
    assert_int_equal(log.failed, 2);
    assert_string_equal(log.check, "quantize");
    assert_non_null(strstr(log.detail, "ratio 1.0503, above the limit of 1.05"));
}

static void test_unknown_type(void **state) {
    edit_index(*state, "\"name\": \"q8_0\"", "\"name\": \"q9_9\"");
    expect_row(*state, "q9_9", "type", "index.json: type \"q9_9\" is not one this build decodes");
    edit_index(*state, "\"name\": \"q9_9\"", "\"name\": \"i32\"");
    expect_row(*state, "i32", "type", "not one this build decodes");
    edit_index(*state, "\"name\": \"i32\"", "\"name\": \"q5_0\"");
    expect_row(*state, "q5_0", "type", "expected id 6 with 32 elements in 22 bytes");
    edit_index(*state, "\"name\": \"q5_0\"", "\"name\": \"q8_0\", \"ggml_type_id\": 9");
    expect_row(*state, "q8_0", "type", "expected id 8 with 32 elements in 34 bytes, found id 9");
}

static void expect_error(const char *root, enum kiln_result code, const char *words) {
    struct log log = {.vector_result = KILN_OK};
    struct vf_golden_summary summary;
    struct kiln_error error;
    assert_int_equal(run(root, &log, &summary, &error), code);
    assert_non_null(strstr(error.message, words));
}

static void test_broken_index(void **state) {
    static const struct {
        const char *from, *to, *words;
        enum kiln_result code;
    } edits[] = {
        {"\"types\"", "\"kinds\"", "types", KILN_ERR_FORMAT},
        {"\"type_bytes\": 34", "\"type_bytes\": \"34\"", "type q8_0: ", KILN_ERR_FORMAT},
        {"\"blocks\": 64", "\"blocks\": 63", "expected 2016 (blocks times 32), found 2048",
         KILN_ERR_FORMAT},
        {"\"blocks\": 64", "\"blocks\": -64", "blocks", KILN_ERR_FORMAT},
        {"\"blocks.bin\"", "\"block.bin\"", "expected blocks.bin and deq_f32.bin", KILN_ERR_FORMAT},
        {"\"in_f32.bin\"", "\"../in_f32.bin\"", "files", KILN_ERR_PATH},
        {"\"dir\": \"q8_0\"", "\"dir\": \"../q8_0\"", "dir", KILN_ERR_PATH},
        {"\"case\": \"quant\"", "\"case\": \"/etc\"", "case", KILN_ERR_PATH},
        {"\"sha256\"", "\"sha255\"", "sha256", KILN_ERR_FORMAT},
        {"{\"types\"", "{\"types\": [], \"types\"", "index.json:1", KILN_ERR_DUPLICATE},
        {"]}\n", "", "index.json:", KILN_ERR_FORMAT},
    };
    char path[512];
    size_t size_bytes;
    snprintf(path, sizeof path, "%s/%s", (const char *)*state, index_name);
    uint8_t *good = golden_file_read(path, &size_bytes);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        edit_index(*state, edits[i].from, edits[i].to);
        expect_error(*state, edits[i].code, edits[i].words);
        write_file(*state, index_name, good, size_bytes);
    }
    free(good);
    write_file(*state, index_name, "{\"types\": []}", 13);
    expect_error(*state, KILN_ERR_FORMAT, "expected at least one type");
    write_file(*state, index_name, "", 0);
    expect_error(*state, KILN_ERR_FORMAT, "index.json");
    assert_int_equal(unlink(path), 0);
    expect_error(*state, KILN_ERR_NOT_FOUND, "index.json");
}

static void test_vector_callback_ends_the_run(void **state) {
    struct log log = {.vector_result = KILN_ERR_DEVICE_LOST};
    struct vf_golden_summary summary;
    struct kiln_error error;
    assert_int_equal(run(*state, &log, &summary, &error), KILN_ERR_DEVICE_LOST);
    assert_string_equal(error.message, "no more, please");
    assert_int_equal(log.vectors, 1);
    assert_int_equal(summary.case_count, 1);
}

#define damage_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pass), damage_test(test_subset_passes),
        damage_test(test_damaged_files), damage_test(test_wrong_content),
        damage_test(test_rms_gate),      damage_test(test_unknown_type),
        damage_test(test_broken_index),  damage_test(test_vector_callback_ends_the_run),
    };
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
