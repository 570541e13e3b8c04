/* SPDX-License-Identifier: MIT */
/*
 * Lint of the macros between a YAML file and its GLSL. The lexer knows of GLSL what separates words
 * from text that is none: comments, strings, spliced lines, directives (GLSL 4.60, sections 3.2 to
 * 3.4 and 3.3 for the preprocessor).
 */
#include "gs_spec.h"
#include "gs_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX_BYTES 128 /* longer words are cut; none of ours is so long */

enum word_use {
    WORD_DEFINED, /* the name after #define */
    WORD_READ,    /* any other K_ word */
    WORD_GUARD,   /* after #ifndef or #undef: it names the macro without using its value */
    WORD_SYMBOL   /* another word of an #if or #elif that has a K_ word */
};

struct word {
    const char *text;
    size_t file;
    uint32_t line;
    enum word_use use;
};

enum directive { DIRECTIVE_NONE, DIRECTIVE_START, DIRECTIVE_NAME, DIRECTIVE_IF, DIRECTIVE_REST };

struct lexer {
    const char *p;
    size_t file;
    uint32_t line;
    bool line_start; /* only blanks and comments since the line began */
    enum directive directive;
    enum word_use next_use; /* of the word after #define, #ifndef, #undef */
    bool after_defined;     /* in #if, after `defined` */
    bool if_has_parameter;  /* the #if has a K_ word */
    size_t if_first;        /* number of the first word of the #if */
};

struct lint {
    struct mf_arena arena;
    struct word *words;
    size_t count;
    size_t capacity;
    const char **defined; /* sorted names that the files define */
    size_t defined_count;
    bool memory;
};

/* Skips spliced line ends ("\\\n"), which may stand anywhere. */
static void skip_splices(struct lexer *l) {
    while (l->p[0] == '\\' && (l->p[1] == '\n' || (l->p[1] == '\r' && l->p[2] == '\n'))) {
        l->p += l->p[1] == '\n' ? 2 : 3;
        l->line++;
    }
}

static void advance(struct lexer *l) {
    if (*l->p == '\n')
        l->line++;
    l->p++;
    skip_splices(l);
}

static char second(const struct lexer *l) {
    struct lexer next = *l;
    advance(&next);
    return *next.p;
}

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_comment(struct lexer *l) {
    bool block = second(l) == '*';
    advance(l);
    advance(l);
    while (*l->p != '\0') {
        if (!block && *l->p == '\n')
            return;
        if (block && *l->p == '*' && second(l) == '/') {
            advance(l);
            advance(l);
            return;
        }
        advance(l);
    }
}

static void skip_string(struct lexer *l) {
    do
        advance(l);
    while (*l->p != '\0' && *l->p != '\n' && *l->p != '"');
    if (*l->p == '"')
        advance(l);
}

static void word_add(struct lint *lint, const struct lexer *l, const char *text, uint32_t line,
                     enum word_use use) {
    void *words =
        mf_arena_grow(&lint->arena, lint->words, lint->count, &lint->capacity, sizeof *lint->words);
    const char *copy = mf_arena_string(&lint->arena, text);
    if (words == NULL || copy == NULL) {
        lint->memory = true;
        return;
    }
    lint->words = words;
    lint->words[lint->count++] =
        (struct word){.text = copy, .file = l->file, .line = line, .use = use};
}

/* The word after '#': decides what the words after it mean. */
static void take_directive(struct lexer *l, const struct lint *lint, const char *text) {
    l->directive = DIRECTIVE_REST;
    if (strcmp(text, "define") == 0 || strcmp(text, "undef") == 0 || strcmp(text, "ifndef") == 0) {
        l->directive = DIRECTIVE_NAME;
        l->next_use = text[0] == 'd' ? WORD_DEFINED : WORD_GUARD;
    } else if (strcmp(text, "if") == 0 || strcmp(text, "elif") == 0) {
        l->directive = DIRECTIVE_IF;
        l->if_first = lint->count;
        l->if_has_parameter = false;
        l->after_defined = false;
    }
}

static void take_word(struct lint *lint, struct lexer *l, const char *text, uint32_t line) {
    bool parameter = strncmp(text, "K_", 2) == 0;
    switch (l->directive) {
    case DIRECTIVE_START:
        take_directive(l, lint, text);
        return;
    case DIRECTIVE_NAME:
        l->directive = DIRECTIVE_REST;
        if (l->next_use == WORD_DEFINED || parameter)
            word_add(lint, l, text, line, l->next_use);
        return;
    case DIRECTIVE_IF:
        if (strcmp(text, "defined") == 0) {
            l->after_defined = true;
            return;
        }
        l->if_has_parameter = l->if_has_parameter || parameter;
        if (!parameter && !l->after_defined && !(text[0] >= '0' && text[0] <= '9'))
            word_add(lint, l, text, line, WORD_SYMBOL);
        l->after_defined = false;
        break;
    case DIRECTIVE_NONE:
    case DIRECTIVE_REST:
        break;
    }
    if (parameter)
        word_add(lint, l, text, line, WORD_READ);
}

/* Symbols count only beside a parameter; `#if GL_foo` is nobody's business here. */
static void end_line(struct lint *lint, struct lexer *l) {
    if (l->directive == DIRECTIVE_IF && !l->if_has_parameter)
        lint->count = l->if_first;
    l->directive = DIRECTIVE_NONE;
    l->line_start = true;
}

static void scan_word(struct lint *lint, struct lexer *l) {
    char text[WORD_MAX_BYTES];
    size_t length = 0;
    uint32_t line = l->line;
    while (is_word_byte(*l->p)) {
        if (length + 1 < sizeof text)
            text[length++] = *l->p;
        advance(l);
    }
    text[length] = '\0';
    take_word(lint, l, text, line);
}

static void scan_file(struct lint *lint, size_t file, const char *text) {
    struct lexer l = {.p = text, .file = file, .line = 1, .line_start = true};
    skip_splices(&l);
    while (*l.p != '\0') {
        if (*l.p == '/' && (second(&l) == '/' || second(&l) == '*')) {
            skip_comment(&l);
            continue;
        }
        if (*l.p == '\n') {
            end_line(lint, &l);
            advance(&l);
            continue;
        }
        if (*l.p == '#' && l.line_start)
            l.directive = DIRECTIVE_START;
        if (*l.p != ' ' && *l.p != '\t' && *l.p != '\r')
            l.line_start = false;
        if (is_word_byte(*l.p))
            scan_word(lint, &l);
        else if (*l.p == '"')
            skip_string(&l);
        else
            advance(&l);
    }
    end_line(lint, &l);
}

static int string_compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* False when memory is out. */
static bool collect_defined(struct lint *lint) {
    lint->defined = mf_arena_alloc(&lint->arena, lint->count + 1, sizeof *lint->defined);
    if (lint->defined == NULL)
        return false;
    for (size_t i = 0; i < lint->count; i++) {
        if (lint->words[i].use == WORD_DEFINED)
            lint->defined[lint->defined_count++] = lint->words[i].text;
    }
    qsort(lint->defined, lint->defined_count, sizeof *lint->defined, string_compare);
    return true;
}

static bool is_defined(const struct lint *lint, const char *name) {
    return bsearch(&name, lint->defined, lint->defined_count, sizeof *lint->defined,
                   string_compare) != NULL;
}

static bool is_set(const struct gs_variant *variant, const char *name) {
    for (size_t i = 0; i < variant->define_count; i++) {
        if (strcmp(variant->defines[i].name, name) == 0)
            return true;
    }
    return false;
}

static enum kiln_result check_defines(const struct lint *lint, const struct gs_variant *variant,
                                      struct gs_diag *diag) {
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < variant->define_count; i++) {
        const struct gs_define *define = &variant->defines[i];
        bool read = false;
        for (size_t j = 0; j < lint->count && !read; j++)
            read =
                lint->words[j].use == WORD_READ && strcmp(lint->words[j].text, define->name) == 0;
        if (!read)
            result = gs_diag_add(diag, KILN_ERR_COMPILE, variant->yaml_path, define->line,
                                 variant->promise.name,
                                 "the macro %s is set but never read by %s or a file it includes",
                                 define->name, variant->template_path);
    }
    return result;
}

/* The symbols that parameters resolve to: macros of the template tree. */
static enum kiln_result check_values(const struct lint *lint, const struct gs_variant *variant,
                                     struct gs_diag *diag) {
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < variant->define_count; i++) {
        const struct gs_define *define = &variant->defines[i];
        size_t stem = strlen(define->name) - strlen("K_");
        bool symbol =
            strncmp(define->value, define->name + 2, stem) == 0 && define->value[stem] == '_';
        if (!symbol || is_defined(lint, define->value))
            continue;
        struct mf_buffer hint = {0};
        const char *near = gs_text_nearest(define->value, lint->defined, lint->defined_count);
        if (near != NULL)
            mf_buffer_append_format(&hint, " (did you mean '%s'?)", near);
        result = gs_diag_add(
            diag, KILN_ERR_COMPILE, variant->yaml_path, define->line, variant->promise.name,
            "%s is set to %s, which no file that %s includes defines%s", define->name,
            define->value, variant->template_path, hint.data != NULL ? hint.data : "");
        mf_buffer_release(&hint);
    }
    return result;
}

/* Names that the preprocessor or the compiler defines: never ours. */
static bool is_predefined(const char *name) {
    return strncmp(name, "GL_", 3) == 0 || strncmp(name, "__", 2) == 0 ||
           strcmp(name, "VULKAN") == 0;
}

static enum kiln_result report_word(const struct lint *lint, const struct word *word,
                                    const struct gs_variant *variant, const char *const *paths,
                                    struct gs_diag *diag) {
    const char **names = calloc(variant->define_count + lint->defined_count + 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; names != NULL && i < variant->define_count; i++)
        names[count++] = variant->defines[i].name;
    for (size_t i = 0; names != NULL && i < lint->defined_count; i++)
        names[count++] = lint->defined[i];
    const char *near = gs_text_nearest(word->text, names, count);
    struct mf_buffer hint = {0};
    if (near != NULL)
        mf_buffer_append_format(&hint, " (did you mean '%s'?)", near);
    const char *tail = hint.data != NULL ? hint.data : "";
    enum kiln_result result =
        word->use == WORD_SYMBOL
            ? gs_diag_add(diag, KILN_ERR_COMPILE, paths[word->file], word->line,
                          variant->promise.name,
                          "%s stands in an #if but no file defines it, so it would be 0%s",
                          word->text, tail)
            : gs_diag_add(diag, KILN_ERR_COMPILE, paths[word->file], word->line,
                          variant->promise.name,
                          "nothing sets %s; expected it in defines or constants of %s%s",
                          word->text, variant->yaml_path, tail);
    mf_buffer_release(&hint);
    free(names);
    return result;
}

static enum kiln_result check_words(const struct lint *lint, const struct gs_variant *variant,
                                    const char *const *paths, struct gs_diag *diag) {
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < lint->count; i++) {
        const struct word *word = &lint->words[i];
        if (word->use == WORD_DEFINED || is_defined(lint, word->text) ||
            is_set(variant, word->text) || (word->use == WORD_SYMBOL && is_predefined(word->text)))
            continue;
        result = report_word(lint, word, variant, paths, diag);
    }
    return result;
}

enum kiln_result gs_macro_lint(const struct gs_variant *variant, const char *const *paths,
                               const char *const *texts, size_t file_count, struct gs_diag *diag) {
    struct lint lint = {0};
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < file_count; i++)
        scan_file(&lint, i, texts[i]);
    if (lint.memory || !collect_defined(&lint)) {
        result = gs_diag_add(diag, KILN_ERR_MEMORY, NULL, 0, NULL, "out of memory");
    } else {
        enum kiln_result checks[] = {check_defines(&lint, variant, diag),
                                     check_values(&lint, variant, diag),
                                     check_words(&lint, variant, paths, diag)};
        for (size_t i = 0; i < 3 && result == KILN_OK; i++)
            result = checks[i];
    }
    mf_arena_release(&lint.arena);
    return result;
}
