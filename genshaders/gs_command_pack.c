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

/* "123," for each byte, 24 a line. */
static enum kiln_result source_write(const struct mf_buffer *pack, struct mf_buffer *out) {
    mf_buffer_append_string(out, "/* Written by genshaders embed. */\n"
                                 "#include <stddef.h>\n\n"
                                 "extern const unsigned char kiln_embedded_pack[];\n"
                                 "extern const size_t kiln_embedded_pack_bytes;\n\n"
                                 "_Alignas(16) const unsigned char kiln_embedded_pack[] = {");
    for (size_t i = 0; i < pack->size_bytes; i++) {
        unsigned char byte = (unsigned char)pack->data[i];
        char text[8];
        size_t length = 0;
        if (i % 24 == 0) {
            text[length++] = '\n';
        }
        if (byte >= 100) {
            text[length++] = (char)('0' + byte / 100);
        }
        if (byte >= 10) {
            text[length++] = (char)('0' + byte / 10 % 10);
        }
        text[length++] = (char)('0' + byte % 10);
        text[length++] = ',';
        mf_buffer_append(out, text, length);
    }
    return mf_buffer_append_string(
        out, "\n};\nconst size_t kiln_embedded_pack_bytes = sizeof kiln_embedded_pack;\n");
}

int gs_command_embed(int argc, char **argv) {
    const char *words[2] = {NULL, NULL};
    if (gs_options_parse(argc, argv, NULL, 0, words, 2) != 2) {
        fprintf(stderr, "genshaders embed: expected PACK OUT.c\n");
        return GS_EXIT_USAGE;
    }
    struct mf_buffer pack = {0};
    struct mf_buffer source = {0};
    struct kiln_error error = {0};
    enum kiln_result result = mf_file_read(words[0], 0, &pack, &error);
    if (result == KILN_OK) {
        struct mf_hash hash = mf_pack_hash(pack.data, pack.size_bytes);
        if (pack.size_bytes < MF_PACK_HEADER_BYTES + MF_HASH_BYTES ||
            memcmp(pack.data, MF_PACK_MAGIC, MF_PACK_MAGIC_BYTES) != 0 ||
            memcmp(pack.data + pack.size_bytes - MF_HASH_BYTES, hash.bytes, MF_HASH_BYTES) != 0) {
            result = kiln_error_set(&error, KILN_ERR_FORMAT, "%s: not a kiln pack, or damaged",
                                    words[0]);
        }
    }
    if (result == KILN_OK && source_write(&pack, &source) != KILN_OK) {
        result = kiln_error_set(&error, KILN_ERR_MEMORY, "out of memory");
    }
    if (result == KILN_OK) {
        result = mf_file_write_atomic(words[1], source.data, source.size_bytes, NULL, &error);
    }
    if (result != KILN_OK) {
        fprintf(stderr, "genshaders embed: %s\n", error.message);
    }
    mf_buffer_release(&source);
    mf_buffer_release(&pack);
    return result == KILN_OK ? GS_EXIT_OK : GS_EXIT_FAILED;
}
