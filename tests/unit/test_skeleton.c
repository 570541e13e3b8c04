/* SPDX-License-Identifier: MIT */
/* Skeletons: what SPIRV-Cross does not know is gone, the interface is not. */
#include "gs_module.h"
#include "spirv_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void read_fixture(const char *name, struct gs_module *module) {
    char path[256];
    size_t size_bytes = 0;
    snprintf(path, sizeof path, "tests/fixtures/spirv/%s.spv", name);
    void *bytes = spirv_file_read(path, &size_bytes);
    assert_int_equal(gs_module_read(bytes, size_bytes, NULL, module, NULL), KILN_OK);
    free(bytes);
}

static size_t count_op(const struct gs_module *module, uint16_t opcode) {
    size_t count = 0;
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(module, &position, &instruction);)
        count += instruction.opcode == opcode;
    return count;
}

/* Variables of a storage class. */
static size_t count_variables(const struct gs_module *module, uint32_t storage_class) {
    size_t count = 0;
    struct gs_instruction instruction;
    for (size_t position = 0; gs_module_next(module, &position, &instruction);)
        count += instruction.opcode == 59 && instruction.words[3] == storage_class;
    return count;
}

static void make_skeleton(const char *name, struct gs_module *module, struct gs_module *skeleton) {
    struct kiln_error error = {0};
    struct gs_module again;
    read_fixture(name, module);
    if (gs_module_skeleton(module, skeleton, &error) != KILN_OK)
        fail_msg("%s: %s", name, error.message);
    if (gs_module_read(skeleton->words, skeleton->word_count * 4, NULL, &again, &error) != KILN_OK)
        fail_msg("%s: the gate refuses the skeleton: %s", name, error.message);
    gs_module_release(&again);
}

static void test_cooperative_matrix_dropped(void **state) {
    (void)state;
    struct gs_module module;
    struct gs_module skeleton;
    make_skeleton("coopmat", &module, &skeleton);
    assert_int_equal(count_op(&module, 4456), 3); /* OpTypeCooperativeMatrixKHR */
    assert_int_equal(count_op(&skeleton, 4456), 0);
    assert_int_equal(count_variables(&module, 6), 1); /* Private `kept` */
    assert_int_equal(count_variables(&skeleton, 6), 0);
    assert_int_equal(count_variables(&module, 12), 3); /* StorageBuffer */
    assert_int_equal(count_variables(&skeleton, 12), 3);
    assert_int_equal(count_variables(&skeleton, 9), 1); /* PushConstant */
    assert_int_equal(count_op(&module, 54), 2);
    assert_int_equal(count_op(&skeleton, 54), 1);
    assert_int_equal(count_op(&skeleton, 17), count_op(&module, 17)); /* capabilities */
    assert_int_equal(count_op(&skeleton, 10), count_op(&module, 10)); /* extensions */
    assert_int_equal(count_op(&skeleton, 50), 1);                     /* OpSpecConstant TILE */
    /* Version 1.6 lists all globals as interface: the dropped variable has left the list. */
    struct gs_instruction instruction;
    size_t interface_words = 0;
    for (size_t position = 0; gs_module_next(&skeleton, &position, &instruction);) {
        if (instruction.opcode == 15)
            interface_words = instruction.word_count;
    }
    assert_int_equal(interface_words, 3 + 2 + 4);
    gs_module_release(&module);
    gs_module_release(&skeleton);
}

static void test_bodies_replaced(void **state) {
    (void)state;
    static const char *const names[] = {"interface", "coopmat",     "subgroup",
                                        "scalar",    "helper_main", "local_size_id"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gs_module module;
        struct gs_module skeleton;
        make_skeleton(names[i], &module, &skeleton);
        assert_int_equal(skeleton.words[3], module.words[3]);
        const uint32_t *end = skeleton.words + skeleton.word_count;
        assert_int_equal(end[-1], 1u << 16 | 56);  /* OpFunctionEnd */
        assert_int_equal(end[-2], 1u << 16 | 253); /* OpReturn */
        assert_int_equal(end[-4], 2u << 16 | 248); /* OpLabel */
        assert_int_equal(end[-9], 5u << 16 | 54);  /* OpFunction */
        assert_int_equal(count_op(&skeleton, 54), 1);
        /* ids that are no longer defined have neither names nor decorations */
        assert_true(count_op(&skeleton, 5) <= count_op(&module, 5));
        assert_int_equal(count_op(&skeleton, 72), count_op(&module, 72));
        gs_module_release(&module);
        gs_module_release(&skeleton);
    }
}

static void test_all_entry_functions_kept(void **state) {
    (void)state;
    struct gs_module module;
    struct gs_module skeleton;
    make_skeleton("two_entries", &module, &skeleton);
    assert_int_equal(count_op(&module, 54), 3);
    assert_int_equal(count_op(&skeleton, 54), 2);
    assert_int_equal(gs_module_entry_points(&skeleton, NULL, 0), 2);
    gs_module_release(&module);
    gs_module_release(&skeleton);
}

/*
 * A module with a type that the library does not know (a bfloat16: a float with an encoding), used
 * by a variable of the given storage class, a constant and a composite of constants.
 */
static void make_bfloat(struct spirv_make *make, uint32_t storage_class) {
    spirv_make_begin(make, 0x00010400, 64);
    SPIRV_OP(make, 17, 1);
    SPIRV_OP(make, 14, 0, 1);
    spirv_make_text(make, 15, (const uint32_t[]){5, 1}, 2, "main", (const uint32_t[]){22, 23}, 2);
    SPIRV_OP(make, 16, 1, 17, 8, 1, 1);
    SPIRV_NAME(make, 22, "dropped");
    SPIRV_NAME(make, 23, "kept");
    SPIRV_OP(make, 71, 22, 34, 0); /* OpDecorate %22 DescriptorSet 0 */
    SPIRV_OP(make, 71, 23, 34, 0);
    SPIRV_OP(make, 19, 3);
    SPIRV_OP(make, 33, 4, 3);
    SPIRV_OP(make, 21, 7, 32, 0);
    SPIRV_OP(make, 43, 7, 8, 3);
    SPIRV_OP(make, 22, 10, 16, 0);        /* OpTypeFloat 16 BFloat16KHR */
    SPIRV_OP(make, 43, 10, 11, 0x3f80);   /* constant of it */
    SPIRV_OP(make, 30, 12, 7, 10);        /* struct with it */
    SPIRV_OP(make, 44, 12, 13, 8, 11);    /* composite with it */
    SPIRV_OP(make, 28, 14, 12, 8);        /* array of that */
    SPIRV_OP(make, 52, 7, 15, 81, 13, 0); /* CompositeExtract %13 0 */
    SPIRV_OP(make, 52, 7, 16, 128, 8, 8); /* IAdd, unrelated */
    SPIRV_OP(make, 23, 24, 7, 2);
    SPIRV_OP(make, 44, 24, 25, 8, 8);
    SPIRV_OP(make, 52, 7, 26, 81, 25, 1); /* CompositeExtract: its 1 is no id */
    SPIRV_OP(make, 32, 20, storage_class, 14);
    SPIRV_OP(make, 32, 21, 6, 7);
    SPIRV_OP(make, 59, 20, 22, storage_class);
    SPIRV_OP(make, 59, 21, 23, 6);
    SPIRV_OP(make, 54, 3, 1, 0, 4);
    SPIRV_OP(make, 248, 5);
    SPIRV_OP0(make, 253);
    SPIRV_OP0(make, 56);
}

static void test_everything_that_refers_is_dropped(void **state) {
    (void)state;
    struct spirv_make make;
    struct spirv_make expected;
    struct gs_module module;
    struct gs_module skeleton;
    make_bfloat(&make, 6); /* Private */
    assert_int_equal(gs_module_read(make.words, make.word_count * 4, NULL, &module, NULL), KILN_OK);
    assert_int_equal(gs_module_skeleton(&module, &skeleton, NULL), KILN_OK);
    spirv_make_begin(&expected, 0x00010400, 64);
    SPIRV_OP(&expected, 17, 1);
    SPIRV_OP(&expected, 14, 0, 1);
    spirv_make_text(&expected, 15, (const uint32_t[]){5, 1}, 2, "main", (const uint32_t[]){23}, 1);
    SPIRV_OP(&expected, 16, 1, 17, 8, 1, 1);
    SPIRV_NAME(&expected, 23, "kept");
    SPIRV_OP(&expected, 71, 23, 34, 0);
    SPIRV_OP(&expected, 19, 3);
    SPIRV_OP(&expected, 33, 4, 3);
    SPIRV_OP(&expected, 21, 7, 32, 0);
    SPIRV_OP(&expected, 43, 7, 8, 3);
    SPIRV_OP(&expected, 52, 7, 16, 128, 8, 8);
    SPIRV_OP(&expected, 23, 24, 7, 2);
    SPIRV_OP(&expected, 44, 24, 25, 8, 8);
    SPIRV_OP(&expected, 52, 7, 26, 81, 25, 1);
    SPIRV_OP(&expected, 32, 21, 6, 7);
    SPIRV_OP(&expected, 59, 21, 23, 6);
    SPIRV_OP(&expected, 54, 3, 1, 0, 4);
    SPIRV_OP(&expected, 248, 5);
    SPIRV_OP0(&expected, 253);
    SPIRV_OP0(&expected, 56);
    assert_int_equal(skeleton.word_count, expected.word_count);
    assert_memory_equal(skeleton.words, expected.words, skeleton.word_count * 4);
    gs_module_release(&skeleton);
    gs_module_release(&module);
    spirv_make_release(&make);
    spirv_make_release(&expected);
}

static void test_interface_never_dropped(void **state) {
    (void)state;
    static const uint32_t classes[] = {0, 2, 9, 12}; /* UniformConstant Uniform PushConstant SB */
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        struct spirv_make make;
        struct gs_module module;
        struct gs_module skeleton;
        struct kiln_error error = {0};
        make_bfloat(&make, classes[i]);
        assert_int_equal(gs_module_read(make.words, make.word_count * 4, NULL, &module, NULL),
                         KILN_OK);
        assert_int_equal(gs_module_skeleton(&module, &skeleton, &error), KILN_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.message, "interface variable 22"));
        assert_null(skeleton.words);
        gs_module_release(&module);
        spirv_make_release(&make);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cooperative_matrix_dropped),
        cmocka_unit_test(test_bodies_replaced),
        cmocka_unit_test(test_all_entry_functions_kept),
        cmocka_unit_test(test_everything_that_refers_is_dropped),
        cmocka_unit_test(test_interface_never_dropped),
    };
    return cmocka_run_group_tests_name("skeleton", tests, NULL, NULL);
}
