/* SPDX-License-Identifier: MIT */
/*
 * mf_json: reading and writing JSON (RFC 8259), the one seam around the JSON library (jansson).
 *
 * A `struct mf_json` is one value of a tree. mf_json_parse and the mf_json_new_* functions give an
 * owned root, which mf_json_release frees with all below it; every other pointer is borrowed and
 * lives as long as its root. Trees may be read by many threads at once, and changed by one alone.
 *
 * Reading is strict: UTF-8, no duplicate keys, no text behind the value, no NUL in strings,
 * integers in 64 bits signed, at most 2048 levels. Writing is canonical: keys sorted bytewise,
 * reals as the shortest decimal text that reads back equal (0.001, 1e-05, 100.0), non-finite reals
 * as null, text as UTF-8 where only '"', '\' and control characters are escaped. Equal trees give
 * equal bytes, whatever the locale: those of Python's json.dumps(value, sort_keys=True,
 * ensure_ascii=False).
 */
#ifndef MF_JSON_H
#define MF_JSON_H

#include "mf_buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct mf_json;

enum mf_json_type {
    MF_JSON_NULL,
    MF_JSON_BOOL,
    MF_JSON_INTEGER,
    MF_JSON_REAL,
    MF_JSON_STRING,
    MF_JSON_ARRAY,
    MF_JSON_OBJECT
};

/*
 * Parses `size_bytes` of text whose value is an object or an array. Errors are `label:line: ...`:
 * KILN_ERR_FORMAT, KILN_ERR_DUPLICATE (a key occurs twice in one object) or KILN_ERR_MEMORY, with
 * *root NULL.
 */
enum kiln_result mf_json_parse(const char *text, size_t size_bytes, const char *label,
                               struct mf_json **root, struct kiln_error *error);

/* Frees an owned root and sets *root to NULL, which is accepted too. */
void mf_json_release(struct mf_json **root);

/* Plain access. `child` and `item` are NULL when there is no such thing; NULL parents are fine. */
enum mf_json_type mf_json_type(const struct mf_json *value);
size_t mf_json_count(const struct mf_json *value); /* of an array or object, otherwise 0 */
struct mf_json *mf_json_child(const struct mf_json *object, const char *key);
struct mf_json *mf_json_item(const struct mf_json *array, size_t index);
bool mf_json_has(const struct mf_json *object, const char *key);

/* Keys of an object, sorted bytewise, in `arena`. KILN_ERR_MEMORY, then *keys is NULL. */
enum kiln_result mf_json_keys(const struct mf_json *object, struct mf_arena *arena,
                              const char ***keys, size_t *count);

/*
 * A reader: typed getters whose first failure sticks. After it every getter returns 0, "" or NULL
 * at once, so a caller reads all fields and tests `failed` once (and before it trusts a count to
 * size a loop with side effects). The failure goes to *error as
 * `label: <where><key>: expected ..., found ...`; `where` is the text pushed by mf_json_enter, e.g.
 * "artifact matvec_x: " and "requires.".
 */
#define MF_JSON_WHERE_BYTES 320

struct mf_json_reader {
    const char *label;
    struct kiln_error *error;
    enum kiln_result failed;
    size_t where_length;
    char where[MF_JSON_WHERE_BYTES];
};

void mf_json_reader_init(struct mf_json_reader *reader, const char *label,
                         struct kiln_error *error);

/* Appends to `where`; the returned length given to mf_json_leave takes it away again. */
size_t mf_json_enter(struct mf_json_reader *reader, const char *format, ...) KILN_PRINTF(2, 3);
void mf_json_leave(struct mf_json_reader *reader, size_t length);

/* Makes the reader fail, unless it has failed already; `key` may be "". Returns reader->failed. */
enum kiln_result mf_json_fail(struct mf_json_reader *reader, enum kiln_result code, const char *key,
                              const char *format, ...) KILN_PRINTF(4, 5);

/*
 * A member of an object; it must exist and have the type. Integers must lie in [min, max]; a number
 * may be an integer or a real and is finite. Strings are borrowed from the tree.
 */
struct mf_json *mf_json_get_object(struct mf_json_reader *reader, const struct mf_json *object,
                                   const char *key);
struct mf_json *mf_json_get_array(struct mf_json_reader *reader, const struct mf_json *object,
                                  const char *key);
const char *mf_json_get_string(struct mf_json_reader *reader, const struct mf_json *object,
                               const char *key);
uint64_t mf_json_get_u64(struct mf_json_reader *reader, const struct mf_json *object,
                         const char *key, uint64_t min, uint64_t max);
double mf_json_get_number(struct mf_json_reader *reader, const struct mf_json *object,
                          const char *key);
bool mf_json_get_bool(struct mf_json_reader *reader, const struct mf_json *object, const char *key);

/* The same for element `index` of an array; `key` is the array's name in messages. */
struct mf_json *mf_json_item_object(struct mf_json_reader *reader, const struct mf_json *array,
                                    const char *key, size_t index);
struct mf_json *mf_json_item_array(struct mf_json_reader *reader, const struct mf_json *array,
                                   const char *key, size_t index);
const char *mf_json_item_string(struct mf_json_reader *reader, const struct mf_json *array,
                                const char *key, size_t index);
uint64_t mf_json_item_u64(struct mf_json_reader *reader, const struct mf_json *array,
                          const char *key, size_t index, uint64_t min, uint64_t max);
double mf_json_item_number(struct mf_json_reader *reader, const struct mf_json *array,
                           const char *key, size_t index);

/* Fails when the object has a key that is not among `keys`. */
void mf_json_only_keys(struct mf_json_reader *reader, const struct mf_json *object,
                       const char *const *keys, size_t key_count);

/*
 * Building. A builder remembers the first failure of a series: KILN_ERR_MEMORY, KILN_ERR_FORMAT (a
 * string is not UTF-8), KILN_ERR_DUPLICATE (the key is there already), KILN_ERR_LIMIT (an integer
 * beyond INT64_MAX) or KILN_ERR_ARGUMENT (the parent cannot hold it). Start it as {0}; test
 * `failed` before the tree is used. A NULL parent is an earlier failure and is ignored.
 *
 * In the put functions the parent is an object and `key` names the member, or the parent is an
 * array and `key` is NULL. mf_json_put_object and mf_json_put_array return the new, empty, borrowed
 * child (NULL on failure).
 */
struct mf_json_builder {
    enum kiln_result failed;
};

struct mf_json *mf_json_new_object(struct mf_json_builder *builder); /* an owned root */
struct mf_json *mf_json_new_array(struct mf_json_builder *builder);  /* an owned root */
struct mf_json *mf_json_put_object(struct mf_json_builder *builder, struct mf_json *parent,
                                   const char *key);
struct mf_json *mf_json_put_array(struct mf_json_builder *builder, struct mf_json *parent,
                                  const char *key);
void mf_json_put_string(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                        const char *value);
void mf_json_put_u64(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                     uint64_t value);
void mf_json_put_i64(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                     int64_t value);
void mf_json_put_real(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                      double value);
void mf_json_put_bool(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                      bool value);
void mf_json_put_null(struct mf_json_builder *builder, struct mf_json *parent, const char *key);
/* A deep copy of a value of any tree. */
void mf_json_put_copy(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                      const struct mf_json *value);

/*
 * Appends the canonical text: with `pretty` two spaces a level, one member a line and a final
 * newline; otherwise one line without spaces or newline. KILN_ERR_MEMORY also for a NULL value.
 */
enum kiln_result mf_json_dump(const struct mf_json *value, bool pretty, struct mf_buffer *out);

/* Appends a real as mf_json_dump writes it: shortest round-trip text, "null" if not finite. */
enum kiln_result mf_json_append_real(struct mf_buffer *out, double value);

#endif /* MF_JSON_H */
