/* SPDX-License-Identifier: MIT */
#include "gs_record.h"

#include <string.h>

bool gs_record_line(char *line, const char *word, struct mf_hash *hash, const char **rest) {
    size_t length = strlen(word);
    size_t digits = MF_HASH_TEXT_BYTES - 1;
    if (strncmp(line, word, length) != 0 || strlen(line) < length + 1 + digits ||
        line[length] != ' ') {
        return false;
    }
    char *text = line + length + 1;
    char after = text[digits];
    if (after != (rest != NULL ? ' ' : 0)) {
        return false;
    }
    text[digits] = 0;
    if (rest != NULL) {
        *rest = text + digits + 1;
    }
    return mf_hash_parse(text, hash) == KILN_OK;
}
