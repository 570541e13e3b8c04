/* SPDX-License-Identifier: MIT */
#include "gs_module.h"
#include "gs_module_ids.h"
#include "gs_module_layout.h"
#include "gs_module_private.h"
#include "gs_requires_table.h"

#include <spirv/unified1/spirv.h>

#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 96
#define MAX_ATOMICS 8

/* Strings with static or arena lifetime. */
struct name_set {
    const char *names[MAX_NAMES];
    size_t count;
};

struct collector {
    const struct gs_module *module;
    struct gs_ids ids;
    struct mf_arena *arena;
    struct kiln_error *error;
    uint32_t vulkan_minor;
    uint32_t *types; /* result type of each id, 0 for none; `bound` elements */
    uint32_t bound;
    struct name_set capabilities, features, extensions, operations;
    uint32_t atomics[MAX_ATOMICS]; /* capabilities that an atomic instruction was seen to use */
    size_t atomic_count;
    bool full; /* a set had no room */
};

static void add_name(struct collector *collector, struct name_set *set, const char *name) {
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->names[i], name) == 0)
            return;
    }
    if (set->count == MAX_NAMES)
        collector->full = true;
    else
        set->names[set->count++] = name;
}

static void add_need(struct collector *collector, const struct gs_need *need) {
    if (need->feature != NULL)
        add_name(collector, &collector->features, need->feature);
    bool core = need->core_minor != 0 && need->core_minor <= collector->vulkan_minor;
    if (need->extension != NULL && !core)
        add_name(collector, &collector->extensions, need->extension);
}

/* An atomic capability's feature depends on the storage it is used on: see check_atomics. */
static enum kiln_result add_capability(struct collector *collector, uint32_t capability,
                                       size_t index) {
    const struct gs_capability_row *row = gs_requires_capability(capability);
    if (row == NULL) {
        return kiln_error_set(collector->error, KILN_ERR_UNSUPPORTED,
                              "word %zu: SPIR-V capability %u is not in the table of capabilities "
                              "whose device requirements are known",
                              index, capability);
    }
    add_name(collector, &collector->capabilities, row->name);
    for (;;) {
        struct gs_need need = row->need;
        if (row->atomic)
            need.feature = NULL;
        add_need(collector, &need);
        if (row->subgroup_operation != NULL)
            add_name(collector, &collector->operations, row->subgroup_operation);
        if (row->implied == SpvCapabilityShader || row->implied == row->capability)
            return KILN_OK;
        row = gs_requires_capability(row->implied);
    }
}

static enum kiln_result add_extension(struct collector *collector,
                                      const struct gs_instruction *instruction) {
    size_t words = 0;
    const char *name = gs_instruction_string(instruction, 1, &words);
    const struct gs_extension_row *row = name == NULL ? NULL : gs_requires_extension(name);
    if (row == NULL) {
        return kiln_error_set(collector->error, KILN_ERR_UNSUPPORTED,
                              "word %zu: SPIR-V extension '%s' is not in the table of extensions "
                              "whose device requirements are known",
                              instruction->index, name == NULL ? "" : name);
    }
    add_need(collector, &row->need);
    return KILN_OK;
}

static enum kiln_result add_mode(struct collector *collector,
                                 const struct gs_instruction *instruction) {
    const struct gs_mode_row *row = gs_requires_mode(instruction->words[2]);
    if (row == NULL) {
        return kiln_error_set(collector->error, KILN_ERR_UNSUPPORTED,
                              "word %zu: execution mode %u is not in the table of modes whose "
                              "device requirements are known",
                              instruction->index, instruction->words[2]);
    }
    add_need(collector, &row->need);
    return KILN_OK;
}

static const struct gs_definition *type_of(const struct collector *collector, uint32_t id) {
    return id < collector->bound ? gs_ids_find(&collector->ids, collector->types[id]) : NULL;
}

/* Opcode and width of a number type; vectors by their components. Opcode 0: something else. */
static uint16_t number_type(const struct gs_ids *ids, const struct gs_definition *type,
                            uint32_t *width_bits) {
    if (type != NULL && type->opcode == SpvOpTypeVector)
        type = gs_ids_find(ids, gs_ids_instruction(ids, type).words[2]);
    if (type == NULL || (type->opcode != SpvOpTypeInt && type->opcode != SpvOpTypeFloat))
        return 0;
    *width_bits = gs_ids_instruction(ids, type).words[2];
    return type->opcode;
}

static bool is_subgroup_opcode(uint16_t opcode) {
    return (opcode >= SpvOpGroupNonUniformElect && opcode <= SpvOpGroupNonUniformQuadSwap) ||
           opcode == SpvOpGroupNonUniformRotateKHR;
}

/* Subgroup operations on 8, 16 and 64-bit integers and on f16 are a feature of their own. */
static void check_subgroup(struct collector *collector, const struct gs_instruction *instruction) {
    static const struct gs_need extended = {"shaderSubgroupExtendedTypes",
                                            "VK_KHR_shader_subgroup_extended_types", 2};
    static const struct gs_need clustered = {"shaderSubgroupRotateClustered",
                                             "VK_KHR_shader_subgroup_rotate", 4};
    const struct gs_definition *type = instruction->opcode == SpvOpGroupNonUniformAllEqual
                                           ? type_of(collector, instruction->words[4])
                                           : gs_ids_find(&collector->ids, instruction->words[1]);
    uint32_t width_bits = 32;
    uint16_t kind = number_type(&collector->ids, type, &width_bits);
    if (width_bits != 32 && !(kind == SpvOpTypeFloat && width_bits == 64))
        add_need(collector, &extended);
    if (instruction->opcode == SpvOpGroupNonUniformRotateKHR && instruction->word_count > 6) {
        add_need(collector, &clustered);
        add_name(collector, &collector->operations, "rotate_clustered");
    }
}

enum atomic_kind { ATOMIC_NONE, ATOMIC_MOVE, ATOMIC_INTEGER, ATOMIC_ADD, ATOMIC_MIN_MAX };

static enum atomic_kind atomic_kind_of(uint16_t opcode) {
    switch (opcode) {
    case SpvOpAtomicLoad:
    case SpvOpAtomicStore:
    case SpvOpAtomicExchange:
        return ATOMIC_MOVE;
    case SpvOpAtomicFAddEXT:
        return ATOMIC_ADD;
    case SpvOpAtomicFMinEXT:
    case SpvOpAtomicFMaxEXT:
        return ATOMIC_MIN_MAX;
    default:
        return opcode >= SpvOpAtomicCompareExchange && opcode <= SpvOpAtomicXor ? ATOMIC_INTEGER
                                                                                : ATOMIC_NONE;
    }
}

/* The capability that the instruction needs, 0 when it needs none of the atomic ones. */
static uint32_t atomic_capability(enum atomic_kind kind, uint16_t number, uint32_t width_bits) {
    if (number == SpvOpTypeInt)
        return width_bits == 64 ? SpvCapabilityInt64Atomics : 0;
    if (kind == ATOMIC_ADD) {
        return width_bits == 16   ? SpvCapabilityAtomicFloat16AddEXT
               : width_bits == 32 ? SpvCapabilityAtomicFloat32AddEXT
                                  : SpvCapabilityAtomicFloat64AddEXT;
    }
    if (kind == ATOMIC_MIN_MAX) {
        return width_bits == 16   ? SpvCapabilityAtomicFloat16MinMaxEXT
               : width_bits == 32 ? SpvCapabilityAtomicFloat32MinMaxEXT
                                  : SpvCapabilityAtomicFloat64MinMaxEXT;
    }
    return 0;
}

static void mark_atomic(struct collector *collector, uint32_t capability) {
    for (size_t i = 0; i < collector->atomic_count; i++) {
        if (collector->atomics[i] == capability)
            return;
    }
    if (capability != 0 && collector->atomic_count < MAX_ATOMICS)
        collector->atomics[collector->atomic_count++] = capability;
}

/* Feature name of an atomic instruction: shader{Buffer|Shared}Float32AtomicAdd and so on. */
static enum kiln_result check_atomic(struct collector *collector, enum atomic_kind kind,
                                     const struct gs_instruction *instruction) {
    bool store = instruction->opcode == SpvOpAtomicStore;
    if (instruction->word_count < (store ? 5 : 4))
        return KILN_OK;
    const struct gs_definition *value = store ? type_of(collector, instruction->words[4])
                                              : gs_ids_find(&collector->ids, instruction->words[1]);
    uint32_t width_bits = 32;
    uint16_t number = number_type(&collector->ids, value, &width_bits);
    bool vector = value != NULL && value->opcode == SpvOpTypeVector;
    if (number == 0 || vector || (number == SpvOpTypeInt && width_bits != 64))
        return KILN_OK;
    const struct gs_definition *pointer = type_of(collector, instruction->words[store ? 1 : 3]);
    uint32_t storage_class = SpvStorageClassStorageBuffer;
    if (pointer != NULL && pointer->opcode == SpvOpTypePointer)
        storage_class = gs_ids_instruction(&collector->ids, pointer).words[2];
    if (storage_class == SpvStorageClassImage) {
        return kiln_error_set(collector->error, KILN_ERR_UNSUPPORTED,
                              "word %zu: an atomic on an image, expected a buffer or shared memory",
                              instruction->index);
    }
    const char *where = storage_class == SpvStorageClassWorkgroup ? "Shared" : "Buffer";
    const char *what = kind == ATOMIC_ADD       ? "AtomicAdd"
                       : kind == ATOMIC_MIN_MAX ? "AtomicMinMax"
                                                : "Atomics";
    struct gs_need need = {NULL, "VK_KHR_shader_atomic_int64", 2};
    char *feature;
    if (number == SpvOpTypeInt) {
        feature = mf_arena_format(collector->arena, "shader%sInt64Atomics", where);
    } else {
        feature = mf_arena_format(collector->arena, "shader%sFloat%u%s", where, width_bits, what);
        need.extension = width_bits == 16 || kind == ATOMIC_MIN_MAX ? "VK_EXT_shader_atomic_float2"
                                                                    : "VK_EXT_shader_atomic_float";
        need.core_minor = 0;
    }
    if (feature == NULL)
        return kiln_error_set(collector->error, KILN_ERR_MEMORY, "out of memory for a feature");
    need.feature = feature;
    add_need(collector, &need);
    mark_atomic(collector, atomic_capability(kind, number, width_bits));
    return KILN_OK;
}

/* Needs that show in types and variables, not in capabilities. */
static void check_global(struct collector *collector, const struct gs_instruction *instruction) {
    static const struct gs_need zeroed = {"shaderZeroInitializeWorkgroupMemory",
                                          "VK_KHR_zero_initialize_workgroup_memory", 3};
    static const struct gs_need workgroup_scope = {"cooperativeMatrixWorkgroupScope",
                                                   "VK_NV_cooperative_matrix2", 0};
    /* Drivers list shapes for a subgroup, and for a workgroup only what those are multiples of. */
    static const struct gs_need flexible = {"cooperativeMatrixFlexibleDimensions",
                                            "VK_NV_cooperative_matrix2", 0};
    uint64_t scope = 0;
    if (instruction->opcode == SpvOpVariable && instruction->word_count > 4 &&
        instruction->words[3] == SpvStorageClassWorkgroup)
        add_need(collector, &zeroed);
    if (instruction->opcode == SpvOpTypeCooperativeMatrixKHR &&
        gs_ids_constant(&collector->ids, instruction->words[3], &scope) &&
        scope == SpvScopeWorkgroup) {
        add_need(collector, &workgroup_scope);
        add_need(collector, &flexible);
    }
}

static enum kiln_result check_instruction(struct collector *collector,
                                          const struct gs_instruction *instruction) {
    bool has_result = false;
    bool has_type = false;
    gs_opcode_result(instruction->opcode, &has_result, &has_type);
    if (has_result && has_type)
        collector->types[instruction->words[2]] = instruction->words[1];
    switch (instruction->opcode) {
    case SpvOpCapability:
        return add_capability(collector, instruction->words[1], instruction->index);
    case SpvOpExtension:
        return add_extension(collector, instruction);
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
        return add_mode(collector, instruction);
    default:
        break;
    }
    check_global(collector, instruction);
    if (is_subgroup_opcode(instruction->opcode))
        check_subgroup(collector, instruction);
    enum atomic_kind kind = atomic_kind_of(instruction->opcode);
    return kind == ATOMIC_NONE ? KILN_OK : check_atomic(collector, kind, instruction);
}

/* An atomic capability that nothing uses still has to be one of a feature's; buffers will do. */
static void add_unused_atomics(struct collector *collector) {
    size_t position = 0;
    struct gs_instruction instruction;
    while (gs_module_next(collector->module, &position, &instruction) &&
           instruction.opcode == SpvOpCapability) {
        const struct gs_capability_row *row = gs_requires_capability(instruction.words[1]);
        size_t i = 0;
        while (i < collector->atomic_count && collector->atomics[i] != instruction.words[1])
            i++;
        if (row != NULL && row->atomic && i == collector->atomic_count)
            add_need(collector, &row->need);
    }
}

static void add_layout(struct collector *collector) {
    static const struct gs_need scalar = {"scalarBlockLayout", "VK_EXT_scalar_block_layout", 2};
    static const struct gs_need uniform = {"uniformBufferStandardLayout",
                                           "VK_KHR_uniform_buffer_standard_layout", 2};
    static const struct gs_need workgroup = {"workgroupMemoryExplicitLayoutScalarBlockLayout",
                                             "VK_KHR_workgroup_memory_explicit_layout", 0};
    struct gs_layout_needs needs = gs_layout_needs(&collector->ids);
    if (needs.scalar_block)
        add_need(collector, &scalar);
    if (needs.uniform_standard)
        add_need(collector, &uniform);
    if (needs.workgroup_scalar_block)
        add_need(collector, &workgroup);
}

static enum kiln_result collect(struct collector *collector) {
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(collector->module, &position, &instruction);) {
        enum kiln_result result = check_instruction(collector, &instruction);
        if (result != KILN_OK)
            return result;
    }
    add_unused_atomics(collector);
    add_layout(collector);
    if (collector->full) {
        return kiln_error_set(collector->error, KILN_ERR_LIMIT,
                              "more than %d capabilities, features or extensions", MAX_NAMES);
    }
    return KILN_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool store_names(struct mf_arena *arena, struct name_set *set, const char *const **names,
                        size_t *count) {
    qsort(set->names, set->count, sizeof *set->names, compare_names);
    const char **copy = mf_arena_alloc(arena, set->count + 1, sizeof *copy);
    if (copy == NULL)
        return false;
    for (size_t i = 0; i < set->count; i++) {
        copy[i] = mf_arena_string(arena, set->names[i]);
        if (copy[i] == NULL)
            return false;
    }
    *names = copy;
    *count = set->count;
    return true;
}

static enum kiln_result store(struct collector *collector, struct mf_requires *made) {
    struct mf_arena *arena = collector->arena;
    bool stored =
        store_names(arena, &collector->operations, &made->subgroup_operations,
                    &made->subgroup_operation_count) &&
        store_names(arena, &collector->features, &made->features, &made->feature_count) &&
        store_names(arena, &collector->extensions, &made->extensions, &made->extension_count) &&
        store_names(arena, &collector->capabilities, &made->capabilities, &made->capability_count);
    return stored ? KILN_OK
                  : kiln_error_set(collector->error, KILN_ERR_MEMORY,
                                   "out of memory for requirements");
}

/* Vulkan 1.1 takes SPIR-V up to 1.3, 1.2 up to 1.5, 1.3 up to 1.6. */
static void fill_versions(const struct gs_module *module, struct mf_requires *made) {
    uint32_t version = module->words[GS_HEADER_VERSION];
    made->spirv_major = version >> 16;
    made->spirv_minor = version >> 8 & 0xffu;
    made->vulkan_major = 1;
    made->vulkan_minor = made->spirv_minor <= 3 ? 1 : made->spirv_minor <= 5 ? 2 : 3;
}

static enum kiln_result fill_sizes(const struct collector *collector, struct mf_requires *made) {
    struct gs_entry_point entry;
    size_t count = gs_module_entry_points(collector->module, &entry, 1);
    if (count != 1 || entry.execution_model != SpvExecutionModelGLCompute) {
        return kiln_error_set(collector->error, KILN_ERR_FORMAT,
                              "the module has %zu entry points, expected one of model GLCompute",
                              count);
    }
    enum kiln_result result =
        gs_ids_local_size(&collector->ids, entry.function_id, made->local_size, collector->error);
    if (result != KILN_OK)
        return result;
    return gs_layout_workgroup_bytes(&collector->ids, &made->workgroup_bytes, collector->error);
}

enum kiln_result gs_module_requirements(const struct gs_module *module, struct mf_arena *arena,
                                        struct mf_requires *out, struct kiln_error *error) {
    struct mf_requires made = *out;
    struct collector collector = {
        .module = module,
        .arena = arena,
        .error = error,
        .bound = module->words[GS_HEADER_BOUND],
    };
    fill_versions(module, &made);
    collector.vulkan_minor = made.vulkan_minor;
    enum kiln_result result = gs_ids_make(module, &collector.ids, error);
    if (result != KILN_OK)
        return result;
    collector.types = calloc(collector.bound, sizeof *collector.types);
    if (collector.types == NULL) {
        result =
            kiln_error_set(error, KILN_ERR_MEMORY, "out of memory for %u ids", collector.bound);
        goto done;
    }
    result = fill_sizes(&collector, &made);
    if (result == KILN_OK)
        result = collect(&collector);
    if (result == KILN_OK)
        result = store(&collector, &made);
    if (result == KILN_OK)
        *out = made;
done:
    free(collector.types);
    gs_ids_release(&collector.ids);
    return result;
}
