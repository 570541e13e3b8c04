/* SPDX-License-Identifier: MIT */
#include "gs_inspect.h"

#include "gs_module_private.h"
#include "gs_reflect.h"
#include "gs_spvtools.h"

/* The names of enumerants; `extern inline` makes the header's functions exist here. */
#define SPV_ENABLE_UTILITY_CODE
#include <spirv/unified1/spirv.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

extern inline const char *SpvOpToString(SpvOp value);
extern inline const char *SpvCapabilityToString(SpvCapability value);
extern inline const char *SpvExecutionModelToString(SpvExecutionModel value);

#define OPCODE_COUNT 65536u

/* "Unknown" is what the header says of numbers it does not know. */
static void put_enumerant(struct mf_buffer *out, const char *name, uint32_t number) {
    if (strcmp(name, "Unknown") == 0) {
        mf_buffer_append_format(out, "%" PRIu32, number);
    } else {
        mf_buffer_append_string(out, name);
    }
}

static void put_header(const struct gs_module *module, struct mf_buffer *out) {
    uint32_t version = module->words[GS_HEADER_VERSION];
    mf_buffer_append_format(out,
                            "SPIR-V %" PRIu32 ".%" PRIu32 ", %zu bytes, id bound %" PRIu32
                            ", generator 0x%08" PRIx32 "\n",
                            version >> 16, version >> 8 & 0xff,
                            module->word_count * sizeof(uint32_t), module->words[GS_HEADER_BOUND],
                            module->words[2]);
}

static void put_names(struct mf_buffer *out, const char *title, const char *const *names,
                      size_t name_count) {
    mf_buffer_append_format(out, "    %s:", title);
    for (size_t i = 0; i < name_count; i++) {
        mf_buffer_append_format(out, " %s", names[i]);
    }
    mf_buffer_append_string(out, name_count == 0 ? " none\n" : "\n");
}

static void put_interface(const struct mf_artifact *artifact, struct mf_buffer *out) {
    mf_buffer_append_string(out, artifact->binding_count == 0 ? "    bindings: none\n"
                                                              : "    bindings (set.binding)\n");
    for (size_t i = 0; i < artifact->binding_count; i++) {
        const struct mf_binding *binding = &artifact->bindings[i];
        mf_buffer_append_format(
            out, "      %" PRIu32 ".%" PRIu32 " %s: %s, %s, stride %" PRIu32 "\n", binding->set,
            binding->binding, binding->name, mf_access_string(binding->access),
            mf_scalar_string(binding->element), binding->stride_bytes);
    }
    mf_buffer_append_string(out, artifact->push_count == 0 ? "    push constants: none\n"
                                                           : "    push constants (offset)\n");
    for (size_t i = 0; i < artifact->push_count; i++) {
        const struct mf_push *push = &artifact->push[i];
        mf_buffer_append_format(out, "      %" PRIu32 " %s: %s, %" PRIu32 " bytes\n",
                                push->offset_bytes, push->name, mf_scalar_string(push->type),
                                push->size_bytes);
    }
    mf_buffer_append_string(out, artifact->spec_count == 0 ? "    specialisation constants: none\n"
                                                           : "    specialisation constants (id)\n");
    for (size_t i = 0; i < artifact->spec_count; i++) {
        const struct mf_spec_constant *spec = &artifact->spec[i];
        mf_buffer_append_format(out, "      %" PRIu32 " %s: %s, default bits 0x%" PRIx64 "\n",
                                spec->constant_id, spec->name[0] != 0 ? spec->name : "(no name)",
                                mf_scalar_string(spec->type), spec->default_bits);
    }
}

static void put_requirements(const struct mf_requires *needs, struct mf_buffer *out) {
    mf_buffer_append_format(out,
                            "    local size: %" PRIu32 " %" PRIu32 " %" PRIu32 "\n"
                            "    workgroup memory: %" PRIu32 " bytes\n"
                            "    Vulkan: %" PRIu32 ".%" PRIu32 "\n",
                            needs->local_size[0], needs->local_size[1], needs->local_size[2],
                            needs->workgroup_bytes, needs->vulkan_major, needs->vulkan_minor);
    put_names(out, "features", needs->features, needs->feature_count);
    put_names(out, "device extensions", needs->extensions, needs->extension_count);
    put_names(out, "subgroup operations", needs->subgroup_operations,
              needs->subgroup_operation_count);
}

/* What the manifest would say of one compute entry point. */
static enum kiln_result put_compute(const struct gs_module *module, size_t index,
                                    size_t entry_count, struct mf_buffer *out,
                                    struct kiln_error *error) {
    struct mf_arena arena = {0};
    struct gs_module part = {NULL, 0};
    struct mf_artifact artifact = {0};
    struct kiln_error why = {KILN_OK, ""};
    enum kiln_result result = gs_module_split(module, index, &part, error);
    if (result != KILN_OK) {
        goto done;
    }
    enum gs_target target = gs_spvtools_target(&part);
    enum kiln_result told = gs_spvtools_validate(&part, target, &why);
    if (told == KILN_OK && entry_count > 1) {
        told = gs_spvtools_prune(&part, target, &why);
    }
    if (told != KILN_OK) {
        mf_buffer_append_format(out, "    nothing more: %s\n", why.message);
        result = told == KILN_ERR_MEMORY ? told : KILN_OK;
        goto done;
    }
    told = gs_module_requirements(&part, &arena, &artifact.requires_, &why);
    if (told == KILN_OK) {
        put_requirements(&artifact.requires_, out);
    } else {
        mf_buffer_append_format(out, "    requirements: %s\n", why.message);
    }
    told = gs_reflect(&part, &arena, &artifact, &why);
    if (told == KILN_OK) {
        put_interface(&artifact, out);
    } else {
        mf_buffer_append_format(out, "    interface: %s\n", why.message);
    }

done:
    gs_module_release(&part);
    mf_arena_release(&arena);
    return result;
}

static enum kiln_result put_entry_points(const struct gs_module *module, struct mf_buffer *out,
                                         struct kiln_error *error) {
    struct gs_entry_point entries[GS_MAX_ENTRY_POINTS];
    size_t count = gs_module_entry_points(module, entries, GS_MAX_ENTRY_POINTS);
    enum kiln_result result = KILN_OK;
    mf_buffer_append_string(out, count == 0 ? "entry points: none\n" : "entry points\n");
    for (size_t i = 0; i < count && result == KILN_OK; i++) {
        uint32_t model = entries[i].execution_model;
        mf_buffer_append_format(out, "  %s: ", entries[i].name);
        put_enumerant(out, SpvExecutionModelToString((SpvExecutionModel)model), model);
        mf_buffer_append_string(out, "\n");
        if (model == SpvExecutionModelGLCompute) {
            result = put_compute(module, i, count, out, error);
        }
    }
    return result;
}

struct opcode_use {
    uint32_t opcode;
    size_t count;
};

/* Most frequent first, then by number. */
static int compare_uses(const void *a, const void *b) {
    const struct opcode_use *x = a, *y = b;
    if (x->count != y->count) {
        return x->count < y->count ? 1 : -1;
    }
    return (x->opcode > y->opcode) - (x->opcode < y->opcode);
}

static enum kiln_result put_instructions(const struct gs_module *module, struct mf_buffer *out,
                                         struct kiln_error *error) {
    struct opcode_use *uses = calloc(OPCODE_COUNT, sizeof *uses);
    struct gs_instruction instruction;
    size_t total = 0, functions = 0;
    if (uses == NULL) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    mf_buffer_append_string(out, "capabilities\n");
    for (size_t position = 0; gs_module_next(module, &position, &instruction);) {
        uses[instruction.opcode].opcode = instruction.opcode;
        uses[instruction.opcode].count++;
        total++;
        functions += instruction.opcode == SpvOpFunction;
        if (instruction.opcode == SpvOpCapability) {
            uint32_t capability = instruction.words[1];
            mf_buffer_append_string(out, "  ");
            put_enumerant(out, SpvCapabilityToString((SpvCapability)capability), capability);
            mf_buffer_append_string(out, "\n");
        }
    }
    qsort(uses, OPCODE_COUNT, sizeof *uses, compare_uses);
    mf_buffer_append_format(out, "instructions: %zu, functions: %zu\n", total, functions);
    for (size_t i = 0; i < OPCODE_COUNT && uses[i].count > 0; i++) {
        mf_buffer_append_format(out, "%8zu ", uses[i].count);
        put_enumerant(out, SpvOpToString((SpvOp)uses[i].opcode), uses[i].opcode);
        mf_buffer_append_string(out, "\n");
    }
    free(uses);
    return KILN_OK;
}

enum kiln_result gs_inspect(const struct gs_module *module, struct mf_buffer *out,
                            struct kiln_error *error) {
    put_header(module, out);
    enum kiln_result result = put_entry_points(module, out, error);
    if (result == KILN_OK) {
        result = put_instructions(module, out, error);
    }
    /* An append that failed makes all later ones fail, too. */
    if (result == KILN_OK && mf_buffer_append(out, NULL, 0) != KILN_OK) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    return result;
}
