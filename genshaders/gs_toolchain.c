/* SPDX-License-Identifier: MIT */
#include "gs_build.h"

#include "gs_glslang.h"
#include "gs_reflect.h"
#include "gs_spvtools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Version of what genshaders itself does to a module (recipes, normalisation, stripping). Raise it
 * with every change that can alter the bytes of an artifact.
 */
#define PIPELINE_VERSION "2"

#define CHUNK_BYTES ((size_t)256 << 10)

enum kiln_result gs_toolchain_fill(struct mf_arena *arena, struct mf_toolchain *toolchain) {
    *toolchain = (struct mf_toolchain){
        .glslang = mf_arena_string(arena, gs_glslang_version()),
        .spirv_tools = mf_arena_string(arena, gs_spvtools_version()),
        .spirv_cross = mf_arena_string(arena, gs_reflect_version()),
        .pipeline = PIPELINE_VERSION,
    };
    if (toolchain->glslang == NULL || toolchain->spirv_tools == NULL ||
        toolchain->spirv_cross == NULL) {
        return KILN_ERR_MEMORY;
    }
    toolchain->signature = mf_arena_format(
        arena, "glslang-%s spirv-tools-%s spirv-cross-%s pipeline-%s", toolchain->glslang,
        toolchain->spirv_tools, toolchain->spirv_cross, toolchain->pipeline);
    return toolchain->signature != NULL ? KILN_OK : KILN_ERR_MEMORY;
}

enum kiln_result gs_toolchain_build_hash(struct mf_hash *build, struct kiln_error *error) {
    static const char path[] = "/proc/self/exe";
    struct mf_hash_state *state = NULL;
    enum kiln_result result = KILN_OK;
    size_t size_bytes = 1;
    char *chunk = malloc(CHUNK_BYTES);
    FILE *program = fopen(path, "rb");
    if (program == NULL) {
        result = kiln_error_set(error, KILN_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    } else if (chunk == NULL || mf_hash_begin(MF_HASH_FILE, &state) != KILN_OK) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    while (result == KILN_OK && size_bytes > 0) {
        size_bytes = fread(chunk, 1, CHUNK_BYTES, program);
        mf_hash_add(state, chunk, size_bytes);
    }
    if (result == KILN_OK && ferror(program)) {
        result = kiln_error_set(error, KILN_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    if (state != NULL) {
        *build = mf_hash_end(&state);
    }
    if (program != NULL) {
        fclose(program);
    }
    free(chunk);
    return result;
}
