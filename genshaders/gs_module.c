/* SPDX-License-Identifier: MIT */
#include "gs_module.h"
#include "gs_module_private.h"

#include <spirv/unified1/spirv.h>

#include <stdlib.h>
#include <string.h>

/* SPIR-V packs the first character of a literal into the low byte of a word, so only here can a
 * literal be read as a C string in place. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a little-endian host is expected");

void gs_module_release(struct gs_module *module) {
    if (module != NULL) {
        free(module->words);
        *module = (struct gs_module){0};
    }
}

bool gs_module_next(const struct gs_module *module, size_t *position,
                    struct gs_instruction *instruction) {
    size_t at = *position == 0 ? GS_HEADER_WORDS : *position;
    if (module->words == NULL || at >= module->word_count)
        return false;
    uint16_t word_count = (uint16_t)(module->words[at] >> SpvWordCountShift);
    if (word_count == 0 || word_count > module->word_count - at)
        return false;
    instruction->opcode = (uint16_t)(module->words[at] & SpvOpCodeMask);
    instruction->word_count = word_count;
    instruction->words = module->words + at;
    instruction->index = at;
    *position = at + word_count;
    return true;
}

size_t gs_module_entry_points(const struct gs_module *module, struct gs_entry_point *entries,
                              size_t capacity) {
    size_t count = 0;
    size_t position = 0;
    struct gs_instruction instruction;
    while (gs_module_next(module, &position, &instruction)) {
        if (instruction.opcode == SpvOpFunction)
            break;
        if (instruction.opcode != SpvOpEntryPoint || instruction.word_count < 4)
            continue;
        size_t name_words = 0;
        const char *name = gs_instruction_string(&instruction, 3, &name_words);
        if (name == NULL)
            continue;
        if (count < capacity) {
            entries[count] = (struct gs_entry_point){
                .execution_model = instruction.words[1],
                .function_id = instruction.words[2],
                .name = name,
            };
        }
        count++;
    }
    return count;
}

/* True for an execution mode or entry point that goes when only `kept_index` stays. */
static bool split_drops(const struct gs_instruction *instruction,
                        const struct gs_entry_point *entries, size_t entry_count, size_t kept_index,
                        size_t *entry_index) {
    if (instruction->opcode == SpvOpEntryPoint)
        return (*entry_index)++ != kept_index;
    if (instruction->opcode != SpvOpExecutionMode && instruction->opcode != SpvOpExecutionModeId)
        return false;
    uint32_t target = instruction->words[1];
    if (target == entries[kept_index].function_id)
        return false;
    for (size_t i = 0; i < entry_count; i++) {
        if (entries[i].function_id == target)
            return true;
    }
    return false;
}

enum kiln_result gs_module_split(const struct gs_module *module, size_t index,
                                 struct gs_module *out, struct kiln_error *error) {
    *out = (struct gs_module){0};
    struct gs_entry_point entries[GS_MAX_ENTRY_POINTS];
    size_t count = gs_module_entry_points(module, entries, GS_MAX_ENTRY_POINTS);
    if (index >= count || count > GS_MAX_ENTRY_POINTS) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "entry point %zu was asked for, the module has %zu", index, count);
    }
    struct gs_words stream = {0};
    gs_words_append(&stream, module->words, GS_HEADER_WORDS);
    size_t position = 0;
    size_t entry_index = 0;
    struct gs_instruction instruction;
    while (gs_module_next(module, &position, &instruction)) {
        if (!split_drops(&instruction, entries, count, index, &entry_index))
            gs_words_append_instruction(&stream, &instruction);
    }
    return gs_words_take(&stream, out, error);
}

static bool is_debug_opcode(uint16_t opcode) {
    switch (opcode) {
    case SpvOpSourceContinued:
    case SpvOpSource:
    case SpvOpSourceExtension:
    case SpvOpName:
    case SpvOpMemberName:
    case SpvOpString:
    case SpvOpLine:
    case SpvOpNoLine:
    case SpvOpModuleProcessed:
        return true;
    default:
        return false;
    }
}

/* Sets whose instructions only describe the program; they point at OpStrings, so they go along. */
static bool is_debug_set(const char *name) {
    return strncmp(name, "NonSemantic.", 12) == 0 || strcmp(name, "DebugInfo") == 0 ||
           strcmp(name, "OpenCL.DebugInfo.100") == 0;
}

#define MAX_DEBUG_SETS 16

struct strip_state {
    uint32_t sets[MAX_DEBUG_SETS]; /* ids of the debug sets' imports */
    size_t set_count;
};

static enum kiln_result strip_find_sets(const struct gs_module *module, struct strip_state *state,
                                        struct kiln_error *error) {
    size_t position = 0;
    struct gs_instruction instruction;
    while (gs_module_next(module, &position, &instruction)) {
        if (instruction.opcode == SpvOpMemoryModel)
            break;
        if (instruction.opcode != SpvOpExtInstImport)
            continue;
        size_t words = 0;
        const char *name = gs_instruction_string(&instruction, 2, &words);
        if (name == NULL || !is_debug_set(name))
            continue;
        if (state->set_count == MAX_DEBUG_SETS) {
            return kiln_error_set(error, KILN_ERR_LIMIT,
                                  "word %zu: more than %d imports of debug instruction sets",
                                  instruction.index, MAX_DEBUG_SETS);
        }
        state->sets[state->set_count++] = instruction.words[1];
    }
    return KILN_OK;
}

static bool strip_drops(const struct gs_instruction *instruction, const struct strip_state *state) {
    if (is_debug_opcode(instruction->opcode))
        return true;
    size_t words = 0;
    uint32_t set = 0;
    switch (instruction->opcode) {
    case SpvOpExtension: {
        const char *name = gs_instruction_string(instruction, 1, &words);
        return name != NULL && strcmp(name, "SPV_KHR_non_semantic_info") == 0;
    }
    case SpvOpExtInstImport:
        set = instruction->words[1];
        break;
    case SpvOpExtInst:
        set = instruction->words[3];
        break;
    default:
        return false;
    }
    for (size_t i = 0; i < state->set_count; i++) {
        if (state->sets[i] == set)
            return true;
    }
    return false;
}

enum kiln_result gs_module_strip(struct gs_module *module, struct kiln_error *error) {
    struct strip_state state = {.set_count = 0};
    enum kiln_result result = strip_find_sets(module, &state, error);
    if (result != KILN_OK)
        return result;
    struct gs_words stream = {0};
    gs_words_append(&stream, module->words, GS_HEADER_WORDS);
    size_t position = 0;
    struct gs_instruction instruction;
    while (gs_module_next(module, &position, &instruction)) {
        if (!strip_drops(&instruction, &state))
            gs_words_append_instruction(&stream, &instruction);
    }
    return gs_words_take(&stream, module, error);
}

enum kiln_result gs_module_bytes(const struct gs_module *module, struct mf_buffer *out) {
    return mf_buffer_append(out, module->words, module->word_count * sizeof(uint32_t));
}
