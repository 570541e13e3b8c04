/* SPDX-License-Identifier: MIT */
#include "gs_fresh.h"

#include "gs_record.h"
#include "mf_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAGIC "kiln-run 1"
#define FILE_LIMIT_BYTES ((size_t)256 << 20)
#define TREE_DEPTH_LIMIT 32

static bool file_hash(const char *path, struct mf_hash *hash) {
    struct mf_buffer content = {0};
    bool read = mf_file_read(path, FILE_LIMIT_BYTES, &content, NULL) == KILN_OK;
    if (read) {
        *hash = mf_hash_bytes(MF_HASH_FILE, content.data, content.size_bytes);
    }
    mf_buffer_release(&content);
    return read;
}

static int entry_compare(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool tree_add(struct mf_hash_state *state, const char *root, const char *inner, int depth);

static bool entry_add(struct mf_hash_state *state, const char *root, const char *inner,
                      const struct dirent *entry, int depth) {
    char path[PATH_MAX], full[PATH_MAX];
    struct mf_hash hash;
    int length = snprintf(path, sizeof path, "%s/%s", inner, entry->d_name);
    int full_length = snprintf(full, sizeof full, "%s%s", root, path);
    if (length >= PATH_MAX || full_length >= PATH_MAX) {
        return false;
    }
    mf_hash_add_string(state, path);
    if (entry->d_type == DT_DIR) {
        return tree_add(state, root, path, depth + 1);
    }
    if (entry->d_type != DT_REG || !file_hash(full, &hash)) {
        return false;
    }
    mf_hash_add(state, hash.bytes, sizeof hash.bytes);
    return true;
}

/* Adds every path below root/inner and every content, in the order of names. */
static bool tree_add(struct mf_hash_state *state, const char *root, const char *inner, int depth) {
    char directory[PATH_MAX];
    struct dirent **entries = NULL;
    bool added = depth < TREE_DEPTH_LIMIT &&
                 snprintf(directory, sizeof directory, "%s%s", root, inner) < PATH_MAX;
    int count = added ? scandir(directory, &entries, NULL, entry_compare) : -1;
    added = count >= 0;
    for (int i = 0; i < count; i++) {
        bool self = strcmp(entries[i]->d_name, ".") == 0 || strcmp(entries[i]->d_name, "..") == 0;
        added = added && (self || entry_add(state, root, inner, entries[i], depth));
        free(entries[i]);
    }
    free(entries);
    return added;
}

/* The record belongs to a directory, however its path is written. */
static char *record_path(const struct gs_build_options *options, struct mf_arena *arena) {
    char text[MF_HASH_TEXT_BYTES];
    char *real = realpath(options->out, NULL);
    if (real == NULL) {
        return NULL;
    }
    struct mf_hash hash = mf_hash_bytes(MF_HASH_FILE, real, strlen(real));
    free(real);
    mf_hash_format(&hash, text);
    return mf_arena_format(arena, "%s/runs/%s", options->cache, text);
}

void gs_fresh_begin(const struct gs_build_options *options, const struct mf_hash *build,
                    struct gs_fresh *fresh) {
    struct mf_hash_state *state = NULL;
    *fresh = (struct gs_fresh){0};
    fresh->record_path = record_path(options, &fresh->arena);
    if (fresh->record_path == NULL || mf_hash_begin(MF_HASH_FILE, &state) != KILN_OK) {
        return;
    }
    mf_hash_add(state, build->bytes, sizeof build->bytes);
    mf_hash_add_u64(state, options->variant_budget);
    mf_hash_add_u64(state, options->size_budget_bytes);
    fresh->usable = tree_add(state, options->template_root, "", 0);
    fresh->inputs = mf_hash_end(&state);
}

void gs_fresh_release(struct gs_fresh *fresh) {
    mf_arena_release(&fresh->arena);
    *fresh = (struct gs_fresh){0};
}

static bool counts_parse(const char *line, struct gs_build_summary *summary) {
    return sscanf(line, "counts %zu %zu %" SCNu64, &summary->planned_count,
                  &summary->excluded_count, &summary->size_bytes) == 3;
}

static bool bundle_file_holds(const char *out, char *line) {
    struct mf_hash recorded, found;
    const char *name = NULL;
    char path[PATH_MAX];
    return gs_record_line(line, "file", &recorded, &name) &&
           snprintf(path, sizeof path, "%s/%s", out, name) < PATH_MAX && file_hash(path, &found) &&
           mf_hash_equal(&recorded, &found);
}

bool gs_fresh_check(const struct gs_fresh *fresh, const struct gs_build_options *options,
                    struct gs_build_summary *summary) {
    struct mf_buffer text = {0};
    struct gs_build_summary recorded = {0};
    struct mf_hash inputs;
    bool holds = false, ended = false;
    if (!fresh->usable ||
        mf_file_read(fresh->record_path, FILE_LIMIT_BYTES, &text, NULL) != KILN_OK ||
        text.data == NULL) {
        goto done;
    }
    char *state = NULL;
    char *line = strtok_r(text.data, "\n", &state);
    holds = line != NULL && strcmp(line, RECORD_MAGIC) == 0;
    line = holds ? strtok_r(NULL, "\n", &state) : NULL;
    holds = line != NULL && gs_record_line(line, "inputs", &inputs, NULL) &&
            mf_hash_equal(&inputs, &fresh->inputs);
    line = holds ? strtok_r(NULL, "\n", &state) : NULL;
    holds = line != NULL && counts_parse(line, &recorded);
    while (holds && !ended && (line = strtok_r(NULL, "\n", &state)) != NULL) {
        ended = strcmp(line, "end") == 0;
        holds = ended || bundle_file_holds(options->out, line);
    }

done:
    mf_buffer_release(&text);
    if (holds && ended) {
        recorded.reused_count = recorded.planned_count - recorded.excluded_count;
        *summary = recorded;
    }
    return holds && ended;
}

static enum kiln_result file_append(struct mf_buffer *text, const char *out, const char *name) {
    char path[PATH_MAX], hash_text[MF_HASH_TEXT_BYTES];
    struct mf_hash hash;
    if (snprintf(path, sizeof path, "%s/%s", out, name) >= PATH_MAX || !file_hash(path, &hash)) {
        return KILN_ERR_IO;
    }
    mf_hash_format(&hash, hash_text);
    return mf_buffer_append_format(text, "file %s %s\n", hash_text, name);
}

void gs_fresh_store(const struct gs_fresh *fresh, const struct gs_build_options *options,
                    const struct mf_manifest *manifest, const struct gs_build_summary *summary) {
    struct mf_buffer text = {0};
    char inputs[MF_HASH_TEXT_BYTES], directory[PATH_MAX];
    if (!fresh->usable ||
        snprintf(directory, sizeof directory, "%s/runs", options->cache) >= PATH_MAX ||
        mf_file_make_directory(directory, NULL) != KILN_OK) {
        return;
    }
    mf_hash_format(&fresh->inputs, inputs);
    enum kiln_result result = mf_buffer_append_format(
        &text, "%s\ninputs %s\ncounts %zu %zu %" PRIu64 "\n", RECORD_MAGIC, inputs,
        summary->planned_count, summary->excluded_count, summary->size_bytes);
    if (result == KILN_OK) {
        result = file_append(&text, options->out, "manifest.json");
    }
    for (size_t i = 0; i < manifest->artifact_count && result == KILN_OK; i++) {
        result = file_append(&text, options->out, manifest->artifacts[i].file);
    }
    if (result == KILN_OK) {
        result = mf_buffer_append_string(&text, "end\n");
    }
    if (result == KILN_OK) {
        mf_file_write(fresh->record_path, text.data, text.size_bytes, MF_VOLATILE, NULL, NULL);
    }
    mf_buffer_release(&text);
}
