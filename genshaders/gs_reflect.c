/* SPDX-License-Identifier: MIT */
#include "gs_reflect.h"

#include <spirv_cross/spirv_cross_c.h>

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME_BYTES 255 /* FORMAT.md: an identifier */
#define MAX_PUSH_DEPTH 8   /* of structs in the push constant block */

struct reflection {
    struct mf_arena *arena;
    struct kiln_error *error;
    spvc_context context;
    spvc_compiler compiler;
    spvc_resources resources;
    struct mf_binding *bindings;
    size_t binding_count, binding_capacity;
    spvc_variable_id *variables; /* of the bindings, in step */
    size_t variable_capacity;
    struct mf_push *push;
    size_t push_count, push_capacity;
    struct mf_spec_constant *spec;
    size_t spec_count;
    uint32_t push_bytes;
};

static enum kiln_result fail_memory(const struct reflection *reflection) {
    return kiln_error_set(reflection->error, KILN_ERR_MEMORY, "out of memory for a reflection");
}

/* A library failure after parsing: the module is not what the library understands. */
static enum kiln_result fail_library(const struct reflection *reflection, const char *what) {
    const char *reason = spvc_context_get_last_error_string(reflection->context);
    return kiln_error_set(reflection->error, KILN_ERR_SPIRV, "SPIRV-Cross: %s: %s", what,
                          reason == NULL || reason[0] == 0 ? "no reason given" : reason);
}

static enum kiln_result open_library(struct reflection *reflection,
                                     const struct gs_module *module) {
    spvc_parsed_ir parsed = NULL;
    if (spvc_context_create(&reflection->context) != SPVC_SUCCESS)
        return fail_memory(reflection);
    if (spvc_context_parse_spirv(reflection->context, module->words, module->word_count, &parsed) !=
        SPVC_SUCCESS)
        return fail_library(reflection, "parsing the module");
    if (spvc_context_create_compiler(reflection->context, SPVC_BACKEND_NONE, parsed,
                                     SPVC_CAPTURE_MODE_TAKE_OWNERSHIP,
                                     &reflection->compiler) != SPVC_SUCCESS)
        return fail_library(reflection, "making a compiler");
    if (spvc_compiler_create_shader_resources(reflection->compiler, &reflection->resources) !=
        SPVC_SUCCESS)
        return fail_library(reflection, "listing resources");
    return KILN_OK;
}

/* As manifests want names; false for those that HLSL front ends make up ("@data") and for stripped
 * ones. */
static bool is_identifier(const char *name) {
    size_t length = name == NULL ? 0 : strlen(name);
    if (length == 0 || length > MAX_NAME_BYTES || isdigit((unsigned char)name[0]))
        return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
           length;
}

static enum mf_scalar scalar_of(spvc_type type) {
    if (spvc_type_get_columns(type) > 1)
        return MF_SCALAR_STRUCT;
    switch (spvc_type_get_basetype(type)) {
    case SPVC_BASETYPE_BOOLEAN:
        return MF_SCALAR_BOOL;
    case SPVC_BASETYPE_INT8:
        return MF_SCALAR_I8;
    case SPVC_BASETYPE_UINT8:
        return MF_SCALAR_U8;
    case SPVC_BASETYPE_INT16:
        return MF_SCALAR_I16;
    case SPVC_BASETYPE_UINT16:
        return MF_SCALAR_U16;
    case SPVC_BASETYPE_INT32:
        return MF_SCALAR_I32;
    case SPVC_BASETYPE_UINT32:
        return MF_SCALAR_U32;
    case SPVC_BASETYPE_INT64:
        return MF_SCALAR_I64;
    case SPVC_BASETYPE_UINT64:
        return MF_SCALAR_U64;
    case SPVC_BASETYPE_FP16:
        return MF_SCALAR_F16;
    case SPVC_BASETYPE_FP32:
        return MF_SCALAR_F32;
    case SPVC_BASETYPE_FP64:
        return MF_SCALAR_F64;
    default:
        return MF_SCALAR_STRUCT;
    }
}

static enum kiln_result get_access(const struct reflection *reflection, spvc_variable_id variable,
                                   bool uniform, enum mf_access *out) {
    const SpvDecoration *decorations = NULL;
    size_t count = 0;
    if (spvc_compiler_get_buffer_block_decorations(reflection->compiler, variable, &decorations,
                                                   &count) != SPVC_SUCCESS)
        return fail_library(reflection, "reading block decorations");
    *out = MF_ACCESS_READ_WRITE;
    for (size_t i = 0; i < count; i++) {
        if (decorations[i] == SpvDecorationNonReadable)
            *out = MF_ACCESS_WRITE;
    }
    for (size_t i = 0; i < count; i++) {
        if (decorations[i] == SpvDecorationNonWritable)
            *out = MF_ACCESS_READ;
    }
    if (uniform)
        *out = MF_ACCESS_READ;
    return KILN_OK;
}

/* Name, element and stride by the last member of the block. */
static enum kiln_result describe_block(struct reflection *reflection,
                                       const spvc_reflected_resource *resource,
                                       struct mf_binding *binding) {
    spvc_compiler compiler = reflection->compiler;
    spvc_type block = spvc_compiler_get_type_handle(compiler, resource->base_type_id);
    unsigned member_count = spvc_type_get_num_member_types(block);
    if (member_count == 0) {
        return kiln_error_set(reflection->error, KILN_ERR_INTERFACE,
                              "set %u binding %u: a block without members, expected a buffer",
                              binding->set, binding->binding);
    }
    unsigned last = member_count - 1;
    spvc_type member =
        spvc_compiler_get_type_handle(compiler, spvc_type_get_member_type(block, last));
    unsigned stride_bytes = 0;
    size_t size_bytes = 0;
    if (spvc_type_get_num_array_dimensions(member) > 0) {
        if (spvc_compiler_type_struct_member_array_stride(compiler, block, last, &stride_bytes) !=
            SPVC_SUCCESS)
            return fail_library(reflection, "reading an array stride");
    } else {
        if (spvc_compiler_get_declared_struct_member_size(compiler, block, last, &size_bytes) !=
            SPVC_SUCCESS)
            return fail_library(reflection, "reading a member's size");
        stride_bytes = (unsigned)size_bytes;
    }
    binding->element = scalar_of(member);
    binding->stride_bytes = stride_bytes;
    const char *name = spvc_compiler_get_member_name(compiler, resource->base_type_id, last);
    if (!is_identifier(name))
        name = spvc_compiler_get_name(compiler, resource->id);
    binding->name = is_identifier(name) ? mf_arena_string(reflection->arena, name)
                                        : mf_arena_format(reflection->arena, "binding_%u_%u",
                                                          binding->set, binding->binding);
    return binding->name == NULL ? fail_memory(reflection) : KILN_OK;
}

/* Several variables on one binding are views of one buffer: the one of the smallest stride describes
 * it, the first declared of such; access is that of all together. */
static bool merge_view(struct reflection *reflection, const struct mf_binding *binding,
                       spvc_variable_id variable) {
    for (size_t i = 0; i < reflection->binding_count; i++) {
        struct mf_binding *known = &reflection->bindings[i];
        if (known->set != binding->set || known->binding != binding->binding)
            continue;
        enum mf_access access =
            known->access == binding->access ? known->access : MF_ACCESS_READ_WRITE;
        const bool finer = binding->stride_bytes < known->stride_bytes;
        if (finer || (binding->stride_bytes == known->stride_bytes &&
                      variable < reflection->variables[i])) {
            *known = *binding;
            reflection->variables[i] = variable;
        }
        known->access = access;
        return true;
    }
    return false;
}

static enum kiln_result append_binding(struct reflection *reflection,
                                       const struct mf_binding *binding,
                                       spvc_variable_id variable) {
    size_t count = reflection->binding_count;
    struct mf_binding *bindings = mf_arena_grow(reflection->arena, reflection->bindings, count,
                                                &reflection->binding_capacity, sizeof *bindings);
    if (bindings == NULL)
        return fail_memory(reflection);
    reflection->bindings = bindings;
    spvc_variable_id *variables = mf_arena_grow(reflection->arena, reflection->variables, count,
                                                &reflection->variable_capacity, sizeof *variables);
    if (variables == NULL)
        return fail_memory(reflection);
    reflection->variables = variables;
    bindings[count] = *binding;
    variables[count] = variable;
    reflection->binding_count++;
    return KILN_OK;
}

static enum kiln_result add_buffer(struct reflection *reflection,
                                   const spvc_reflected_resource *resource, bool uniform) {
    spvc_compiler compiler = reflection->compiler;
    const char *name = spvc_compiler_get_name(compiler, resource->id);
    if (!spvc_compiler_has_decoration(compiler, resource->id, SpvDecorationDescriptorSet) ||
        !spvc_compiler_has_decoration(compiler, resource->id, SpvDecorationBinding)) {
        return kiln_error_set(reflection->error, KILN_ERR_INTERFACE,
                              "buffer '%s' (id %u) has no set and binding, expected both", name,
                              resource->id);
    }
    struct mf_binding binding = {
        .set = spvc_compiler_get_decoration(compiler, resource->id, SpvDecorationDescriptorSet),
        .binding = spvc_compiler_get_decoration(compiler, resource->id, SpvDecorationBinding),
    };
    spvc_type type = spvc_compiler_get_type_handle(compiler, resource->type_id);
    if (spvc_type_get_num_array_dimensions(type) != 0) {
        return kiln_error_set(reflection->error, KILN_ERR_INTERFACE,
                              "set %u binding %u: an array of buffers, expected one buffer",
                              binding.set, binding.binding);
    }
    enum kiln_result result = get_access(reflection, resource->id, uniform, &binding.access);
    if (result == KILN_OK)
        result = describe_block(reflection, resource, &binding);
    if (result != KILN_OK || merge_view(reflection, &binding, resource->id))
        return result;
    return append_binding(reflection, &binding, resource->id);
}

static enum kiln_result add_buffers(struct reflection *reflection, spvc_resource_type kind,
                                    bool uniform) {
    const spvc_reflected_resource *list = NULL;
    size_t count = 0;
    if (spvc_resources_get_resource_list_for_type(reflection->resources, kind, &list, &count) !=
        SPVC_SUCCESS)
        return fail_library(reflection, "listing buffers");
    for (size_t i = 0; i < count; i++) {
        enum kiln_result result = add_buffer(reflection, &list[i], uniform);
        if (result != KILN_OK)
            return result;
    }
    return KILN_OK;
}

static enum kiln_result refuse_others(const struct reflection *reflection) {
    static const struct {
        spvc_resource_type kind;
        const char *text;
    } others[] = {
        {SPVC_RESOURCE_TYPE_STAGE_INPUT, "a stage input"},
        {SPVC_RESOURCE_TYPE_STAGE_OUTPUT, "a stage output"},
        {SPVC_RESOURCE_TYPE_SUBPASS_INPUT, "a subpass input"},
        {SPVC_RESOURCE_TYPE_STORAGE_IMAGE, "a storage image"},
        {SPVC_RESOURCE_TYPE_SAMPLED_IMAGE, "a sampled image"},
        {SPVC_RESOURCE_TYPE_ATOMIC_COUNTER, "an atomic counter"},
        {SPVC_RESOURCE_TYPE_SEPARATE_IMAGE, "an image"},
        {SPVC_RESOURCE_TYPE_SEPARATE_SAMPLERS, "a sampler"},
        {SPVC_RESOURCE_TYPE_ACCELERATION_STRUCTURE, "an acceleration structure"},
        {SPVC_RESOURCE_TYPE_SHADER_RECORD_BUFFER, "a shader record buffer"},
        {SPVC_RESOURCE_TYPE_GL_PLAIN_UNIFORM, "a plain uniform"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const spvc_reflected_resource *list = NULL;
        size_t count = 0;
        if (spvc_resources_get_resource_list_for_type(reflection->resources, others[i].kind, &list,
                                                      &count) != SPVC_SUCCESS)
            return fail_library(reflection, "listing resources");
        if (count != 0) {
            return kiln_error_set(reflection->error, KILN_ERR_INTERFACE,
                                  "'%s' (id %u) is %s, expected storage and uniform buffers only",
                                  list[0].name, list[0].id, others[i].text);
        }
    }
    return KILN_OK;
}

static enum kiln_result append_push(struct reflection *reflection, const struct mf_push *push) {
    struct mf_push *list =
        mf_arena_grow(reflection->arena, reflection->push, reflection->push_count,
                      &reflection->push_capacity, sizeof *list);
    if (list == NULL)
        return fail_memory(reflection);
    reflection->push = list;
    list[reflection->push_count++] = *push;
    if (push->offset_bytes + push->size_bytes > reflection->push_bytes)
        reflection->push_bytes = push->offset_bytes + push->size_bytes;
    return KILN_OK;
}

static enum kiln_result add_push_block(struct reflection *reflection, spvc_type_id block_id,
                                       uint32_t base_bytes, const char *prefix, unsigned depth);

static enum kiln_result add_push_member(struct reflection *reflection, spvc_type_id block_id,
                                        unsigned index, uint32_t base_bytes, const char *prefix,
                                        unsigned depth) {
    spvc_compiler compiler = reflection->compiler;
    spvc_type block = spvc_compiler_get_type_handle(compiler, block_id);
    spvc_type_id member_id = spvc_type_get_member_type(block, index);
    spvc_type member = spvc_compiler_get_type_handle(compiler, member_id);
    unsigned offset_bytes = 0;
    size_t size_bytes = 0;
    if (spvc_compiler_type_struct_member_offset(compiler, block, index, &offset_bytes) !=
            SPVC_SUCCESS ||
        spvc_compiler_get_declared_struct_member_size(compiler, block, index, &size_bytes) !=
            SPVC_SUCCESS)
        return fail_library(reflection, "reading a push constant");
    const char *name = spvc_compiler_get_member_name(compiler, block_id, index);
    const char *path = is_identifier(name)
                           ? mf_arena_format(reflection->arena, "%s%s", prefix, name)
                           : mf_arena_format(reflection->arena, "%smember_%u", prefix, index);
    if (path == NULL)
        return fail_memory(reflection);
    struct mf_push push = {
        .name = path,
        .offset_bytes = base_bytes + offset_bytes,
        .size_bytes = (uint32_t)size_bytes,
        .type = scalar_of(member),
    };
    bool is_struct = spvc_type_get_basetype(member) == SPVC_BASETYPE_STRUCT;
    if (!is_struct || spvc_type_get_num_array_dimensions(member) != 0)
        return append_push(reflection, &push);
    if (depth == MAX_PUSH_DEPTH) {
        return kiln_error_set(reflection->error, KILN_ERR_INTERFACE,
                              "push constant '%s' is nested deeper than %d structs", path,
                              MAX_PUSH_DEPTH);
    }
    const char *inner = mf_arena_format(reflection->arena, "%s_", path);
    if (inner == NULL)
        return fail_memory(reflection);
    return add_push_block(reflection, spvc_type_get_base_type_id(member), push.offset_bytes, inner,
                          depth + 1);
}

static enum kiln_result add_push_block(struct reflection *reflection, spvc_type_id block_id,
                                       uint32_t base_bytes, const char *prefix, unsigned depth) {
    spvc_type block = spvc_compiler_get_type_handle(reflection->compiler, block_id);
    unsigned member_count = spvc_type_get_num_member_types(block);
    for (unsigned i = 0; i < member_count; i++) {
        enum kiln_result result =
            add_push_member(reflection, block_id, i, base_bytes, prefix, depth);
        if (result != KILN_OK)
            return result;
    }
    return KILN_OK;
}

static enum kiln_result add_push(struct reflection *reflection) {
    const spvc_reflected_resource *list = NULL;
    size_t count = 0;
    if (spvc_resources_get_resource_list_for_type(
            reflection->resources, SPVC_RESOURCE_TYPE_PUSH_CONSTANT, &list, &count) != SPVC_SUCCESS)
        return fail_library(reflection, "listing push constants");
    if (count > 1) {
        return kiln_error_set(reflection->error, KILN_ERR_INTERFACE,
                              "%zu push constant blocks, expected at most 1", count);
    }
    return count == 0 ? KILN_OK : add_push_block(reflection, list[0].base_type_id, 0, "", 0);
}

static uint64_t default_bits(spvc_constant constant, enum mf_scalar type) {
    uint32_t size_bytes = type == MF_SCALAR_BOOL ? 4 : mf_scalar_bytes(type);
    if (size_bytes == 8)
        return spvc_constant_get_scalar_u64(constant, 0, 0);
    uint32_t bits = spvc_constant_get_scalar_u32(constant, 0, 0);
    return size_bytes == 4 ? bits : bits & ((1u << size_bytes * 8) - 1);
}

static enum kiln_result add_spec(struct reflection *reflection) {
    const spvc_specialization_constant *list = NULL;
    size_t count = 0;
    spvc_compiler compiler = reflection->compiler;
    if (spvc_compiler_get_specialization_constants(compiler, &list, &count) != SPVC_SUCCESS)
        return fail_library(reflection, "listing specialisation constants");
    reflection->spec = mf_arena_alloc(reflection->arena, count + 1, sizeof *reflection->spec);
    if (reflection->spec == NULL)
        return fail_memory(reflection);
    for (size_t i = 0; i < count; i++) {
        spvc_constant constant = spvc_compiler_get_constant_handle(compiler, list[i].id);
        spvc_type type = spvc_compiler_get_type_handle(compiler, spvc_constant_get_type(constant));
        const char *name = spvc_compiler_get_name(compiler, list[i].id);
        struct mf_spec_constant *spec = &reflection->spec[i];
        spec->constant_id = list[i].constant_id;
        spec->type = scalar_of(type);
        spec->default_bits = default_bits(constant, spec->type);
        spec->name = mf_arena_string(reflection->arena, is_identifier(name) ? name : "");
        if (spec->name == NULL)
            return fail_memory(reflection);
    }
    reflection->spec_count = count;
    return KILN_OK;
}

static int compare_u32(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

static int compare_bindings(const void *a, const void *b) {
    const struct mf_binding *x = a;
    const struct mf_binding *y = b;
    int order = compare_u32(x->set, y->set);
    return order != 0 ? order : compare_u32(x->binding, y->binding);
}

static int compare_push(const void *a, const void *b) {
    const struct mf_push *x = a;
    const struct mf_push *y = b;
    return compare_u32(x->offset_bytes, y->offset_bytes);
}

static int compare_spec(const void *a, const void *b) {
    const struct mf_spec_constant *x = a;
    const struct mf_spec_constant *y = b;
    int order = compare_u32(x->constant_id, y->constant_id);
    return order != 0 ? order : strcmp(x->name, y->name);
}

/*
 * One id on two constants is what `local_size_x_id` beside a constant_id gives: one value sets
 * both. They are one entry as long as they agree without being set.
 */
static enum kiln_result merge_spec(struct reflection *reflection) {
    size_t kept = 0;
    for (size_t i = 0; i < reflection->spec_count; i++) {
        struct mf_spec_constant *spec = &reflection->spec[i];
        struct mf_spec_constant *previous = kept == 0 ? NULL : &reflection->spec[kept - 1];
        if (previous == NULL || previous->constant_id != spec->constant_id) {
            reflection->spec[kept++] = *spec;
            continue;
        }
        if (previous->type != spec->type || previous->default_bits != spec->default_bits) {
            return kiln_error_set(
                reflection->error, KILN_ERR_INTERFACE,
                "two specialisation constants have id %u, %s 0x%llx and %s 0x%llx, expected equal "
                "types and defaults",
                spec->constant_id, mf_scalar_string(previous->type),
                (unsigned long long)previous->default_bits, mf_scalar_string(spec->type),
                (unsigned long long)spec->default_bits);
        }
        if (previous->name[0] == 0)
            previous->name = spec->name;
    }
    reflection->spec_count = kept;
    return KILN_OK;
}

/* Names of bindings are how callers find them: a second `data` becomes `data_<set>_<binding>`. */
static enum kiln_result make_names_unique(struct reflection *reflection) {
    for (size_t i = 1; i < reflection->binding_count; i++) {
        struct mf_binding *binding = &reflection->bindings[i];
        size_t j = 0;
        while (j < i && strcmp(reflection->bindings[j].name, binding->name) != 0)
            j++;
        if (j == i)
            continue;
        binding->name = mf_arena_format(reflection->arena, "%s_%u_%u", binding->name, binding->set,
                                        binding->binding);
        if (binding->name == NULL)
            return fail_memory(reflection);
    }
    for (size_t i = 1; i < reflection->push_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(reflection->push[j].name, reflection->push[i].name) == 0) {
                return kiln_error_set(reflection->error, KILN_ERR_INTERFACE,
                                      "two push constants are called '%s', expected unique names",
                                      reflection->push[i].name);
            }
        }
    }
    return KILN_OK;
}

static enum kiln_result sort_all(struct reflection *reflection) {
    if (reflection->binding_count != 0)
        qsort(reflection->bindings, reflection->binding_count, sizeof *reflection->bindings,
              compare_bindings);
    if (reflection->push_count != 0)
        qsort(reflection->push, reflection->push_count, sizeof *reflection->push, compare_push);
    qsort(reflection->spec, reflection->spec_count, sizeof *reflection->spec, compare_spec);
    enum kiln_result result = make_names_unique(reflection);
    return result == KILN_OK ? merge_spec(reflection) : result;
}

static enum kiln_result reflect_all(struct reflection *reflection) {
    enum kiln_result result = refuse_others(reflection);
    if (result == KILN_OK)
        result = add_buffers(reflection, SPVC_RESOURCE_TYPE_STORAGE_BUFFER, false);
    if (result == KILN_OK)
        result = add_buffers(reflection, SPVC_RESOURCE_TYPE_UNIFORM_BUFFER, true);
    if (result == KILN_OK)
        result = add_push(reflection);
    if (result == KILN_OK)
        result = add_spec(reflection);
    return result == KILN_OK ? sort_all(reflection) : result;
}

/*
 * The library always gets the skeleton. The interface is in the declarations, so the result is the
 * same, and function bodies with instructions newer than the library never reach its parser.
 */
enum kiln_result gs_reflect(const struct gs_module *module, struct mf_arena *arena,
                            struct mf_artifact *out, struct kiln_error *error) {
    struct gs_module skeleton;
    struct reflection reflection = {.arena = arena, .error = error};
    enum kiln_result result = gs_module_skeleton(module, &skeleton, error);
    if (result == KILN_OK)
        result = open_library(&reflection, &skeleton);
    if (result == KILN_OK)
        result = reflect_all(&reflection);
    if (result == KILN_OK) {
        out->bindings = reflection.bindings;
        out->binding_count = reflection.binding_count;
        out->push = reflection.push;
        out->push_count = reflection.push_count;
        out->spec = reflection.spec;
        out->spec_count = reflection.spec_count;
        out->requires_.push_bytes = reflection.push_bytes;
    }
    if (reflection.context != NULL)
        spvc_context_destroy(reflection.context);
    gs_module_release(&skeleton);
    return result;
}

static pthread_once_t version_once = PTHREAD_ONCE_INIT;
static char version_text[160];

/* Written once and constant from then on. */
static void make_version(void) {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;
    spvc_get_version(&major, &minor, &patch);
    const char *commit = spvc_get_commit_revision_and_timestamp();
    if (commit == NULL || commit[0] == 0)
        commit = "unknown";
    bool bare = commit[0] != '('; /* Debian says "(Debian package)" */
    (void)snprintf(version_text, sizeof version_text, "%u.%u.%u %s%s%s", major, minor, patch,
                   bare ? "(" : "", commit, bare ? ")" : "");
}

const char *gs_reflect_version(void) {
    (void)pthread_once(&version_once, make_version);
    return version_text;
}
