/* SPDX-License-Identifier: MIT */
#include "gs_command.h"

#include "mf_file.h"
#include "mf_pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* manifest.json and the modules that it lists, all in *arena. */
struct bundle {
    struct mf_manifest manifest;
    struct mf_buffer json;
    struct mf_buffer *modules;
    const struct mf_buffer **module_pointers;
};

static enum kiln_result bundle_read(const char *directory, struct mf_arena *arena,
                                    struct bundle *bundle, struct kiln_error *error) {
    const char *path = mf_path_join(arena, directory, "manifest.json");
    if (path == NULL) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    enum kiln_result result = mf_file_read(path, 0, &bundle->json, error);
    if (result == KILN_OK) {
        result = mf_manifest_parse(bundle->json.data, bundle->json.size_bytes, path,
                                   &bundle->manifest, error);
    }
    size_t count = bundle->manifest.artifact_count;
    bundle->modules = mf_arena_alloc(arena, count + 1, sizeof *bundle->modules);
    bundle->module_pointers = mf_arena_alloc(arena, count + 1, sizeof *bundle->module_pointers);
    if (result == KILN_OK && (bundle->modules == NULL || bundle->module_pointers == NULL)) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count && result == KILN_OK; i++) {
        path = mf_path_join(arena, directory, bundle->manifest.artifacts[i].file);
        bundle->module_pointers[i] = &bundle->modules[i];
        result = path != NULL ? mf_file_read(path, 0, &bundle->modules[i], error)
                              : kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    return result;
}

static void bundle_release(struct bundle *bundle) {
    for (size_t i = 0; bundle->modules != NULL && i < bundle->manifest.artifact_count; i++) {
        mf_buffer_release(&bundle->modules[i]);
    }
    mf_buffer_release(&bundle->json);
    mf_manifest_release(&bundle->manifest);
}

int gs_command_pack(int argc, char **argv) {
    const char *directory = "spv", *out = "spv/kernels.kiln";
    int quiet = 0;
    const struct gs_option options[] = {
        {"--bundle", &directory, NULL}, {"--out", &out, NULL}, {"--quiet", NULL, &quiet}};
    if (gs_options_parse(argc, argv, options, 3, NULL, 0) < 0) {
        return GS_EXIT_USAGE;
    }
    struct mf_arena arena = {0};
    struct bundle bundle = {0};
    struct mf_buffer pack = {0};
    struct kiln_error error = {0};
    enum kiln_result result = bundle_read(directory, &arena, &bundle, &error);
    if (result == KILN_OK) {
        result = mf_pack_write(&bundle.manifest, bundle.module_pointers, &pack, &error);
    }
    if (result == KILN_OK) {
        result = mf_file_write_atomic(out, pack.data, pack.size_bytes, NULL, &error);
    }
    if (result != KILN_OK) {
        fprintf(stderr, "genshaders pack: %s\n", error.message);
    } else if (!quiet) {
        uint64_t size_bytes = 0;
        for (size_t i = 0; i < bundle.manifest.artifact_count; i++) {
            size_bytes += bundle.manifest.artifacts[i].size_bytes;
        }
        fprintf(stderr, "genshaders: %s: %zu artifacts, %" PRIu64 " bytes of SPIR-V in %zu\n", out,
                bundle.manifest.artifact_count, size_bytes, pack.size_bytes);
    }
    mf_buffer_release(&pack);
    bundle_release(&bundle);
    mf_arena_release(&arena);
    return result == KILN_OK ? GS_EXIT_OK : GS_EXIT_FAILED;
}
