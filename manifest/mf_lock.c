/* SPDX-License-Identifier: MIT */
#include "mf_lock.h"

#include "mf_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOCK_HEADER "# kiln artifacts.lock 1"
#define LOCK_TOOLCHAIN "toolchain "

static bool is_line_text(const char *text, size_t size_bytes) {
    for (size_t i = 0; i < size_bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == 0x7f) {
            return false;
        }
    }
    return size_bytes > 0;
}

enum kiln_result mf_lock_write(const struct mf_manifest *manifest, struct mf_buffer *out,
                               struct kiln_error *error) {
    const char *signature = manifest->toolchain.signature;
    if (!is_line_text(signature, strlen(signature))) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "toolchain signature: expected one line of text");
    }
    (void)mf_buffer_append_format(out, LOCK_HEADER "\n" LOCK_TOOLCHAIN "%s\n", signature);
    for (size_t i = 0; i < manifest->artifact_count; i++) {
        const struct mf_artifact *artifact = &manifest->artifacts[i];
        if (i > 0 && strcmp(manifest->artifacts[i - 1].name, artifact->name) >= 0) {
            return kiln_error_set(error, KILN_ERR_ARGUMENT,
                                  "artifact %s: expected names in ascending order", artifact->name);
        }
        char content[MF_HASH_TEXT_BYTES];
        char iface[MF_HASH_TEXT_BYTES];
        mf_hash_format(&artifact->content, content);
        mf_hash_format(&artifact->iface, iface);
        (void)mf_buffer_append_format(out, "%s %s %s %" PRIu64 "\n", artifact->name, content, iface,
                                      artifact->size_bytes);
    }
    if (out->failed != KILN_OK) {
        return kiln_error_set(error, out->failed, "lock: out of memory");
    }
    return KILN_OK;
}

/* One artifact line. */
struct lock_entry {
    char name[MF_NAME_MAX_BYTES + 1];
    struct mf_hash content;
    struct mf_hash iface;
    uint64_t size_bytes;
    size_t line;
};

/* The lines of a text. `line` counts from 1; the current line has no newline in it. */
struct line_reader {
    const char *label;
    const char *next;
    const char *end;
    const char *text;
    size_t size_bytes;
    size_t line;
};

/* False at the end of the text. A last line without its newline is an error. */
static bool read_line(struct line_reader *lines, enum kiln_result *result,
                      struct kiln_error *error) {
    if (*result != KILN_OK || lines->next == lines->end) {
        return false;
    }
    lines->line++;
    size_t rest_bytes = (size_t)(lines->end - lines->next);
    const char *newline = memchr(lines->next, '\n', rest_bytes);
    if (!newline) {
        *result = kiln_error_set(error, KILN_ERR_FORMAT,
                                 "%s:%zu: expected a newline at the end of the line", lines->label,
                                 lines->line);
        return false;
    }
    lines->text = lines->next;
    lines->size_bytes = (size_t)(newline - lines->next);
    lines->next = newline + 1;
    return true;
}

/* Copies the next word, which ends with a space or the line. False when it does not fit. */
static bool take_word(const char **cursor, const char *end, char *word, size_t word_bytes) {
    const char *space = memchr(*cursor, ' ', (size_t)(end - *cursor));
    const char *stop = space ? space : end;
    size_t length = (size_t)(stop - *cursor);
    if (length == 0 || length >= word_bytes || memchr(*cursor, '\0', length)) {
        return false;
    }
    memcpy(word, *cursor, length);
    word[length] = '\0';
    *cursor = space ? space + 1 : NULL;
    return true;
}

/* A decimal number without sign or leading zeros, below 2^63. */
static bool parse_size(const char *text, uint64_t *value) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits] != '\0' || (digits > 1 && text[0] == '0')) {
        return false;
    }
    *value = strtoull(text, NULL, 10);
    return true;
}

static bool parse_entry(const struct line_reader *lines, struct lock_entry *entry) {
    const char *cursor = lines->text;
    const char *end = lines->text + lines->size_bytes;
    char content[MF_HASH_TEXT_BYTES];
    char iface[MF_HASH_TEXT_BYTES];
    char size[24];
    entry->line = lines->line;
    return take_word(&cursor, end, entry->name, sizeof entry->name) && cursor &&
           take_word(&cursor, end, content, sizeof content) && cursor &&
           take_word(&cursor, end, iface, sizeof iface) && cursor &&
           take_word(&cursor, end, size, sizeof size) && !cursor &&
           mf_name_check(entry->name, NULL) == KILN_OK &&
           mf_hash_parse(content, &entry->content) == KILN_OK &&
           mf_hash_parse(iface, &entry->iface) == KILN_OK && parse_size(size, &entry->size_bytes);
}

static enum kiln_result read_head(struct line_reader *lines, const char *signature,
                                  struct kiln_error *error) {
    enum kiln_result result = KILN_OK;
    if (!read_line(lines, &result, error) || lines->size_bytes != strlen(LOCK_HEADER) ||
        memcmp(lines->text, LOCK_HEADER, lines->size_bytes) != 0) {
        return result != KILN_OK
                   ? result
                   : kiln_error_set(error, KILN_ERR_FORMAT, "%s:1: expected \"" LOCK_HEADER "\"",
                                    lines->label);
    }
    const size_t prefix_bytes = strlen(LOCK_TOOLCHAIN);
    if (!read_line(lines, &result, error) || lines->size_bytes <= prefix_bytes ||
        memcmp(lines->text, LOCK_TOOLCHAIN, prefix_bytes) != 0 ||
        !is_line_text(lines->text, lines->size_bytes)) {
        return result != KILN_OK
                   ? result
                   : kiln_error_set(error, KILN_ERR_FORMAT,
                                    "%s:2: expected \"" LOCK_TOOLCHAIN "\" and a signature",
                                    lines->label);
    }
    const char *found = lines->text + prefix_bytes;
    size_t found_bytes = lines->size_bytes - prefix_bytes;
    if (found_bytes != strlen(signature) || memcmp(found, signature, found_bytes) != 0) {
        return kiln_error_set(
            error, KILN_ERR_VERSION, "%s:2: the lock belongs to toolchain \"%.*s\", this is \"%s\"",
            lines->label, (int)(found_bytes > 200 ? 200 : found_bytes), found, signature);
    }
    return KILN_OK;
}

static enum kiln_result read_entries(struct line_reader *lines, struct mf_arena *arena,
                                     struct lock_entry **entries, size_t *count,
                                     struct kiln_error *error) {
    enum kiln_result result = KILN_OK;
    size_t capacity = 0;
    while (read_line(lines, &result, error)) {
        struct lock_entry *grown =
            mf_arena_grow(arena, *entries, *count, &capacity, sizeof **entries);
        if (!grown) {
            return kiln_error_set(error, KILN_ERR_MEMORY, "%s: out of memory", lines->label);
        }
        *entries = grown;
        struct lock_entry *entry = &grown[*count];
        if (!parse_entry(lines, entry)) {
            return kiln_error_set(error, KILN_ERR_FORMAT,
                                  "%s:%zu: expected \"<name> <content hash> <interface hash> "
                                  "<size>\" with single spaces",
                                  lines->label, lines->line);
        }
        if (*count > 0 && strcmp(entry[-1].name, entry->name) >= 0) {
            return kiln_error_set(error, KILN_ERR_FORMAT,
                                  "%s:%zu: expected names in ascending order, found %s behind %s",
                                  lines->label, lines->line, entry->name, entry[-1].name);
        }
        (*count)++;
    }
    return result;
}

static void report_hash(struct mf_buffer *report, const char *label, const struct lock_entry *entry,
                        const char *what, const struct mf_hash *locked,
                        const struct mf_hash *found) {
    char locked_text[MF_HASH_TEXT_BYTES];
    char found_text[MF_HASH_TEXT_BYTES];
    mf_hash_format(locked, locked_text);
    mf_hash_format(found, found_text);
    (void)mf_buffer_append_format(report, "%s:%zu: %s: %s: expected %s, found %s\n", label,
                                  entry->line, entry->name, what, locked_text, found_text);
}

/* Appends a line for each difference; returns how many. */
static size_t compare_entry(const struct lock_entry *entry, const struct mf_artifact *artifact,
                            const char *label, struct mf_buffer *report) {
    size_t differences = 0;
    if (!mf_hash_equal(&entry->content, &artifact->content)) {
        report_hash(report, label, entry, "content hash", &entry->content, &artifact->content);
        differences++;
    }
    if (!mf_hash_equal(&entry->iface, &artifact->iface)) {
        report_hash(report, label, entry, "interface hash", &entry->iface, &artifact->iface);
        differences++;
    }
    if (entry->size_bytes != artifact->size_bytes) {
        (void)mf_buffer_append_format(
            report, "%s:%zu: %s: size: expected %" PRIu64 " bytes, found %" PRIu64 "\n", label,
            entry->line, entry->name, entry->size_bytes, artifact->size_bytes);
        differences++;
    }
    return differences;
}

/* Walks both sorted lists at once; returns the number of differences. */
static size_t compare_lists(const struct mf_manifest *manifest, const struct lock_entry *entries,
                            size_t count, const char *label, struct mf_buffer *report) {
    size_t differences = 0;
    size_t i = 0;
    size_t j = 0;
    while (i < manifest->artifact_count || j < count) {
        int order = 0;
        if (i == manifest->artifact_count) {
            order = 1;
        } else if (j == count) {
            order = -1;
        } else {
            order = strcmp(manifest->artifacts[i].name, entries[j].name);
        }
        if (order < 0) {
            /* The line where it belongs; the first two lines are the head. */
            (void)mf_buffer_append_format(report, "%s:%zu: %s: not in the lock\n", label, j + 3,
                                          manifest->artifacts[i].name);
            differences++;
            i++;
        } else if (order > 0) {
            (void)mf_buffer_append_format(report, "%s:%zu: %s: not in the manifest\n", label,
                                          entries[j].line, entries[j].name);
            differences++;
            j++;
        } else {
            differences += compare_entry(&entries[j], &manifest->artifacts[i], label, report);
            i++;
            j++;
        }
    }
    return differences;
}

enum kiln_result mf_lock_compare(const struct mf_manifest *manifest, const char *text,
                                 size_t size_bytes, const char *label, struct mf_buffer *report,
                                 struct kiln_error *error) {
    struct line_reader lines = {.label = label, .next = text, .end = text + size_bytes};
    struct mf_arena arena = {0};
    struct lock_entry *entries = NULL;
    size_t count = 0;
    enum kiln_result result = read_head(&lines, manifest->toolchain.signature, error);
    if (result == KILN_OK) {
        result = read_entries(&lines, &arena, &entries, &count, error);
    }
    if (result == KILN_OK) {
        size_t differences = compare_lists(manifest, entries, count, label, report);
        if (report->failed != KILN_OK) {
            result = kiln_error_set(error, report->failed, "%s: out of memory", label);
        } else if (differences > 0) {
            result = kiln_error_set(error, KILN_ERR_MISMATCH,
                                    "%s: %zu differences between the lock and the manifest", label,
                                    differences);
        }
    }
    mf_arena_release(&arena);
    return result;
}
