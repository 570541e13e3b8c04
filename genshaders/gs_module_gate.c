/* SPDX-License-Identifier: MIT */
/* The gate: everything between bytes from outside and a struct gs_module. */
#include "gs_module_ids.h"
#include "gs_module_private.h"

#define SPV_ENABLE_UTILITY_CODE
#include <spirv/unified1/spirv.h>

#include <stdlib.h>
#include <string.h>

/* spirv.h defines it inline only; C wants one external definition in the program. */
extern void SpvHasResultAndType(SpvOp opcode, bool *hasResult, bool *hasResultType);

void gs_opcode_result(uint16_t opcode, bool *has_result, bool *has_type) {
    SpvHasResultAndType((SpvOp)opcode, has_result, has_type);
}

/*
 * Position in the logical layout of a module (SPIR-V 2.4). Everything not listed is a type,
 * constant or variable before the first function, or part of one.
 */
enum section {
    SECTION_CAPABILITY,
    SECTION_EXTENSION,
    SECTION_IMPORT,
    SECTION_MEMORY_MODEL,
    SECTION_ENTRY_POINT,
    SECTION_EXECUTION_MODE,
    SECTION_DEBUG,
    SECTION_NAME,
    SECTION_PROCESSED,
    SECTION_ANNOTATION,
    SECTION_GLOBAL,
    SECTION_FUNCTION
};

static const char *const section_names[] = {
    "capabilities",       "extensions",      "imports",        "the memory model",
    "entry points",       "execution modes", "debug strings",  "names",
    "processing records", "annotations",     "global objects", "functions",
};

static enum section section_of(uint16_t opcode) {
    switch (opcode) {
    case SpvOpCapability:
        return SECTION_CAPABILITY;
    case SpvOpExtension:
        return SECTION_EXTENSION;
    case SpvOpExtInstImport:
        return SECTION_IMPORT;
    case SpvOpMemoryModel:
        return SECTION_MEMORY_MODEL;
    case SpvOpEntryPoint:
        return SECTION_ENTRY_POINT;
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
        return SECTION_EXECUTION_MODE;
    case SpvOpString:
    case SpvOpSource:
    case SpvOpSourceContinued:
    case SpvOpSourceExtension:
        return SECTION_DEBUG;
    case SpvOpName:
    case SpvOpMemberName:
        return SECTION_NAME;
    case SpvOpModuleProcessed:
        return SECTION_PROCESSED;
    case SpvOpDecorate:
    case SpvOpMemberDecorate:
    case SpvOpDecorateId:
    case SpvOpDecorateString:
    case SpvOpMemberDecorateString:
        return SECTION_ANNOTATION;
    case SpvOpFunction:
    case SpvOpFunctionParameter:
    case SpvOpFunctionEnd:
    case SpvOpLabel:
        return SECTION_FUNCTION;
    default:
        return SECTION_GLOBAL;
    }
}

/* Types and constants; they may not stand in a function. */
static bool is_global_only(uint16_t opcode) {
    return (opcode >= SpvOpTypeVoid && opcode <= SpvOpTypeForwardPointer) ||
           (opcode >= SpvOpConstantTrue && opcode <= SpvOpSpecConstantOp);
}

/* Fewest words of the instructions that this library reads operands of, without result rules. */
struct length_rule {
    uint16_t opcode;
    uint16_t min_words;
    uint16_t max_words; /* 0: any */
};
static const struct length_rule length_rules[] = {
    {SpvOpMemberName, 4, 0},
    {SpvOpCapability, 2, 2},
    {SpvOpMemoryModel, 3, 3},
    {SpvOpEntryPoint, 4, 0},
    {SpvOpExecutionMode, 3, 0},
    {SpvOpExecutionModeId, 3, 0},
    {SpvOpName, 3, 0},
    {SpvOpDecorate, 3, 0},
    {SpvOpMemberDecorate, 4, 0},
    {SpvOpDecorateId, 3, 0},
    {SpvOpDecorateString, 4, 0},
    {SpvOpMemberDecorateString, 5, 0},
    {SpvOpTypeBool, 2, 2},
    {SpvOpTypeInt, 4, 4},
    {SpvOpTypeFloat, 3, 4},
    {SpvOpTypeVector, 4, 4},
    {SpvOpTypeMatrix, 4, 4},
    {SpvOpTypeImage, 9, 10},
    {SpvOpTypeSampledImage, 3, 3},
    {SpvOpTypeArray, 4, 4},
    {SpvOpTypeRuntimeArray, 3, 3},
    {SpvOpTypePointer, 4, 4},
    {SpvOpTypeForwardPointer, 3, 3},
    {SpvOpTypeFunction, 3, 0},
    {SpvOpTypeCooperativeMatrixKHR, 7, 7},
    {SpvOpConstant, 4, 0},
    {SpvOpSpecConstant, 4, 0},
    {SpvOpSpecConstantOp, 4, 0},
    {SpvOpVariable, 4, 5},
    {SpvOpExtInst, 5, 0},
    {SpvOpFunction, 5, 5},
    {SpvOpFunctionEnd, 1, 1},
    {SpvOpLabel, 2, 2},
    {SpvOpGroupNonUniformAllEqual, 5, 5},
    {SpvOpAtomicStore, 5, 5},
    {SpvOpAtomicLoad, 6, 6},
    {SpvOpAtomicExchange, 7, 7},
};

static const struct length_rule *length_rule_of(uint16_t opcode) {
    for (size_t i = 0; i < sizeof length_rules / sizeof *length_rules; i++) {
        if (length_rules[i].opcode == opcode)
            return &length_rules[i];
    }
    return NULL;
}

struct gate {
    const struct gs_module *module;
    struct kiln_error *error;
    uint32_t bound;
    uint8_t *defined; /* one bit an id */
    enum section section;
    bool in_function;
    size_t memory_model_count;
    size_t entry_point_count;
    size_t compute_count;
    uint32_t entry_functions[GS_MAX_ENTRY_POINTS];
    bool entry_defined[GS_MAX_ENTRY_POINTS];
};

static enum kiln_result check_layout(struct gate *gate, const struct gs_instruction *instruction) {
    enum section section = section_of(instruction->opcode);
    size_t at = instruction->index;
    if (gate->in_function) {
        if (instruction->opcode == SpvOpFunction) {
            return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                                  "word %zu: OpFunction inside a function, expected OpFunctionEnd",
                                  at);
        }
        if (section < SECTION_GLOBAL || is_global_only(instruction->opcode)) {
            return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                                  "word %zu: opcode %u inside a function, expected it among %s", at,
                                  instruction->opcode, section_names[section]);
        }
        gate->in_function = instruction->opcode != SpvOpFunctionEnd;
        return KILN_OK;
    }
    if (section == SECTION_FUNCTION && instruction->opcode != SpvOpFunction) {
        return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                              "word %zu: opcode %u outside a function, expected OpFunction first",
                              at, instruction->opcode);
    }
    bool anywhere = instruction->opcode == SpvOpLine || instruction->opcode == SpvOpNoLine ||
                    instruction->opcode == SpvOpExtInst;
    if (section < gate->section && !anywhere) {
        return kiln_error_set(
            gate->error, KILN_ERR_FORMAT, "word %zu: opcode %u after %s, expected it among %s", at,
            instruction->opcode, section_names[gate->section], section_names[section]);
    }
    gate->section = section > gate->section ? section : gate->section;
    gate->in_function = instruction->opcode == SpvOpFunction;
    return KILN_OK;
}

/* The string that starts at `operand` has to end with the instruction, or where `more` is set
 * anywhere in it. */
static enum kiln_result check_string(struct gate *gate, const struct gs_instruction *instruction,
                                     size_t operand, bool more) {
    size_t words = 0;
    if (gs_instruction_string(instruction, operand, &words) == NULL) {
        return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                              "word %zu: opcode %u has a string without end, expected a 0 byte "
                              "inside its %u words",
                              instruction->index, instruction->opcode, instruction->word_count);
    }
    if (!more && operand + words != instruction->word_count) {
        return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                              "word %zu: opcode %u has %zu words after its string, expected none",
                              instruction->index, instruction->opcode,
                              instruction->word_count - operand - words);
    }
    return KILN_OK;
}

static enum kiln_result check_strings(struct gate *gate, const struct gs_instruction *instruction) {
    switch (instruction->opcode) {
    case SpvOpSourceContinued:
    case SpvOpSourceExtension:
    case SpvOpExtension:
    case SpvOpModuleProcessed:
        return check_string(gate, instruction, 1, false);
    case SpvOpName:
    case SpvOpString:
    case SpvOpExtInstImport:
    case SpvOpTypeOpaque:
        return check_string(gate, instruction, 2, false);
    case SpvOpMemberName:
        return check_string(gate, instruction, 3, false);
    case SpvOpEntryPoint:
        return check_string(gate, instruction, 3, true);
    case SpvOpDecorateString:
        return check_string(gate, instruction, 3, true);
    case SpvOpMemberDecorateString:
        return check_string(gate, instruction, 4, true);
    case SpvOpSource: /* the text is optional, after an optional file */
        return instruction->word_count > 4 ? check_string(gate, instruction, 4, false) : KILN_OK;
    case SpvOpDecorate:
        return instruction->words[2] == SpvDecorationLinkageAttributes
                   ? check_string(gate, instruction, 3, true)
                   : KILN_OK;
    default:
        return KILN_OK;
    }
}

static enum kiln_result check_id(struct gate *gate, const struct gs_instruction *instruction,
                                 const char *what, uint32_t id) {
    if (id == 0 || id >= gate->bound) {
        return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                              "word %zu: opcode %u has %s id %u, expected 1 to %u",
                              instruction->index, instruction->opcode, what, id, gate->bound - 1);
    }
    return KILN_OK;
}

static enum kiln_result check_words(struct gate *gate, const struct gs_instruction *instruction) {
    bool has_result = false;
    bool has_type = false;
    gs_opcode_result(instruction->opcode, &has_result, &has_type);
    size_t min_words = 1 + (size_t)has_result + (size_t)has_type;
    size_t max_words = GS_INSTRUCTION_WORDS;
    const struct length_rule *rule = length_rule_of(instruction->opcode);
    if (rule != NULL && rule->min_words > min_words)
        min_words = rule->min_words;
    if (rule != NULL && rule->max_words != 0)
        max_words = rule->max_words;
    if (instruction->word_count < min_words || instruction->word_count > max_words) {
        return kiln_error_set(
            gate->error, KILN_ERR_FORMAT, "word %zu: opcode %u has %u words, expected %zu to %zu",
            instruction->index, instruction->opcode, instruction->word_count, min_words, max_words);
    }
    enum kiln_result result = KILN_OK;
    if (has_type)
        result = check_id(gate, instruction, "type", instruction->words[1]);
    if (result != KILN_OK || !has_result)
        return result;
    uint32_t id = instruction->words[has_type ? 2 : 1];
    result = check_id(gate, instruction, "result", id);
    if (result != KILN_OK)
        return result;
    uint8_t bit = (uint8_t)(1u << id % 8);
    if ((gate->defined[id / 8] & bit) != 0) {
        return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                              "word %zu: id %u is defined twice, expected once", instruction->index,
                              id);
    }
    gate->defined[id / 8] |= bit;
    return KILN_OK;
}

static enum kiln_result check_instruction(struct gate *gate,
                                          const struct gs_instruction *instruction) {
    enum kiln_result result = check_words(gate, instruction);
    if (result == KILN_OK)
        result = check_layout(gate, instruction);
    if (result == KILN_OK)
        result = check_strings(gate, instruction);
    if (result != KILN_OK)
        return result;
    switch (instruction->opcode) {
    case SpvOpMemoryModel:
        gate->memory_model_count++;
        break;
    case SpvOpFunction:
        for (size_t i = 0; i < gate->entry_point_count; i++)
            gate->entry_defined[i] |= gate->entry_functions[i] == instruction->words[2];
        break;
    case SpvOpEntryPoint:
        gate->compute_count += instruction->words[1] == SpvExecutionModelGLCompute;
        if (gate->entry_point_count == GS_MAX_ENTRY_POINTS) {
            return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                                  "word %zu: more than %u entry points", instruction->index,
                                  GS_MAX_ENTRY_POINTS);
        }
        gate->entry_functions[gate->entry_point_count++] = instruction->words[2];
        return check_id(gate, instruction, "function", instruction->words[2]);
    case SpvOpDecorationGroup:
    case SpvOpGroupDecorate:
    case SpvOpGroupMemberDecorate:
        return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                              "word %zu: decoration groups are deprecated and not read, expected "
                              "OpDecorate and OpMemberDecorate",
                              instruction->index);
    default:
        break;
    }
    return KILN_OK;
}

static enum kiln_result check_instructions(struct gate *gate) {
    const struct gs_module *module = gate->module;
    size_t at = GS_HEADER_WORDS;
    while (at < module->word_count) {
        uint32_t first = module->words[at];
        struct gs_instruction instruction = {
            .opcode = (uint16_t)(first & SpvOpCodeMask),
            .word_count = (uint16_t)(first >> SpvWordCountShift),
            .words = module->words + at,
            .index = at,
        };
        if (instruction.word_count == 0 || instruction.word_count > module->word_count - at) {
            return kiln_error_set(
                gate->error, KILN_ERR_FORMAT,
                "word %zu: opcode %u has %u words, expected 1 to the %zu that are "
                "left",
                at, instruction.opcode, instruction.word_count, module->word_count - at);
        }
        enum kiln_result result = check_instruction(gate, &instruction);
        if (result != KILN_OK)
            return result;
        at += instruction.word_count;
    }
    if (gate->in_function) {
        return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                              "word %zu: the module ends inside a function, expected OpFunctionEnd",
                              at);
    }
    if (gate->memory_model_count != 1) {
        return kiln_error_set(gate->error, KILN_ERR_FORMAT,
                              "the module has %zu OpMemoryModel, expected 1",
                              gate->memory_model_count);
    }
    for (size_t i = 0; i < gate->entry_point_count; i++) {
        if (!gate->entry_defined[i]) {
            return kiln_error_set(
                gate->error, KILN_ERR_FORMAT,
                "entry point %zu is function %u, which the module does not define", i,
                gate->entry_functions[i]);
        }
    }
    return KILN_OK;
}

static enum kiln_result check_local_sizes(struct gate *gate) {
    if (gate->compute_count == 0)
        return KILN_OK;
    struct gs_entry_point entries[GS_MAX_ENTRY_POINTS];
    size_t count = gs_module_entry_points(gate->module, entries, GS_MAX_ENTRY_POINTS);
    struct gs_ids ids;
    enum kiln_result result = gs_ids_make(gate->module, &ids, gate->error);
    if (result != KILN_OK)
        return result;
    for (size_t i = 0; i < count && result == KILN_OK; i++) {
        uint32_t size[3];
        if (entries[i].execution_model == SpvExecutionModelGLCompute)
            result = gs_ids_local_size(&ids, entries[i].function_id, size, gate->error);
    }
    gs_ids_release(&ids);
    return result;
}

static enum kiln_result check_header(const uint32_t *words, uint32_t max_version,
                                     struct kiln_error *error) {
    uint32_t version = words[GS_HEADER_VERSION];
    if (version < 0x00010000 || version > max_version || (version & 0xffu) != 0) {
        return kiln_error_set(error, KILN_ERR_FORMAT,
                              "word 1: version word 0x%08x, expected 0x00010000 to 0x%08x", version,
                              max_version);
    }
    if (words[GS_HEADER_BOUND] == 0 || words[GS_HEADER_BOUND] > GS_MAX_BOUND) {
        return kiln_error_set(error, KILN_ERR_FORMAT, "word 3: id bound %u, expected 1 to %u",
                              words[GS_HEADER_BOUND], GS_MAX_BOUND);
    }
    if (words[4] != 0) {
        return kiln_error_set(error, KILN_ERR_FORMAT, "word 4: schema %u, expected 0", words[4]);
    }
    return KILN_OK;
}

/* Brings the words into host order; KILN_ERR_FORMAT when that is not possible or not asked for. */
static enum kiln_result check_order(struct gs_module *module, bool swap, struct kiln_error *error) {
    if (module->words[0] == SpvMagicNumber)
        return KILN_OK;
    if (module->words[0] != __builtin_bswap32(SpvMagicNumber)) {
        return kiln_error_set(error, KILN_ERR_FORMAT, "word 0: magic 0x%08x, expected 0x%08x",
                              module->words[0], SpvMagicNumber);
    }
    if (!swap) {
        return kiln_error_set(
            error, KILN_ERR_FORMAT,
            "word 0: the module is in the other byte order, expected magic 0x%08x", SpvMagicNumber);
    }
    for (size_t i = 0; i < module->word_count; i++)
        module->words[i] = __builtin_bswap32(module->words[i]);
    return KILN_OK;
}

static enum kiln_result check_body(const struct gs_module *module, struct kiln_error *error) {
    struct gate gate = {
        .module = module,
        .error = error,
        .bound = module->words[GS_HEADER_BOUND],
    };
    gate.defined = calloc(gate.bound / 8 + 1, 1);
    if (gate.defined == NULL)
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory for %u ids", gate.bound);
    enum kiln_result result = check_instructions(&gate);
    if (result == KILN_OK)
        result = check_local_sizes(&gate);
    free(gate.defined);
    return result;
}

enum kiln_result gs_module_read(const void *bytes, size_t size_bytes,
                                const struct gs_gate_options *options, struct gs_module *out,
                                struct kiln_error *error) {
    *out = (struct gs_module){0};
    if (bytes == NULL && size_bytes != 0)
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "bytes is NULL");
    if (size_bytes % sizeof(uint32_t) != 0 || size_bytes < GS_HEADER_WORDS * sizeof(uint32_t)) {
        return kiln_error_set(
            error, KILN_ERR_FORMAT,
            "%zu bytes, expected a multiple of 4 and at least the %zu of a header", size_bytes,
            GS_HEADER_WORDS * sizeof(uint32_t));
    }
    uint32_t max_version =
        options != NULL && options->max_version != 0 ? options->max_version : 0x00010600;
    struct gs_module module = {
        .words = malloc(size_bytes),
        .word_count = size_bytes / sizeof(uint32_t),
    };
    if (module.words == NULL)
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory for %zu bytes", size_bytes);
    memcpy(module.words, bytes, size_bytes);
    enum kiln_result result = check_order(&module, options != NULL && options->swap, error);
    if (result == KILN_OK)
        result = check_header(module.words, max_version, error);
    if (result == KILN_OK)
        result = check_body(&module, error);
    if (result == KILN_OK)
        *out = module;
    else
        gs_module_release(&module);
    return result;
}
