/* SPDX-License-Identifier: MIT */
/*
 * mf_buffer: a growable byte buffer, and mf_arena: a bag of allocations freed together.
 *
 * Both are plain values that start as all zero bytes (`struct mf_buffer b = {0}`), need no
 * creation call and may be released in that state. Neither is thread safe: one owner at a time.
 */
#ifndef MF_BUFFER_H
#define MF_BUFFER_H

#include "kiln_result.h"

#include <stdarg.h>
#include <stddef.h>

/*
 * `data` holds `size_bytes` bytes and, whenever it is not NULL, one more zero byte behind them, so
 * that text can be used as a C string. `data` moves when the buffer grows. Appending to a buffer
 * whose earlier append failed fails again: check the last append of a series only, by its result.
 */
struct mf_buffer {
    char *data;
    size_t size_bytes;
    size_t capacity_bytes;
    enum kiln_result failed; /* KILN_OK, or the error that a previous append met */
};

/* Frees the bytes and resets the buffer to all zero. NULL and an already released one are fine. */
void mf_buffer_release(struct mf_buffer *buffer);

/* Forgets the bytes and the failure but keeps the allocation. */
void mf_buffer_clear(struct mf_buffer *buffer);

/* KILN_ERR_MEMORY leaves the content unchanged. `bytes` may be NULL when size_bytes is 0. */
enum kiln_result mf_buffer_append(struct mf_buffer *buffer, const void *bytes, size_t size_bytes);
enum kiln_result mf_buffer_append_string(struct mf_buffer *buffer, const char *string);
enum kiln_result mf_buffer_append_format(struct mf_buffer *buffer, const char *format, ...)
    KILN_PRINTF(2, 3);

/*
 * An arena: allocations live until mf_arena_release. Memory is aligned for every C type and, from
 * mf_arena_alloc, zeroed. All return NULL when memory is out; what was allocated before stays.
 */
struct mf_arena {
    struct mf_arena_block *blocks;
};

void mf_arena_release(struct mf_arena *arena);
void *mf_arena_alloc(struct mf_arena *arena, size_t count, size_t element_size_bytes);
char *mf_arena_copy(struct mf_arena *arena, const char *bytes, size_t size_bytes); /* adds a 0 */
char *mf_arena_string(struct mf_arena *arena, const char *string);
char *mf_arena_format(struct mf_arena *arena, const char *format, ...) KILN_PRINTF(2, 3);

/*
 * Growth helper for arrays inside an arena: returns an array that holds *count elements of the old
 * one and room for at least one more, updating *capacity; or NULL when memory is out (the old array
 * stays valid). The old array's memory is not reused.
 */
void *mf_arena_grow(struct mf_arena *arena, void *array, size_t count, size_t *capacity,
                    size_t element_size_bytes);

#endif /* MF_BUFFER_H */
