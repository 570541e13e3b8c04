/* SPDX-License-Identifier: MIT */
#include "gs_module.h"
#include "gs_module_private.h"

#include <spirv/unified1/spirv.h>

#include <stdlib.h>

/*
 * Global instructions that SPIRV-Cross knows, and where their ids are. All other global
 * instructions are dropped, and with them whatever refers to their results.
 */
struct known_global {
    uint16_t opcode;
    uint8_t result_word;
    uint8_t first_id; /* ids stand from this word... */
    uint8_t id_count; /* ...so many, ALL up to the end */
    bool typed;       /* word 1 is the id of a type */
};
#define ALL 255
static const struct known_global known_globals[] = {
    {SpvOpTypeVoid, 1, 0, 0, false},
    {SpvOpTypeBool, 1, 0, 0, false},
    {SpvOpTypeInt, 1, 0, 0, false},
    {SpvOpTypeFloat, 1, 0, 0, false},
    {SpvOpTypeVector, 1, 2, 1, false},
    {SpvOpTypeMatrix, 1, 2, 1, false},
    {SpvOpTypeImage, 1, 2, 1, false},
    {SpvOpTypeSampler, 1, 0, 0, false},
    {SpvOpTypeSampledImage, 1, 2, 1, false},
    {SpvOpTypeArray, 1, 2, 2, false},
    {SpvOpTypeRuntimeArray, 1, 2, 1, false},
    {SpvOpTypeStruct, 1, 2, ALL, false},
    {SpvOpTypePointer, 1, 3, 1, false},
    {SpvOpTypeFunction, 1, 2, ALL, false},
    {SpvOpTypeAccelerationStructureKHR, 1, 0, 0, false},
    {SpvOpUndef, 2, 0, 0, true},
    {SpvOpConstantTrue, 2, 0, 0, true},
    {SpvOpConstantFalse, 2, 0, 0, true},
    {SpvOpConstant, 2, 0, 0, true},
    {SpvOpConstantComposite, 2, 3, ALL, true},
    {SpvOpConstantNull, 2, 0, 0, true},
    {SpvOpSpecConstantTrue, 2, 0, 0, true},
    {SpvOpSpecConstantFalse, 2, 0, 0, true},
    {SpvOpSpecConstant, 2, 0, 0, true},
    {SpvOpSpecConstantComposite, 2, 3, ALL, true},
    {SpvOpSpecConstantOp, 2, 4, ALL, true},
    {SpvOpVariable, 2, 4, ALL, true},
};

struct skeleton {
    const struct gs_module *module;
    struct kiln_error *error;
    uint32_t bound;
    uint8_t *kept;    /* one bit an id */
    uint8_t *forward; /* pointers declared by OpTypeForwardPointer, one bit an id */
    struct gs_entry_point entries[GS_MAX_ENTRY_POINTS];
    size_t entry_count;
};

static bool is_set(const struct skeleton *skeleton, const uint8_t *bits, uint32_t id) {
    return id < skeleton->bound && (bits[id / 8] & 1u << id % 8) != 0;
}

static void set(const struct skeleton *skeleton, uint8_t *bits, uint32_t id) {
    if (id < skeleton->bound)
        bits[id / 8] |= (uint8_t)(1u << id % 8);
}

static bool all_kept(const struct skeleton *skeleton, const struct gs_instruction *instruction,
                     size_t first, size_t count) {
    for (size_t i = first; i < instruction->word_count && i - first < count; i++) {
        if (!is_set(skeleton, skeleton->kept, instruction->words[i]))
            return false;
    }
    return true;
}

/* Ids among the operands of an OpSpecConstantOp; the rest are literal indices. */
static size_t operation_id_count(uint32_t opcode) {
    switch (opcode) {
    case SpvOpCompositeExtract:
        return 1;
    case SpvOpCompositeInsert:
    case SpvOpVectorShuffle:
        return 2;
    default:
        return ALL;
    }
}

static const struct known_global *known_global_of(const struct gs_instruction *instruction) {
    /* A float with an encoding (bfloat16, fp8) would be taken for an IEEE one of its width. */
    if (instruction->opcode == SpvOpTypeFloat && instruction->word_count > 3)
        return NULL;
    for (size_t i = 0; i < sizeof known_globals / sizeof *known_globals; i++) {
        if (known_globals[i].opcode == instruction->opcode)
            return &known_globals[i];
    }
    return NULL;
}

static bool keeps_global(const struct skeleton *skeleton, const struct gs_instruction *instruction,
                         const struct known_global *known) {
    if (known->typed && !is_set(skeleton, skeleton->kept, instruction->words[1]))
        return false;
    size_t count = known->id_count == ALL ? GS_INSTRUCTION_WORDS : known->id_count;
    if (instruction->opcode == SpvOpSpecConstantOp) {
        size_t ids = operation_id_count(instruction->words[3]);
        count = ids == ALL ? GS_INSTRUCTION_WORDS : ids;
    }
    return all_kept(skeleton, instruction, known->first_id, count);
}

/* A dropped object that belongs to the interface would be missing without a trace. */
static enum kiln_result check_drop(const struct skeleton *skeleton,
                                   const struct gs_instruction *instruction) {
    const uint32_t *words = instruction->words;
    if (instruction->opcode == SpvOpVariable) {
        switch (words[3]) {
        case SpvStorageClassUniform:
        case SpvStorageClassUniformConstant:
        case SpvStorageClassStorageBuffer:
        case SpvStorageClassPushConstant:
            return kiln_error_set(skeleton->error, KILN_ERR_UNSUPPORTED,
                                  "word %zu: interface variable %u has a type that cannot be "
                                  "reflected",
                                  instruction->index, words[2]);
        default:
            break;
        }
    }
    if (instruction->opcode == SpvOpTypePointer && is_set(skeleton, skeleton->forward, words[1])) {
        return kiln_error_set(
            skeleton->error, KILN_ERR_UNSUPPORTED,
            "word %zu: forward pointer %u leads to a type that cannot be reflected",
            instruction->index, words[1]);
    }
    return KILN_OK;
}

static bool is_entry(const struct skeleton *skeleton, uint32_t function_id) {
    for (size_t i = 0; i < skeleton->entry_count; i++) {
        if (skeleton->entries[i].function_id == function_id)
            return true;
    }
    return false;
}

static enum kiln_result mark_one(struct skeleton *skeleton,
                                 const struct gs_instruction *instruction) {
    const struct known_global *known = known_global_of(instruction);
    switch (instruction->opcode) {
    case SpvOpString:
    case SpvOpExtInstImport:
        set(skeleton, skeleton->kept, instruction->words[1]);
        return KILN_OK;
    case SpvOpTypeForwardPointer:
        set(skeleton, skeleton->kept, instruction->words[1]);
        set(skeleton, skeleton->forward, instruction->words[1]);
        return KILN_OK;
    case SpvOpFunction:
        if (!is_entry(skeleton, instruction->words[2]))
            return KILN_OK;
        if (!is_set(skeleton, skeleton->kept, instruction->words[1]) ||
            !is_set(skeleton, skeleton->kept, instruction->words[4])) {
            return kiln_error_set(skeleton->error, KILN_ERR_UNSUPPORTED,
                                  "word %zu: entry function %u has a type that cannot be reflected",
                                  instruction->index, instruction->words[2]);
        }
        set(skeleton, skeleton->kept, instruction->words[2]);
        return KILN_OK;
    default:
        break;
    }
    if (known != NULL && keeps_global(skeleton, instruction, known)) {
        set(skeleton, skeleton->kept, instruction->words[known->result_word]);
        return KILN_OK;
    }
    return check_drop(skeleton, instruction);
}

static enum kiln_result mark(struct skeleton *skeleton) {
    bool in_function = false;
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(skeleton->module, &position, &instruction);) {
        if (instruction.opcode == SpvOpFunctionEnd)
            in_function = false;
        if (in_function)
            continue;
        enum kiln_result result = mark_one(skeleton, &instruction);
        if (result != KILN_OK)
            return result;
        in_function = instruction.opcode == SpvOpFunction;
    }
    return KILN_OK;
}

static void append_entry_point(const struct skeleton *skeleton, struct gs_words *stream,
                               const struct gs_instruction *instruction) {
    size_t name_words = 0;
    (void)gs_instruction_string(instruction, 3, &name_words);
    size_t first = 3 + name_words;
    size_t start = stream->word_count;
    gs_words_append(stream, instruction->words, first);
    size_t word_count = first;
    for (size_t i = first; i < instruction->word_count; i++) {
        if (!is_set(skeleton, skeleton->kept, instruction->words[i]))
            continue;
        gs_words_append(stream, instruction->words + i, 1);
        word_count++;
    }
    if (!stream->failed)
        stream->words[start] = gs_opcode_word(SpvOpEntryPoint, word_count);
}

/* Instructions outside functions. */
static void append_global(const struct skeleton *skeleton, struct gs_words *stream,
                          const struct gs_instruction *instruction) {
    const struct known_global *known = known_global_of(instruction);
    bool keep = false;
    switch (instruction->opcode) {
    case SpvOpEntryPoint:
        append_entry_point(skeleton, stream, instruction);
        return;
    case SpvOpCapability:
    case SpvOpExtension:
    case SpvOpExtInstImport:
    case SpvOpMemoryModel:
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
    case SpvOpString:
    case SpvOpSource:
    case SpvOpSourceContinued:
    case SpvOpSourceExtension:
    case SpvOpModuleProcessed:
    case SpvOpTypeForwardPointer:
        keep = true;
        break;
    case SpvOpName:
    case SpvOpMemberName:
    case SpvOpDecorate:
    case SpvOpMemberDecorate:
    case SpvOpDecorateString:
    case SpvOpMemberDecorateString:
        keep = is_set(skeleton, skeleton->kept, instruction->words[1]);
        break;
    case SpvOpDecorateId:
        keep = is_set(skeleton, skeleton->kept, instruction->words[1]) &&
               all_kept(skeleton, instruction, 3, GS_INSTRUCTION_WORDS);
        break;
    default:
        keep = known != NULL &&
               is_set(skeleton, skeleton->kept, instruction->words[known->result_word]);
        break;
    }
    if (keep)
        gs_words_append_instruction(stream, instruction);
}

/* Entry functions keep their first label and return at once; all other functions go. */
static void append_function_part(struct gs_words *stream, const struct gs_instruction *instruction,
                                 bool *labelled) {
    const uint32_t do_return = gs_opcode_word(SpvOpReturn, 1);
    switch (instruction->opcode) {
    case SpvOpFunction:
    case SpvOpFunctionParameter:
    case SpvOpFunctionEnd:
        gs_words_append_instruction(stream, instruction);
        break;
    case SpvOpLabel:
        if (*labelled)
            break;
        *labelled = true;
        gs_words_append_instruction(stream, instruction);
        gs_words_append(stream, &do_return, 1);
        break;
    default:
        break;
    }
}

static void append_all(const struct skeleton *skeleton, struct gs_words *stream) {
    bool in_function = false;
    bool entry = false;
    bool labelled = false;
    struct gs_instruction instruction;
    gs_words_append(stream, skeleton->module->words, GS_HEADER_WORDS);
    for (size_t position = 0; gs_module_next(skeleton->module, &position, &instruction);) {
        if (instruction.opcode == SpvOpFunction) {
            in_function = true;
            entry = is_entry(skeleton, instruction.words[2]);
            labelled = false;
        }
        if (!in_function)
            append_global(skeleton, stream, &instruction);
        else if (entry)
            append_function_part(stream, &instruction, &labelled);
        if (instruction.opcode == SpvOpFunctionEnd)
            in_function = false;
    }
}

enum kiln_result gs_module_skeleton(const struct gs_module *module, struct gs_module *out,
                                    struct kiln_error *error) {
    *out = (struct gs_module){0};
    struct skeleton skeleton = {
        .module = module,
        .error = error,
        .bound = module->words[GS_HEADER_BOUND],
    };
    struct gs_words stream = {0};
    enum kiln_result result = KILN_OK;
    size_t bytes = skeleton.bound / 8 + 1;
    skeleton.kept = calloc(bytes, 1);
    skeleton.forward = calloc(bytes, 1);
    if (skeleton.kept == NULL || skeleton.forward == NULL) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "out of memory for %u ids", skeleton.bound);
        goto done;
    }
    skeleton.entry_count = gs_module_entry_points(module, skeleton.entries, GS_MAX_ENTRY_POINTS);
    result = mark(&skeleton);
    if (result != KILN_OK)
        goto done;
    append_all(&skeleton, &stream);
    result = gs_words_take(&stream, out, error);
done:
    gs_words_release(&stream);
    free(skeleton.kept);
    free(skeleton.forward);
    return result;
}
