/* SPDX-License-Identifier: MIT */
/*
 * Packs, whole and damaged. tests/fixtures/pack/golden.kiln was written from the bundle of
 * loader_bundles.h by this program (KILN_PACK_OUT=FILE writes it anew, for a new format);
 * tests/tools/read_pack.py, which knows FORMAT.md and no code of this project, reads the same from
 * it (tests/cli/pack.sh).
 */
#include "../fuzz/fuzz_pack.c"
#include "loader_bundles.h"
#include "mf_file.h"
#include "mf_relative.h"
#include "mf_zstd.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define GOLDEN "tests/fixtures/pack/golden.kiln"
/* Frames of other versions may be cut differently. */
#define GOLDEN_ZSTD "1.5.7"

static struct mf_buffer golden;

static int load_golden(void **state) {
    struct kiln_error error = {0};
    (void)state;
    if (mf_file_read(GOLDEN, 0, &golden, &error) != KILN_OK) {
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

/* A bundle whose artifacts have the file names that readers of a pack form. */
struct fixture {
    struct loader_bundle made;
    char files[LOADER_ARTIFACT_COUNT][160];
    struct mf_buffer modules[LOADER_ARTIFACT_COUNT];
    const struct mf_buffer *pointers[LOADER_ARTIFACT_COUNT];
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    *state = fixture;
    loader_bundle_begin(&fixture->made);
    /* What the loader's own bundles lack. */
    static const struct mf_axis axes[] = {{"rows", "16"}, {"tile", "ä 2"}};
    static const struct mf_dim_limit limits[] = {{"nout", 65536, 1}, {"k", UINT32_MAX, 32}};
    fixture->made.artifacts[0].axes = axes;
    fixture->made.artifacts[0].axis_count = 2;
    fixture->made.artifacts[0].limits = limits;
    fixture->made.artifacts[0].limit_count = 2;
    fixture->made.artifacts[0].tolerance.ulp_f16 = 3;
    fixture->made.artifacts[1].tolerance = (struct mf_tolerance){false, 0.25, 0.001, -1, 0};
    loader_bundle_seal(&fixture->made);
    for (size_t i = 0; i < LOADER_ARTIFACT_COUNT; i++) {
        struct mf_artifact *artifact = &fixture->made.artifacts[i];
        char text[MF_HASH_TEXT_BYTES];
        mf_hash_format(&artifact->content, text);
        snprintf(fixture->files[i], sizeof fixture->files[i], "%s.%.8s.spv", artifact->name, text);
        artifact->file = fixture->files[i];
        mf_buffer_append(&fixture->modules[i], fixture->made.words[i],
                         (size_t)artifact->size_bytes);
        fixture->pointers[i] = &fixture->modules[i];
    }
    static struct mf_exclusion excluded[] = {{"add__f32__any__row__coopmat", "no reason at all"}};
    fixture->made.manifest.excluded = excluded;
    fixture->made.manifest.exclusion_count = 1;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    for (size_t i = 0; i < LOADER_ARTIFACT_COUNT; i++) {
        mf_buffer_release(&fixture->modules[i]);
    }
    loader_bundle_remove(&fixture->made);
    free(fixture);
    return 0;
}

static void write_pack(const struct fixture *fixture, struct mf_buffer *out) {
    struct kiln_error error = {0};
    if (mf_pack_write(&fixture->made.manifest, fixture->pointers, out, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
}

static struct kiln_bundle *open_memory(const void *bytes, size_t size_bytes) {
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error = {0};
    if (kiln_bundle_open_memory(bytes, size_bytes, &bundle, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
    return bundle;
}

/* From an allocation of exactly that size, so that a sanitizer sees a read past the end. */
static enum kiln_result open_exactly(const void *bytes, size_t size_bytes,
                                     struct kiln_error *error) {
    struct kiln_bundle *bundle = (struct kiln_bundle *)8;
    void *exact = malloc(size_bytes > 0 ? size_bytes : 1);
    memcpy(exact, bytes, size_bytes);
    enum kiln_result result = kiln_bundle_open_memory(exact, size_bytes, &bundle, error);
    if (result != KILN_OK) {
        assert_null(bundle);
        assert_int_equal(error->code, result);
    }
    kiln_bundle_close(&bundle);
    free(exact);
    return result;
}

static void expect(const void *bytes, size_t size_bytes, enum kiln_result expected,
                   const char *words) {
    struct kiln_error error = {0};
    enum kiln_result result = open_exactly(bytes, size_bytes, &error);
    if (result != expected || !strstr(error.message, words)) {
        fail_msg("expected %s with \"%s\", found %s: %s", kiln_result_string(expected), words,
                 kiln_result_string(result), error.message);
    }
}

/* ---- whole packs ---- */

static void expect_manifest(const struct mf_manifest *found, const struct mf_manifest *expected) {
    struct mf_buffer a = {0};
    struct mf_buffer b = {0};
    assert_int_equal(mf_manifest_write(found, &a, NULL), KILN_OK);
    assert_int_equal(mf_manifest_write(expected, &b, NULL), KILN_OK);
    assert_string_equal(a.data, b.data);
    mf_buffer_release(&a);
    mf_buffer_release(&b);
}

static void expect_whole(const struct kiln_bundle *bundle, const struct fixture *fixture) {
    expect_manifest(kiln_bundle_manifest(bundle), &fixture->made.manifest);
    for (size_t i = 0; i < LOADER_ARTIFACT_COUNT; i++) {
        struct kiln_module module = {0};
        struct kiln_error error = {0};
        const struct mf_artifact *artifact = kiln_bundle_artifact(bundle, i);
        if (kiln_bundle_module(bundle, artifact, &module, &error) != KILN_OK) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(4 * module.word_count, fixture->modules[i].size_bytes);
        assert_memory_equal(module.words, fixture->made.words[i], 4 * module.word_count);
        kiln_module_release(&module);
    }
}

static void test_golden_bytes(void **state) {
    const struct fixture *fixture = *state;
    struct mf_buffer pack = {0};
    const char *out = getenv("KILN_PACK_OUT");
    write_pack(fixture, &pack);
    if (out) {
        assert_int_equal(mf_file_write_atomic(out, pack.data, pack.size_bytes, NULL, NULL),
                         KILN_OK);
    }
    if (strcmp(mf_zstd_library_version(), GOLDEN_ZSTD) != 0) {
        print_message("zstd %s: bytes not compared\n", mf_zstd_library_version());
    } else {
        assert_int_equal(pack.size_bytes, golden.size_bytes);
        assert_memory_equal(pack.data, golden.data, golden.size_bytes);
    }
    struct kiln_bundle *bundle = open_memory(pack.data, pack.size_bytes);
    expect_whole(bundle, fixture);
    kiln_bundle_close(&bundle);
    mf_buffer_release(&pack);
}

static void test_golden_reads(void **state) {
    struct kiln_bundle *bundle = open_memory(golden.data, golden.size_bytes);
    expect_whole(bundle, *state);
    kiln_bundle_close(&bundle);
}

static void test_files(void **state) {
    struct fixture *fixture = *state;
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error = {0};
    char path[512];
    loader_bundle_put(&fixture->made, "kernels.kiln", golden.data, golden.size_bytes);
    loader_bundle_path(&fixture->made, "kernels.kiln", path);
    assert_int_equal(kiln_bundle_open_pack(path, &bundle, &error), KILN_OK);
    /* A new file in its place does no harm to the one that is open. */
    loader_bundle_put(&fixture->made, "kernels.kiln", "new", 3);
    expect_whole(bundle, fixture);
    kiln_bundle_close(&bundle);
    assert_int_equal(kiln_bundle_open(path, &bundle, &error), KILN_ERR_FORMAT);
    loader_bundle_put(&fixture->made, "kernels.kiln", golden.data, golden.size_bytes);
    assert_int_equal(kiln_bundle_open(path, &bundle, &error), KILN_OK);
    kiln_bundle_close(&bundle);
    assert_int_equal(kiln_bundle_open_directory(path, &bundle, &error), KILN_ERR_PATH);

    loader_bundle_put(&fixture->made, "kernels.kiln", "", 0);
    assert_int_equal(kiln_bundle_open_pack(path, &bundle, &error), KILN_ERR_FORMAT);
    assert_null(bundle);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_int_equal(kiln_bundle_open_pack(path, &bundle, &error), KILN_ERR_LIMIT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(kiln_bundle_open_pack(path, &bundle, &error), KILN_ERR_NOT_FOUND);
    assert_int_equal(kiln_bundle_open(path, &bundle, &error), KILN_ERR_NOT_FOUND);
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_int_equal(kiln_bundle_open_pack(path, &bundle, &error), KILN_ERR_PATH);
    assert_int_equal(kiln_bundle_open_pack(fixture->made.directory, &bundle, &error),
                     KILN_ERR_PATH);
    assert_null(bundle);
}

static void test_arguments(void **state) {
    struct kiln_bundle *bundle = NULL;
    (void)state;
    assert_int_equal(kiln_bundle_open_pack(NULL, &bundle, NULL), KILN_ERR_ARGUMENT);
    assert_int_equal(kiln_bundle_open_pack("x", NULL, NULL), KILN_ERR_ARGUMENT);
    assert_int_equal(kiln_bundle_open(NULL, &bundle, NULL), KILN_ERR_ARGUMENT);
    assert_int_equal(kiln_bundle_open_memory(NULL, 1, &bundle, NULL), KILN_ERR_ARGUMENT);
    assert_int_equal(kiln_bundle_open_memory(NULL, 0, &bundle, NULL), KILN_ERR_FORMAT);
    assert_int_equal(kiln_bundle_open_memory("x", 1, NULL, NULL), KILN_ERR_ARGUMENT);
}

/* No artifact is no module and no dictionary. */
static void test_no_artifacts(void **state) {
    struct fixture *fixture = *state;
    struct mf_buffer pack = {0};
    fixture->made.manifest.artifact_count = 0;
    write_pack(fixture, &pack);
    struct kiln_bundle *bundle = open_memory(pack.data, pack.size_bytes);
    expect_manifest(kiln_bundle_manifest(bundle), &fixture->made.manifest);
    kiln_bundle_close(&bundle);
    mf_buffer_release(&pack);
}

static uint32_t section_count(const struct mf_buffer *pack, enum mf_pack_section section) {
    return mf_pack_u32((const unsigned char *)pack->data + MF_PACK_HEADER_BYTES +
                       ((size_t)section - 1) * MF_PACK_ENTRY_BYTES + 4);
}

/* Two artifacts of one content are one blob, and still two artifacts. */
static void test_equal_modules(void **state) {
    struct fixture *fixture = *state;
    struct mf_buffer pack = {0};
    fixture->made.words[1] = fixture->made.words[0];
    fixture->made.artifacts[1].size_bytes = fixture->made.artifacts[0].size_bytes;
    fixture->made.artifacts[1].content = fixture->made.artifacts[0].content;
    fixture->pointers[1] = fixture->pointers[0];
    write_pack(fixture, &pack);
    assert_int_equal(section_count(&pack, MF_PACK_ARTIFACTS), 3);
    assert_int_equal(section_count(&pack, MF_PACK_BLOBS), 2);
    struct kiln_bundle *bundle = open_memory(pack.data, pack.size_bytes);
    assert_int_equal(fuzz_modules(bundle), 3);
    kiln_bundle_close(&bundle);
    mf_buffer_release(&pack);
}

static void test_writer_refuses(void **state) {
    struct fixture *fixture = *state;
    struct mf_buffer pack = {0};
    struct kiln_error error = {0};
    struct mf_artifact *artifacts = fixture->made.artifacts;
    const struct mf_manifest *manifest = &fixture->made.manifest;
    fixture->modules[2].data[40] ^= 1;
    assert_int_equal(mf_pack_write(manifest, fixture->pointers, &pack, &error), KILN_ERR_HASH);
    assert_non_null(strstr(error.message, artifacts[2].name));
    fixture->modules[2].data[40] ^= 1;
    artifacts[1].size_bytes += 4;
    assert_int_equal(mf_pack_write(manifest, fixture->pointers, &pack, &error), KILN_ERR_HASH);
    artifacts[1].size_bytes -= 4;
    const char *name = artifacts[0].name;
    artifacts[0].name = artifacts[1].name;
    assert_int_equal(mf_pack_write(manifest, fixture->pointers, &pack, &error), KILN_ERR_ARGUMENT);
    artifacts[0].name = name;
    assert_null(pack.data);
    assert_int_equal(mf_pack_write(manifest, fixture->pointers, &pack, &error), KILN_OK);
    mf_buffer_release(&pack);
}

/* ---- damage ---- */

static void test_every_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < golden.size_bytes; i++) {
        struct kiln_error error = {0};
        golden.data[i] = (char)(golden.data[i] ^ (1 << i % 8));
        enum kiln_result result = open_exactly(golden.data, golden.size_bytes, &error);
        enum kiln_result expected = i < MF_PACK_AT_FORMAT     ? KILN_ERR_FORMAT
                                    : i < MF_PACK_AT_SIZE     ? KILN_ERR_VERSION
                                    : i < MF_PACK_AT_SECTIONS ? KILN_ERR_FORMAT
                                                              : KILN_ERR_HASH;
        /* Version 1 with its lowest bit off is 0: damaged, but not newer. */
        if (result != expected && !(i == MF_PACK_AT_FORMAT && result == KILN_ERR_HASH)) {
            fail_msg("byte %zu: %s: %s", i, kiln_result_string(result), error.message);
        }
        golden.data[i] = (char)(golden.data[i] ^ (1 << i % 8));
    }
}

/* With the hash made right: whatever opens holds together (LLVMFuzzerTestOneInput says how). */
static void test_every_byte_sealed(void **state) {
    static const uint8_t masks[] = {0x01, 0x02, 0x80, 0xff};
    (void)state;
    for (size_t i = 0; i < golden.size_bytes; i++) {
        for (size_t j = 0; j < sizeof masks; j++) {
            golden.data[i] = (char)(golden.data[i] ^ masks[j]);
            LLVMFuzzerTestOneInput((const uint8_t *)golden.data, golden.size_bytes);
            golden.data[i] = (char)(golden.data[i] ^ masks[j]);
        }
    }
}

static void test_every_length(void **state) {
    (void)state;
    for (size_t size = 0; size < golden.size_bytes; size++) {
        expect(golden.data, size, KILN_ERR_FORMAT, "pack in memory: ");
        LLVMFuzzerTestOneInput((const uint8_t *)golden.data, size);
    }
    char *longer = calloc(1, golden.size_bytes + 16);
    memcpy(longer, golden.data, golden.size_bytes);
    expect(longer, golden.size_bytes + 1, KILN_ERR_FORMAT, "its header states");
    fuzz_seal((uint8_t *)longer, golden.size_bytes + 16);
    expect(longer, golden.size_bytes + 16, KILN_ERR_FORMAT, "its end before the hash");
    free(longer);
}

/* The golden pack with one number changed and the hash made right. */
static void expect_u64(size_t offset, uint64_t value, enum kiln_result expected,
                       const char *words) {
    uint8_t *copy = malloc(golden.size_bytes);
    memcpy(copy, golden.data, golden.size_bytes);
    mf_pack_put_u64(copy + offset, value);
    struct mf_hash hash = mf_pack_hash(copy, golden.size_bytes);
    memcpy(copy + golden.size_bytes - MF_HASH_BYTES, hash.bytes, MF_HASH_BYTES);
    expect(copy, golden.size_bytes, expected, words);
    free(copy);
}

static size_t entry_of(enum mf_pack_section section) {
    return MF_PACK_HEADER_BYTES + ((size_t)section - 1) * MF_PACK_ENTRY_BYTES;
}

static void test_header(void **state) {
    const uint64_t one = 1;
    (void)state;
    expect("", 0, KILN_ERR_FORMAT, "not a kiln pack");
    expect_u64(MF_PACK_AT_FORMAT, 2 | one << 32, KILN_ERR_VERSION, "format 2");
    expect_u64(MF_PACK_AT_FORMAT, 1 | one << 33, KILN_ERR_VERSION, "abi 2");
    expect_u64(MF_PACK_AT_FORMAT, one << 32, KILN_ERR_FORMAT, "from 1");
    expect_u64(MF_PACK_AT_SIZE, one << 63, KILN_ERR_FORMAT, "9223372036854775808");
    /* The padding behind the table of contents. */
    expect_u64(MF_PACK_HEADER_BYTES + MF_PACK_SECTION_COUNT * MF_PACK_ENTRY_BYTES, 1,
               KILN_ERR_FORMAT, "texts[0]: expected a section behind");
    expect_u64(MF_PACK_AT_SECTIONS, 16, KILN_ERR_FORMAT, "17 sections");
    expect_u64(MF_PACK_AT_SECTIONS, 17 | one << 32, KILN_ERR_FORMAT, "then 0");
}

static void test_contents(void **state) {
    const unsigned char *bytes = (const unsigned char *)golden.data;
    const uint64_t huge = (uint64_t)1 << 63;
    (void)state;
    for (uint32_t i = MF_PACK_TEXTS; i <= MF_PACK_DATA; i++) {
        size_t entry = entry_of((enum mf_pack_section)i);
        uint64_t kind = mf_pack_u64(bytes + entry);
        uint64_t offset = mf_pack_u64(bytes + entry + 8);
        uint64_t size = mf_pack_u64(bytes + entry + 16);
        const char *words = "a section behind the one before it";
        expect_u64(entry, kind ^ 3, KILN_ERR_FORMAT, words);        /* another section */
        expect_u64(entry + 8, offset - 16, KILN_ERR_FORMAT, words); /* overlapping */
        expect_u64(entry + 8, offset + 16, KILN_ERR_FORMAT, words); /* a gap */
        expect_u64(entry + 8, huge, KILN_ERR_FORMAT, words);
        expect_u64(entry + 16, huge, KILN_ERR_FORMAT, words);
        expect_u64(entry + 16, UINT64_MAX, KILN_ERR_FORMAT, words);
        expect_u64(entry + 16, size + 16, KILN_ERR_FORMAT, ": expected ");
        /* A count of 2^32 - 1; that of the dictionary is its size in memory. */
        expect_u64(entry, kind | (uint64_t)UINT32_MAX << 32,
                   i == MF_PACK_DICTIONARY ? KILN_ERR_LIMIT : KILN_ERR_FORMAT, ": expected ");
    }
}

/* Rows of the golden pack that break a rule each. */
static void test_rows(void **state) {
    static const struct {
        enum mf_pack_section section;
        size_t word;
        uint64_t value; /* of this word and the next */
        enum kiln_result expected;
        const char *words;
    } rows[] = {
        {MF_PACK_TEXT_LISTS, 0, UINT32_MAX, KILN_ERR_FORMAT, "text lists[0]: expected no more"},
        {MF_PACK_TEXT_LISTS, 0, 0, KILN_ERR_FORMAT, "text lists["},
        {MF_PACK_AXES, 1, UINT64_C(0x100000001), KILN_ERR_FORMAT, "axes[0]: expected"},
        {MF_PACK_LIMITS, 2, UINT64_C(0x100000000), KILN_ERR_FORMAT, "limits from 1"},
        {MF_PACK_GRIDS, 0, UINT32_MAX, KILN_ERR_FORMAT, "grids[0]: expected the number of a list"},
        {MF_PACK_REQUIRES, MF_PACK_REQUIRES_LOCAL_SIZE, 0, KILN_ERR_FORMAT, "a local size from 1"},
        {MF_PACK_REQUIRES, MF_PACK_REQUIRES_SUBGROUP_SIZE, 33, KILN_ERR_FORMAT, "a power of two"},
        {MF_PACK_TOLERANCES, MF_PACK_TOLERANCE_REL, UINT64_C(0x7ff8000000000000), KILN_ERR_FORMAT,
         "a finite bound"},
        {MF_PACK_TOLERANCES, MF_PACK_TOLERANCE_REL, UINT64_C(0x7ff0000000000000), KILN_ERR_FORMAT,
         "a finite bound"},
        {MF_PACK_ARTIFACTS, MF_PACK_ARTIFACT_NAME, UINT32_MAX, KILN_ERR_FORMAT,
         "artifacts[0]: expected the number of a text"},
        {MF_PACK_ARTIFACTS, MF_PACK_ARTIFACT_GRID, UINT32_MAX, KILN_ERR_FORMAT,
         "the number of a row"},
        {MF_PACK_ARTIFACTS, MF_PACK_ARTIFACT_BLOB, 3, KILN_ERR_FORMAT, "the number of a row"},
        {MF_PACK_ARTIFACTS, MF_PACK_ARTIFACT_PUSH, 1, KILN_ERR_FORMAT, "required push bytes"},
        {MF_PACK_EXCLUDED, 0, UINT32_MAX, KILN_ERR_FORMAT, "excluded[0]"},
        {MF_PACK_BLOBS, MF_PACK_BLOB_PACKED_BYTES, UINT32_MAX, KILN_ERR_FORMAT,
         "blobs[0]: expected its bytes inside the data"},
        {MF_PACK_BLOBS, MF_PACK_BLOB_SIZE_BYTES, UINT32_MAX, KILN_ERR_FORMAT, "a size from 20"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const unsigned char *bytes = (const unsigned char *)golden.data;
        size_t offset = (size_t)mf_pack_u64(bytes + entry_of(rows[i].section) + 8);
        expect_u64(offset + 4 * rows[i].word, rows[i].value, rows[i].expected, rows[i].words);
    }
}

/* The second element of a section's first list named as the first. */
static void test_names_once(void **state) {
    static const struct {
        enum mf_pack_section section;
        size_t name; /* its word in an element */
        enum kiln_result expected;
        const char *words;
    } lists[] = {
        {MF_PACK_AXES, 0, KILN_ERR_FORMAT, "axes[0]: expected ascending names"},
        {MF_PACK_BINDINGS, 2, KILN_ERR_DUPLICATE, "bindings[0]: expected each name once"},
        {MF_PACK_PUSH, 0, KILN_ERR_DUPLICATE, "push[0]: expected each name once"},
        {MF_PACK_LIMITS, 0, KILN_ERR_FORMAT, "artifacts[0]: expected limits in order"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const unsigned char *bytes = (const unsigned char *)golden.data;
        size_t first =
            (size_t)mf_pack_u64(bytes + entry_of(lists[i].section) + 8) + 4 * (1 + lists[i].name);
        size_t second = first + 4 * (size_t)mf_pack_section_words(lists[i].section);
        expect_u64(second,
                   mf_pack_u32(bytes + first) | (uint64_t)mf_pack_u32(bytes + second + 4) << 32,
                   lists[i].expected, lists[i].words);
    }
}

/* Damage that opening does not look at: each has its own error when the module is asked for. */
static void test_modules(void **state) {
    static const struct {
        enum mf_pack_section section;
        size_t offset;
        enum kiln_result expected;
        const char *words;
    } places[] = {
        {MF_PACK_DATA, 0, KILN_ERR_FORMAT, "does not expand"},
        {MF_PACK_DICTIONARY, 0, KILN_ERR_FORMAT, "the dictionary: damaged"},
        {MF_PACK_BLOBS, 4 * MF_PACK_BLOB_SIZE_BYTES, KILN_ERR_FORMAT, "does not expand"},
        {MF_PACK_BLOBS, 4 * MF_PACK_BLOB_CONTENT, KILN_ERR_HASH, "content hash"},
        {MF_PACK_ARTIFACTS, 4 * MF_PACK_ARTIFACT_IFACE, KILN_ERR_HASH, "its interface"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        uint8_t *copy = malloc(golden.size_bytes);
        struct kiln_module module = {0};
        struct kiln_error error = {0};
        memcpy(copy, golden.data, golden.size_bytes);
        copy[mf_pack_u64(copy + entry_of(places[i].section) + 8) + places[i].offset] ^= 4;
        fuzz_seal(copy, golden.size_bytes);
        struct kiln_bundle *bundle = open_memory(copy, golden.size_bytes);
        enum kiln_result result =
            kiln_bundle_module(bundle, kiln_bundle_artifact(bundle, 0), &module, &error);
        if (result != places[i].expected || !strstr(error.message, places[i].words)) {
            fail_msg("%zu: %s: %s", i, kiln_result_string(result), error.message);
        }
        assert_null(module.words);
        kiln_bundle_close(&bundle);
        free(copy);
    }
}

/* ---- threads ---- */

static void *expand_all(void *argument) {
    return (void *)(uintptr_t)fuzz_modules(argument);
}

static void test_threads(void **state) {
    pthread_t threads[4];
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct kiln_bundle *bundle = open_memory(golden.data, golden.size_bytes);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, expand_all, bundle), 0);
        }
        for (size_t i = 0; i < 4; i++) {
            void *whole = NULL;
            assert_int_equal(pthread_join(threads[i], &whole), 0);
            assert_int_equal((uintptr_t)whole, LOADER_ARTIFACT_COUNT);
        }
        kiln_bundle_close(&bundle);
    }
}

/* ---- relative words ---- */

/* OpTypeInt 1, OpConstant 3 of type 1, OpIAdd 7 = 3 + 1, by hand from FORMAT.md. */
static void test_relative_by_hand(void **state) {
    const uint32_t plain[] = {0x07230203, 0x10300, 0, 8, 0,       0x40015, 1, 32, 0,
                              0x4002b,    1,       3, 5, 0x50080, 1,       7, 3,  1};
    const uint32_t relative[] = {0x07230203, 0x10300, 0, 8, 0,       0x40015, 1, 32, 0,
                                 0x4002b,    1,       2, 5, 0x50080, 1,       4, 0,  2};
    uint32_t words[18];
    (void)state;
    _Static_assert(sizeof words == sizeof plain && sizeof words == sizeof relative, "18 words");
    memcpy(words, plain, sizeof words);
    mf_relative_encode(words, 18);
    assert_memory_equal(words, relative, sizeof words);
    mf_relative_decode(words, 18);
    assert_memory_equal(words, plain, sizeof words);
}

/* Any words at all, instructions of any length among them. */
static void test_relative_bijection(void **state) {
    uint64_t random = 1;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint32_t words[64];
        uint32_t copy[64];
        for (size_t i = 0; i < 64; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            words[i] = (uint32_t)(random >> 32);
            if (words[i] % 3 != 0) { /* something like an instruction */
                words[i] = (words[i] >> 8 & 7) << 16 | (words[i] >> 12 & 511);
            }
        }
        memcpy(copy, words, sizeof copy);
        mf_relative_encode(words, (size_t)(round % 65));
        mf_relative_decode(words, (size_t)(round % 65));
        assert_memory_equal(words, copy, sizeof copy);
    }
}

/* ---- time: printed, not judged ---- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void test_time(void **state) {
    enum { COUNT = 1000, ROUNDS = 20 };
    static struct mf_artifact artifacts[COUNT];
    static char names[COUNT][96];
    static const struct mf_buffer *pointers[COUNT];
    const struct fixture *fixture = *state;
    struct mf_manifest manifest = fixture->made.manifest;
    struct mf_buffer pack = {0};
    struct mf_buffer json = {0};
    double best[2] = {1e9, 1e9};
    for (size_t i = 0; i < COUNT; i++) {
        artifacts[i] = fixture->made.artifacts[i % LOADER_ARTIFACT_COUNT];
        snprintf(names[i], sizeof names[i], "a%04zu__q4_k_f32__any__row_w64r2__subgroup", i);
        artifacts[i].name = artifacts[i].file = names[i];
        pointers[i] = fixture->pointers[i % LOADER_ARTIFACT_COUNT];
    }
    manifest.artifacts = artifacts;
    manifest.artifact_count = COUNT;
    manifest.exclusion_count = 0;
    assert_int_equal(mf_pack_write(&manifest, pointers, &pack, NULL), KILN_OK);
    for (size_t i = 0; i < ROUNDS; i++) {
        double begin = seconds();
        struct kiln_bundle *bundle = open_memory(pack.data, pack.size_bytes);
        double end = seconds();
        best[0] = end - begin < best[0] ? end - begin : best[0];
        assert_int_equal(kiln_bundle_artifact_count(bundle), COUNT);
        if (i == 0) {
            assert_int_equal(mf_manifest_write(kiln_bundle_manifest(bundle), &json, NULL), KILN_OK);
        } else if (i < 3) {
            struct mf_manifest parsed;
            begin = seconds();
            assert_int_equal(mf_manifest_parse(json.data, json.size_bytes, "json", &parsed, NULL),
                             KILN_OK);
            end = seconds();
            best[1] = end - begin < best[1] ? end - begin : best[1];
            mf_manifest_release(&parsed);
        }
        kiln_bundle_close(&bundle);
    }
    print_message("%d artifacts: pack opened in %.3f ms, manifest parsed in %.3f ms\n", COUNT,
                  1e3 * best[0], 1e3 * best[1]);
    mf_buffer_release(&pack);
    mf_buffer_release(&json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_golden_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_golden_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_artifacts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_equal_modules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_writer_refuses, set_up, tear_down),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_every_byte_sealed),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_names_once),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_relative_by_hand),
        cmocka_unit_test(test_relative_bijection),
        cmocka_unit_test_setup_teardown(test_time, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("pack", tests, load_golden, release_golden);
}
