/* SPDX-License-Identifier: MIT */
#include "gs_module_layout.h"

#include <spirv/unified1/spirv.h>

#include <stddef.h>

#define EXTENDED_ALIGNMENT 16u /* of arrays and structs in uniform blocks */

static uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t add(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t round_up(uint64_t value, uint64_t alignment) {
    uint64_t rest = value % alignment;
    return rest == 0 ? value : add(value, alignment - rest);
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* NULL when the id is no type, for a malformed module may name anything. */
static const struct gs_definition *find_type(const struct gs_ids *ids, uint32_t id) {
    const struct gs_definition *definition = gs_ids_find(ids, id);
    bool is_type = definition != NULL && definition->opcode >= SpvOpTypeVoid &&
                   definition->opcode <= SpvOpTypeFunction;
    return is_type ? definition : NULL;
}

static void define_scalar(struct gs_definition *type, uint32_t size_bytes) {
    type->known = true;
    type->value = size_bytes;
    type->stored = size_bytes;
    type->scalar_alignment = size_bytes;
    type->base_alignment = size_bytes;
    type->extended_alignment = size_bytes;
}

static void define_number(struct gs_definition *type, uint32_t width_bits) {
    if (width_bits == 8 || width_bits == 16 || width_bits == 32 || width_bits == 64)
        define_scalar(type, width_bits / 8);
}

static void define_vector(struct gs_definition *type, const struct gs_definition *component,
                          uint32_t count) {
    if (component == NULL || !component->known || count < 2 || count > 4)
        return;
    type->known = true;
    type->value = component->value * count;
    type->stored = type->value;
    type->scalar_alignment = component->scalar_alignment;
    type->base_alignment = component->scalar_alignment * (count == 2 ? 2 : 4);
    type->extended_alignment = type->base_alignment;
}

static void define_matrix(struct gs_definition *type, const struct gs_definition *column,
                          uint32_t count) {
    if (column == NULL || !column->known || count < 2 || count > 4)
        return;
    type->known = true;
    type->value = column->value * count;
    type->scalar_alignment = column->scalar_alignment;
    type->base_alignment = column->base_alignment;
    type->extended_alignment = larger(column->extended_alignment, EXTENDED_ALIGNMENT);
}

static uint32_t decoration_value(const struct gs_ids *ids, uint32_t target, uint32_t member,
                                 uint32_t kind) {
    const struct gs_decoration *decoration = gs_ids_decoration(ids, target, member, kind);
    return decoration == NULL ? 0 : decoration->value;
}

/* count_id 0: a runtime array. */
static void define_array(const struct gs_ids *ids, struct gs_definition *type,
                         const struct gs_definition *element, uint32_t count_id) {
    if (element == NULL || element->scalar_alignment == 0)
        return;
    type->scalar_alignment = element->scalar_alignment;
    type->base_alignment = element->base_alignment;
    type->extended_alignment = larger(element->extended_alignment, EXTENDED_ALIGNMENT);
    uint32_t stride_bytes = decoration_value(ids, type->id, GS_NO_MEMBER, SpvDecorationArrayStride);
    type->breaks_base = element->breaks_base;
    type->breaks_extended = element->breaks_extended;
    if (stride_bytes != 0) {
        type->breaks_base |= stride_bytes % type->base_alignment != 0;
        type->breaks_extended |= stride_bytes % type->extended_alignment != 0;
    }
    uint64_t count = 0;
    if (count_id == 0 || !gs_ids_constant(ids, count_id, &count))
        return;
    type->known = element->known;
    type->value = multiply(element->value, count);
    type->stored = multiply(stride_bytes != 0 ? stride_bytes : element->stored, count);
}

static uint64_t member_stored(const struct gs_ids *ids, uint32_t struct_id, uint32_t member,
                              const struct gs_definition *type) {
    if (type->opcode != SpvOpTypeMatrix)
        return type->stored;
    struct gs_instruction matrix = gs_ids_instruction(ids, type);
    uint32_t vectors = matrix.words[3];
    if (gs_ids_decoration(ids, struct_id, member, SpvDecorationRowMajor) != NULL) {
        const struct gs_definition *column = find_type(ids, matrix.words[2]);
        vectors = column == NULL || column->opcode != SpvOpTypeVector
                      ? 4
                      : gs_ids_instruction(ids, column).words[3];
    }
    return multiply(decoration_value(ids, struct_id, member, SpvDecorationMatrixStride), vectors);
}

/* Whether a member may stand at this offset; vectors by the rule of relaxed block layout. */
static bool fits(uint64_t offset_bytes, const struct gs_definition *type, uint32_t alignment) {
    if (type->opcode != SpvOpTypeVector)
        return offset_bytes % alignment == 0;
    if (offset_bytes % type->scalar_alignment != 0)
        return false;
    if (type->value > EXTENDED_ALIGNMENT)
        return offset_bytes % EXTENDED_ALIGNMENT == 0;
    return offset_bytes / EXTENDED_ALIGNMENT ==
           (offset_bytes + type->value - 1) / EXTENDED_ALIGNMENT;
}

/* What of the previous member decides where the next one may start. */
struct placed {
    bool aggregate;
    uint64_t offset_bytes, end_bytes;
    uint32_t base_alignment, extended_alignment;
};

static void check_member(const struct gs_ids *ids, struct gs_definition *type, uint32_t member,
                         const struct gs_definition *member_type, struct placed *previous) {
    const struct gs_decoration *offset =
        gs_ids_decoration(ids, type->id, member, SpvDecorationOffset);
    if (offset == NULL)
        return;
    type->breaks_base |= !fits(offset->value, member_type, member_type->base_alignment);
    type->breaks_extended |= !fits(offset->value, member_type, member_type->extended_alignment);
    if (previous->aggregate && offset->value > previous->offset_bytes) {
        type->breaks_base |=
            offset->value < round_up(previous->end_bytes, previous->base_alignment);
        type->breaks_extended |=
            offset->value < round_up(previous->end_bytes, previous->extended_alignment);
    }
    *previous = (struct placed){
        .aggregate = member_type->opcode == SpvOpTypeArray ||
                     member_type->opcode == SpvOpTypeStruct ||
                     member_type->opcode == SpvOpTypeMatrix,
        .offset_bytes = offset->value,
        .end_bytes = add(offset->value, member_stored(ids, type->id, member, member_type)),
        .base_alignment = member_type->base_alignment,
        .extended_alignment = member_type->extended_alignment,
    };
    if (previous->end_bytes > type->stored)
        type->stored = previous->end_bytes;
}

static void define_struct(const struct gs_ids *ids, struct gs_definition *type,
                          const struct gs_instruction *instruction) {
    struct gs_definition made = *type;
    struct placed previous = {0};
    made.known = true;
    made.scalar_alignment = made.base_alignment = 1;
    made.extended_alignment = EXTENDED_ALIGNMENT;
    for (uint32_t i = 2; i < instruction->word_count; i++) {
        const struct gs_definition *member = find_type(ids, instruction->words[i]);
        if (member == NULL || member->scalar_alignment == 0)
            return;
        made.known = made.known && member->known;
        made.value = add(round_up(made.value, member->scalar_alignment), member->value);
        made.scalar_alignment = larger(made.scalar_alignment, member->scalar_alignment);
        made.base_alignment = larger(made.base_alignment, member->base_alignment);
        made.extended_alignment = larger(made.extended_alignment, member->extended_alignment);
        made.breaks_base |= member->breaks_base;
        made.breaks_extended |= member->breaks_extended;
        check_member(ids, &made, i - 2, member, &previous);
    }
    made.value = round_up(made.value, made.scalar_alignment);
    *type = made;
}

void gs_layout_define(const struct gs_ids *ids, struct gs_definition *definition) {
    struct gs_instruction instruction = gs_ids_instruction(ids, definition);
    const uint32_t *words = instruction.words;
    switch (definition->opcode) {
    case SpvOpTypeBool:
        define_scalar(definition, 4);
        break;
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        define_number(definition, words[2]);
        break;
    case SpvOpTypeVector:
        define_vector(definition, find_type(ids, words[2]), words[3]);
        break;
    case SpvOpTypeMatrix:
        define_matrix(definition, find_type(ids, words[2]), words[3]);
        break;
    case SpvOpTypeArray:
        define_array(ids, definition, find_type(ids, words[2]), words[3]);
        break;
    case SpvOpTypeRuntimeArray:
        define_array(ids, definition, find_type(ids, words[2]), 0);
        break;
    case SpvOpTypeStruct:
        define_struct(ids, definition, &instruction);
        break;
    case SpvOpTypePointer:
        if (words[2] == SpvStorageClassPhysicalStorageBuffer)
            define_scalar(definition, 8);
        break;
    default:
        break;
    }
}

/* The type a pointer type points to; NULL when unknown. */
static const struct gs_definition *pointee(const struct gs_ids *ids, uint32_t pointer_id) {
    const struct gs_definition *pointer = find_type(ids, pointer_id);
    if (pointer == NULL || pointer->opcode != SpvOpTypePointer)
        return NULL;
    return find_type(ids, gs_ids_instruction(ids, pointer).words[3]);
}

static bool has_block(const struct gs_ids *ids, const struct gs_definition *type, uint32_t kind) {
    return gs_ids_decoration(ids, type->id, GS_NO_MEMBER, kind) != NULL;
}

static void add_needs(const struct gs_ids *ids, uint32_t storage_class, uint32_t pointer_id,
                      struct gs_layout_needs *out) {
    const struct gs_definition *type = pointee(ids, pointer_id);
    if (type == NULL)
        return;
    switch (storage_class) {
    case SpvStorageClassUniform:
        if (!has_block(ids, type, SpvDecorationBufferBlock) && type->breaks_extended &&
            !type->breaks_base) {
            out->uniform_standard = true;
            break;
        }
        out->scalar_block |= type->breaks_base;
        break;
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassPushConstant:
    case SpvStorageClassPhysicalStorageBuffer:
        out->scalar_block |= type->breaks_base;
        break;
    case SpvStorageClassWorkgroup:
        out->workgroup_scalar_block |=
            has_block(ids, type, SpvDecorationBlock) && type->breaks_base;
        break;
    default:
        break;
    }
}

struct gs_layout_needs gs_layout_needs(const struct gs_ids *ids) {
    struct gs_layout_needs needs = {0};
    for (size_t i = 0; i < ids->definition_count; i++) {
        const struct gs_definition *definition = &ids->definitions[i];
        struct gs_instruction instruction = gs_ids_instruction(ids, definition);
        if (definition->opcode == SpvOpVariable)
            add_needs(ids, instruction.words[3], instruction.words[1], &needs);
        else if (definition->opcode == SpvOpTypePointer &&
                 instruction.words[2] == SpvStorageClassPhysicalStorageBuffer)
            add_needs(ids, instruction.words[2], definition->id, &needs);
    }
    return needs;
}

enum kiln_result gs_layout_workgroup_bytes(const struct gs_ids *ids, uint32_t *out,
                                           struct kiln_error *error) {
    uint64_t total_bytes = 0;
    uint64_t aliased_bytes = 0;
    size_t position = 0;
    struct gs_instruction instruction;
    *out = 0;
    while (gs_module_next(ids->module, &position, &instruction) &&
           instruction.opcode != SpvOpFunction) {
        if (instruction.opcode != SpvOpVariable || instruction.words[3] != SpvStorageClassWorkgroup)
            continue;
        const struct gs_definition *type = pointee(ids, instruction.words[1]);
        if (type == NULL || !type->known) {
            return kiln_error_set(error, KILN_ERR_UNSUPPORTED,
                                  "word %zu: the size of Workgroup variable %u is not known, "
                                  "expected numbers, vectors, matrices, arrays or structs of them",
                                  instruction.index, instruction.words[2]);
        }
        if (has_block(ids, type, SpvDecorationBlock)) {
            if (type->stored > aliased_bytes)
                aliased_bytes = type->stored;
        } else {
            total_bytes = add(round_up(total_bytes, type->scalar_alignment), type->value);
        }
    }
    total_bytes = add(total_bytes, aliased_bytes);
    if (total_bytes > UINT32_MAX) {
        return kiln_error_set(error, KILN_ERR_LIMIT,
                              "Workgroup variables take %llu bytes, expected at most 4294967295",
                              (unsigned long long)total_bytes);
    }
    *out = (uint32_t)total_bytes;
    return KILN_OK;
}
