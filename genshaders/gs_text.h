/* SPDX-License-Identifier: MIT */
/*
 * gs_text: words of YAML and GLSL: what is a name, and which known word a wrong one is near to.
 *
 * Everything is ASCII and 0-terminated; no function keeps a pointer. Safe from any thread.
 */
#ifndef GS_TEXT_H
#define GS_TEXT_H

#include "mf_buffer.h"

#include <stdbool.h>

/* Longest name of a parameter, dimension, binding or push constant. */
#define GS_NAME_MAX_BYTES 32

/*
 * [a-z][a-z0-9_]*, at most GS_NAME_MAX_BYTES bytes, without "__" (reserved in GLSL) and not ending
 * in '_'. What names of parameters, dims, bindings and push constants must be, so that they are
 * words of GLSL and C in both cases.
 */
bool gs_text_is_name(const char *text);

/* Only bytes of `allowed`, and at least one. */
bool gs_text_consists_of(const char *text, const char *allowed);

/*
 * The word of `words` nearest to `word`, or NULL when none is near enough to be what was meant.
 * Nearness is the restricted Damerau-Levenshtein distance (insert, delete, replace, swap of
 * neighbours; Damerau 1964), letter case ignored, at most a third of the word's length but at
 * least 1. Of equally near words the first one wins.
 */
const char *gs_text_nearest(const char *word, const char *const *words, size_t word_count);

/*
 * Appends " (did you mean 'x'?)" when there is a near word, otherwise "; expected a, b, c". Lists
 * of more than 40 words are cut with "...". Returns the buffer's text, "" when memory is out.
 */
const char *gs_text_suggest(struct mf_buffer *out, const char *word, const char *const *words,
                            size_t word_count);

#endif /* GS_TEXT_H */
