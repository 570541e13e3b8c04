/* SPDX-License-Identifier: MIT */
#include "gs_build.h"

#include "gs_glslang.h"
#include "gs_reflect.h"
#include "gs_spvtools.h"
#include "mf_file.h"

/*
 * Version of what genshaders itself does to a module (recipes, normalisation, stripping). Raise it
 * with every change that can alter the bytes of an artifact.
 */
#define PIPELINE_VERSION "1"

#define PROGRAM_LIMIT_BYTES ((size_t)1 << 30)

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
    struct mf_buffer program = {0};
    enum kiln_result result = mf_file_read("/proc/self/exe", PROGRAM_LIMIT_BYTES, &program, error);
    if (result == KILN_OK) {
        *build = mf_hash_bytes(MF_HASH_FILE, program.data, program.size_bytes);
    }
    mf_buffer_release(&program);
    return result;
}
