/* SPDX-License-Identifier: MIT */
#include "gs_cache.h"

#include "gs_record.h"
#include "mf_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define STAMP_MAGIC "kiln-stamp 1"
#define OBJECT_LIMIT_BYTES ((size_t)64 << 20)

enum kiln_result gs_cache_prepare(const char *cache, struct kiln_error *error) {
    static const char *const parts[] = {"objects", "stamps"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", cache, parts[i]);
        enum kiln_result result = mf_file_make_directory(path, error);
        if (result != KILN_OK) {
            return result;
        }
    }
    return KILN_OK;
}

static void object_path(const char *cache, const struct mf_hash *key, const char *suffix,
                        char path[PATH_MAX]) {
    char text[MF_HASH_TEXT_BYTES];
    mf_hash_format(key, text);
    snprintf(path, PATH_MAX, "%s/objects/%s.%s", cache, text, suffix);
}

bool gs_cache_load(const char *cache, const struct mf_hash *key, struct mf_arena *arena,
                   struct gs_object *object) {
    char path[PATH_MAX];
    struct mf_buffer json = {0};
    bool whole = false;
    *object = (struct gs_object){0};
    object_path(cache, key, "json", path);
    if (mf_file_read(path, OBJECT_LIMIT_BYTES, &json, NULL) != KILN_OK ||
        mf_artifact_parse(json.data, json.size_bytes, path, arena, &object->artifact, NULL) !=
            KILN_OK) {
        goto done;
    }
    object_path(cache, key, "spv", path);
    if (mf_file_read(path, OBJECT_LIMIT_BYTES, &object->bytes, NULL) != KILN_OK) {
        goto done;
    }
    struct mf_hash content =
        mf_hash_bytes(MF_HASH_CONTENT, object->bytes.data, object->bytes.size_bytes);
    whole = object->bytes.size_bytes == object->artifact.size_bytes &&
            mf_hash_equal(&content, &object->artifact.content);

done:
    mf_buffer_release(&json);
    if (!whole) {
        mf_buffer_release(&object->bytes);
        *object = (struct gs_object){0};
    }
    return whole;
}

enum kiln_result gs_cache_store(const char *cache, const struct mf_hash *key,
                                const struct gs_object *object, struct kiln_error *error) {
    char path[PATH_MAX];
    struct mf_buffer json = {0};
    object_path(cache, key, "spv", path);
    enum kiln_result result =
        mf_file_write(path, object->bytes.data, object->bytes.size_bytes, MF_VOLATILE, NULL, error);
    if (result == KILN_OK) {
        result = mf_artifact_write(&object->artifact, &json, error);
    }
    if (result == KILN_OK) {
        object_path(cache, key, "json", path);
        result = mf_file_write(path, json.data, json.size_bytes, MF_VOLATILE, NULL, error);
    }
    mf_buffer_release(&json);
    return result;
}

static void stamp_path(const char *cache, const char *name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/stamps/%s", cache, name);
}

/* The file must stand as recorded: same hash, or still absent (recorded as an all-zero hash). */
static bool stamp_file_holds(char *line, struct gs_source_tree *tree) {
    struct mf_hash recorded;
    const char *path = NULL;
    const struct gs_source_file *file = NULL;
    return gs_record_line(line, "file", &recorded, &path) &&
           gs_source_get(tree, path, &file, NULL) == KILN_OK &&
           mf_hash_equal(&recorded, &file->hash);
}

bool gs_stamp_check(const char *cache, const char *name, const struct mf_hash *build,
                    const struct mf_hash *variant, struct gs_source_tree *tree,
                    struct mf_hash *key) {
    char path[PATH_MAX];
    struct mf_buffer text = {0};
    bool holds = false, ended = false;
    stamp_path(cache, name, path);
    if (mf_file_read(path, OBJECT_LIMIT_BYTES, &text, NULL) != KILN_OK || text.data == NULL) {
        goto done;
    }
    char *state = NULL;
    char *line = strtok_r(text.data, "\n", &state);
    struct mf_hash found;
    holds = line != NULL && strcmp(line, STAMP_MAGIC) == 0;
    line = holds ? strtok_r(NULL, "\n", &state) : NULL;
    holds =
        line != NULL && gs_record_line(line, "build", &found, NULL) && mf_hash_equal(&found, build);
    line = holds ? strtok_r(NULL, "\n", &state) : NULL;
    holds = line != NULL && gs_record_line(line, "variant", &found, NULL) &&
            mf_hash_equal(&found, variant);
    line = holds ? strtok_r(NULL, "\n", &state) : NULL;
    holds = line != NULL && gs_record_line(line, "key", key, NULL);
    while (holds && !ended && (line = strtok_r(NULL, "\n", &state)) != NULL) {
        ended = strcmp(line, "end") == 0;
        holds = ended || stamp_file_holds(line, tree);
    }

done:
    mf_buffer_release(&text);
    return holds && ended;
}

enum kiln_result gs_stamp_store(const char *cache, const char *name, const struct gs_stamp *stamp,
                                struct kiln_error *error) {
    char path[PATH_MAX], build[MF_HASH_TEXT_BYTES], variant[MF_HASH_TEXT_BYTES],
        key[MF_HASH_TEXT_BYTES];
    struct mf_buffer text = {0};
    mf_hash_format(&stamp->build, build);
    mf_hash_format(&stamp->variant, variant);
    mf_hash_format(&stamp->key, key);
    enum kiln_result result = mf_buffer_append_format(&text, "%s\nbuild %s\nvariant %s\nkey %s\n",
                                                      STAMP_MAGIC, build, variant, key);
    for (size_t i = 0; i < stamp->file_count; i++) {
        char hash[MF_HASH_TEXT_BYTES];
        mf_hash_format(&stamp->files[i]->hash, hash);
        result = mf_buffer_append_format(&text, "file %s %s\n", hash, stamp->files[i]->path);
    }
    result = mf_buffer_append_string(&text, "end\n");
    if (result == KILN_OK) {
        stamp_path(cache, name, path);
        result = mf_file_write(path, text.data, text.size_bytes, MF_VOLATILE, NULL, error);
    }
    mf_buffer_release(&text);
    return result;
}
