/* SPDX-License-Identifier: MIT */
#include "mf_json.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* struct mf_json is never defined: it is the library's value under another name. */
static json_t *library_value(const struct mf_json *value) {
    return (json_t *)(uintptr_t)value;
}

static struct mf_json *own_value(json_t *value) {
    return (struct mf_json *)(void *)value;
}

/* ---- parsing and plain access ---- */

enum kiln_result mf_json_parse(const char *text, size_t size_bytes, const char *label,
                               struct mf_json **root, struct kiln_error *error) {
    json_error_t reason;
    *root = NULL;
    json_t *value = json_loadb(text ? text : "", size_bytes, JSON_REJECT_DUPLICATES, &reason);
    if (value) {
        *root = own_value(value);
        return KILN_OK;
    }
    enum kiln_result code = KILN_ERR_FORMAT;
    if (json_error_code(&reason) == json_error_duplicate_key) {
        code = KILN_ERR_DUPLICATE;
    } else if (json_error_code(&reason) == json_error_out_of_memory) {
        code = KILN_ERR_MEMORY;
    }
    return kiln_error_set(error, code, "%s:%d: expected JSON: %s", label,
                          reason.line > 0 ? reason.line : 1, reason.text);
}

void mf_json_release(struct mf_json **root) {
    if (root && *root) {
        json_decref(library_value(*root));
        *root = NULL;
    }
}

enum mf_json_type mf_json_type(const struct mf_json *value) {
    if (!value) {
        return MF_JSON_NULL;
    }
    switch (json_typeof(library_value(value))) {
    case JSON_OBJECT:
        return MF_JSON_OBJECT;
    case JSON_ARRAY:
        return MF_JSON_ARRAY;
    case JSON_STRING:
        return MF_JSON_STRING;
    case JSON_INTEGER:
        return MF_JSON_INTEGER;
    case JSON_REAL:
        return MF_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return MF_JSON_BOOL;
    case JSON_NULL:
        break;
    }
    return MF_JSON_NULL;
}

size_t mf_json_count(const struct mf_json *value) {
    json_t *json = library_value(value);
    return json_is_array(json) ? json_array_size(json) : json_object_size(json);
}

struct mf_json *mf_json_child(const struct mf_json *object, const char *key) {
    return own_value(json_object_get(library_value(object), key));
}

struct mf_json *mf_json_item(const struct mf_json *array, size_t index) {
    return own_value(json_array_get(library_value(array), index));
}

bool mf_json_has(const struct mf_json *object, const char *key) {
    return mf_json_child(object, key) != NULL;
}

static int compare_keys(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fills keys[json_object_size] and sorts them. */
static void sort_keys(json_t *object, const char **keys) {
    size_t count = 0;
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
        keys[count++] = json_object_iter_key(i);
    }
    if (count > 1) {
        qsort(keys, count, sizeof *keys, compare_keys);
    }
}

enum kiln_result mf_json_keys(const struct mf_json *object, struct mf_arena *arena,
                              const char ***keys, size_t *count) {
    size_t key_count = json_object_size(library_value(object));
    *count = 0;
    *keys = NULL;
    const char **sorted = mf_arena_alloc(arena, key_count, sizeof *sorted);
    if (!sorted) {
        return KILN_ERR_MEMORY;
    }
    sort_keys(library_value(object), sorted);
    for (size_t i = 0; i < key_count; i++) {
        sorted[i] = mf_arena_string(arena, sorted[i]);
        if (!sorted[i]) {
            return KILN_ERR_MEMORY;
        }
    }
    *keys = sorted;
    *count = key_count;
    return KILN_OK;
}

/* ---- reader ---- */

void mf_json_reader_init(struct mf_json_reader *reader, const char *label,
                         struct kiln_error *error) {
    *reader = (struct mf_json_reader){.label = label, .error = error};
}

size_t mf_json_enter(struct mf_json_reader *reader, const char *format, ...) {
    size_t before = reader->where_length;
    size_t room = sizeof reader->where - before;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(reader->where + before, room, format, arguments);
    va_end(arguments);
    if (length < 0) {
        reader->where[before] = '\0';
    }
    reader->where_length = before + strlen(reader->where + before);
    return before;
}

void mf_json_leave(struct mf_json_reader *reader, size_t length) {
    reader->where_length = length;
    reader->where[length] = '\0';
}

enum kiln_result mf_json_fail(struct mf_json_reader *reader, enum kiln_result code, const char *key,
                              const char *format, ...) {
    if (reader->failed != KILN_OK) {
        return reader->failed;
    }
    char text[KILN_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reader->failed = code;
    return kiln_error_set(reader->error, code, "%s: %s%s%s%s", reader->label, reader->where, key,
                          key[0] ? ": " : "", length < 0 ? "" : text);
}

/* What a value is, for "found ..."; `text` is the storage of numbers and short strings. */
static const char *describe(json_t *value, char *text, size_t text_bytes) {
    if (!value) {
        return "nothing";
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        (void)snprintf(text, text_bytes, "\"%.60s\"", json_string_value(value));
        return text;
    case JSON_INTEGER:
        (void)snprintf(text, text_bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return text;
    case JSON_REAL:
        (void)snprintf(text, text_bytes, "%g", json_real_value(value));
        return text;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

static void fail_expected(struct mf_json_reader *reader, const char *key, json_t *value,
                          const char *expected) {
    char text[96];
    (void)mf_json_fail(reader, KILN_ERR_FORMAT, key, "expected %s, found %s", expected,
                       describe(value, text, sizeof text));
}

static struct mf_json *as_object(struct mf_json_reader *reader, json_t *value, const char *key) {
    if (reader->failed == KILN_OK && !json_is_object(value)) {
        fail_expected(reader, key, value, "an object");
    }
    return reader->failed == KILN_OK ? own_value(value) : NULL;
}

static struct mf_json *as_array(struct mf_json_reader *reader, json_t *value, const char *key) {
    if (reader->failed == KILN_OK && !json_is_array(value)) {
        fail_expected(reader, key, value, "an array");
    }
    return reader->failed == KILN_OK ? own_value(value) : NULL;
}

static const char *as_string(struct mf_json_reader *reader, json_t *value, const char *key) {
    if (reader->failed == KILN_OK && !json_is_string(value)) {
        fail_expected(reader, key, value, "a string");
    }
    return reader->failed == KILN_OK ? json_string_value(value) : "";
}

static uint64_t as_u64(struct mf_json_reader *reader, json_t *value, const char *key, uint64_t min,
                       uint64_t max) {
    if (reader->failed != KILN_OK) {
        return 0;
    }
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        uint64_t number = (uint64_t)json_integer_value(value);
        if (number >= min && number <= max) {
            return number;
        }
    }
    char expected[96];
    (void)snprintf(expected, sizeof expected, "an integer from %llu to %llu",
                   (unsigned long long)min, (unsigned long long)max);
    fail_expected(reader, key, value, expected);
    return 0;
}

static double as_number(struct mf_json_reader *reader, json_t *value, const char *key) {
    if (reader->failed == KILN_OK && !json_is_number(value)) {
        fail_expected(reader, key, value, "a number");
    }
    return reader->failed == KILN_OK ? json_number_value(value) : 0.0;
}

static json_t *member(const struct mf_json *object, const char *key) {
    return json_object_get(library_value(object), key);
}

struct mf_json *mf_json_get_object(struct mf_json_reader *reader, const struct mf_json *object,
                                   const char *key) {
    return as_object(reader, member(object, key), key);
}

struct mf_json *mf_json_get_array(struct mf_json_reader *reader, const struct mf_json *object,
                                  const char *key) {
    return as_array(reader, member(object, key), key);
}

const char *mf_json_get_string(struct mf_json_reader *reader, const struct mf_json *object,
                               const char *key) {
    return as_string(reader, member(object, key), key);
}

uint64_t mf_json_get_u64(struct mf_json_reader *reader, const struct mf_json *object,
                         const char *key, uint64_t min, uint64_t max) {
    return as_u64(reader, member(object, key), key, min, max);
}

double mf_json_get_number(struct mf_json_reader *reader, const struct mf_json *object,
                          const char *key) {
    return as_number(reader, member(object, key), key);
}

bool mf_json_get_bool(struct mf_json_reader *reader, const struct mf_json *object,
                      const char *key) {
    json_t *value = member(object, key);
    if (reader->failed == KILN_OK && !json_is_boolean(value)) {
        fail_expected(reader, key, value, "true or false");
    }
    return reader->failed == KILN_OK && json_is_true(value);
}

#define ITEM_KEY_BYTES 128

/* The element, and "key[index]" for messages. */
static json_t *element(const struct mf_json *array, const char *key, size_t index,
                       char item_key[ITEM_KEY_BYTES]) {
    (void)snprintf(item_key, ITEM_KEY_BYTES, "%s[%zu]", key, index);
    return json_array_get(library_value(array), index);
}

struct mf_json *mf_json_item_object(struct mf_json_reader *reader, const struct mf_json *array,
                                    const char *key, size_t index) {
    char item_key[ITEM_KEY_BYTES];
    json_t *value = element(array, key, index, item_key);
    return as_object(reader, value, item_key);
}

struct mf_json *mf_json_item_array(struct mf_json_reader *reader, const struct mf_json *array,
                                   const char *key, size_t index) {
    char item_key[ITEM_KEY_BYTES];
    json_t *value = element(array, key, index, item_key);
    return as_array(reader, value, item_key);
}

const char *mf_json_item_string(struct mf_json_reader *reader, const struct mf_json *array,
                                const char *key, size_t index) {
    char item_key[ITEM_KEY_BYTES];
    json_t *value = element(array, key, index, item_key);
    return as_string(reader, value, item_key);
}

uint64_t mf_json_item_u64(struct mf_json_reader *reader, const struct mf_json *array,
                          const char *key, size_t index, uint64_t min, uint64_t max) {
    char item_key[ITEM_KEY_BYTES];
    json_t *value = element(array, key, index, item_key);
    return as_u64(reader, value, item_key, min, max);
}

double mf_json_item_number(struct mf_json_reader *reader, const struct mf_json *array,
                           const char *key, size_t index) {
    char item_key[ITEM_KEY_BYTES];
    json_t *value = element(array, key, index, item_key);
    return as_number(reader, value, item_key);
}

void mf_json_only_keys(struct mf_json_reader *reader, const struct mf_json *object,
                       const char *const *keys, size_t key_count) {
    json_t *json = library_value(object);
    for (void *i = json_object_iter(json); i && reader->failed == KILN_OK;
         i = json_object_iter_next(json, i)) {
        const char *found = json_object_iter_key(i);
        bool known = false;
        for (size_t k = 0; k < key_count && !known; k++) {
            known = strcmp(found, keys[k]) == 0;
        }
        if (!known) {
            (void)mf_json_fail(reader, KILN_ERR_FORMAT, "", "unknown key \"%.60s\"", found);
        }
    }
}

/* ---- builder ---- */

static void builder_fail(struct mf_json_builder *builder, enum kiln_result code) {
    if (builder->failed == KILN_OK) {
        builder->failed = code;
    }
}

static struct mf_json *new_root(struct mf_json_builder *builder, json_t *value) {
    if (!value) {
        builder_fail(builder, KILN_ERR_MEMORY);
    }
    return own_value(value);
}

struct mf_json *mf_json_new_object(struct mf_json_builder *builder) {
    return new_root(builder, json_object());
}

struct mf_json *mf_json_new_array(struct mf_json_builder *builder) {
    return new_root(builder, json_array());
}

/* Puts an owned value, which is given away in every case; returns it borrowed, or NULL. */
static struct mf_json *put(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                           json_t *value) {
    json_t *target = library_value(parent);
    if (builder->failed != KILN_OK || !target || !value) {
        builder_fail(builder, KILN_ERR_MEMORY);
        json_decref(value);
        return NULL;
    }
    int status = -1;
    enum kiln_result code = KILN_ERR_ARGUMENT;
    if (key && json_is_object(target)) {
        if (json_object_get(target, key)) {
            code = KILN_ERR_DUPLICATE;
            json_decref(value);
        } else {
            /* Fails when memory is out or the key is no UTF-8; keys come from program text. */
            code = KILN_ERR_MEMORY;
            status = json_object_set_new(target, key, value);
        }
    } else if (!key && json_is_array(target)) {
        code = KILN_ERR_MEMORY;
        status = json_array_append_new(target, value);
    } else {
        json_decref(value);
    }
    if (status != 0) {
        builder_fail(builder, code);
        return NULL;
    }
    return own_value(value);
}

struct mf_json *mf_json_put_object(struct mf_json_builder *builder, struct mf_json *parent,
                                   const char *key) {
    return put(builder, parent, key, json_object());
}

struct mf_json *mf_json_put_array(struct mf_json_builder *builder, struct mf_json *parent,
                                  const char *key) {
    return put(builder, parent, key, json_array());
}

void mf_json_put_string(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                        const char *value) {
    json_t *text = json_string(value);
    if (!text) {
        /* The library does not say which of the two it was; bad UTF-8 is the likely one. */
        builder_fail(builder, KILN_ERR_FORMAT);
    }
    (void)put(builder, parent, key, text);
}

void mf_json_put_u64(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                     uint64_t value) {
    if (value > INT64_MAX) {
        builder_fail(builder, KILN_ERR_LIMIT);
        return;
    }
    mf_json_put_i64(builder, parent, key, (int64_t)value);
}

void mf_json_put_i64(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                     int64_t value) {
    (void)put(builder, parent, key, json_integer(value));
}

void mf_json_put_real(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                      double value) {
    (void)put(builder, parent, key, isfinite(value) ? json_real(value) : json_null());
}

void mf_json_put_bool(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                      bool value) {
    (void)put(builder, parent, key, json_boolean(value));
}

void mf_json_put_null(struct mf_json_builder *builder, struct mf_json *parent, const char *key) {
    (void)put(builder, parent, key, json_null());
}

void mf_json_put_copy(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                      const struct mf_json *value) {
    (void)put(builder, parent, key, json_deep_copy(library_value(value)));
}

/* ---- canonical output ---- */

/* Lays out decimal digits d1 d2 ... with value d1.d2... * 10^exponent. */
static void append_decimal(struct mf_buffer *out, const char *digits, int exponent) {
    size_t count = strlen(digits);
    if (exponent < -4 || exponent >= 16) {
        (void)mf_buffer_append_format(out, "%c%s%se%c%02d", digits[0], count > 1 ? "." : "",
                                      digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        (void)mf_buffer_append_string(out, "0.");
        (void)mf_buffer_append(out, "000", (size_t)(-exponent - 1));
        (void)mf_buffer_append_string(out, digits);
    } else {
        size_t whole = (size_t)exponent + 1;
        for (size_t i = 0; i < whole || i < count; i++) {
            if (i == whole) {
                (void)mf_buffer_append_string(out, ".");
            }
            (void)mf_buffer_append(out, i < count ? &digits[i] : "0", 1);
        }
        if (count <= whole) {
            (void)mf_buffer_append_string(out, ".0");
        }
    }
}

enum kiln_result mf_json_append_real(struct mf_buffer *out, double value) {
    if (!isfinite(value)) {
        return mf_buffer_append_string(out, "null");
    }
    char text[64];
    for (int precision = 0; precision < 17; precision++) {
        (void)snprintf(text, sizeof text, "%.*e", precision, value);
        double back = strtod(text, NULL);
        if (back <= value && back >= value) {
            break;
        }
    }
    /* Only digits are taken from the text, so that the locale's decimal point does not matter. */
    char digits[24];
    size_t count = 0;
    const char *c = text;
    for (; *c != 'e'; c++) {
        if (*c >= '0' && *c <= '9' && count + 1 < sizeof digits) {
            digits[count++] = *c;
        }
    }
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    digits[count] = '\0';
    if (signbit(value)) {
        (void)mf_buffer_append_string(out, "-");
    }
    append_decimal(out, digits, (int)strtol(c + 1, NULL, 10));
    return out->failed;
}

static void append_quoted(struct mf_buffer *out, const char *text) {
    (void)mf_buffer_append_string(out, "\"");
    for (const char *c = text; *c; c++) {
        static const char escaped[] = "\"\\\b\f\n\r\t";
        static const char letters[] = "\"\\bfnrt";
        const char *found = strchr(escaped, *c);
        if (found) {
            char pair[2] = {'\\', letters[found - escaped]};
            (void)mf_buffer_append(out, pair, sizeof pair);
        } else if ((unsigned char)*c < 0x20) {
            (void)mf_buffer_append_format(out, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            (void)mf_buffer_append(out, c, 1);
        }
    }
    (void)mf_buffer_append_string(out, "\"");
}

static void append_line_break(struct mf_buffer *out, bool pretty, unsigned level) {
    if (pretty) {
        (void)mf_buffer_append_string(out, "\n");
        for (unsigned i = 0; i < level; i++) {
            (void)mf_buffer_append_string(out, "  ");
        }
    }
}

static void append_value(struct mf_buffer *out, json_t *value, bool pretty, unsigned level);

static void append_array(struct mf_buffer *out, json_t *array, bool pretty, unsigned level) {
    size_t count = json_array_size(array);
    (void)mf_buffer_append_string(out, "[");
    for (size_t i = 0; i < count; i++) {
        (void)mf_buffer_append_string(out, i > 0 ? "," : "");
        append_line_break(out, pretty, level + 1);
        append_value(out, json_array_get(array, i), pretty, level + 1);
    }
    if (count > 0) {
        append_line_break(out, pretty, level);
    }
    (void)mf_buffer_append_string(out, "]");
}

static void append_object(struct mf_buffer *out, json_t *object, bool pretty, unsigned level) {
    size_t count = json_object_size(object);
    const char **keys = calloc(count + 1, sizeof *keys);
    if (!keys) {
        out->failed = KILN_ERR_MEMORY;
        return;
    }
    sort_keys(object, keys);
    (void)mf_buffer_append_string(out, "{");
    for (size_t i = 0; i < count; i++) {
        (void)mf_buffer_append_string(out, i > 0 ? "," : "");
        append_line_break(out, pretty, level + 1);
        append_quoted(out, keys[i]);
        (void)mf_buffer_append_string(out, pretty ? ": " : ":");
        append_value(out, json_object_get(object, keys[i]), pretty, level + 1);
    }
    if (count > 0) {
        append_line_break(out, pretty, level);
    }
    (void)mf_buffer_append_string(out, "}");
    free(keys);
}

static void append_value(struct mf_buffer *out, json_t *value, bool pretty, unsigned level) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        append_object(out, value, pretty, level);
        break;
    case JSON_ARRAY:
        append_array(out, value, pretty, level);
        break;
    case JSON_STRING:
        append_quoted(out, json_string_value(value));
        break;
    case JSON_INTEGER:
        (void)mf_buffer_append_format(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        (void)mf_json_append_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
        (void)mf_buffer_append_string(out, "true");
        break;
    case JSON_FALSE:
        (void)mf_buffer_append_string(out, "false");
        break;
    case JSON_NULL:
        (void)mf_buffer_append_string(out, "null");
        break;
    }
}

enum kiln_result mf_json_dump(const struct mf_json *value, bool pretty, struct mf_buffer *out) {
    if (!value) {
        return KILN_ERR_MEMORY;
    }
    append_value(out, library_value(value), pretty, 0);
    return mf_buffer_append_string(out, pretty ? "\n" : "");
}
