/* SPDX-License-Identifier: MIT */
#include "mf_buffer.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_FIRST_BYTES ((size_t)64)
#define ARENA_BLOCK_BYTES ((size_t)16384)

void mf_buffer_release(struct mf_buffer *buffer) {
    if (buffer) {
        free(buffer->data);
        *buffer = (struct mf_buffer){0};
    }
}

void mf_buffer_clear(struct mf_buffer *buffer) {
    buffer->size_bytes = 0;
    buffer->failed = KILN_OK;
    if (buffer->data) {
        buffer->data[0] = '\0';
    }
}

/* Room for extra_bytes more and the zero byte behind them. */
static enum kiln_result buffer_reserve(struct mf_buffer *buffer, size_t extra_bytes) {
    if (buffer->failed != KILN_OK) {
        return buffer->failed;
    }
    if (extra_bytes >= SIZE_MAX / 4 - buffer->size_bytes) {
        return buffer->failed = KILN_ERR_MEMORY;
    }
    size_t needed_bytes = buffer->size_bytes + extra_bytes + 1;
    if (needed_bytes <= buffer->capacity_bytes) {
        return KILN_OK;
    }
    size_t capacity_bytes = buffer->capacity_bytes ? buffer->capacity_bytes : BUFFER_FIRST_BYTES;
    while (capacity_bytes < needed_bytes) {
        capacity_bytes *= 2;
    }
    char *data = realloc(buffer->data, capacity_bytes);
    if (!data) {
        return buffer->failed = KILN_ERR_MEMORY;
    }
    buffer->data = data;
    buffer->capacity_bytes = capacity_bytes;
    return KILN_OK;
}

enum kiln_result mf_buffer_append(struct mf_buffer *buffer, const void *bytes, size_t size_bytes) {
    enum kiln_result result = buffer_reserve(buffer, size_bytes);
    if (result != KILN_OK) {
        return result;
    }
    if (size_bytes > 0) {
        memcpy(buffer->data + buffer->size_bytes, bytes, size_bytes);
    }
    buffer->size_bytes += size_bytes;
    buffer->data[buffer->size_bytes] = '\0';
    return KILN_OK;
}

enum kiln_result mf_buffer_append_string(struct mf_buffer *buffer, const char *string) {
    return mf_buffer_append(buffer, string, strlen(string));
}

enum kiln_result mf_buffer_append_format(struct mf_buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return buffer->failed = KILN_ERR_ARGUMENT;
    }
    enum kiln_result result = buffer_reserve(buffer, (size_t)length);
    if (result != KILN_OK) {
        return result;
    }
    va_start(arguments, format);
    (void)vsnprintf(buffer->data + buffer->size_bytes, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buffer->size_bytes += (size_t)length;
    return KILN_OK;
}

struct mf_arena_block {
    struct mf_arena_block *next;
    size_t used_bytes;
    size_t capacity_bytes;
    alignas(max_align_t) unsigned char bytes[];
};

void mf_arena_release(struct mf_arena *arena) {
    if (!arena) {
        return;
    }
    struct mf_arena_block *block = arena->blocks;
    while (block) {
        struct mf_arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
}

void *mf_arena_alloc(struct mf_arena *arena, size_t count, size_t element_size_bytes) {
    const size_t alignment = alignof(max_align_t);
    size_t size_bytes = 0;
    if (__builtin_mul_overflow(count, element_size_bytes, &size_bytes) ||
        size_bytes > SIZE_MAX / 2) {
        return NULL;
    }
    size_bytes = size_bytes == 0 ? alignment : (size_bytes + alignment - 1) / alignment * alignment;

    struct mf_arena_block *head = arena->blocks;
    if (head && head->capacity_bytes - head->used_bytes >= size_bytes) {
        void *memory = head->bytes + head->used_bytes;
        head->used_bytes += size_bytes;
        return memory;
    }
    size_t capacity_bytes = size_bytes > ARENA_BLOCK_BYTES ? size_bytes : ARENA_BLOCK_BYTES;
    struct mf_arena_block *block = calloc(1, sizeof *block + capacity_bytes);
    if (!block) {
        return NULL;
    }
    block->capacity_bytes = capacity_bytes;
    block->used_bytes = size_bytes;
    if (head && capacity_bytes == size_bytes) {
        /* A block that is full at once goes behind the head, whose room stays in use. */
        block->next = head->next;
        head->next = block;
    } else {
        block->next = head;
        arena->blocks = block;
    }
    return block->bytes;
}

char *mf_arena_copy(struct mf_arena *arena, const char *bytes, size_t size_bytes) {
    if (size_bytes == SIZE_MAX) {
        return NULL;
    }
    char *copy = mf_arena_alloc(arena, size_bytes + 1, 1);
    if (copy && size_bytes > 0) {
        memcpy(copy, bytes, size_bytes);
    }
    return copy;
}

char *mf_arena_string(struct mf_arena *arena, const char *string) {
    return mf_arena_copy(arena, string, strlen(string));
}

char *mf_arena_format(struct mf_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return NULL;
    }
    char *text = mf_arena_alloc(arena, (size_t)length + 1, 1);
    if (!text) {
        return NULL;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void *mf_arena_grow(struct mf_arena *arena, void *array, size_t count, size_t *capacity,
                    size_t element_size_bytes) {
    if (array && count < *capacity) {
        return array;
    }
    size_t larger = *capacity < 8 ? 8 : *capacity;
    while (larger <= count) {
        if (larger > SIZE_MAX / 2) {
            return NULL;
        }
        larger *= 2;
    }
    void *grown = mf_arena_alloc(arena, larger, element_size_bytes);
    if (!grown) {
        return NULL;
    }
    if (array && count > 0) {
        memcpy(grown, array, count * element_size_bytes);
    }
    *capacity = larger;
    return grown;
}
