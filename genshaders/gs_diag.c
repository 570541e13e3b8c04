/* SPDX-License-Identifier: MIT */
#include "gs_diag.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest message kept; a longer one is cut at a character boundary and ends in "...". */
#define MESSAGE_MAX_BYTES 1024

struct entry {
    char *file; /* "" for none */
    uint32_t line;
    char *message;
    enum kiln_result code;
    char **variants; /* sorted, unique */
    size_t variant_count;
    size_t variant_capacity;
};

struct gs_diag {
    pthread_mutex_t mutex;
    struct entry *entries; /* always in print order */
    size_t count;
    size_t capacity;
    size_t lost;
};

enum kiln_result gs_diag_create(struct gs_diag **diag) {
    *diag = NULL;
    struct gs_diag *made = calloc(1, sizeof *made);
    if (made == NULL)
        return KILN_ERR_MEMORY;
    if (pthread_mutex_init(&made->mutex, NULL) != 0) {
        free(made);
        return KILN_ERR_SYSTEM;
    }
    *diag = made;
    return KILN_OK;
}

static void entry_release(struct entry *entry) {
    for (size_t i = 0; i < entry->variant_count; i++)
        free(entry->variants[i]);
    free(entry->variants);
    free(entry->file);
    free(entry->message);
}

void gs_diag_destroy(struct gs_diag **diag) {
    if (*diag == NULL)
        return;
    for (size_t i = 0; i < (*diag)->count; i++)
        entry_release(&(*diag)->entries[i]);
    free((*diag)->entries);
    pthread_mutex_destroy(&(*diag)->mutex);
    free(*diag);
    *diag = NULL;
}

/* Room for one more element; doubles. False when memory is out, then nothing changed. */
static bool grow(void **array, size_t count, size_t *capacity, size_t element_size_bytes) {
    if (count < *capacity)
        return true;
    size_t wanted = *capacity == 0 ? 8 : *capacity * 2;
    if (wanted > SIZE_MAX / element_size_bytes)
        return false;
    void *moved = realloc(*array, wanted * element_size_bytes);
    if (moved == NULL)
        return false;
    *array = moved;
    *capacity = wanted;
    return true;
}

static int entry_compare(const struct entry *a, const struct entry *b) {
    int order = strcmp(a->file, b->file);
    if (order != 0)
        return order;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    order = strcmp(a->message, b->message);
    return order != 0 ? order : (int)b->code - (int)a->code;
}

/* One line, no control characters, no blanks at its end, bounded. */
static void message_tidy(char *message) {
    size_t length = strcspn(message, "\r\n");
    if (length > MESSAGE_MAX_BYTES) {
        length = MESSAGE_MAX_BYTES - 3;
        while (length > 0 && ((unsigned char)message[length] & 0xC0) == 0x80)
            length--;
        memcpy(message + length, "...", 3);
        length += 3;
    }
    while (length > 0 && (message[length - 1] == ' ' || message[length - 1] == '\t'))
        length--;
    message[length] = '\0';
    for (char *p = message; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7F)
            *p = *p == '\t' ? ' ' : '?';
    }
}

static bool variant_add(struct entry *entry, const char *variant) {
    size_t low = 0;
    for (size_t high = entry->variant_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(entry->variants[middle], variant);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    void *array = entry->variants;
    char *copy = strdup(variant);
    if (copy == NULL ||
        !grow(&array, entry->variant_count, &entry->variant_capacity, sizeof *entry->variants)) {
        free(copy);
        return false;
    }
    entry->variants = array;
    memmove(entry->variants + low + 1, entry->variants + low,
            (entry->variant_count - low) * sizeof *entry->variants);
    entry->variants[low] = copy;
    entry->variant_count++;
    return true;
}

/* Takes over entry's strings; false when memory is out, then they stay the caller's. */
static bool entry_insert(struct gs_diag *diag, struct entry *entry, const char *variant) {
    size_t low = 0;
    for (size_t high = diag->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = entry_compare(&diag->entries[middle], entry);
        if (order == 0) {
            if (variant != NULL && !variant_add(&diag->entries[middle], variant))
                return false;
            entry_release(entry);
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    void *array = diag->entries;
    if (!grow(&array, diag->count, &diag->capacity, sizeof *diag->entries))
        return false;
    diag->entries = array;
    if (variant != NULL && !variant_add(entry, variant))
        return false;
    memmove(diag->entries + low + 1, diag->entries + low,
            (diag->count - low) * sizeof *diag->entries);
    diag->entries[low] = *entry;
    diag->count++;
    return true;
}

enum kiln_result gs_diag_add(struct gs_diag *diag, enum kiln_result code, const char *file,
                             uint32_t line, const char *variant, const char *format, ...) {
    struct entry entry = {.line = line, .code = code};
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&entry.message, format, arguments) < 0)
        entry.message = NULL;
    va_end(arguments);
    entry.file = strdup(file != NULL ? file : "");
    if (entry.message != NULL)
        message_tidy(entry.message);
    pthread_mutex_lock(&diag->mutex);
    if (entry.file == NULL || entry.message == NULL || !entry_insert(diag, &entry, variant)) {
        diag->lost++;
        entry_release(&entry);
    }
    pthread_mutex_unlock(&diag->mutex);
    return code;
}

size_t gs_diag_count(const struct gs_diag *diag) {
    return diag->count + diag->lost;
}

enum kiln_result gs_diag_result(const struct gs_diag *diag) {
    if (diag->count > 0)
        return diag->entries[0].code;
    return diag->lost > 0 ? KILN_ERR_MEMORY : KILN_OK;
}

#define LOST_FORMAT "%zu more diagnostics were lost because memory ran out"

enum kiln_result gs_diag_format(const struct gs_diag *diag, struct mf_buffer *out) {
    for (size_t i = 0; i < diag->count; i++) {
        const struct entry *entry = &diag->entries[i];
        if (entry->file[0] != '\0' && entry->line != 0)
            mf_buffer_append_format(out, "%s:%u: ", entry->file, entry->line);
        else if (entry->file[0] != '\0')
            mf_buffer_append_format(out, "%s: ", entry->file);
        mf_buffer_append_string(out, entry->message);
        if (entry->variant_count == 1)
            mf_buffer_append_format(out, " [%s]", entry->variants[0]);
        else if (entry->variant_count > 1)
            mf_buffer_append_format(out, " [%s, and %zu more]", entry->variants[0],
                                    entry->variant_count - 1);
        mf_buffer_append_string(out, "\n");
    }
    if (diag->lost > 0)
        mf_buffer_append_format(out, LOST_FORMAT "\n", diag->lost);
    return out->failed;
}

/* Length of the well-formed UTF-8 sequence at s (0-terminated), 0 when there is none. */
static size_t utf8_length(const unsigned char *s) {
    size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (length > 1 && (s[0] < 0xC2 || s[0] > 0xF4))
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool outside = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return overlong || outside ? 0 : length;
}

/* RFC 8259 string. Paths and compiler messages may hold any bytes: U+FFFD for those not UTF-8. */
static void append_json_string(struct mf_buffer *out, const char *text) {
    mf_buffer_append_string(out, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        size_t length = utf8_length(p);
        if (length == 0) {
            mf_buffer_append_string(out, "\\ufffd");
            length = 1;
        } else if (*p == '"' || *p == '\\') {
            mf_buffer_append_format(out, "\\%c", *p);
        } else if (*p < 0x20) {
            mf_buffer_append_format(out, "\\u%04x", *p);
        } else {
            mf_buffer_append(out, p, length);
        }
        p += length;
    }
    mf_buffer_append_string(out, "\"");
}

static void append_json_entry(struct mf_buffer *out, const struct entry *entry, bool first) {
    mf_buffer_append_string(out, first ? "{\"file\": " : ", {\"file\": ");
    append_json_string(out, entry->file);
    mf_buffer_append_format(out, ", \"line\": %u, \"message\": ", entry->line);
    append_json_string(out, entry->message);
    mf_buffer_append_format(out, ", \"code\": %d, \"variant\": ", (int)entry->code);
    append_json_string(out, entry->variant_count > 0 ? entry->variants[0] : "");
    mf_buffer_append_format(out, ", \"count\": %zu}", entry->variant_count);
}

enum kiln_result gs_diag_format_json(const struct gs_diag *diag, struct mf_buffer *out) {
    mf_buffer_append_string(out, "[");
    for (size_t i = 0; i < diag->count; i++)
        append_json_entry(out, &diag->entries[i], i == 0);
    if (diag->lost > 0) {
        char file[1] = "";
        char message[96];
        snprintf(message, sizeof message, LOST_FORMAT, diag->lost);
        struct entry entry = {.file = file, .message = message, .code = KILN_ERR_MEMORY};
        append_json_entry(out, &entry, diag->count == 0);
    }
    mf_buffer_append_string(out, "]\n");
    return out->failed;
}
