/* SPDX-License-Identifier: MIT */
#include "gs_text.h"

#include <stdint.h>
#include <string.h>

#define DISTANCE_MAX_BYTES 64 /* longer words are never near to anything */
#define LISTED_WORDS_MAX 40

bool gs_text_is_name(const char *text) {
    size_t length = strlen(text);
    if (length == 0 || length > GS_NAME_MAX_BYTES || text[0] < 'a' || text[0] > 'z')
        return false;
    return gs_text_consists_of(text, "abcdefghijklmnopqrstuvwxyz0123456789_") &&
           strstr(text, "__") == NULL && text[length - 1] != '_';
}

bool gs_text_consists_of(const char *text, const char *allowed) {
    size_t length = strspn(text, allowed);
    return length > 0 && text[length] == '\0';
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Three rows of the distance table suffice: this one, the one above and, for swaps, two above. */
static size_t distance(const char *a, const char *b) {
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);
    size_t rows[3][DISTANCE_MAX_BYTES + 1];
    if (a_length > DISTANCE_MAX_BYTES || b_length > DISTANCE_MAX_BYTES)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replace = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]) ? 1 : 0);
            row[j] = smaller(replace, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *gs_text_nearest(const char *word, const char *const *words, size_t word_count) {
    size_t limit = strlen(word) / 3;
    size_t best = (limit > 1 ? limit : 1) + 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < word_count; i++) {
        size_t d = distance(word, words[i]);
        if (d < best) {
            best = d;
            nearest = words[i];
        }
    }
    return nearest;
}

const char *gs_text_suggest(struct mf_buffer *out, const char *word, const char *const *words,
                            size_t word_count) {
    const char *nearest = gs_text_nearest(word, words, word_count);
    if (nearest != NULL) {
        mf_buffer_append_format(out, " (did you mean '%s'?)", nearest);
    } else {
        for (size_t i = 0; i < word_count && i < LISTED_WORDS_MAX; i++)
            mf_buffer_append_format(out, "%s%s", i == 0 ? "; expected " : ", ", words[i]);
        if (word_count > LISTED_WORDS_MAX)
            mf_buffer_append_string(out, ", ...");
    }
    return out->failed == KILN_OK && out->data != NULL ? out->data : "";
}
