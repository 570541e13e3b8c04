/* SPDX-License-Identifier: MIT */
#include "gs_module_ids.h"
#include "gs_module_fold.h"
#include "gs_module_layout.h"
#include "gs_module_private.h"

#include <spirv/unified1/spirv.h>

#include <stdlib.h>

/* Word that holds the result id, 0 for instructions that define nothing of interest. */
static size_t result_word(const struct gs_instruction *instruction) {
    switch (instruction->opcode) {
    case SpvOpTypeVoid:
    case SpvOpTypeBool:
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
    case SpvOpTypeImage:
    case SpvOpTypeSampler:
    case SpvOpTypeSampledImage:
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
    case SpvOpTypeStruct:
    case SpvOpTypePointer:
    case SpvOpTypeFunction:
    case SpvOpTypeCooperativeMatrixKHR:
        return 1;
    case SpvOpUndef:
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
    case SpvOpConstant:
    case SpvOpConstantComposite:
    case SpvOpConstantNull:
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse:
    case SpvOpSpecConstant:
    case SpvOpSpecConstantComposite:
    case SpvOpSpecConstantOp:
    case SpvOpVariable:
        return 2;
    default:
        return 0;
    }
}

static bool is_decoration(const struct gs_instruction *instruction) {
    return instruction->opcode == SpvOpDecorate || instruction->opcode == SpvOpMemberDecorate;
}

static int compare_u32(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

static int compare_definitions(const void *a, const void *b) {
    const struct gs_definition *x = a;
    const struct gs_definition *y = b;
    return compare_u32(x->id, y->id);
}

static int compare_decorations(const void *a, const void *b) {
    const struct gs_decoration *x = a;
    const struct gs_decoration *y = b;
    int order = compare_u32(x->target, y->target);
    if (order == 0)
        order = compare_u32(x->member, y->member);
    if (order == 0)
        order = compare_u32(x->kind, y->kind);
    return order != 0 ? order : compare_u32(x->value, y->value);
}

static void count_all(const struct gs_module *module, size_t *definition_count,
                      size_t *decoration_count) {
    size_t position = 0;
    struct gs_instruction instruction;
    while (gs_module_next(module, &position, &instruction) && instruction.opcode != SpvOpFunction) {
        *definition_count += result_word(&instruction) != 0;
        *decoration_count += is_decoration(&instruction);
    }
}

static void add_decoration(struct gs_ids *ids, const struct gs_instruction *instruction) {
    const uint32_t *words = instruction->words;
    struct gs_decoration *decoration = &ids->decorations[ids->decoration_count++];
    size_t kind = instruction->opcode == SpvOpDecorate ? 2 : 3;
    *decoration = (struct gs_decoration){
        .target = words[1],
        .member = kind == 2 ? GS_NO_MEMBER : words[2],
        .kind = words[kind],
        .value = instruction->word_count > kind + 1 ? words[kind + 1] : 0,
    };
}

static void collect(struct gs_ids *ids) {
    size_t position = 0;
    struct gs_instruction instruction;
    while (gs_module_next(ids->module, &position, &instruction) &&
           instruction.opcode != SpvOpFunction) {
        size_t result = result_word(&instruction);
        if (result != 0) {
            ids->definitions[ids->definition_count++] = (struct gs_definition){
                .id = instruction.words[result],
                .opcode = instruction.opcode,
                .index = instruction.index,
            };
        } else if (is_decoration(&instruction)) {
            add_decoration(ids, &instruction);
        }
    }
    qsort(ids->definitions, ids->definition_count, sizeof *ids->definitions, compare_definitions);
    qsort(ids->decorations, ids->decoration_count, sizeof *ids->decorations, compare_decorations);
}

static struct gs_definition *find_definition(const struct gs_ids *ids, uint32_t id) {
    const struct gs_definition key = {.id = id};
    return bsearch(&key, ids->definitions, ids->definition_count, sizeof key, compare_definitions);
}

/* In module order, so that each definition sees the finished ones before it and no others. */
static void evaluate(struct gs_ids *ids) {
    size_t position = 0;
    struct gs_instruction instruction;
    while (gs_module_next(ids->module, &position, &instruction) &&
           instruction.opcode != SpvOpFunction) {
        size_t result = result_word(&instruction);
        if (result == 0)
            continue;
        struct gs_definition *definition = find_definition(ids, instruction.words[result]);
        if (definition == NULL || definition->index != instruction.index)
            continue;
        if (result == 1)
            gs_layout_define(ids, definition);
        else
            gs_fold_define(ids, definition);
    }
}

enum kiln_result gs_ids_make(const struct gs_module *module, struct gs_ids *out,
                             struct kiln_error *error) {
    *out = (struct gs_ids){.module = module};
    size_t definition_count = 0;
    size_t decoration_count = 0;
    count_all(module, &definition_count, &decoration_count);
    out->definitions = calloc(definition_count + 1, sizeof *out->definitions);
    out->decorations = calloc(decoration_count + 1, sizeof *out->decorations);
    if (out->definitions == NULL || out->decorations == NULL) {
        gs_ids_release(out);
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory for %zu definitions",
                              definition_count);
    }
    collect(out);
    evaluate(out);
    return KILN_OK;
}

void gs_ids_release(struct gs_ids *ids) {
    free(ids->definitions);
    free(ids->decorations);
    *ids = (struct gs_ids){0};
}

const struct gs_definition *gs_ids_find(const struct gs_ids *ids, uint32_t id) {
    return find_definition(ids, id);
}

struct gs_instruction gs_ids_instruction(const struct gs_ids *ids,
                                         const struct gs_definition *definition) {
    struct gs_instruction instruction = {0};
    size_t position = definition->index;
    (void)gs_module_next(ids->module, &position, &instruction);
    return instruction;
}

const struct gs_decoration *gs_ids_decoration(const struct gs_ids *ids, uint32_t target,
                                              uint32_t member, uint32_t kind) {
    size_t low = 0;
    size_t high = ids->decoration_count;
    const struct gs_decoration key = {.target = target, .member = member, .kind = kind};
    while (low < high) { /* first one not before {target, member, kind, 0} */
        size_t middle = low + (high - low) / 2;
        if (compare_decorations(&ids->decorations[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct gs_decoration *found = &ids->decorations[low];
    return low < ids->decoration_count && found->target == target && found->member == member &&
                   found->kind == kind
               ? found
               : NULL;
}

bool gs_ids_constant(const struct gs_ids *ids, uint32_t id, uint64_t *value) {
    const struct gs_definition *definition = find_definition(ids, id);
    bool constant = definition != NULL && definition->opcode >= SpvOpConstantTrue &&
                    definition->opcode <= SpvOpSpecConstantOp;
    if (!constant || !definition->known)
        return false;
    *value = definition->value;
    return true;
}

/* The constant decorated as WorkgroupSize; NULL when there is none. */
static const struct gs_definition *workgroup_size_constant(const struct gs_ids *ids) {
    for (size_t i = 0; i < ids->decoration_count; i++) {
        const struct gs_decoration *decoration = &ids->decorations[i];
        if (decoration->kind == SpvDecorationBuiltIn && decoration->member == GS_NO_MEMBER &&
            decoration->value == SpvBuiltInWorkgroupSize)
            return gs_ids_find(ids, decoration->target);
    }
    return NULL;
}

static bool size_from_ids(const struct gs_ids *ids, const uint32_t id[3], uint32_t size[3]) {
    for (size_t i = 0; i < 3; i++) {
        uint64_t value = 0;
        if (!gs_ids_constant(ids, id[i], &value) || value > UINT32_MAX)
            return false;
        size[i] = (uint32_t)value;
    }
    return true;
}

/* The execution mode that states the local size; word_count is 0 when there is none. */
static struct gs_instruction local_size_mode(const struct gs_module *module, uint32_t function_id) {
    size_t position = 0;
    struct gs_instruction instruction;
    struct gs_instruction found = {0};
    while (gs_module_next(module, &position, &instruction) && instruction.opcode != SpvOpFunction) {
        bool literal = instruction.opcode == SpvOpExecutionMode;
        if ((!literal && instruction.opcode != SpvOpExecutionModeId) ||
            instruction.word_count != 6 || instruction.words[1] != function_id)
            continue;
        uint32_t mode = instruction.words[2];
        if (mode == SpvExecutionModeLocalSizeId && !literal)
            return instruction;
        if (mode == SpvExecutionModeLocalSize && literal)
            found = instruction;
    }
    return found;
}

enum kiln_result gs_ids_local_size(const struct gs_ids *ids, uint32_t function_id, uint32_t size[3],
                                   struct kiln_error *error) {
    const struct gs_definition *constant = workgroup_size_constant(ids);
    struct gs_instruction mode;
    const char *source = "the constant decorated as WorkgroupSize";
    bool known = true;
    if (constant != NULL) {
        mode = gs_ids_instruction(ids, constant);
        known = (constant->opcode == SpvOpConstantComposite ||
                 constant->opcode == SpvOpSpecConstantComposite) &&
                mode.word_count == 6 && size_from_ids(ids, mode.words + 3, size);
    } else {
        mode = local_size_mode(ids->module, function_id);
        if (mode.word_count == 0) {
            return kiln_error_set(error, KILN_ERR_FORMAT,
                                  "entry function %u has no LocalSize, LocalSizeId or "
                                  "WorkgroupSize: a compute shader needs one",
                                  function_id);
        }
        source = mode.opcode == SpvOpExecutionMode ? "LocalSize" : "LocalSizeId";
        if (mode.opcode == SpvOpExecutionMode) {
            for (size_t i = 0; i < 3; i++)
                size[i] = mode.words[3 + i];
        } else {
            known = size_from_ids(ids, mode.words + 3, size);
        }
    }
    if (!known) {
        return kiln_error_set(error, KILN_ERR_FORMAT,
                              "word %zu: %s is not made of three known 32-bit constants",
                              mode.index, source);
    }
    uint64_t plane = (uint64_t)size[0] * size[1];
    if (plane == 0 || size[2] == 0 || plane > UINT32_MAX / size[2]) {
        return kiln_error_set(error, KILN_ERR_FORMAT,
                              "word %zu: %s %u x %u x %u, expected a product of 1 to 4294967295",
                              mode.index, source, size[0], size[1], size[2]);
    }
    return KILN_OK;
}
