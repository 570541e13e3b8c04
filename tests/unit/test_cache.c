/* SPDX-License-Identifier: MIT */
/*
 * The generator's cache: an entry comes back whole or not at all, whatever happened to its files,
 * and a stamp holds exactly as long as everything it names stands as recorded.
 */
#include "gs_cache.h"

#include "mf_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    char directory[160];
    char cache[256];
    char tree_path[256];
    struct gs_source_tree *tree;
    struct mf_arena arena;
};

static void text_write(const char *path, const char *text, size_t size_bytes) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

static void tree_write(const struct fixture *fixture, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture->tree_path, name);
    text_write(path, text, strlen(text));
}

static int fixture_make(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    const char *base = getenv("TMPDIR");
    snprintf(fixture->directory, sizeof fixture->directory, "%s/kiln-cache-XXXXXX",
             base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->cache, sizeof fixture->cache, "%s/ca che", fixture->directory);
    snprintf(fixture->tree_path, sizeof fixture->tree_path, "%s/tree", fixture->directory);
    assert_int_equal(mf_file_make_directory(fixture->tree_path, NULL), KILN_OK);
    assert_int_equal(gs_cache_prepare(fixture->cache, NULL), KILN_OK);
    tree_write(fixture, "a.comp", "a");
    tree_write(fixture, "b.glsl", "b");
    assert_int_equal(gs_source_open(fixture->tree_path, &fixture->tree, NULL), KILN_OK);
    *state = fixture;
    return 0;
}

static int fixture_remove(void **state) {
    struct fixture *fixture = *state;
    char command[256];
    gs_source_close(&fixture->tree);
    mf_arena_release(&fixture->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", fixture->directory);
    int status = system(command);
    free(fixture);
    return status;
}

static const char module_bytes[] = "\x03\x02\x23\x07 stand-in for a module. ";

/* The smallest artifact that the manifest's rules accept. */
static struct gs_object object_make(void) {
    static const char *const dtypes[] = {"f32"};
    static const char *const dims[] = {"count"};
    static const struct mf_binding bindings[] = {
        {0, 0, "y", MF_ACCESS_WRITE, MF_SCALAR_F32, 4},
    };
    struct gs_object object = {0};
    struct mf_artifact *artifact = &object.artifact;
    artifact->name = "scale__f32__any__flat__portable";
    artifact->family = artifact->kernel = "scale";
    artifact->dtypes = dtypes;
    artifact->dtype_count = 1;
    artifact->shape = "any";
    artifact->schedule = "flat";
    artifact->tier = "portable";
    artifact->file = "scale.spv";
    artifact->reference = "scale";
    artifact->tolerance.exact = true;
    artifact->tolerance.max_abs = artifact->tolerance.rel = artifact->tolerance.scale = -1.0;
    artifact->dims = dims;
    artifact->dim_count = 1;
    artifact->bindings = bindings;
    artifact->binding_count = 1;
    artifact->requires_.vulkan_major = 1;
    artifact->requires_.vulkan_minor = 1;
    artifact->requires_.spirv_major = 1;
    artifact->requires_.spirv_minor = 3;
    artifact->requires_.local_size[0] = 64;
    artifact->requires_.local_size[1] = artifact->requires_.local_size[2] = 1;
    artifact->size_bytes = sizeof module_bytes - 1;
    artifact->content = mf_hash_bytes(MF_HASH_CONTENT, module_bytes, sizeof module_bytes - 1);
    assert_int_equal(mf_artifact_interface_hash(artifact, &artifact->iface), KILN_OK);
    assert_int_equal(mf_buffer_append(&object.bytes, module_bytes, sizeof module_bytes - 1),
                     KILN_OK);
    return object;
}

static void object_paths(const struct fixture *fixture, const struct mf_hash *key, char *spv,
                         char *json, size_t capacity) {
    char text[MF_HASH_TEXT_BYTES];
    mf_hash_format(key, text);
    snprintf(spv, capacity, "%s/objects/%s.spv", fixture->cache, text);
    snprintf(json, capacity, "%s/objects/%s.json", fixture->cache, text);
}

/* Cuts the file at every length and flips a bit of every byte: never a whole entry. */
static void damage_everywhere(struct fixture *fixture, const struct mf_hash *key, const char *path,
                              bool flips_matter) {
    struct mf_buffer whole = {0};
    struct gs_object loaded;
    assert_int_equal(mf_file_read(path, 0, &whole, NULL), KILN_OK);
    for (size_t length = 0; length < whole.size_bytes; length++) {
        /* a final newline more or less is the same JSON */
        if (!flips_matter && length + 1 == whole.size_bytes) {
            continue;
        }
        text_write(path, whole.data, length);
        assert_false(gs_cache_load(fixture->cache, key, &fixture->arena, &loaded));
        assert_null(loaded.bytes.data);
    }
    for (size_t at = 0; at < whole.size_bytes && flips_matter; at++) {
        whole.data[at] = (char)(whole.data[at] ^ 1);
        text_write(path, whole.data, whole.size_bytes);
        assert_false(gs_cache_load(fixture->cache, key, &fixture->arena, &loaded));
        whole.data[at] = (char)(whole.data[at] ^ 1);
    }
    text_write(path, whole.data, whole.size_bytes);
    assert_true(gs_cache_load(fixture->cache, key, &fixture->arena, &loaded));
    mf_buffer_release(&loaded.bytes);
    mf_buffer_release(&whole);
}

static void test_objects(void **state) {
    struct fixture *fixture = *state;
    struct gs_object object = object_make(), loaded;
    struct mf_hash key = mf_hash_bytes(MF_HASH_RECIPE, "key", 3);
    struct mf_hash other = mf_hash_bytes(MF_HASH_RECIPE, "kez", 3);
    char spv[512], json[512];
    struct kiln_error error;
    assert_false(gs_cache_load(fixture->cache, &key, &fixture->arena, &loaded));
    enum kiln_result result = gs_cache_store(fixture->cache, &key, &object, &error);
    if (result != KILN_OK) {
        print_message("%s\n", error.message);
    }
    assert_int_equal(result, KILN_OK);
    assert_false(gs_cache_load(fixture->cache, &other, &fixture->arena, &loaded));
    assert_true(gs_cache_load(fixture->cache, &key, &fixture->arena, &loaded));
    assert_int_equal(loaded.bytes.size_bytes, sizeof module_bytes - 1);
    assert_memory_equal(loaded.bytes.data, module_bytes, sizeof module_bytes - 1);
    assert_int_equal(loaded.artifact.requires_.local_size[0], 64);
    assert_string_equal(loaded.artifact.bindings[0].name, "y");
    mf_buffer_release(&loaded.bytes);

    object_paths(fixture, &key, spv, json, sizeof spv);
    damage_everywhere(fixture, &key, spv, true);
    damage_everywhere(fixture, &key, json, false);
    assert_int_equal(remove(json), 0);
    assert_false(gs_cache_load(fixture->cache, &key, &fixture->arena, &loaded));
    mf_buffer_release(&object.bytes);
}

struct stamped {
    struct gs_stamp stamp;
    const struct gs_source_file *files[3];
};

static void stamp_make(struct fixture *fixture, struct stamped *stamped) {
    static const char *const paths[] = {"a.comp", "none.glsl", "b.glsl"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(gs_source_get(fixture->tree, paths[i], &stamped->files[i], NULL), KILN_OK);
    }
    stamped->stamp = (struct gs_stamp){
        .build = mf_hash_bytes(MF_HASH_FILE, "build", 5),
        .variant = mf_hash_bytes(MF_HASH_RECIPE, "variant", 7),
        .key = mf_hash_bytes(MF_HASH_RECIPE, "key", 3),
        .files = stamped->files,
        .file_count = 3,
    };
    assert_int_equal(gs_stamp_store(fixture->cache, "name", &stamped->stamp, NULL), KILN_OK);
}

static bool stamp_holds(struct fixture *fixture, const struct gs_stamp *stamp) {
    struct mf_hash key;
    bool holds =
        gs_stamp_check(fixture->cache, "name", &stamp->build, &stamp->variant, fixture->tree, &key);
    assert_true(!holds || mf_hash_equal(&key, &stamp->key));
    return holds;
}

static bool stamp_holds_afresh(struct fixture *fixture, const struct gs_stamp *stamp) {
    gs_source_close(&fixture->tree);
    assert_int_equal(gs_source_open(fixture->tree_path, &fixture->tree, NULL), KILN_OK);
    return stamp_holds(fixture, stamp);
}

static void test_stamps(void **state) {
    struct fixture *fixture = *state;
    struct stamped stamped;
    char path[512];
    stamp_make(fixture, &stamped);
    struct gs_stamp other = stamped.stamp;
    assert_true(stamp_holds(fixture, &stamped.stamp));
    other.build.bytes[15] ^= 1;
    assert_false(stamp_holds(fixture, &other));
    other = stamped.stamp;
    other.variant.bytes[0] ^= 1;
    assert_false(stamp_holds(fixture, &other));

    tree_write(fixture, "b.glsl", "c"); /* same size, same moment */
    assert_false(stamp_holds_afresh(fixture, &stamped.stamp));
    tree_write(fixture, "b.glsl", "b");
    assert_true(stamp_holds_afresh(fixture, &stamped.stamp));
    tree_write(fixture, "none.glsl", "");
    assert_false(stamp_holds_afresh(fixture, &stamped.stamp));
    snprintf(path, sizeof path, "%s/none.glsl", fixture->tree_path);
    assert_int_equal(remove(path), 0);
    assert_true(stamp_holds_afresh(fixture, &stamped.stamp));
    snprintf(path, sizeof path, "%s/a.comp", fixture->tree_path);
    assert_int_equal(remove(path), 0);
    assert_false(stamp_holds_afresh(fixture, &stamped.stamp));
}

static void test_damaged_stamps(void **state) {
    struct fixture *fixture = *state;
    struct stamped stamped;
    struct mf_buffer whole = {0};
    char path[512];
    stamp_make(fixture, &stamped);
    /* Without the absent file, whose name could turn into that of another absent file. */
    stamped.files[1] = stamped.files[2];
    stamped.stamp.file_count = 2;
    assert_int_equal(gs_stamp_store(fixture->cache, "name", &stamped.stamp, NULL), KILN_OK);
    snprintf(path, sizeof path, "%s/stamps/name", fixture->cache);
    assert_int_equal(mf_file_read(path, 0, &whole, NULL), KILN_OK);
    for (size_t length = 0; length + 1 < whole.size_bytes; length++) {
        text_write(path, whole.data, length);
        assert_false(stamp_holds(fixture, &stamped.stamp));
    }
    for (size_t at = 0; at + 1 < whole.size_bytes; at++) {
        char kept = whole.data[at];
        struct mf_hash key;
        whole.data[at] = (char)(kept ^ 4);
        text_write(path, whole.data, whole.size_bytes);
        bool holds = gs_stamp_check(fixture->cache, "name", &stamped.stamp.build,
                                    &stamped.stamp.variant, fixture->tree, &key);
        /* another key is the one thing a flipped digit may give: no such object then */
        assert_false(holds && mf_hash_equal(&key, &stamped.stamp.key));
        whole.data[at] = kept;
    }
    mf_buffer_release(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_objects, fixture_make, fixture_remove),
        cmocka_unit_test_setup_teardown(test_stamps, fixture_make, fixture_remove),
        cmocka_unit_test_setup_teardown(test_damaged_stamps, fixture_make, fixture_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
