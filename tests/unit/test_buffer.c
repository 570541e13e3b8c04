/* SPDX-License-Identifier: MIT */
#include "mf_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void starts_and_ends_as_zero(void **state) {
    (void)state;
    struct mf_buffer buffer = {0};
    mf_buffer_release(&buffer);
    mf_buffer_release(&buffer);
    mf_buffer_release(NULL);
    assert_int_equal(mf_buffer_append(&buffer, NULL, 0), KILN_OK);
    assert_string_equal(buffer.data, "");
    mf_buffer_release(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.capacity_bytes, 0);
}

static void stays_a_string_while_it_grows(void **state) {
    (void)state;
    struct mf_buffer buffer = {0};
    for (size_t i = 0; i < 5000; i++) {
        char byte = (char)('a' + i % 26);
        assert_int_equal(mf_buffer_append(&buffer, &byte, 1), KILN_OK);
        assert_int_equal(buffer.size_bytes, i + 1);
        assert_int_equal(buffer.data[i + 1], 0);
    }
    for (size_t i = 0; i < 5000; i++) {
        assert_int_equal(buffer.data[i], 'a' + (int)(i % 26));
    }
    mf_buffer_release(&buffer);
}

static void formats_and_clears(void **state) {
    (void)state;
    struct mf_buffer buffer = {0};
    assert_int_equal(mf_buffer_append_string(&buffer, "n="), KILN_OK);
    assert_int_equal(mf_buffer_append_format(&buffer, "%d %s", 42, "tokens"), KILN_OK);
    assert_string_equal(buffer.data, "n=42 tokens");
    assert_int_equal(buffer.size_bytes, 11);
    size_t capacity_bytes = buffer.capacity_bytes;
    mf_buffer_clear(&buffer);
    assert_string_equal(buffer.data, "");
    assert_int_equal(buffer.size_bytes, 0);
    assert_int_equal(buffer.capacity_bytes, capacity_bytes);
    /* Exactly filling the capacity must leave room for the zero byte. */
    char fill[300];
    memset(fill, 'f', sizeof fill);
    assert_int_equal(mf_buffer_append_format(&buffer, "%.63s", "x"), KILN_OK);
    assert_int_equal(mf_buffer_append(&buffer, fill, 62), KILN_OK);
    assert_int_equal(strlen(buffer.data), 63);
    assert_int_equal(mf_buffer_append_format(&buffer, "%.*s", 300, fill), KILN_OK);
    assert_int_equal(strlen(buffer.data), 363);
    mf_buffer_release(&buffer);
}

static void failure_sticks_and_keeps_the_content(void **state) {
    (void)state;
    struct mf_buffer buffer = {0};
    assert_int_equal(mf_buffer_append_string(&buffer, "kept"), KILN_OK);
    assert_int_equal(mf_buffer_append(&buffer, "x", SIZE_MAX), KILN_ERR_MEMORY);
    assert_int_equal(mf_buffer_append(&buffer, "x", SIZE_MAX / 4 - 4), KILN_ERR_MEMORY);
    assert_int_equal(mf_buffer_append_string(&buffer, "lost"), KILN_ERR_MEMORY);
    assert_int_equal(mf_buffer_append_format(&buffer, "%d", 1), KILN_ERR_MEMORY);
    assert_string_equal(buffer.data, "kept");
    mf_buffer_clear(&buffer);
    assert_int_equal(mf_buffer_append_string(&buffer, "again"), KILN_OK);
    mf_buffer_release(&buffer);
}

static void arena_gives_zeroed_aligned_memory(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    unsigned char *earlier[200];
    size_t sizes[200];
    for (size_t i = 0; i < 200; i++) {
        sizes[i] = i * i % 40000 + (i % 3);
        earlier[i] = mf_arena_alloc(&arena, sizes[i], 1);
        assert_non_null(earlier[i]);
        assert_int_equal((uintptr_t)earlier[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < sizes[i]; j++) {
            assert_int_equal(earlier[i][j], 0);
        }
        memset(earlier[i], (int)(i + 1), sizes[i]);
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t j = 0; j < sizes[i]; j++) {
            assert_int_equal(earlier[i][j], (unsigned char)(i + 1));
        }
    }
    mf_arena_release(&arena);
    assert_null(arena.blocks);
    mf_arena_release(&arena);
    mf_arena_release(NULL);
}

static void arena_refuses_overflow(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    assert_null(mf_arena_alloc(&arena, SIZE_MAX / 2, 3));
    assert_null(mf_arena_alloc(&arena, SIZE_MAX, 1));
    assert_null(mf_arena_alloc(&arena, (size_t)1 << 32, (size_t)1 << 32));
    assert_null(mf_arena_copy(&arena, "", SIZE_MAX));
    assert_null(arena.blocks);
}

static void arena_copies_text(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    char source[] = "abcdef";
    char *copy = mf_arena_copy(&arena, source, 3);
    char *string = mf_arena_string(&arena, source);
    char *formatted = mf_arena_format(&arena, "%s-%03u", source, 7U);
    source[0] = 'X';
    assert_string_equal(copy, "abc");
    assert_string_equal(string, "abcdef");
    assert_string_equal(formatted, "abcdef-007");
    mf_arena_release(&arena);
}

static void arena_arrays_grow(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    uint32_t *array = NULL;
    size_t capacity = 0;
    size_t moves = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t *grown = mf_arena_grow(&arena, array, i, &capacity, sizeof *array);
        assert_non_null(grown);
        assert_true(capacity > i);
        moves += grown != array;
        array = grown;
        array[i] = i * 3;
    }
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(array[i], i * 3);
    }
    assert_in_range(moves, 2, 20);
    mf_arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_and_ends_as_zero),
        cmocka_unit_test(stays_a_string_while_it_grows),
        cmocka_unit_test(formats_and_clears),
        cmocka_unit_test(failure_sticks_and_keeps_the_content),
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(arena_refuses_overflow),
        cmocka_unit_test(arena_copies_text),
        cmocka_unit_test(arena_arrays_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
