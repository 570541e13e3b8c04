/* SPDX-License-Identifier: MIT */
/*
 * Entry-point normalisation, splitting and stripping. Expected modules are built independently, in
 * the form they should have, and compared bit for bit.
 */
#include "gs_module.h"
#include "spirv_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LONGEST_NAME_BYTES 262127 /* 65,532 words with its end; three of the 65,535 are taken */

static void read_make(const struct spirv_make *make, struct gs_module *module) {
    struct kiln_error error = {0};
    if (gs_module_read(make->words, make->word_count * 4, NULL, module, &error) != KILN_OK)
        fail_msg("the gate refused the test's own module: %s", error.message);
}

static void read_fixture(const char *name, struct gs_module *module) {
    char path[256];
    size_t size_bytes = 0;
    snprintf(path, sizeof path, "tests/fixtures/spirv/%s.spv", name);
    void *bytes = spirv_file_read(path, &size_bytes);
    assert_int_equal(gs_module_read(bytes, size_bytes, NULL, module, NULL), KILN_OK);
    free(bytes);
}

static void assert_same(const struct gs_module *module, const struct spirv_make *expected) {
    assert_int_equal(module->word_count, expected->word_count);
    assert_memory_equal(module->words, expected->words, module->word_count * 4);
}

/* normalise(given) == expected, and normalise(expected) == expected. */
static void normalises_to(const struct spirv_shape *given, const struct spirv_shape *expected) {
    struct spirv_make in;
    struct spirv_make out;
    struct gs_module module;
    struct kiln_error error = {0};
    spirv_make_shape(&in, given);
    spirv_make_shape(&out, expected);
    read_make(&in, &module);
    if (gs_module_normalise(&module, &error) != KILN_OK)
        fail_msg("refused: %s", error.message);
    assert_same(&module, &out);
    assert_int_equal(gs_module_normalise(&module, &error), KILN_OK);
    assert_same(&module, &out);
    gs_module_release(&module);
    spirv_make_release(&in);
    spirv_make_release(&out);
}

static void test_entry_renamed(void **state) {
    (void)state;
    static const char *const names[] = {"m",
                                        "abc",
                                        "mai",
                                        "main",
                                        "mains",
                                        "matvec_q4_k",
                                        "a name with spaces",
                                        "\xd1\x8f\xd0\xb4\xd1\x80\xd0\xbe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        normalises_to(&(struct spirv_shape){.entry = names[i]},
                      &(struct spirv_shape){.entry = "main"});
        normalises_to(&(struct spirv_shape){.entry = names[i], .entry_name = names[i]},
                      &(struct spirv_shape){.entry = "main", .entry_name = "main"});
    }
}

static void test_debug_names(void **state) {
    (void)state;
    /* the entry function's own name differs from the entry point's */
    normalises_to(&(struct spirv_shape){.entry = "main", .entry_name = "kernel"},
                  &(struct spirv_shape){.entry = "main", .entry_name = "main"});
    /* a helper named main; no name for the entry function: none is made */
    normalises_to(&(struct spirv_shape){.entry = "kernel", .other_name = "main"},
                  &(struct spirv_shape){.entry = "main", .other_name = "main_2"});
    normalises_to(
        &(struct spirv_shape){.entry = "kernel", .entry_name = "kernel", .other_name = "main"},
        &(struct spirv_shape){.entry = "main", .entry_name = "main", .other_name = "main_2"});
    /* a variable named main */
    normalises_to(&(struct spirv_shape){.entry = "x", .variable_name = "main"},
                  &(struct spirv_shape){.entry = "main", .variable_name = "main_9"});
    /* both, and the first new name is taken by the other */
    normalises_to(
        &(struct spirv_shape){.entry = "x", .other_name = "main", .variable_name = "main_2"},
        &(struct spirv_shape){
            .entry = "main", .other_name = "main_2_1", .variable_name = "main_2"});
    normalises_to(&(struct spirv_shape){.entry = "x",
                                        .entry_name = "main_9",
                                        .other_name = "main_9_1",
                                        .variable_name = "main"},
                  &(struct spirv_shape){.entry = "main",
                                        .entry_name = "main",
                                        .other_name = "main_9_1",
                                        .variable_name = "main_9_2"});
    /* names that only look like it */
    normalises_to(
        &(struct spirv_shape){.entry = "x", .other_name = "main2", .variable_name = "Main"},
        &(struct spirv_shape){.entry = "main", .other_name = "main2", .variable_name = "Main"});
}

static void test_interface_kept(void **state) {
    (void)state;
    for (size_t count = 0; count < 9; count++) {
        normalises_to(
            &(struct spirv_shape){.entry = "kernel_with_a_name", .interface_count = count},
            &(struct spirv_shape){.entry = "main", .interface_count = count});
        normalises_to(&(struct spirv_shape){.entry = "k", .interface_count = count},
                      &(struct spirv_shape){.entry = "main", .interface_count = count});
    }
}

static void test_longest_names(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 262000, LONGEST_NAME_BYTES};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *name = malloc(lengths[i] + 1);
        assert_non_null(name);
        memset(name, 'n', lengths[i]);
        name[lengths[i]] = 0;
        normalises_to(
            &(struct spirv_shape){.entry = name, .entry_name = name, .other_name = name},
            &(struct spirv_shape){.entry = "main", .entry_name = "main", .other_name = name});
        free(name);
    }
}

/* Refused with this text, and the module is as it was. */
static void refused(struct gs_module *module, const char *expected) {
    struct kiln_error error = {0};
    struct gs_module copy = {malloc(module->word_count * 4), module->word_count};
    assert_non_null(copy.words);
    memcpy(copy.words, module->words, module->word_count * 4);
    assert_int_equal(gs_module_normalise(module, &error), KILN_ERR_FORMAT);
    if (strstr(error.message, expected) == NULL)
        fail_msg("expected '%s' in '%s'", expected, error.message);
    assert_int_equal(module->word_count, copy.word_count);
    assert_memory_equal(module->words, copy.words, copy.word_count * 4);
    gs_module_release(module);
    gs_module_release(&copy);
}

static void test_name_that_does_not_fit(void **state) {
    (void)state;
    /* 3 words, one of name and 65,531 ids are 65,535; "main" takes one word more. */
    struct spirv_make make;
    struct gs_module module;
    spirv_make_shape(&make, &(struct spirv_shape){.entry = "k", .interface_count = 65531});
    read_make(&make, &module);
    refused(&module, "takes 65536 words, expected at most 65535");
    spirv_make_release(&make);
    normalises_to(&(struct spirv_shape){.entry = "k", .interface_count = 65530},
                  &(struct spirv_shape){.entry = "main", .interface_count = 65530});
}

static void test_wrong_entry_points(void **state) {
    (void)state;
    struct gs_module module;
    read_fixture("two_entries", &module);
    refused(&module, "has 2 entry points, expected one");
    read_fixture("no_entry", &module);
    refused(&module, "has 0 entry points, expected one");
    read_fixture("fragment", &module);
    refused(&module, "execution model 4, expected 5 (GLCompute)");
}

static void test_generator_word_and_rest_kept(void **state) {
    (void)state;
    struct gs_module module;
    struct gs_module original;
    read_fixture("helper_main", &module);
    read_fixture("helper_main", &original);
    uint32_t generator = original.words[2];
    assert_int_not_equal(generator, 0);
    struct gs_entry_point entry;
    assert_int_equal(gs_module_entry_points(&module, &entry, 1), 1);
    assert_string_equal(entry.name, "square_all");
    assert_int_equal(gs_module_normalise(&module, NULL), KILN_OK);
    assert_memory_equal(module.words, original.words, 5 * sizeof(uint32_t));
    assert_int_equal(gs_module_entry_points(&module, &entry, 1), 1);
    assert_string_equal(entry.name, "main");
    /* From the first decoration on nothing has changed. */
    size_t tail = 0;
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(&original, &position, &instruction);) {
        if (tail == 0 && instruction.opcode == 71)
            tail = original.word_count - instruction.index;
    }
    assert_true(tail > 100);
    assert_memory_equal(module.words + module.word_count - tail,
                        original.words + original.word_count - tail, tail * 4);
    gs_module_release(&module);
    gs_module_release(&original);
}

/* Number of instructions of an opcode, and of those with this word at this place. */
static size_t count_op(const struct gs_module *module, uint16_t opcode, size_t word,
                       uint32_t value) {
    size_t count = 0;
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(module, &position, &instruction);) {
        if (instruction.opcode == opcode && (word == 0 || instruction.words[word] == value))
            count++;
    }
    return count;
}

static void test_split(void **state) {
    (void)state;
    struct gs_module module;
    struct kiln_error error = {0};
    read_fixture("two_entries", &module);
    struct gs_entry_point both[2];
    assert_int_equal(gs_module_entry_points(&module, both, 2), 2);
    assert_string_equal(both[0].name, "fill_zero");
    assert_string_equal(both[1].name, "fill_one");
    static const uint32_t sizes[2][3] = {{8, 1, 1}, {4, 2, 1}};
    for (size_t i = 0; i < 2; i++) {
        struct gs_module part;
        struct gs_entry_point entry;
        assert_int_equal(gs_module_split(&module, i, &part, &error), KILN_OK);
        assert_int_equal(gs_module_entry_points(&part, &entry, 1), 1);
        assert_string_equal(entry.name, both[i].name);
        assert_int_equal(count_op(&part, 16, 0, 0), 1);
        assert_int_equal(count_op(&part, 16, 1, both[i].function_id), 1);
        assert_int_equal(count_op(&part, 54, 0, 0), 3); /* dead functions stay */
        assert_int_equal(gs_module_normalise(&part, &error), KILN_OK);
        struct mf_arena arena = {0};
        struct mf_requires requires_ = {0};
        assert_int_equal(gs_module_requirements(&part, &arena, &requires_, &error), KILN_OK);
        assert_memory_equal(requires_.local_size, sizes[i], sizeof sizes[i]);
        mf_arena_release(&arena);
        gs_module_release(&part);
    }
    struct gs_module none;
    assert_int_equal(gs_module_split(&module, 2, &none, &error), KILN_ERR_ARGUMENT);
    assert_null(none.words);
    gs_module_release(&module);
}

/* Two entry points on one function: the execution mode is of the function and stays. */
static void test_split_shared_function(void **state) {
    (void)state;
    struct spirv_make make;
    struct gs_module module;
    struct gs_module part;
    spirv_make_begin(&make, 0x00010300, 16);
    SPIRV_OP(&make, 17, 1);
    SPIRV_OP(&make, 14, 0, 1);
    spirv_make_text(&make, 15, (const uint32_t[]){5, 1}, 2, "a", NULL, 0);
    spirv_make_text(&make, 15, (const uint32_t[]){5, 1}, 2, "b", NULL, 0);
    SPIRV_OP(&make, 16, 1, 17, 8, 1, 1);
    SPIRV_OP(&make, 19, 3);
    SPIRV_OP(&make, 33, 4, 3);
    SPIRV_OP(&make, 54, 3, 1, 0, 4);
    SPIRV_OP(&make, 248, 5);
    SPIRV_OP0(&make, 253);
    SPIRV_OP0(&make, 56);
    read_make(&make, &module);
    assert_int_equal(gs_module_split(&module, 1, &part, NULL), KILN_OK);
    struct gs_entry_point entry;
    assert_int_equal(gs_module_entry_points(&part, &entry, 1), 1);
    assert_string_equal(entry.name, "b");
    assert_int_equal(count_op(&part, 16, 0, 0), 1);
    gs_module_release(&part);
    gs_module_release(&module);
    spirv_make_release(&make);
}

static void test_strip(void **state) {
    (void)state;
    static const uint16_t debug[] = {2, 3, 4, 5, 6, 7, 8, 317, 330};
    static const char *const names[] = {"helper_main", "interface", "coopmat"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct gs_module module;
        struct gs_module again;
        read_fixture(names[n], &module);
        size_t before = 0;
        size_t others = 0;
        struct gs_instruction instruction;
        for (size_t position = 0; gs_module_next(&module, &position, &instruction);)
            others += instruction.word_count;
        for (size_t i = 0; i < sizeof debug / sizeof *debug; i++)
            before += count_op(&module, debug[i], 0, 0);
        assert_true(before > 3);
        assert_int_equal(gs_module_strip(&module, NULL), KILN_OK);
        for (size_t i = 0; i < sizeof debug / sizeof *debug; i++)
            assert_int_equal(count_op(&module, debug[i], 0, 0), 0);
        assert_true(module.word_count < others);
        assert_int_equal(gs_module_read(module.words, module.word_count * 4, NULL, &again, NULL),
                         KILN_OK);
        gs_module_release(&again);
        gs_module_release(&module);
    }
}

/* Non-semantic instructions point at OpStrings: they go with their import and their extension. */
static void test_strip_non_semantic(void **state) {
    (void)state;
    struct spirv_make make;
    struct spirv_make expected;
    struct gs_module module;
    for (size_t with = 0; with < 2; with++) {
        struct spirv_make *out = with != 0 ? &make : &expected;
        spirv_make_begin(out, 0x00010300, 32);
        SPIRV_OP(out, 17, 1);
        if (with != 0)
            spirv_make_text(out, 10, NULL, 0, "SPV_KHR_non_semantic_info", NULL, 0);
        spirv_make_text(out, 10, NULL, 0, "SPV_KHR_variable_pointers", NULL, 0);
        spirv_make_text(out, 11, (const uint32_t[]){20}, 1, "GLSL.std.450", NULL, 0);
        if (with != 0)
            spirv_make_text(out, 11, (const uint32_t[]){21}, 1, "NonSemantic.DebugPrintf", NULL, 0);
        SPIRV_OP(out, 14, 0, 1);
        spirv_make_text(out, 15, (const uint32_t[]){5, 1}, 2, "main", NULL, 0);
        SPIRV_OP(out, 16, 1, 17, 8, 1, 1);
        if (with != 0)
            spirv_make_text(out, 7, (const uint32_t[]){22}, 1, "value %f", NULL, 0);
        SPIRV_OP(out, 19, 3);
        SPIRV_OP(out, 33, 4, 3);
        SPIRV_OP(out, 22, 6, 32);
        SPIRV_OP(out, 43, 6, 7, 0x3f800000);
        SPIRV_OP(out, 54, 3, 1, 0, 4);
        SPIRV_OP(out, 248, 5);
        SPIRV_OP(out, 12, 6, 23, 20, 4, 7); /* FAbs of the set that stays */
        if (with != 0)
            SPIRV_OP(out, 12, 3, 24, 21, 1, 22, 23);
        SPIRV_OP0(out, 253);
        SPIRV_OP0(out, 56);
    }
    read_make(&make, &module);
    assert_int_equal(gs_module_strip(&module, NULL), KILN_OK);
    assert_same(&module, &expected);
    gs_module_release(&module);
    spirv_make_release(&make);
    spirv_make_release(&expected);
}

static void test_bytes(void **state) {
    (void)state;
    struct spirv_make make;
    struct gs_module module;
    struct mf_buffer bytes = {0};
    spirv_make_shape(&make, &(struct spirv_shape){.entry = "main"});
    read_make(&make, &module);
    assert_int_equal(gs_module_bytes(&module, &bytes), KILN_OK);
    assert_int_equal(bytes.size_bytes, make.word_count * 4);
    assert_memory_equal(bytes.data, "\x03\x02\x23\x07\x00\x04\x01\x00", 8);
    mf_buffer_release(&bytes);
    gs_module_release(&module);
    spirv_make_release(&make);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entry_renamed),
        cmocka_unit_test(test_debug_names),
        cmocka_unit_test(test_interface_kept),
        cmocka_unit_test(test_longest_names),
        cmocka_unit_test(test_name_that_does_not_fit),
        cmocka_unit_test(test_wrong_entry_points),
        cmocka_unit_test(test_generator_word_and_rest_kept),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_shared_function),
        cmocka_unit_test(test_strip),
        cmocka_unit_test(test_strip_non_semantic),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests_name("normalise", tests, NULL, NULL);
}
