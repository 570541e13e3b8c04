/* SPDX-License-Identifier: MIT */
#include "gs_variant.h"

#include "gs_glslang.h"
#include "gs_reflect.h"
#include "gs_spvtools.h"

#include <string.h>

void gs_variant_result_release(struct gs_variant_result *result) {
    mf_arena_release(&result->arena);
    mf_buffer_release(&result->bytes);
    *result = (struct gs_variant_result){0};
}

const char *gs_variant_template(const struct gs_variant *variant,
                                const struct gs_source_tree *tree) {
    const char *root = gs_source_root(tree);
    const char *path = variant->template_path;
    size_t length = strlen(root);
    if (strncmp(path, root, length) == 0) {
        path += length;
    }
    return path + strspn(path, "/");
}

/* What the YAML contributes to the module's text and to how it is compiled. */
static enum kiln_result variant_hash(const struct gs_variant *variant, const char *template_path,
                                     struct mf_hash *hash) {
    struct mf_hash_state *state = NULL;
    enum kiln_result result = mf_hash_begin(MF_HASH_RECIPE, &state);
    if (result == KILN_OK) {
        mf_hash_add_string(state, variant->preamble);
        mf_hash_add_string(state, gs_target_string(variant->target));
        mf_hash_add_string(state, gs_recipe_string(variant->recipe));
        mf_hash_add_string(state, template_path);
        *hash = mf_hash_end(&state);
    }
    return result;
}

enum kiln_result gs_variant_text(const char *text, struct mf_buffer *out) {
    enum kiln_result result = KILN_OK;
    while (*text != 0 && result == KILN_OK) {
        size_t length = strcspn(text, "\n");
        const char *word = text + strspn(text, " \t");
        bool blank = word >= text + length;
        bool position = *word == '#' && strncmp(word + 1 + strspn(word + 1, " \t"), "line", 4) == 0;
        if (!blank && !position) {
            result = mf_buffer_append(out, text, length);
            result = result == KILN_OK ? mf_buffer_append(out, "\n", 1) : result;
        }
        text += length + (text[length] == '\n');
    }
    return result;
}

/* recipe: published, the same for everybody. key: for this build of the tools. */
static enum kiln_result recipe_hash(const struct gs_variant_context *context,
                                    const struct gs_variant *variant, const char *text,
                                    struct mf_hash *recipe, struct mf_hash *key) {
    struct mf_buffer canonical = {0};
    struct mf_hash_state *state = NULL;
    enum kiln_result result = gs_variant_text(text, &canonical);
    if (result != KILN_OK || (result = mf_hash_begin(MF_HASH_RECIPE, &state)) != KILN_OK) {
        goto done;
    }
    mf_hash_add(state, canonical.data, canonical.size_bytes);
    mf_hash_add_string(state, gs_target_string(variant->target));
    mf_hash_add_string(state, gs_recipe_string(variant->recipe));
    mf_hash_add_string(state, context->toolchain_signature);
    *recipe = mf_hash_end(&state);
    result = mf_hash_begin(MF_HASH_RECIPE, &state);
    if (result == KILN_OK) {
        mf_hash_add(state, recipe->bytes, sizeof recipe->bytes);
        mf_hash_add(state, context->build.bytes, sizeof context->build.bytes);
        *key = mf_hash_end(&state);
    }

done:
    mf_buffer_release(&canonical);
    return result;
}

/* Replaces the module by what the gate lets through of its bytes. */
static enum kiln_result module_gate(struct gs_module *module, struct kiln_error *error) {
    struct gs_module gated = {NULL, 0};
    enum kiln_result result = gs_module_read(module->words, module->word_count * sizeof(uint32_t),
                                             &(struct gs_gate_options){0}, &gated, error);
    gs_module_release(module);
    *module = gated;
    return result;
}

/*
 * From glslang's module to the shipped one; its reflection goes into artifact. Validated are the
 * final words, and they alone: that covers glslang's part, too.
 */
static enum kiln_result module_finish(const struct gs_variant *variant, struct gs_module *module,
                                      struct mf_arena *arena, struct mf_artifact *artifact,
                                      struct kiln_error *error) {
    enum kiln_result result = module_gate(module, error);
    if (result == KILN_OK) {
        result = gs_spvtools_optimise(module, variant->target, variant->recipe, error);
    }
    if (result == KILN_OK) {
        result = gs_module_normalise(module, error);
    }
    if (result == KILN_OK) {
        result = gs_reflect(module, arena, artifact, error);
    }
    if (result == KILN_OK) {
        result = gs_module_strip(module, error);
    }
    if (result == KILN_OK) {
        result = gs_spvtools_validate(module, variant->target, error);
    }
    if (result == KILN_OK) {
        result = gs_module_requirements(module, arena, &artifact->requires_, error);
    }
    return result;
}

static enum kiln_result object_compile(const struct gs_variant_context *context,
                                       const struct gs_variant *variant,
                                       struct gs_glslang_unit *unit, const struct mf_hash *recipe,
                                       struct mf_arena *arena, struct gs_object *object) {
    struct gs_module module = {NULL, 0}, gated = {NULL, 0};
    struct kiln_error error = {KILN_OK, ""};
    *object = (struct gs_object){.artifact = variant->promise};
    enum kiln_result result = gs_glslang_compile(unit, context->diag, &module);
    if (result != KILN_OK) {
        goto done; /* reported already */
    }
    result = module_finish(variant, &module, arena, &object->artifact, &error);
    if (result == KILN_OK) {
        result = gs_module_bytes(&module, &object->bytes);
    }
    if (result == KILN_OK) {
        result = gs_module_read(object->bytes.data, object->bytes.size_bytes,
                                &(struct gs_gate_options){0}, &gated, &error);
    }
    if (result != KILN_OK) {
        gs_diag_add(context->diag, result, variant->template_path, 0, variant->promise.name, "%s",
                    error.message[0] != 0 ? error.message : kiln_result_string(result));
        goto done;
    }
    object->artifact.file = "object.spv"; /* a manifest names the file; the cache has the key */
    object->artifact.recipe = *recipe;
    object->artifact.size_bytes = object->bytes.size_bytes;
    object->artifact.content =
        mf_hash_bytes(MF_HASH_CONTENT, object->bytes.data, object->bytes.size_bytes);
    result = mf_artifact_interface_hash(&object->artifact, &object->artifact.iface);

done:
    gs_module_release(&module);
    gs_module_release(&gated);
    if (result != KILN_OK) {
        mf_buffer_release(&object->bytes);
    }
    return result;
}

/* The macro lint needs the closure's raw texts; it runs when text was preprocessed. */
static enum kiln_result closure_lint(const struct gs_variant_context *context,
                                     const struct gs_variant *variant,
                                     const struct gs_glslang_unit *unit, struct mf_arena *arena) {
    size_t file_count = 0, present_count = 0;
    const struct gs_source_file *const *files = gs_glslang_closure(unit, &file_count);
    const char **paths = mf_arena_alloc(arena, file_count, sizeof *paths);
    const char **texts = mf_arena_alloc(arena, file_count, sizeof *texts);
    if (paths == NULL || texts == NULL) {
        return gs_diag_add(context->diag, KILN_ERR_MEMORY, NULL, 0, NULL, "out of memory");
    }
    for (size_t i = 0; i < file_count; i++) {
        if (files[i]->text != NULL) {
            paths[present_count] = files[i]->label;
            texts[present_count++] = files[i]->text;
        }
    }
    return gs_macro_lint(variant, paths, texts, present_count, context->diag);
}

/* Preprocess, then take the object from the cache or compile it; stamps the outcome. */
static enum kiln_result object_make(const struct gs_variant_context *context,
                                    const struct gs_variant *variant, const char *template_path,
                                    const struct mf_hash *declared, struct mf_arena *arena,
                                    struct gs_object *object, bool *compiled) {
    struct gs_glslang_unit *unit = NULL;
    struct mf_hash recipe, key;
    struct kiln_error error = {KILN_OK, ""};
    enum kiln_result result =
        gs_glslang_preprocess(variant, template_path, context->tree, context->diag, &unit);
    if (result != KILN_OK || (result = closure_lint(context, variant, unit, arena)) != KILN_OK) {
        goto done;
    }
    result = recipe_hash(context, variant, gs_glslang_text(unit), &recipe, &key);
    if (result != KILN_OK) {
        gs_diag_add(context->diag, result, NULL, 0, NULL, "out of memory");
        goto done;
    }
    if (!gs_cache_load(context->cache, &key, arena, object)) {
        *compiled = true;
        result = object_compile(context, variant, unit, &recipe, arena, object);
        if (result != KILN_OK) {
            goto done;
        }
        result = gs_cache_store(context->cache, &key, object, &error);
    }
    if (result == KILN_OK) {
        struct gs_stamp stamp = {.build = context->build, .variant = *declared, .key = key};
        stamp.files = gs_glslang_closure(unit, &stamp.file_count);
        result = gs_stamp_store(context->cache, variant->promise.name, &stamp, &error);
    }
    if (result != KILN_OK) {
        gs_diag_add(context->diag, result, NULL, 0, NULL, "%s", error.message);
    }

done:
    gs_glslang_destroy(&unit);
    return result;
}

/* The promise, completed by what the module turned out to be. */
static enum kiln_result artifact_complete(const struct gs_variant_context *context,
                                          const struct gs_variant *variant,
                                          const struct mf_artifact *found,
                                          struct gs_variant_result *result) {
    struct mf_artifact *artifact = &result->artifact;
    char content[MF_HASH_TEXT_BYTES];
    enum kiln_result status = gs_reflect_compare(variant, found, context->diag);
    if (status != KILN_OK) {
        return status;
    }
    *artifact = variant->promise;
    artifact->size_bytes = found->size_bytes;
    artifact->recipe = found->recipe;
    artifact->content = found->content;
    artifact->requires_ = found->requires_;
    artifact->requires_.subgroup_size = variant->promise.requires_.subgroup_size;
    artifact->bindings = found->bindings;
    artifact->binding_count = found->binding_count;
    artifact->push = found->push;
    artifact->push_count = found->push_count;
    artifact->spec = found->spec;
    artifact->spec_count = found->spec_count;
    mf_hash_format(&artifact->content, content);
    artifact->file = mf_arena_format(&result->arena, "%s.%.8s.spv", artifact->name, content);
    status = artifact->file != NULL ? mf_artifact_interface_hash(artifact, &artifact->iface)
                                    : KILN_ERR_MEMORY;
    if (status != KILN_OK) {
        gs_diag_add(context->diag, status, NULL, 0, NULL, "out of memory");
    }
    return status;
}

void gs_variant_build(const struct gs_variant_context *context, const struct gs_variant *variant,
                      struct gs_variant_result *result) {
    const char *template_path = gs_variant_template(variant, context->tree);
    struct gs_object object = {0};
    struct mf_hash declared, key;
    bool compiled = false;
    *result = (struct gs_variant_result){.outcome = GS_VARIANT_FAILED};
    if (variant_hash(variant, template_path, &declared) != KILN_OK) {
        gs_diag_add(context->diag, KILN_ERR_MEMORY, NULL, 0, NULL, "out of memory");
        return;
    }
    bool stamped = gs_stamp_check(context->cache, variant->promise.name, &context->build, &declared,
                                  context->tree, &key) &&
                   gs_cache_load(context->cache, &key, &result->arena, &object);
    if (!stamped && object_make(context, variant, template_path, &declared, &result->arena, &object,
                                &compiled) != KILN_OK) {
        goto done;
    }
    if (artifact_complete(context, variant, &object.artifact, result) == KILN_OK) {
        result->bytes = object.bytes;
        object.bytes = (struct mf_buffer){0};
        result->outcome = compiled ? GS_VARIANT_COMPILED : GS_VARIANT_REUSED;
    }

done:
    mf_buffer_release(&object.bytes);
}
