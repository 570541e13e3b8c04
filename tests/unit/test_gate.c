/* SPDX-License-Identifier: MIT */
/* The SPIR-V gate: what it takes, what it refuses and with which words, and mutated modules. */
#include "../fuzz/fuzz_module.c"
#include "spirv_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const fixtures[] = {
    "interface", "coopmat",     "subgroup", "scalar",        "helper_main",
    "fragment",  "two_entries", "no_entry", "local_size_id",
};
#define FIXTURE_COUNT (sizeof fixtures / sizeof *fixtures)

static uint8_t *fixture_read(size_t index, size_t *size_bytes) {
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/spirv/%s.spv", fixtures[index]);
    return spirv_file_read(path, size_bytes);
}

static const struct spirv_shape plain = {.entry = "main"};

/* The gate refuses the words, and says `expected` somewhere in its message. */
static void refused(const struct spirv_make *make, const char *expected) {
    struct gs_module module;
    struct kiln_error error = {0};
    enum kiln_result result =
        gs_module_read(make->words, make->word_count * sizeof(uint32_t), NULL, &module, &error);
    if (result != KILN_ERR_FORMAT || error.code != KILN_ERR_FORMAT ||
        strstr(error.message, expected) == NULL)
        fail_msg("expected a refusal with '%s', got %d '%s'", expected, result, error.message);
    assert_null(module.words);
    assert_int_equal(module.word_count, 0);
}

static void accepted(const struct spirv_make *make) {
    struct gs_module module;
    struct kiln_error error = {0};
    if (gs_module_read(make->words, make->word_count * sizeof(uint32_t), NULL, &module, &error) !=
        KILN_OK)
        fail_msg("refused: %s", error.message);
    assert_int_equal(module.word_count, make->word_count);
    assert_memory_equal(module.words, make->words, make->word_count * sizeof(uint32_t));
    gs_module_release(&module);
}

static void test_fixtures_pass(void **state) {
    (void)state;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        size_t size_bytes = 0;
        uint8_t *bytes = fixture_read(i, &size_bytes);
        struct gs_module module;
        assert_int_equal(gs_module_read(bytes, size_bytes, NULL, &module, NULL), KILN_OK);
        assert_int_equal(module.word_count * 4, size_bytes);
        assert_memory_equal(module.words, bytes, size_bytes);
        gs_module_release(&module);
        gs_module_release(&module); /* an empty module may be released */
        free(bytes);
    }
}

static void test_unaligned_input(void **state) {
    (void)state;
    size_t size_bytes = 0;
    uint8_t *bytes = fixture_read(0, &size_bytes);
    uint8_t *shifted = malloc(size_bytes + 3);
    assert_non_null(shifted);
    for (size_t shift = 1; shift <= 3; shift++) {
        struct gs_module module;
        memcpy(shifted + shift, bytes, size_bytes);
        assert_int_equal(gs_module_read(shifted + shift, size_bytes, NULL, &module, NULL), KILN_OK);
        assert_memory_equal(module.words, bytes, size_bytes);
        gs_module_release(&module);
    }
    free(shifted);
    free(bytes);
}

static void test_sizes(void **state) {
    (void)state;
    struct gs_module module;
    struct kiln_error error = {0};
    uint32_t words[5] = {0x07230203, 0x00010300, 0, 1, 0};
    for (size_t size_bytes = 0; size_bytes < 20; size_bytes++) {
        assert_int_equal(gs_module_read(words, size_bytes, NULL, &module, &error), KILN_ERR_FORMAT);
        assert_non_null(strstr(error.message, "multiple of 4"));
    }
    assert_int_equal(gs_module_read(NULL, 0, NULL, &module, &error), KILN_ERR_FORMAT);
    assert_int_equal(gs_module_read(NULL, 4, NULL, &module, &error), KILN_ERR_ARGUMENT);
    assert_int_equal(gs_module_read(words, 20, NULL, &module, &error), KILN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "OpMemoryModel"));
}

static void header_refused(size_t word, uint32_t value, const char *expected) {
    struct spirv_make make;
    spirv_make_shape(&make, &plain);
    make.words[word] = value;
    refused(&make, expected);
    spirv_make_release(&make);
}

static void test_header(void **state) {
    (void)state;
    header_refused(0, 0x07230204, "magic 0x07230204, expected 0x07230203");
    header_refused(0, 0x03022307, "other byte order");
    header_refused(1, 0x00010700, "version word 0x00010700");
    header_refused(1, 0x00020000, "version word 0x00020000");
    header_refused(1, 0x00000900, "version word 0x00000900");
    header_refused(1, 0x00010301, "version word 0x00010301");
    header_refused(1, 0x01010300, "version word 0x01010300");
    header_refused(3, 0, "id bound 0");
    header_refused(3, 4194304, "id bound 4194304");
    header_refused(3, 0xffffffff, "id bound 4294967295");
    header_refused(4, 1, "schema 1");
    header_refused(3, 9, "id 9, expected 1 to 8");
    struct spirv_make make;
    spirv_make_shape(&make, &plain);
    make.words[3] = 4194303;
    accepted(&make);
    make.words[1] = 0x00010600;
    accepted(&make);
    spirv_make_release(&make);
}

static void test_version_of_target(void **state) {
    (void)state;
    struct spirv_make make;
    struct gs_module module;
    struct kiln_error error = {0};
    const struct gs_gate_options options = {.max_version = 0x00010300};
    spirv_make_shape(&make, &plain);
    size_t size_bytes = make.word_count * 4;
    assert_int_equal(gs_module_read(make.words, size_bytes, &options, &module, &error),
                     KILN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "expected 0x00010000 to 0x00010300"));
    make.words[1] = 0x00010300;
    assert_int_equal(gs_module_read(make.words, size_bytes, &options, &module, &error), KILN_OK);
    gs_module_release(&module);
    spirv_make_release(&make);
}

static void test_other_byte_order(void **state) {
    (void)state;
    struct spirv_make make;
    struct gs_module module;
    const struct gs_gate_options options = {.swap = true};
    spirv_make_shape(&make, &(struct spirv_shape){.entry = "swap_me", .entry_name = "swap_me"});
    size_t size_bytes = make.word_count * 4;
    uint8_t *swapped = malloc(size_bytes);
    assert_non_null(swapped);
    for (size_t i = 0; i < size_bytes; i++)
        swapped[i] = ((const uint8_t *)make.words)[i ^ 3];
    assert_int_equal(gs_module_read(swapped, size_bytes, NULL, &module, NULL), KILN_ERR_FORMAT);
    assert_int_equal(gs_module_read(swapped, size_bytes, &options, &module, NULL), KILN_OK);
    assert_memory_equal(module.words, make.words, size_bytes);
    struct gs_entry_point entry;
    assert_int_equal(gs_module_entry_points(&module, &entry, 1), 1);
    assert_string_equal(entry.name, "swap_me");
    gs_module_release(&module);
    free(swapped);
    spirv_make_release(&make);
}

/* Word index of the n-th instruction with this opcode. */
static size_t find_op(const struct spirv_make *make, uint16_t opcode, size_t n) {
    for (size_t at = 5; at < make->word_count; at += make->words[at] >> 16) {
        if ((make->words[at] & 0xffff) == opcode && n-- == 0)
            return at;
    }
    fail_msg("no opcode %u", opcode);
    return 0;
}

static void test_word_counts(void **state) {
    (void)state;
    struct spirv_make make;
    spirv_make_shape(&make, &plain);
    uint32_t *end = &make.words[make.word_count - 1]; /* OpFunctionEnd */
    *end = 56;
    refused(&make, "has 0 words, expected 1 to the 1 that are left");
    *end = 2u << 16 | 56;
    refused(&make, "has 2 words, expected 1 to the 1 that are left");
    *end = 0xffffu << 16 | 56;
    refused(&make, "has 65535 words");
    *end = 1u << 16 | 56;
    accepted(&make);
    spirv_make_words(&make, (const uint32_t[]){0}, 1); /* a trailing word */
    refused(&make, "opcode 0 has 0 words");
    spirv_make_release(&make);
}

/* Too short or too long for what it is. */
static void length_refused(uint16_t opcode, size_t operand_count) {
    const uint32_t operands[16] = {10, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct spirv_make make;
    spirv_make_shape(&make, &plain);
    size_t at = find_op(&make, 54, 0); /* before the first function */
    make.word_count = at;
    spirv_make_op(&make, opcode, operands, operand_count);
    char expected[64];
    snprintf(expected, sizeof expected, "opcode %u has %zu words", opcode, operand_count + 1);
    refused(&make, expected);
    spirv_make_release(&make);
}

static void test_instruction_lengths(void **state) {
    (void)state;
    length_refused(21, 2); /* OpTypeInt */
    length_refused(21, 4);
    length_refused(22, 1);   /* OpTypeFloat */
    length_refused(23, 2);   /* OpTypeVector */
    length_refused(28, 2);   /* OpTypeArray */
    length_refused(29, 1);   /* OpTypeRuntimeArray */
    length_refused(30, 0);   /* OpTypeStruct */
    length_refused(32, 2);   /* OpTypePointer */
    length_refused(33, 1);   /* OpTypeFunction */
    length_refused(43, 2);   /* OpConstant */
    length_refused(44, 1);   /* OpConstantComposite */
    length_refused(52, 2);   /* OpSpecConstantOp */
    length_refused(59, 2);   /* OpVariable */
    length_refused(54, 3);   /* OpFunction */
    length_refused(4456, 5); /* OpTypeCooperativeMatrixKHR */
}

/* Inserts an instruction in front of word `at`. */
static void insert(struct spirv_make *make, size_t at, const uint32_t *words, size_t word_count) {
    struct spirv_make tail = {0};
    spirv_make_words(&tail, make->words + at, make->word_count - at);
    make->word_count = at;
    spirv_make_words(make, words, word_count);
    spirv_make_words(make, tail.words, tail.word_count);
    spirv_make_release(&tail);
}

static void test_strings(void **state) {
    (void)state;
    static const struct {
        uint16_t opcode;
        uint16_t operand; /* word of the string */
        uint16_t before;  /* opcode in front of which the instruction belongs */
    } cases[] = {
        {2, 1, 19},    /* OpSourceContinued */
        {3, 4, 19},    /* OpSource */
        {4, 1, 19},    /* OpSourceExtension */
        {5, 2, 19},    /* OpName */
        {6, 3, 19},    /* OpMemberName */
        {7, 2, 19},    /* OpString */
        {10, 1, 14},   /* OpExtension */
        {11, 2, 14},   /* OpExtInstImport */
        {330, 1, 19},  /* OpModuleProcessed */
        {5632, 3, 19}, /* OpDecorateString */
        {5633, 4, 19}, /* OpMemberDecorateString */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t words[8] = {0, 40, 40, 40, 40};
        size_t count = cases[i].operand + 2u;
        words[0] = (uint32_t)count << 16 | cases[i].opcode;
        words[cases[i].operand] = 0x61616161;
        words[cases[i].operand + 1] = 0x00616161;
        struct spirv_make make;
        spirv_make_shape(&make, &plain);
        size_t at = find_op(&make, cases[i].before, 0);
        insert(&make, at, words, count);
        accepted(&make);
        make.words[at + cases[i].operand + 1] = 0x61616161;
        refused(&make, "string without end");
        if (cases[i].opcode < 5000) {
            make.words[at + cases[i].operand] = 0x00616161;
            refused(&make, "1 words after its string");
        }
        spirv_make_release(&make);
    }
    struct spirv_make make;
    spirv_make_shape(&make, &(struct spirv_shape){.entry = "abc"});
    make.words[find_op(&make, 15, 0) + 3] = 0x61616161; /* the entry point's only name word */
    refused(&make, "string without end");
    spirv_make_release(&make);
}

static void test_ids(void **state) {
    (void)state;
    struct spirv_make make;
    spirv_make_shape(&make, &plain);
    size_t at = find_op(&make, 59, 0);
    make.words[at + 2] = 0;
    refused(&make, "result id 0");
    make.words[at + 2] = 64;
    refused(&make, "result id 64, expected 1 to 63");
    make.words[at + 2] = 7;
    refused(&make, "id 7 is defined twice");
    make.words[at + 2] = 63;
    accepted(&make);
    make.words[at + 1] = 64;
    refused(&make, "type id 64");
    make.words[at + 1] = 8;
    make.words[find_op(&make, 15, 0) + 2] = 40; /* entry point of a function that is not there */
    refused(&make, "entry point 0 is function 40");
    spirv_make_release(&make);
}

static void layout_refused(uint16_t before, size_t n, const uint32_t *words, size_t word_count,
                           const char *expected) {
    struct spirv_make make;
    spirv_make_shape(&make, &plain);
    insert(&make, find_op(&make, before, n), words, word_count);
    refused(&make, expected);
    spirv_make_release(&make);
}

static void test_layout(void **state) {
    (void)state;
    static const uint32_t entry[] = {5u << 16 | 15, 5, 2, 0x6e69616d, 0};
    static const uint32_t capability[] = {2u << 16 | 17, 1};
    static const uint32_t model[] = {3u << 16 | 14, 0, 1};
    static const uint32_t label[] = {2u << 16 | 248, 20};
    static const uint32_t function[] = {5u << 16 | 54, 3, 21, 0, 4};
    static const uint32_t end[] = {1u << 16 | 56};
    static const uint32_t type[] = {2u << 16 | 20, 22};
    static const uint32_t group[] = {2u << 16 | 73, 23};
    layout_refused(253, 0, entry, 5, "opcode 15 inside a function, expected it among entry points");
    layout_refused(19, 0, capability, 2, "opcode 17 after execution modes");
    layout_refused(54, 0, entry, 5, "opcode 15 after global objects");
    layout_refused(54, 1, entry, 5, "opcode 15 after functions");
    layout_refused(54, 1, type, 2, "opcode 20 after functions");
    layout_refused(253, 0, type, 2, "opcode 20 inside a function");
    layout_refused(253, 0, function, 5, "OpFunction inside a function");
    layout_refused(54, 0, label, 2, "opcode 248 outside a function");
    layout_refused(54, 0, end, 1, "opcode 56 outside a function");
    layout_refused(14, 0, model, 3, "2 OpMemoryModel");
    layout_refused(19, 0, group, 2, "decoration groups");
    struct spirv_make make;
    spirv_make_shape(&make, &plain);
    make.word_count--; /* the last OpFunctionEnd */
    refused(&make, "ends inside a function");
    spirv_make_release(&make);
}

static void test_many_entry_points(void **state) {
    (void)state;
    struct spirv_make make;
    spirv_make_shape(&make, &plain);
    size_t at = find_op(&make, 15, 0);
    const uint32_t entry[] = {5u << 16 | 15, 5, 1, 0x6e69616d, 0};
    for (size_t i = 1; i < 256; i++)
        insert(&make, at, entry, 5);
    accepted(&make);
    insert(&make, at, entry, 5);
    refused(&make, "more than 256 entry points");
    spirv_make_release(&make);
}

/* A module whose local size is stated by `mode` words, constants in front of the functions. */
static void make_sized(struct spirv_make *make, const uint32_t *mode, size_t mode_words,
                       bool decorated, uint32_t x, uint32_t y, uint32_t z) {
    spirv_make_begin(make, 0x00010600, 64);
    SPIRV_OP(make, 17, 1);
    SPIRV_OP(make, 14, 0, 1);
    spirv_make_text(make, 15, (const uint32_t[]){5, 1}, 2, "main", NULL, 0);
    spirv_make_words(make, mode, mode_words);
    if (decorated)
        SPIRV_OP(make, 71, 20, 11, 25); /* OpDecorate %20 BuiltIn WorkgroupSize */
    SPIRV_OP(make, 19, 3);
    SPIRV_OP(make, 33, 4, 3);
    SPIRV_OP(make, 21, 7, 32, 0);
    SPIRV_OP(make, 23, 8, 7, 3);  /* uvec3 */
    SPIRV_OP(make, 50, 7, 10, x); /* OpSpecConstant */
    SPIRV_OP(make, 43, 7, 11, y); /* OpConstant */
    SPIRV_OP(make, 43, 7, 12, z);
    SPIRV_OP(make, 51, 8, 20, 10, 11, 12);  /* OpSpecConstantComposite */
    SPIRV_OP(make, 52, 7, 13, 132, 10, 11); /* OpSpecConstantOp IMul */
    SPIRV_OP(make, 54, 3, 1, 0, 4);
    SPIRV_OP(make, 248, 5);
    SPIRV_OP0(make, 253);
    SPIRV_OP0(make, 56);
}

static void sized_refused(const uint32_t *mode, size_t mode_words, bool decorated, uint32_t x,
                          uint32_t y, uint32_t z, const char *expected) {
    struct spirv_make make;
    make_sized(&make, mode, mode_words, decorated, x, y, z);
    refused(&make, expected);
    spirv_make_release(&make);
}

static void sized_is(const uint32_t *mode, size_t mode_words, bool decorated, uint32_t x,
                     uint32_t y, uint32_t z, const uint32_t expected[3]) {
    struct spirv_make make;
    struct gs_module module;
    struct mf_arena arena = {0};
    struct mf_requires requires_ = {0};
    make_sized(&make, mode, mode_words, decorated, x, y, z);
    accepted(&make);
    assert_int_equal(gs_module_read(make.words, make.word_count * 4, NULL, &module, NULL), KILN_OK);
    assert_int_equal(gs_module_requirements(&module, &arena, &requires_, NULL), KILN_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(requires_.local_size[i], expected[i]);
    gs_module_release(&module);
    mf_arena_release(&arena);
    spirv_make_release(&make);
}

static void test_local_sizes(void **state) {
    (void)state;
    static const uint32_t literal[] = {6u << 16 | 16, 1, 17, 64, 2, 1};
    static const uint32_t zero[] = {6u << 16 | 16, 1, 17, 64, 0, 1};
    static const uint32_t big[] = {6u << 16 | 16, 1, 17, 65536, 65536, 1};
    /* 2^22 cubed is 2^66, which is 4 modulo 2^64 */
    static const uint32_t wraps[] = {6u << 16 | 16, 1, 17, 4194304, 4194304, 4194304};
    static const uint32_t largest[] = {6u << 16 | 16, 1, 17, 65535, 65537, 1};
    static const uint32_t ids[] = {6u << 16 | 331, 1, 38, 10, 11, 13};
    static const uint32_t unknown[] = {6u << 16 | 331, 1, 38, 10, 11, 9};
    static const uint32_t type_id[] = {6u << 16 | 331, 1, 38, 10, 11, 7};
    static const uint32_t other[] = {6u << 16 | 16, 2, 17, 8, 1, 1}; /* another function's */
    sized_is(literal, 6, false, 1, 1, 1, (const uint32_t[]){64, 2, 1});
    sized_is(largest, 6, false, 1, 1, 1, (const uint32_t[]){65535, 65537, 1});
    sized_is(ids, 6, false, 8, 3, 1, (const uint32_t[]){8, 3, 24});
    sized_is(literal, 6, true, 16, 2, 3, (const uint32_t[]){16, 2, 3}); /* takes precedence */
    sized_is(NULL, 0, true, 16, 2, 3, (const uint32_t[]){16, 2, 3});
    sized_refused(NULL, 0, false, 1, 1, 1, "has no LocalSize, LocalSizeId or WorkgroupSize");
    sized_refused(other, 6, false, 1, 1, 1, "has no LocalSize, LocalSizeId or WorkgroupSize");
    sized_refused(zero, 6, false, 1, 1, 1, "LocalSize 64 x 0 x 1, expected a product");
    sized_refused(big, 6, false, 1, 1, 1, "LocalSize 65536 x 65536 x 1");
    sized_refused(wraps, 6, false, 1, 1, 1, "LocalSize 4194304 x 4194304 x 4194304");
    sized_refused(unknown, 6, false, 1, 1, 1, "LocalSizeId is not made of three known");
    sized_refused(type_id, 6, false, 1, 1, 1, "LocalSizeId is not made of three known");
    sized_refused(ids, 6, false, 8, 0, 1, "LocalSizeId 8 x 0 x 0");
    sized_refused(literal, 6, true, 16, 0, 3, "WorkgroupSize 16 x 0 x 3");
    sized_refused(literal, 6, true, 65536, 65536, 65536, "WorkgroupSize 65536");
}

static void exercise(const uint8_t *bytes, size_t size_bytes) {
    uint8_t *exact = malloc(size_bytes + 1); /* so that reading past the end is seen */
    assert_non_null(exact);
    uint8_t *start = exact + 1;
    memcpy(start, bytes, size_bytes);
    assert_int_equal(LLVMFuzzerTestOneInput(start, size_bytes), 0);
    free(exact);
}

static void test_truncations(void **state) {
    (void)state;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        size_t size_bytes = 0;
        uint8_t *bytes = fixture_read(i, &size_bytes);
        for (size_t size = 0; size < size_bytes; size++)
            exercise(bytes, size);
        free(bytes);
    }
}

static void test_byte_flips(void **state) {
    (void)state;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        size_t size_bytes = 0;
        uint8_t *bytes = fixture_read(i, &size_bytes);
        for (size_t at = 0; at < size_bytes; at++) {
            uint8_t kept = bytes[at];
            for (unsigned bit = 0; bit < 8; bit += 3) {
                bytes[at] = (uint8_t)(kept ^ 1u << bit);
                exercise(bytes, size_bytes);
            }
            bytes[at] = kept == 0xff ? 0 : 0xff;
            exercise(bytes, size_bytes);
            bytes[at] = kept;
        }
        free(bytes);
    }
}

/* splitmix64, so that a failure comes back with the next run. */
static uint64_t next_random(uint64_t *seed) {
    uint64_t z = (*seed += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void mutate(uint32_t *words, size_t word_count, uint64_t *seed) {
    size_t at = next_random(seed) % word_count;
    uint32_t value = (uint32_t)next_random(seed);
    switch (next_random(seed) % 5) {
    case 0:
        words[at] = value;
        break;
    case 1: /* a small number: another id, count or class */
        words[at] = value % 64;
        break;
    case 2:
        words[at] = words[value % word_count];
        break;
    case 3:
        words[at] ^= 1u << value % 32;
        break;
    default: /* another opcode of the same length */
        words[at] = (words[at] & 0xffff0000u) | value % 420;
        break;
    }
}

static void test_random_mutations(void **state) {
    (void)state;
    uint64_t seed = 20;
    size_t accepted_count = 0;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        size_t size_bytes = 0;
        uint8_t *bytes = fixture_read(i, &size_bytes);
        uint32_t *words = malloc(size_bytes);
        assert_non_null(words);
        for (size_t round = 0; round < 400; round++) {
            memcpy(words, bytes, size_bytes);
            size_t count = 1 + next_random(&seed) % 3;
            for (size_t j = 0; j < count; j++)
                mutate(words, size_bytes / 4, &seed);
            struct gs_module module;
            accepted_count += gs_module_read(words, size_bytes, NULL, &module, NULL) == KILN_OK;
            gs_module_release(&module);
            exercise((const uint8_t *)words, size_bytes);
        }
        free(words);
        free(bytes);
    }
    /* The mutations have to get past the gate often enough to test what is behind it. */
    assert_in_range(accepted_count, 400, FIXTURE_COUNT * 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures_pass),
        cmocka_unit_test(test_unaligned_input),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_version_of_target),
        cmocka_unit_test(test_other_byte_order),
        cmocka_unit_test(test_word_counts),
        cmocka_unit_test(test_instruction_lengths),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_many_entry_points),
        cmocka_unit_test(test_local_sizes),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_byte_flips),
        cmocka_unit_test(test_random_mutations),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
