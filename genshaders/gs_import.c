/* SPDX-License-Identifier: MIT */
#include "gs_import.h"

#include "gs_build.h"
#include "gs_module_ids.h"
#include "gs_module_private.h"
#include "gs_publish.h"
#include "gs_reflect.h"
#include "gs_spvtools.h"
#include "mf_file.h"
#include "mf_name.h"

#include <spirv/unified1/spirv.h>

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_LIMIT_BYTES ((size_t)256 << 20)
#define STEM_PART_BYTES 40  /* of a file's name in an artifact's */
#define ENTRY_PART_BYTES 24 /* of an entry point's name in an artifact's */
#define TIER "imported"

struct import {
    const struct gs_import_options *options;
    struct gs_import_summary *summary;
    struct gs_diag *diag;
    struct mf_manifest manifest;
    size_t artifact_capacity;
    struct mf_buffer *bytes; /* one per artifact */
    size_t bytes_capacity;
};

/* The module one entry point is made into an artifact from. */
struct source {
    const char *path;
    const struct gs_module *module;
    struct mf_hash hash; /* of the file's bytes */
    struct gs_entry_point entry;
    size_t index; /* of the entry point */
    size_t entry_count;
};

/* The type of a refusal, one word for scripts. */
static const char *refusal_word(enum kiln_result result) {
    switch (result) {
    case KILN_ERR_FORMAT:
        return "malformed";
    case KILN_ERR_UNSUPPORTED:
        return "unsupported";
    case KILN_ERR_NOT_FOUND:
        return "not-found";
    case KILN_ERR_SPIRV:
        return "invalid";
    case KILN_ERR_INTERFACE:
        return "interface";
    case KILN_ERR_DUPLICATE:
        return "duplicate";
    default:
        return "failed";
    }
}

static enum kiln_result import_report(struct import *import, enum kiln_result result,
                                      const char *path, const struct kiln_error *error) {
    if (result != KILN_OK) {
        gs_diag_add(import->diag, result, path, 0, NULL, "refused (%s): %s", refusal_word(result),
                    error->message[0] != 0 ? error->message : kiln_result_string(result));
    }
    return result;
}

/* [a-z0-9_] of the text, other characters as single '_', at most `limit` bytes, never empty. */
static const char *part_make(struct mf_arena *arena, const char *text, size_t length,
                             size_t limit) {
    char *part = mf_arena_alloc(arena, limit + 2, 1);
    size_t size = 0;
    for (size_t i = 0; part != NULL && i < length && size < limit; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80 && isalnum(c)) {
            part[size++] = (char)tolower(c);
        } else if (size > 0 && part[size - 1] != '_') {
            part[size++] = '_';
        }
    }
    if (part != NULL) {
        size -= size > 0 && part[size - 1] == '_';
        if (size == 0) {
            part[size++] = 'x';
        }
        part[size] = 0;
    }
    return part;
}

/* What a Vulkan compute pipeline can never be, told before the validator's less plain words. */
static enum kiln_result module_refuse(const struct gs_module *module, struct kiln_error *error) {
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(module, &position, &instruction);) {
        if (instruction.opcode != SpvOpCapability) {
            continue;
        }
        if (instruction.words[1] == SpvCapabilityKernel) {
            return kiln_error_set(error, KILN_ERR_UNSUPPORTED,
                                  "an OpenCL kernel (capability Kernel), expected a compute shader "
                                  "for Vulkan");
        }
        if (instruction.words[1] == SpvCapabilityLinkage) {
            return kiln_error_set(error, KILN_ERR_UNSUPPORTED,
                                  "a library to be linked (capability Linkage), expected a whole "
                                  "compute shader");
        }
    }
    return KILN_OK;
}

/* Manifests know storage buffers only. */
static enum kiln_result module_refuse_uniforms(const struct gs_module *module,
                                               struct kiln_error *error) {
    struct gs_ids ids;
    enum kiln_result result = gs_ids_make(module, &ids, error);
    for (size_t i = 0; result == KILN_OK && i < ids.definition_count; i++) {
        const struct gs_definition *variable = &ids.definitions[i];
        if (variable->opcode != SpvOpVariable) {
            continue;
        }
        struct gs_instruction declared = gs_ids_instruction(&ids, variable);
        const struct gs_definition *pointer = gs_ids_find(&ids, declared.words[1]);
        if (declared.words[3] != SpvStorageClassUniform || pointer == NULL) {
            continue;
        }
        uint32_t type = gs_ids_instruction(&ids, pointer).words[3];
        if (gs_ids_decoration(&ids, type, GS_NO_MEMBER, SpvDecorationBlock) != NULL) {
            result = kiln_error_set(error, KILN_ERR_INTERFACE,
                                    "variable %u is a uniform buffer, expected storage buffers and "
                                    "push constants only",
                                    variable->id);
        }
    }
    gs_ids_release(&ids);
    return result;
}

/* From the whole module to the one to ship; its reflection goes into artifact. */
static enum kiln_result part_finish(const struct source *source, enum gs_recipe recipe,
                                    struct gs_module *part, struct mf_arena *arena,
                                    struct mf_artifact *artifact, struct kiln_error *error) {
    enum kiln_result result = gs_module_split(source->module, source->index, part, error);
    enum gs_target target = gs_spvtools_target(source->module);
    if (result == KILN_OK) {
        result = gs_spvtools_validate(part, target, error);
    }
    if (result == KILN_OK && source->entry_count > 1) {
        result = gs_spvtools_prune(part, target, error);
    }
    if (result == KILN_OK) {
        result = gs_spvtools_optimise(part, target, recipe, error);
    }
    if (result == KILN_OK) {
        result = gs_module_normalise(part, error);
    }
    if (result == KILN_OK) {
        result = module_refuse_uniforms(part, error);
    }
    if (result == KILN_OK) {
        result = gs_reflect(part, arena, artifact, error);
    }
    if (result == KILN_OK) {
        result = gs_module_strip(part, error);
    }
    if (result == KILN_OK) {
        result = gs_spvtools_validate(part, target, error);
    }
    return result == KILN_OK ? gs_module_requirements(part, arena, &artifact->requires_, error)
                             : result;
}

/* Element types of the buffers in order, each once; `none` without buffers. */
static enum kiln_result artifact_dtypes(struct mf_arena *arena, struct mf_artifact *artifact) {
    const char **dtypes = mf_arena_alloc(arena, artifact->binding_count + 1, sizeof *dtypes);
    size_t count = 0;
    if (dtypes == NULL) {
        return KILN_ERR_MEMORY;
    }
    for (size_t i = 0; i < artifact->binding_count; i++) {
        const char *element = mf_scalar_string(artifact->bindings[i].element);
        size_t j = 0;
        while (j < count && strcmp(dtypes[j], element) != 0) {
            j++;
        }
        dtypes[j] = element;
        count += j == count;
    }
    if (count == 0) {
        dtypes[count++] = "none";
    }
    artifact->dtypes = dtypes;
    artifact->dtype_count = count;
    return KILN_OK;
}

/* One dimension an axis: the caller says how many groups. */
static enum kiln_result artifact_grid(struct mf_arena *arena, struct mf_artifact *artifact) {
    static const char *const names[] = {"groups_x", "groups_y", "groups_z"};
    struct mf_grid_factor *factors = mf_arena_alloc(arena, 3, sizeof *factors);
    if (factors == NULL) {
        return KILN_ERR_MEMORY;
    }
    for (size_t i = 0; i < 3; i++) {
        factors[i] = (struct mf_grid_factor){names[i], 1};
        artifact->grid.axes[i] = (struct mf_grid_axis){&factors[i], 1};
    }
    artifact->dims = names;
    artifact->dim_count = 3;
    return KILN_OK;
}

static enum kiln_result artifact_name(struct mf_arena *arena, const struct source *source,
                                      struct mf_artifact *artifact, struct kiln_error *error) {
    const char *base =
        strrchr(source->path, '/') != NULL ? strrchr(source->path, '/') + 1 : source->path;
    size_t length = strlen(base);
    length -= length > 4 && strcmp(base + length - 4, ".spv") == 0 ? 4 : 0;
    const char *entry = source->entry.name;
    const uint32_t *size = artifact->requires_.local_size;
    const char *part = part_make(arena, entry, strlen(entry), ENTRY_PART_BYTES);
    artifact->family = part_make(arena, base, length, STEM_PART_BYTES);
    artifact->shape = "any";
    artifact->tier = TIER;
    artifact->reference = "";
    artifact->tolerance = (struct mf_tolerance){.max_abs = -1, .rel = -1, .scale = -1};
    if (part == NULL || artifact->family == NULL || artifact_dtypes(arena, artifact) != KILN_OK ||
        artifact_grid(arena, artifact) != KILN_OK) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    artifact->kernel = isdigit((unsigned char)part[0]) ? mf_arena_format(arena, "_%s", part) : part;
    artifact->schedule = mf_arena_format(arena, "%s_w%ux%ux%u", part, size[0], size[1], size[2]);
    if (artifact->kernel == NULL || artifact->schedule == NULL) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    char *name = NULL;
    enum kiln_result result =
        mf_name_make(arena, artifact->family, artifact->dtypes, artifact->dtype_count,
                     artifact->shape, artifact->schedule, artifact->tier, &name, error);
    artifact->name = name;
    return result;
}

static enum kiln_result artifact_hash(struct import *import, const struct source *source,
                                      const struct mf_buffer *bytes, struct mf_artifact *artifact,
                                      struct kiln_error *error) {
    struct mf_hash_state *state = NULL;
    enum kiln_result result = mf_hash_begin(MF_HASH_RECIPE, &state);
    if (result == KILN_OK) {
        mf_hash_add(state, source->hash.bytes, sizeof source->hash.bytes);
        mf_hash_add_string(state, source->entry.name);
        mf_hash_add_string(state, gs_recipe_string(import->options->recipe));
        mf_hash_add_string(state, import->manifest.toolchain.signature);
        artifact->recipe = mf_hash_end(&state);
        artifact->size_bytes = bytes->size_bytes;
        artifact->content = mf_hash_bytes(MF_HASH_CONTENT, bytes->data, bytes->size_bytes);
        artifact->file =
            mf_artifact_file_name(&import->manifest.arena, artifact->name, &artifact->content);
        result = artifact->file != NULL ? mf_artifact_interface_hash(artifact, &artifact->iface)
                                        : KILN_ERR_MEMORY;
    }
    return result == KILN_OK ? result : kiln_error_set(error, result, "out of memory");
}

static enum kiln_result import_append(struct import *import, const struct mf_artifact *artifact,
                                      struct mf_buffer *bytes, struct kiln_error *error) {
    struct mf_arena *arena = &import->manifest.arena;
    size_t count = import->manifest.artifact_count;
    void *artifacts = mf_arena_grow(arena, import->manifest.artifacts, count,
                                    &import->artifact_capacity, sizeof *artifact);
    if (artifacts != NULL) {
        import->manifest.artifacts = artifacts;
    }
    void *grown =
        mf_arena_grow(arena, import->bytes, count, &import->bytes_capacity, sizeof *import->bytes);
    if (artifacts == NULL || grown == NULL) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    import->bytes = grown;
    import->manifest.artifacts[count] = *artifact;
    import->bytes[count] = *bytes;
    *bytes = (struct mf_buffer){0};
    import->manifest.artifact_count++;
    return KILN_OK;
}

static enum kiln_result entry_import(struct import *import, const struct source *source) {
    struct mf_arena *arena = &import->manifest.arena;
    struct gs_module part = {NULL, 0}, gated = {NULL, 0};
    struct mf_buffer bytes = {0};
    struct mf_artifact artifact = {0};
    struct kiln_error error = {KILN_OK, ""};
    enum kiln_result result =
        part_finish(source, import->options->recipe, &part, arena, &artifact, &error);
    if (result == KILN_OK && (result = gs_module_bytes(&part, &bytes)) != KILN_OK) {
        kiln_error_set(&error, result, "out of memory");
    }
    if (result == KILN_OK) {
        result = gs_module_read(bytes.data, bytes.size_bytes, &(struct gs_gate_options){0}, &gated,
                                &error);
    }
    if (result == KILN_OK) {
        result = artifact_name(arena, source, &artifact, &error);
    }
    if (result == KILN_OK) {
        result = artifact_hash(import, source, &bytes, &artifact, &error);
    }
    for (size_t i = 0; result == KILN_OK && i < import->manifest.artifact_count; i++) {
        if (strcmp(import->manifest.artifacts[i].name, artifact.name) == 0) {
            result = kiln_error_set(&error, KILN_ERR_DUPLICATE,
                                    "entry point '%s' would be %s, as another one is already",
                                    source->entry.name, artifact.name);
        }
    }
    if (result == KILN_OK) {
        import->summary->size_bytes += bytes.size_bytes;
        result = import_append(import, &artifact, &bytes, &error);
    }
    gs_module_release(&part);
    gs_module_release(&gated);
    mf_buffer_release(&bytes);
    return import_report(import, result, source->path, &error);
}

static enum kiln_result file_import(struct import *import, const char *path) {
    struct mf_buffer bytes = {0};
    struct gs_module module = {NULL, 0};
    struct kiln_error error = {KILN_OK, ""};
    struct gs_entry_point entries[GS_MAX_ENTRY_POINTS];
    struct source source = {.path = path, .module = &module};
    size_t compute_count = 0;
    enum kiln_result result = mf_file_read(path, MODULE_LIMIT_BYTES, &bytes, &error);
    if (result == KILN_OK) {
        source.hash = mf_hash_bytes(MF_HASH_FILE, bytes.data, bytes.size_bytes);
        result = gs_module_read(bytes.data, bytes.size_bytes,
                                &(struct gs_gate_options){.swap = true}, &module, &error);
    }
    if (result == KILN_OK) {
        result = module_refuse(&module, &error);
    }
    if (result == KILN_OK) {
        source.entry_count = gs_module_entry_points(&module, entries, GS_MAX_ENTRY_POINTS);
        for (size_t i = 0; i < source.entry_count; i++) {
            compute_count += entries[i].execution_model == SpvExecutionModelGLCompute;
        }
        if (compute_count == 0) {
            result =
                kiln_error_set(&error, KILN_ERR_NOT_FOUND,
                               "no entry point of a compute shader among %zu", source.entry_count);
        }
    }
    if (import_report(import, result, path, &error) == KILN_OK) {
        import->summary->file_count++;
        for (source.index = 0; source.index < source.entry_count; source.index++) {
            source.entry = entries[source.index];
            if (source.entry.execution_model == SpvExecutionModelGLCompute) {
                (void)entry_import(import, &source);
            }
        }
    }
    gs_module_release(&module);
    mf_buffer_release(&bytes);
    return result;
}

/* A file, or every *.spv of a directory. */
static void path_import(struct import *import, const char *path) {
    struct mf_arena *arena = &import->manifest.arena;
    struct kiln_error error = {KILN_OK, ""};
    char **names = NULL;
    size_t name_count = 0, found = 0;
    if (mf_file_list(path, false, arena, &names, &name_count, &error) != KILN_OK) {
        (void)file_import(import, path); /* no directory, or none that can be read */
        return;
    }
    for (size_t i = 0; i < name_count; i++) {
        size_t length = strlen(names[i]);
        if (length <= 4 || strcmp(names[i] + length - 4, ".spv") != 0) {
            continue;
        }
        char *file = mf_path_join(arena, path, names[i]);
        found++;
        if (file == NULL) {
            gs_diag_add(import->diag, KILN_ERR_MEMORY, path, 0, NULL, "out of memory");
            return;
        }
        (void)file_import(import, file);
    }
    if (found == 0) {
        kiln_error_set(&error, KILN_ERR_NOT_FOUND, "the directory holds no *.spv");
        (void)import_report(import, KILN_ERR_NOT_FOUND, path, &error);
    }
}

/* Publishing removes what the new manifest does not name: built artifacts are not for that. */
static enum kiln_result out_check(const char *out, struct kiln_error *error) {
    struct mf_buffer json = {0};
    struct mf_manifest manifest = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/manifest.json", out);
    enum kiln_result result = mf_file_read(path, 0, &json, error);
    if (result == KILN_ERR_NOT_FOUND) {
        return KILN_OK;
    }
    if (result == KILN_OK) {
        result = mf_manifest_parse(json.data, json.size_bytes, path, &manifest, error);
    }
    for (size_t i = 0; result == KILN_OK && i < manifest.artifact_count; i++) {
        if (strcmp(manifest.artifacts[i].tier, TIER) != 0) {
            result = kiln_error_set(error, KILN_ERR_PATH,
                                    "it holds artifacts that were built, such as %s: choose "
                                    "another directory",
                                    manifest.artifacts[i].name);
        }
    }
    mf_manifest_release(&manifest);
    mf_buffer_release(&json);
    return result;
}

struct order {
    struct mf_artifact artifact;
    struct mf_buffer bytes;
};

static int compare_orders(const void *a, const void *b) {
    return strcmp(((const struct order *)a)->artifact.name,
                  ((const struct order *)b)->artifact.name);
}

static enum kiln_result import_publish(struct import *import, struct kiln_error *error) {
    size_t count = import->manifest.artifact_count;
    struct mf_arena *arena = &import->manifest.arena;
    struct gs_publish_counts counts;
    struct order *orders = mf_arena_alloc(arena, count, sizeof *orders);
    const struct mf_buffer **bytes = mf_arena_alloc(arena, count, sizeof *bytes);
    int lock = -1;
    if (orders == NULL || bytes == NULL) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        orders[i] = (struct order){import->manifest.artifacts[i], import->bytes[i]};
    }
    qsort(orders, count, sizeof *orders, compare_orders);
    for (size_t i = 0; i < count; i++) {
        import->manifest.artifacts[i] = orders[i].artifact;
        import->bytes[i] = orders[i].bytes;
        bytes[i] = &import->bytes[i];
    }
    enum kiln_result result = gs_publish_lock(import->options->out, &lock, error);
    if (result == KILN_OK) {
        result = out_check(import->options->out, error);
    }
    if (result == KILN_OK) {
        result = gs_publish(import->options->out, &import->manifest, bytes, &counts, error);
    }
    gs_publish_unlock(&lock);
    return result;
}

enum kiln_result gs_import_run(const struct gs_import_options *options,
                               struct gs_import_summary *summary, struct gs_diag *diag) {
    struct import import = {.options = options, .summary = summary, .diag = diag};
    struct kiln_error error = {KILN_OK, ""};
    *summary = (struct gs_import_summary){0};
    import.manifest.format = MF_MANIFEST_FORMAT;
    import.manifest.abi = MF_MANIFEST_ABI;
    enum kiln_result result = gs_toolchain_fill(&import.manifest.arena, &import.manifest.toolchain);
    if (result != KILN_OK) {
        result = import_report(&import, result, NULL, &error);
        goto done;
    }
    for (size_t i = 0; i < options->path_count; i++) {
        path_import(&import, options->paths[i]);
    }
    result = gs_diag_result(diag);
    if (result == KILN_OK) {
        summary->artifact_count = import.manifest.artifact_count;
        result = import_report(&import, import_publish(&import, &error), options->out, &error);
    }

done:
    for (size_t i = 0; i < import.manifest.artifact_count; i++) {
        mf_buffer_release(&import.bytes[i]);
    }
    mf_manifest_release(&import.manifest);
    return result;
}
