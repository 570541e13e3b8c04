/* SPDX-License-Identifier: MIT */
#include "gs_module_private.h"

#include <spirv/unified1/spirv.h>

#include <stdlib.h>
#include <string.h>

static uint32_t *words_reserve(struct gs_words *stream, size_t word_count) {
    if (stream->failed)
        return NULL;
    if (word_count > stream->capacity - stream->word_count) {
        size_t needed = stream->word_count + word_count;
        size_t capacity = stream->capacity < 512 ? 1024 : stream->capacity * 2;
        if (capacity < needed)
            capacity = needed;
        uint32_t *words = NULL;
        if (capacity <= SIZE_MAX / sizeof *words)
            words = realloc(stream->words, capacity * sizeof *words);
        if (words == NULL) {
            stream->failed = true;
            return NULL;
        }
        stream->words = words;
        stream->capacity = capacity;
    }
    uint32_t *at = stream->words + stream->word_count;
    stream->word_count += word_count;
    return at;
}

void gs_words_append(struct gs_words *stream, const uint32_t *words, size_t word_count) {
    uint32_t *at = words_reserve(stream, word_count);
    if (at != NULL && word_count > 0)
        memcpy(at, words, word_count * sizeof *words);
}

void gs_words_append_instruction(struct gs_words *stream,
                                 const struct gs_instruction *instruction) {
    gs_words_append(stream, instruction->words, instruction->word_count);
}

void gs_words_append_string(struct gs_words *stream, const char *text) {
    size_t word_count = gs_string_word_count(text);
    uint32_t *at = words_reserve(stream, word_count);
    if (at == NULL)
        return;
    at[word_count - 1] = 0;
    memcpy(at, text, strlen(text));
}

enum kiln_result gs_words_take(struct gs_words *stream, struct gs_module *module,
                               struct kiln_error *error) {
    enum kiln_result result = KILN_OK;
    if (stream->failed) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "out of memory for a SPIR-V module");
    } else {
        gs_module_release(module);
        module->words = stream->words;
        module->word_count = stream->word_count;
        stream->words = NULL;
    }
    gs_words_release(stream);
    return result;
}

void gs_words_release(struct gs_words *stream) {
    free(stream->words);
    *stream = (struct gs_words){0};
}

size_t gs_string_word_count(const char *text) {
    return strlen(text) / sizeof(uint32_t) + 1;
}

const char *gs_instruction_string(const struct gs_instruction *instruction, size_t operand,
                                  size_t *word_count) {
    *word_count = 0;
    if (operand >= instruction->word_count)
        return NULL;
    const char *text = (const char *)(instruction->words + operand);
    size_t size_bytes = (instruction->word_count - operand) * sizeof(uint32_t);
    const char *end = memchr(text, 0, size_bytes);
    if (end == NULL)
        return NULL;
    *word_count = (size_t)(end - text) / sizeof(uint32_t) + 1;
    return text;
}

uint32_t gs_opcode_word(uint16_t opcode, size_t word_count) {
    return (uint32_t)word_count << SpvWordCountShift | opcode;
}
