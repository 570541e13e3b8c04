/* SPDX-License-Identifier: MIT */
#include "gs_source.h"

#include "mf_file.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT_BYTES ((size_t)16 << 20)

struct source_entry {
    struct gs_source_file file;
    struct mf_buffer content;
    enum kiln_result result;
    char message[KILN_ERROR_MESSAGE_BYTES];
};

struct gs_source_tree {
    pthread_mutex_t mutex;
    struct mf_arena arena;
    char *root;
    char *real_root;
    struct source_entry **entries; /* sorted by path */
    size_t count, capacity;
};

enum kiln_result gs_source_open(const char *root, struct gs_source_tree **tree,
                                struct kiln_error *error) {
    *tree = NULL;
    char *real_root = realpath(root, NULL);
    if (real_root == NULL) {
        return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: no such template directory", root);
    }
    struct gs_source_tree *made = calloc(1, sizeof *made);
    if (made == NULL || pthread_mutex_init(&made->mutex, NULL) != 0) {
        free(made);
        free(real_root);
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    made->real_root = real_root;
    made->root = mf_arena_string(&made->arena, root);
    if (made->root == NULL) {
        gs_source_close(&made);
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    size_t length = strlen(made->root);
    while (length > 1 && made->root[length - 1] == '/') {
        made->root[--length] = 0;
    }
    *tree = made;
    return KILN_OK;
}

void gs_source_close(struct gs_source_tree **tree) {
    struct gs_source_tree *closing = *tree;
    if (closing == NULL) {
        return;
    }
    for (size_t i = 0; i < closing->count; i++) {
        mf_buffer_release(&closing->entries[i]->content);
    }
    free(closing->entries);
    free(closing->real_root);
    mf_arena_release(&closing->arena);
    pthread_mutex_destroy(&closing->mutex);
    free(closing);
    *tree = NULL;
}

const char *gs_source_root(const struct gs_source_tree *tree) {
    return tree->root;
}

/* A link inside the tree may not lead out of it: the resolved path must stay below the root. */
static enum kiln_result source_check_inside(const struct gs_source_tree *tree, const char *label,
                                            struct kiln_error *error) {
    char *real = realpath(label, NULL);
    if (real == NULL) {
        return KILN_ERR_NOT_FOUND;
    }
    size_t length = strlen(tree->real_root);
    bool inside = strncmp(real, tree->real_root, length) == 0 &&
                  (real[length] == '/' || strcmp(tree->real_root, "/") == 0);
    free(real);
    return inside ? KILN_OK
                  : kiln_error_set(error, KILN_ERR_PATH, "%s: leads out of the template tree %s",
                                   label, tree->root);
}

static enum kiln_result source_load(struct gs_source_tree *tree, struct source_entry *entry) {
    struct kiln_error error = {KILN_OK, ""};
    enum kiln_result result = source_check_inside(tree, entry->file.label, &error);
    if (result == KILN_OK) {
        result = mf_file_read(entry->file.label, SOURCE_LIMIT_BYTES, &entry->content, &error);
    }
    if (result == KILN_ERR_NOT_FOUND) {
        return KILN_OK;
    }
    if (result == KILN_OK) {
        const char *text = entry->content.data != NULL ? entry->content.data : "";
        if (strlen(text) != entry->content.size_bytes) {
            result = kiln_error_set(&error, KILN_ERR_FORMAT, "%s: holds a zero byte: not GLSL text",
                                    entry->file.label);
        } else {
            entry->file.text = text;
            entry->file.size_bytes = entry->content.size_bytes;
            entry->file.hash = mf_hash_bytes(MF_HASH_FILE, text, entry->content.size_bytes);
        }
    }
    memcpy(entry->message, error.message, sizeof entry->message);
    return result;
}

static size_t source_position(const struct gs_source_tree *tree, const char *path) {
    size_t low = 0, high = tree->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(tree->entries[middle]->file.path, path) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct source_entry *source_insert(struct gs_source_tree *tree, size_t position,
                                          const char *path) {
    if (tree->count == tree->capacity) {
        size_t capacity = tree->capacity ? tree->capacity * 2 : 64;
        struct source_entry **grown = realloc(tree->entries, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        tree->entries = grown;
        tree->capacity = capacity;
    }
    struct source_entry *entry = mf_arena_alloc(&tree->arena, 1, sizeof *entry);
    if (entry == NULL) {
        return NULL;
    }
    entry->file.path = mf_arena_string(&tree->arena, path);
    entry->file.label = mf_arena_format(&tree->arena, "%s/%s", tree->root, path);
    if (entry->file.path == NULL || entry->file.label == NULL) {
        return NULL;
    }
    memmove(tree->entries + position + 1, tree->entries + position,
            (tree->count - position) * sizeof *tree->entries);
    tree->entries[position] = entry;
    tree->count++;
    entry->result = source_load(tree, entry);
    return entry;
}

enum kiln_result gs_source_get(struct gs_source_tree *tree, const char *path,
                               const struct gs_source_file **file, struct kiln_error *error) {
    *file = NULL;
    enum kiln_result result = KILN_ERR_MEMORY;
    pthread_mutex_lock(&tree->mutex);
    size_t position = source_position(tree, path);
    struct source_entry *entry = NULL;
    if (position < tree->count && strcmp(tree->entries[position]->file.path, path) == 0) {
        entry = tree->entries[position];
    } else {
        entry = source_insert(tree, position, path);
    }
    if (entry != NULL) {
        result = entry->result;
    }
    pthread_mutex_unlock(&tree->mutex);
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "%s",
                              entry != NULL ? entry->message : "out of memory");
    }
    *file = &entry->file;
    return KILN_OK;
}

enum kiln_result gs_source_resolve(const char *includer, const char *name, char *out,
                                   size_t capacity, struct kiln_error *error) {
    const char *slash = strrchr(includer, '/');
    size_t base = slash != NULL ? (size_t)(slash - includer) : 0;
    size_t length = base;
    if (name[0] == '/' || base + strlen(name) + 2 > capacity) {
        return kiln_error_set(error, KILN_ERR_PATH,
                              "\"%s\": expected a relative path inside the "
                              "template tree",
                              name);
    }
    memcpy(out, includer, base);
    while (*name != 0) {
        size_t part = strcspn(name, "/");
        if (part == 2 && name[0] == '.' && name[1] == '.') {
            if (length == 0) {
                return kiln_error_set(error, KILN_ERR_PATH, "leaves the template tree");
            }
            while (length > 0 && out[length - 1] != '/') {
                length--;
            }
            length -= length > 0;
        } else if (part > 0 && !(part == 1 && name[0] == '.')) {
            if (length > 0) {
                out[length++] = '/';
            }
            memcpy(out + length, name, part);
            length += part;
        }
        name += part;
        name += *name == '/';
    }
    out[length] = 0;
    return KILN_OK;
}
