/* SPDX-License-Identifier: MIT */
#include "gs_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gs_option *option_find(const struct gs_option *options, int option_count,
                                           const char *word, size_t length) {
    for (int i = 0; i < option_count; i++) {
        if (strlen(options[i].name) == length && strncmp(options[i].name, word, length) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

int gs_options_parse(int argc, char **argv, const struct gs_option *options, int option_count,
                     const char **words, int word_capacity) {
    int word_count = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || word[1] == 0) {
            if (word_count == word_capacity) {
                fprintf(stderr, "genshaders %s: unexpected argument '%s'\n", argv[0], word);
                return -1;
            }
            words[word_count++] = word;
            continue;
        }
        size_t length = strcspn(word, "=");
        const struct gs_option *option = option_find(options, option_count, word, length);
        if (option == NULL) {
            fprintf(stderr, "genshaders %s: unknown option '%s'\n", argv[0], word);
            return -1;
        }
        if (option->flag != NULL) {
            *option->flag = 1;
        } else if (word[length] == '=') {
            *option->value = word + length + 1;
        } else if (i + 1 < argc) {
            *option->value = argv[++i];
        } else {
            fprintf(stderr, "genshaders %s: option '%s' expects a value\n", argv[0], word);
            return -1;
        }
    }
    return word_count;
}

void gs_command_diagnostics(const struct gs_diag *diag) {
    struct mf_buffer text = {0};
    if (gs_diag_format(diag, &text) == KILN_OK && text.data != NULL) {
        fputs(text.data, stderr);
    } else if (gs_diag_count(diag) > 0) {
        fprintf(stderr, "genshaders: out of memory while printing %zu errors\n",
                gs_diag_count(diag));
    }
    mf_buffer_release(&text);
}

int gs_options_number(const char *command, const char *option, const char *text,
                      unsigned long limit, unsigned long *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != 0 || errno != 0 || *out > limit) {
        fprintf(stderr, "genshaders %s: %s: expected a number from 0 to %lu, got '%s'\n", command,
                option, limit, text);
        return 0;
    }
    return 1;
}
