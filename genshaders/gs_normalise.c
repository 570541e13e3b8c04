/* SPDX-License-Identifier: MIT */
#include "gs_module.h"
#include "gs_module_private.h"

#include <spirv/unified1/spirv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char entry_name[] = "main";

/* Longest name made here: "main_4194302_" and a 64-bit counter. */
#define RENAMED_BYTES 48

/* Names that start with "main_", to keep the names made here unique. */
struct taken {
    const char **names; /* sorted; inside the module */
    size_t count;
};

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_taken(const struct taken *taken, const char *name) {
    return taken->count != 0 &&
           bsearch(&name, taken->names, taken->count, sizeof name, compare_names) != NULL;
}

/* OpName with the text it gives; NULL for any other instruction. */
static const char *given_name(const struct gs_instruction *instruction) {
    size_t words = 0;
    return instruction->opcode == SpvOpName ? gs_instruction_string(instruction, 2, &words) : NULL;
}

static enum kiln_result taken_make(const struct gs_module *module, struct taken *out,
                                   struct kiln_error *error) {
    *out = (struct taken){0};
    size_t capacity = 0;
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(module, &position, &instruction);)
        capacity += instruction.opcode == SpvOpName;
    out->names = calloc(capacity + 1, sizeof *out->names);
    if (out->names == NULL)
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory for %zu names", capacity);
    for (size_t position = 0; gs_module_next(module, &position, &instruction);) {
        const char *name = given_name(&instruction);
        if (name != NULL && strncmp(name, "main_", 5) == 0)
            out->names[out->count++] = name;
    }
    qsort(out->names, out->count, sizeof *out->names, compare_names);
    return KILN_OK;
}

/* "main_<id>", or "main_<id>_<n>" with the smallest n that nothing is called. */
static void make_name(const struct taken *taken, uint32_t id, char name[RENAMED_BYTES]) {
    (void)snprintf(name, RENAMED_BYTES, "main_%u", id);
    for (size_t n = 1; is_taken(taken, name); n++)
        (void)snprintf(name, RENAMED_BYTES, "main_%u_%zu", id, n);
}

static enum kiln_result find_entry(const struct gs_module *module, struct gs_entry_point *entry,
                                   struct kiln_error *error) {
    size_t count = gs_module_entry_points(module, entry, 1);
    if (count != 1) {
        return kiln_error_set(error, KILN_ERR_FORMAT,
                              "the module has %zu entry points, expected one of model GLCompute",
                              count);
    }
    if (entry->execution_model != SpvExecutionModelGLCompute) {
        return kiln_error_set(error, KILN_ERR_FORMAT,
                              "the entry point has execution model %u, expected %d (GLCompute)",
                              entry->execution_model, SpvExecutionModelGLCompute);
    }
    return KILN_OK;
}

/* Writes the instruction with the string at word `operand` replaced. */
static enum kiln_result append_renamed(struct gs_words *stream,
                                       const struct gs_instruction *instruction, size_t operand,
                                       const char *name, struct kiln_error *error) {
    size_t old_words = 0;
    (void)gs_instruction_string(instruction, operand, &old_words);
    size_t rest = instruction->word_count - operand - old_words;
    size_t word_count = operand + gs_string_word_count(name) + rest;
    if (word_count > GS_INSTRUCTION_WORDS) {
        return kiln_error_set(error, KILN_ERR_FORMAT,
                              "word %zu: renamed to '%s' the instruction takes %zu words, expected "
                              "at most %u",
                              instruction->index, name, word_count, GS_INSTRUCTION_WORDS);
    }
    uint32_t first = gs_opcode_word(instruction->opcode, word_count);
    gs_words_append(stream, &first, 1);
    gs_words_append(stream, instruction->words + 1, operand - 1);
    gs_words_append_string(stream, name);
    gs_words_append(stream, instruction->words + operand + old_words, rest);
    return KILN_OK;
}

static enum kiln_result append_normalised(struct gs_words *stream,
                                          const struct gs_instruction *instruction,
                                          const struct gs_entry_point *entry,
                                          const struct taken *taken, struct kiln_error *error) {
    if (instruction->opcode == SpvOpEntryPoint)
        return append_renamed(stream, instruction, 3, entry_name, error);
    const char *name = given_name(instruction);
    if (name != NULL && instruction->words[1] == entry->function_id)
        return append_renamed(stream, instruction, 2, entry_name, error);
    if (name != NULL && strcmp(name, entry_name) == 0) {
        char renamed[RENAMED_BYTES];
        make_name(taken, instruction->words[1], renamed);
        return append_renamed(stream, instruction, 2, renamed, error);
    }
    gs_words_append_instruction(stream, instruction);
    return KILN_OK;
}

enum kiln_result gs_module_normalise(struct gs_module *module, struct kiln_error *error) {
    struct gs_entry_point entry;
    struct taken taken = {0};
    struct gs_words stream = {0};
    enum kiln_result result = find_entry(module, &entry, error);
    if (result == KILN_OK)
        result = taken_make(module, &taken, error);
    if (result != KILN_OK)
        goto done;
    gs_words_append(&stream, module->words, GS_HEADER_WORDS);
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(module, &position, &instruction);) {
        result = append_normalised(&stream, &instruction, &entry, &taken, error);
        if (result != KILN_OK)
            goto done;
    }
    result = gs_words_take(&stream, module, error);
done:
    gs_words_release(&stream);
    free(taken.names);
    return result;
}
