/* SPDX-License-Identifier: MIT */
/*
 * Private to gs_module*.c, gs_normalise.c, gs_skeleton.c and gs_requires.c: building word streams
 * and reading literal strings. Nothing here checks a module; callers work on gated modules, or are
 * the gate.
 */
#ifndef GS_MODULE_PRIVATE_H
#define GS_MODULE_PRIVATE_H

#include "gs_module.h"

#define GS_HEADER_WORDS 5           /* magic, version, generator, bound, schema */
#define GS_HEADER_VERSION 1         /* word index of the version */
#define GS_HEADER_BOUND 3           /* word index of the id bound */
#define GS_INSTRUCTION_WORDS 65535u /* the word count is a 16-bit field and counts itself */

/* SPIR-V 2.16.1 puts the universal limit of the id bound at 4,194,303. */
#define GS_MAX_BOUND 4194303u

/* More entry points than any front end emits; keeps the gate linear in the module's size. */
#define GS_MAX_ENTRY_POINTS 256u

/*
 * A growing word stream. All zero is empty. After a failed append the stream stays failed and
 * gs_words_take reports it, so that a series of appends needs one check.
 */
struct gs_words {
    uint32_t *words;
    size_t word_count;
    size_t capacity; /* in words */
    bool failed;
};

void gs_words_append(struct gs_words *stream, const uint32_t *words, size_t word_count);
void gs_words_append_instruction(struct gs_words *stream, const struct gs_instruction *instruction);
/* The text, its terminator and zero padding: gs_string_word_count(text) words. */
void gs_words_append_string(struct gs_words *stream, const char *text);
/* Replaces *module (releasing its words) by the stream; KILN_ERR_MEMORY leaves it unchanged. The
 * stream is empty afterwards in both cases. */
enum kiln_result gs_words_take(struct gs_words *stream, struct gs_module *module,
                               struct kiln_error *error);
void gs_words_release(struct gs_words *stream);

/* Words that a literal string of this text takes, its terminator included. */
size_t gs_string_word_count(const char *text);

/*
 * The literal string that starts at word `operand` of the instruction, as a pointer into the
 * module, and the words it takes. NULL and 0 when it is not terminated inside the instruction.
 */
const char *gs_instruction_string(const struct gs_instruction *instruction, size_t operand,
                                  size_t *word_count);

/* First word of an instruction. */
uint32_t gs_opcode_word(uint16_t opcode, size_t word_count);

/* Whether an opcode has a result id and a result type; false for opcodes newer than the headers. */
void gs_opcode_result(uint16_t opcode, bool *has_result, bool *has_type);

#endif /* GS_MODULE_PRIVATE_H */
