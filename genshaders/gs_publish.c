/* SPDX-License-Identifier: MIT */
#include "gs_publish.h"

#include "mf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum kiln_result gs_publish_lock(const char *out, int *handle, struct kiln_error *error) {
    *handle = -1;
    enum kiln_result result = mf_file_make_directory(out, error);
    if (result != KILN_OK) {
        return result;
    }
    int opened = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = opened >= 0 ? 0 : -1;
    while (opened >= 0 && (status = flock(opened, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (status != 0) {
        result = kiln_error_set(error, KILN_ERR_IO, "%s: cannot lock: %s", out, strerror(errno));
        if (opened >= 0) {
            close(opened);
        }
        return result;
    }
    *handle = opened;
    return KILN_OK;
}

void gs_publish_unlock(int *handle) {
    if (*handle >= 0) {
        close(*handle);
    }
    *handle = -1;
}

static int string_compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* <name>.<8 hex digits>.spv with anything behind it: a module, or one half-written. */
static bool name_is_module(const char *name) {
    const char *dot = strchr(name, '.');
    return dot != NULL && dot != name && strspn(dot + 1, "0123456789abcdef") == 8 &&
           strncmp(dot + 9, ".spv", 4) == 0 && (dot[13] == 0 || dot[13] == '.');
}

static bool name_is_stale(const char *name, char *const *kept, size_t kept_count) {
    if (strncmp(name, "manifest.json.", 14) == 0) {
        return true;
    }
    return name_is_module(name) &&
           bsearch(&name, kept, kept_count, sizeof *kept, string_compare) == NULL;
}

/* A pack older than the manifest is another bundle's; one that cannot be looked at stays. */
static bool pack_is_stale(const char *out, const char *name) {
    struct mf_file_stat pack;
    struct mf_file_stat manifest;
    char path[PATH_MAX];
    if (strcmp(name, "kernels.kiln") != 0) {
        return false;
    }
    snprintf(path, sizeof path, "%s/%s", out, name);
    if (mf_file_stat(path, &pack, NULL) != KILN_OK) {
        return false;
    }
    snprintf(path, sizeof path, "%s/manifest.json", out);
    return mf_file_stat(path, &manifest, NULL) == KILN_OK && pack.mtime_ns < manifest.mtime_ns;
}

/* Removes modules, half-written files and packs that are not of the manifest. */
static enum kiln_result stale_remove(const char *out, const struct mf_manifest *manifest,
                                     size_t *removed_count, struct kiln_error *error) {
    struct mf_arena arena = {0};
    char **names = NULL;
    size_t name_count = 0;
    enum kiln_result result = mf_file_list(out, false, &arena, &names, &name_count, error);
    char **kept = mf_arena_alloc(&arena, manifest->artifact_count + 1, sizeof *kept);
    if (result == KILN_OK && kept == NULL) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    if (result != KILN_OK) {
        goto done;
    }
    for (size_t i = 0; i < manifest->artifact_count; i++) {
        kept[i] = (char *)(uintptr_t)manifest->artifacts[i].file;
    }
    qsort(kept, manifest->artifact_count, sizeof *kept, string_compare);
    for (size_t i = 0; i < name_count && result == KILN_OK; i++) {
        char path[PATH_MAX];
        if (!name_is_stale(names[i], kept, manifest->artifact_count) &&
            !pack_is_stale(out, names[i])) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", out, names[i]);
        if (unlink(path) != 0 && errno != ENOENT) {
            result =
                kiln_error_set(error, KILN_ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
        }
        *removed_count += 1;
    }

done:
    mf_arena_release(&arena);
    return result;
}

static void written_undo(const char *out, const struct mf_manifest *manifest, const bool *written) {
    for (size_t i = 0; i < manifest->artifact_count; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", out, manifest->artifacts[i].file);
        if (written[i]) {
            unlink(path);
        }
    }
}

/*
 * Is the manifest in place one of ours, whole or cut, or absent? The canonical writer's first key
 * tells. Anything else belongs to somebody who named the wrong directory.
 */
static enum kiln_result manifest_check_own(const char *out, struct kiln_error *error) {
    static const char beginning[] = "{\n  \"abi\": ";
    char path[PATH_MAX];
    struct mf_buffer text = {0};
    snprintf(path, sizeof path, "%s/manifest.json", out);
    enum kiln_result result = mf_file_read(path, 0, &text, error);
    if (result == KILN_ERR_NOT_FOUND) {
        result = KILN_OK;
    } else if (result == KILN_OK) {
        size_t compared = strlen(beginning) < text.size_bytes ? strlen(beginning) : text.size_bytes;
        if (compared > 0 && memcmp(text.data, beginning, compared) != 0) {
            result =
                kiln_error_set(error, KILN_ERR_PATH,
                               "%s: expected a kiln manifest or none: not ours to replace", path);
        }
    }
    mf_buffer_release(&text);
    return result;
}

enum kiln_result gs_publish(const char *out, const struct mf_manifest *manifest,
                            const struct mf_buffer *const *bytes, struct gs_publish_counts *counts,
                            struct kiln_error *error) {
    struct mf_buffer json = {0};
    char path[PATH_MAX];
    bool changed = false;
    *counts = (struct gs_publish_counts){0, 0};
    bool *written = calloc(manifest->artifact_count + 1, sizeof *written);
    enum kiln_result result = written != NULL
                                  ? manifest_check_own(out, error)
                                  : kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    if (result == KILN_OK) {
        result = mf_manifest_write(manifest, &json, error);
    }
    for (size_t i = 0; i < manifest->artifact_count && result == KILN_OK; i++) {
        snprintf(path, sizeof path, "%s/%s", out, manifest->artifacts[i].file);
        result = mf_file_write(path, bytes[i]->data, bytes[i]->size_bytes, MF_DURABLE_CONTENT,
                               &written[i], error);
        counts->written_count += written[i];
    }
    if (result == KILN_OK) {
        snprintf(path, sizeof path, "%s/manifest.json", out);
        result = mf_file_write_atomic(path, json.data, json.size_bytes, &changed, error);
        counts->written_count += changed;
    }
    if (result == KILN_OK) {
        result = stale_remove(out, manifest, &counts->removed_count, error);
    } else if (written != NULL) {
        written_undo(out, manifest, written);
    }
    free(written);
    mf_buffer_release(&json);
    return result;
}
