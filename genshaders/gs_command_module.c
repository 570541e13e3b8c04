/* SPDX-License-Identifier: MIT */
#include "gs_command.h"
#include "gs_module.h"
#include "gs_spvtools.h"
#include "mf_file.h"
#include "mf_lock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define MODULE_LIMIT_BYTES ((size_t)256 << 20)

static int error_print(const char *path, const struct kiln_error *error) {
    fprintf(stderr, "%s: %s\n", path, error->message);
    return GS_EXIT_FAILED;
}

static enum kiln_result module_load(const char *path, struct gs_module *module,
                                    struct kiln_error *error) {
    struct mf_buffer bytes = {0};
    enum kiln_result result = mf_file_read(path, MODULE_LIMIT_BYTES, &bytes, error);
    if (result == KILN_OK) {
        result = gs_module_read(bytes.data, bytes.size_bytes, &(struct gs_gate_options){0}, module,
                                error);
    }
    mf_buffer_release(&bytes);
    return result;
}

static enum kiln_result module_save(const struct gs_module *module, const char *path,
                                    struct kiln_error *error) {
    struct mf_buffer bytes = {0};
    enum kiln_result result = gs_module_bytes(module, &bytes);
    if (result == KILN_OK) {
        result = mf_file_write_atomic(path, bytes.data, bytes.size_bytes, NULL, error);
    } else {
        kiln_error_set(error, result, "out of memory");
    }
    mf_buffer_release(&bytes);
    return result;
}

/* Normalises a module that passed the gate, validates it before and after, and stores it. */
static enum kiln_result module_normalise_to(struct gs_module *module, const char *path,
                                            struct kiln_error *error) {
    enum gs_target target = gs_spvtools_target(module);
    enum kiln_result result = gs_module_normalise(module, error);
    if (result == KILN_OK) {
        result = gs_spvtools_validate(module, target, error);
    }
    return result == KILN_OK ? module_save(module, path, error) : result;
}

int gs_command_normalise(int argc, char **argv) {
    const char *words[2];
    struct gs_module module = {NULL, 0};
    struct kiln_error error = {KILN_OK, ""};
    int word_count = gs_options_parse(argc, argv, NULL, 0, words, 2);
    if (word_count != 2) {
        fprintf(stderr, "usage: genshaders normalise IN.spv OUT.spv\n");
        return GS_EXIT_USAGE;
    }
    enum kiln_result result = module_load(words[0], &module, &error);
    if (result == KILN_OK) {
        result = module_normalise_to(&module, words[1], &error);
    }
    gs_module_release(&module);
    return result == KILN_OK ? GS_EXIT_OK : error_print(words[0], &error);
}

int gs_command_split(int argc, char **argv) {
    const char *words[2];
    struct gs_module module = {NULL, 0};
    struct kiln_error error = {KILN_OK, ""};
    int word_count = gs_options_parse(argc, argv, NULL, 0, words, 2);
    if (word_count != 2) {
        fprintf(stderr, "usage: genshaders split IN.spv DIRECTORY\n");
        return GS_EXIT_USAGE;
    }
    enum kiln_result result = module_load(words[0], &module, &error);
    if (result == KILN_OK) {
        result = mf_file_make_directory(words[1], &error);
    }
    size_t entry_count = result == KILN_OK ? gs_module_entry_points(&module, NULL, 0) : 0;
    if (result == KILN_OK && entry_count == 0) {
        result = kiln_error_set(&error, KILN_ERR_FORMAT, "no entry point to split off");
    }
    for (size_t i = 0; i < entry_count && result == KILN_OK; i++) {
        struct gs_module part = {NULL, 0};
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%zu.spv", words[1], i);
        result = gs_module_split(&module, i, &part, &error);
        if (result == KILN_OK) {
            result = module_normalise_to(&part, path, &error);
        }
        gs_module_release(&part);
    }
    gs_module_release(&module);
    return result == KILN_OK ? GS_EXIT_OK : error_print(words[0], &error);
}

static int lock_exit(enum kiln_result result) {
    return result == KILN_OK            ? GS_EXIT_OK
           : result == KILN_ERR_VERSION ? GS_EXIT_TOOLCHAIN
                                        : GS_EXIT_FAILED;
}

static enum kiln_result lock_compare(const struct mf_manifest *manifest, const char *path,
                                     struct kiln_error *error) {
    struct mf_buffer text = {0}, report = {0};
    enum kiln_result result = mf_file_read(path, MODULE_LIMIT_BYTES, &text, error);
    if (result == KILN_OK) {
        result = mf_lock_compare(manifest, text.data != NULL ? text.data : "", text.size_bytes,
                                 path, &report, error);
    }
    if (report.data != NULL) {
        fputs(report.data, stderr);
    }
    mf_buffer_release(&text);
    mf_buffer_release(&report);
    return result;
}

int gs_command_lock(int argc, char **argv) {
    const char *manifest_path = "spv/manifest.json", *compare_path = NULL, *write_path = NULL;
    const struct gs_option options[] = {{"--manifest", &manifest_path, NULL},
                                        {"--compare", &compare_path, NULL},
                                        {"--write", &write_path, NULL}};
    struct kiln_error error = {KILN_OK, ""};
    struct mf_buffer json = {0}, text = {0};
    struct mf_manifest manifest = {0};
    if (gs_options_parse(argc, argv, options, 3, NULL, 0) < 0 ||
        (compare_path == NULL) == (write_path == NULL)) {
        fprintf(stderr, "usage: genshaders lock --manifest FILE (--compare LOCK | --write LOCK)\n");
        return GS_EXIT_USAGE;
    }
    enum kiln_result result = mf_file_read(manifest_path, MODULE_LIMIT_BYTES, &json, &error);
    if (result == KILN_OK) {
        result = mf_manifest_parse(json.data != NULL ? json.data : "", json.size_bytes,
                                   manifest_path, &manifest, &error);
    }
    if (result == KILN_OK && compare_path != NULL) {
        result = lock_compare(&manifest, compare_path, &error);
    } else if (result == KILN_OK) {
        result = mf_lock_write(&manifest, &text, &error);
        if (result == KILN_OK) {
            result = mf_file_write_atomic(write_path, text.data, text.size_bytes, NULL, &error);
        }
    }
    if (result != KILN_OK) {
        fprintf(stderr, "genshaders lock: %s\n",
                error.message[0] != 0 ? error.message : kiln_result_string(result));
    }
    mf_buffer_release(&json);
    mf_buffer_release(&text);
    mf_manifest_release(&manifest);
    return lock_exit(result);
}
