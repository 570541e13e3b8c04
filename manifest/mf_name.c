/* SPDX-License-Identifier: MIT */
#include "mf_name.h"

#include <stdbool.h>
#include <string.h>

static bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The reason why these bytes cannot stand between two "__", or NULL. */
static const char *part_fault(const char *part, size_t size_bytes) {
    if (size_bytes == 0) {
        return "is empty";
    }
    for (size_t i = 0; i < size_bytes; i++) {
        if (!is_name_byte(part[i])) {
            return "has a character outside [a-z0-9_]";
        }
        if (part[i] == '_' && i + 1 < size_bytes && part[i + 1] == '_') {
            return "holds \"__\"";
        }
    }
    if (part[0] == '_' || part[size_bytes - 1] == '_') {
        return "begins or ends with '_'";
    }
    return NULL;
}

enum kiln_result mf_name_check_part(const char *part, struct kiln_error *error) {
    size_t size_bytes = strlen(part);
    const char *fault = part_fault(part, size_bytes);
    if (fault) {
        return kiln_error_set(error, KILN_ERR_FORMAT, "name part \"%s\" %s", part, fault);
    }
    if (size_bytes > MF_NAME_MAX_BYTES) {
        return kiln_error_set(error, KILN_ERR_FORMAT,
                              "name part \"%s\" has %zu bytes, expected at most %d", part,
                              size_bytes, MF_NAME_MAX_BYTES);
    }
    return KILN_OK;
}

enum kiln_result mf_name_check(const char *name, struct kiln_error *error) {
    size_t size_bytes = strlen(name);
    if (size_bytes > MF_NAME_MAX_BYTES) {
        return kiln_error_set(error, KILN_ERR_LIMIT,
                              "name \"%s\" has %zu bytes, expected at most %d", name, size_bytes,
                              MF_NAME_MAX_BYTES);
    }
    const char *part = name;
    for (;;) {
        const char *separator = strstr(part, "__");
        size_t part_bytes = separator ? (size_t)(separator - part) : strlen(part);
        const char *fault = part_fault(part, part_bytes);
        if (fault) {
            return kiln_error_set(error, KILN_ERR_FORMAT, "name \"%s\": part \"%.*s\" %s", name,
                                  (int)part_bytes, part, fault);
        }
        if (!separator) {
            return KILN_OK;
        }
        part = separator + 2;
    }
}

bool mf_name_is_identifier(const char *text) {
    if (text[0] >= '0' && text[0] <= '9') {
        return false;
    }
    size_t i = 0;
    for (; text[i]; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_')) {
            return false;
        }
    }
    return i > 0 && i <= 255;
}

/* Appends `separator` and `part` after checking it; `what` names the field in the message. */
static enum kiln_result append_part(struct mf_buffer *out, const char *separator, const char *what,
                                    const char *part, struct kiln_error *error) {
    struct kiln_error reason;
    if (mf_name_check_part(part, &reason) != KILN_OK) {
        return kiln_error_set(error, KILN_ERR_FORMAT, "%s: %s", what, reason.message);
    }
    (void)mf_buffer_append_string(out, separator);
    if (mf_buffer_append_string(out, part) != KILN_OK) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: out of memory", what);
    }
    return KILN_OK;
}

enum kiln_result mf_name_make(struct mf_arena *arena, const char *family, const char *const *dtypes,
                              size_t dtype_count, const char *shape, const char *schedule,
                              const char *tier, char **name, struct kiln_error *error) {
    *name = NULL;
    struct mf_buffer text = {0};
    enum kiln_result result = append_part(&text, "", "family", family, error);
    if (result == KILN_OK && dtype_count == 0) {
        result = kiln_error_set(error, KILN_ERR_FORMAT, "dtypes: expected at least one");
    }
    for (size_t i = 0; result == KILN_OK && i < dtype_count; i++) {
        result = append_part(&text, i == 0 ? "__" : "_", "dtypes", dtypes[i], error);
    }
    if (result == KILN_OK) {
        result = append_part(&text, "__", "shape", shape, error);
    }
    if (result == KILN_OK) {
        result = append_part(&text, "__", "schedule", schedule, error);
    }
    if (result == KILN_OK) {
        result = append_part(&text, "__", "tier", tier, error);
    }
    if (result == KILN_OK) {
        result = mf_name_check(text.data, error);
    }
    if (result == KILN_OK) {
        *name = mf_arena_string(arena, text.data);
        if (!*name) {
            result = kiln_error_set(error, KILN_ERR_MEMORY, "name: out of memory");
        }
    }
    mf_buffer_release(&text);
    return result;
}
