/* SPDX-License-Identifier: MIT */
/*
 * The compiler seam: macros and includes arrive, problems are told with file and line, and the text
 * that was preprocessed is the text that is compiled. What the modules hold is judged by
 * SPIRV-Tools' disassembler, which shares no code with glslang.
 */
#include "gs_glslang.h"
#include "gs_spvtools.h"

#include <spirv/unified1/spirv.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

struct fixture {
    char root[160];
    struct gs_diag *diag;
    struct gs_source_tree *tree;
    struct mf_buffer printed;
};

static void text_write(const struct fixture *fixture, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture->root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int fixture_make(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    const char *base = getenv("TMPDIR");
    char path[256];
    snprintf(fixture->root, sizeof fixture->root, "%s/kiln-glsl-XXXXXX",
             base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(fixture->root));
    snprintf(path, sizeof path, "%s/include", fixture->root);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/k", fixture->root);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(gs_diag_create(&fixture->diag), KILN_OK);
    assert_int_equal(gs_source_open(fixture->root, &fixture->tree, NULL), KILN_OK);
    *state = fixture;
    return 0;
}

static int fixture_remove(void **state) {
    struct fixture *fixture = *state;
    char command[256];
    gs_source_close(&fixture->tree);
    gs_diag_destroy(&fixture->diag);
    mf_buffer_release(&fixture->printed);
    snprintf(command, sizeof command, "rm -rf '%s'", fixture->root);
    int status = system(command);
    free(fixture);
    return status;
}

static enum kiln_result unit_start(struct fixture *fixture, const struct gs_variant *variant,
                                   struct gs_glslang_unit **unit) {
    return gs_glslang_preprocess(variant, "k/k.comp", fixture->tree, fixture->diag, unit);
}

static struct gs_variant variant_of(const char *preamble) {
    struct gs_variant variant = {0};
    variant.promise.name = "k__variant";
    variant.template_path = "k/k.comp";
    variant.preamble = preamble;
    variant.target = GS_TARGET_VULKAN_1_1;
    return variant;
}

/* All diagnostics as text must hold `expected`. */
static void assert_told(struct fixture *fixture, const char *expected) {
    mf_buffer_clear(&fixture->printed);
    assert_int_equal(gs_diag_format(fixture->diag, &fixture->printed), KILN_OK);
    assert_non_null(fixture->printed.data);
    if (strstr(fixture->printed.data, expected) == NULL) {
        print_message("expected \"%s\" in:\n%s", expected, fixture->printed.data);
        fail();
    }
}

#define HEAD "layout(local_size_x = 1) in;\n"

static void test_compiles_what_was_preprocessed(void **state) {
    struct fixture *fixture = *state;
    struct gs_variant variant = variant_of("#define K_WORKGROUP 96\n");
    struct gs_glslang_unit *unit = NULL;
    struct gs_module module;
    struct mf_buffer text = {0};
    size_t closure_count = 0;
    text_write(fixture, "include/one.glsl", "const float one = 1.5;\n");
    text_write(fixture, "k/k.comp",
               "// leading comment\n#version 450\n#include \"one.glsl\"\n"
               "layout(local_size_x = K_WORKGROUP) in;\n"
               "layout(set = 0, binding = 0) buffer Y { float y[]; };\n"
               "void main() { y[__LINE__] = one; }\n");
    assert_int_equal(unit_start(fixture, &variant, &unit), KILN_OK);
    assert_null(strstr(gs_glslang_text(unit), "K_WORKGROUP"));
    const struct gs_source_file *const *closure = gs_glslang_closure(unit, &closure_count);
    assert_int_equal(closure_count, 3);
    assert_string_equal(closure[0]->path, "k/k.comp");
    assert_string_equal(closure[1]->path, "k/one.glsl");
    assert_null(closure[1]->text); /* looked for, not there: part of what the build depends on */
    assert_string_equal(closure[2]->path, "include/one.glsl");
    text_write(fixture, "include/one.glsl", "broken after preprocessing");
    assert_int_equal(gs_glslang_compile(unit, fixture->diag, &module), KILN_OK);
    assert_int_equal(gs_spvtools_validate(&module, GS_TARGET_VULKAN_1_1, NULL), KILN_OK);
    assert_int_equal(gs_spvtools_print(&module, GS_TARGET_VULKAN_1_1, &text, NULL), KILN_OK);
    assert_non_null(strstr(text.data, "LocalSize 96 1 1"));
    assert_non_null(strstr(text.data, "OpConstant %float 1.5"));
    assert_non_null(strstr(text.data, "OpConstant %int 6")); /* __LINE__ in the template's count */
    assert_int_equal(gs_diag_count(fixture->diag), 0);
    mf_buffer_release(&text);
    gs_module_release(&module);
    gs_glslang_destroy(&unit);
    assert_null(unit);
}

static void test_errors_name_file_and_line(void **state) {
    struct fixture *fixture = *state;
    struct gs_variant variant = variant_of("#define K_A 1\n#define K_B 2\n");
    struct gs_glslang_unit *unit = NULL;
    struct gs_module module;
    char expected[256];
    text_write(fixture, "include/bad.glsl", "float f()\n{\n    return nothing;\n}\n");
    text_write(fixture, "k/k.comp",
               "#version 450\n#include \"bad.glsl\"\n" HEAD "void main()\n{\n    missing();\n}\n");
    assert_int_equal(unit_start(fixture, &variant, &unit), KILN_OK);
    assert_int_equal(gs_glslang_compile(unit, fixture->diag, &module), KILN_ERR_COMPILE);
    assert_null(module.words);
    snprintf(expected, sizeof expected, "%s/include/bad.glsl:3: 'nothing'", fixture->root);
    assert_told(fixture, expected);
    assert_told(fixture, "k__variant");
    gs_glslang_destroy(&unit);

    text_write(fixture, "k/k2.comp", "#version 450\n" HEAD "void main()\n{\n    missing();\n}\n");
    assert_int_equal(
        gs_glslang_preprocess(&variant, "k/k2.comp", fixture->tree, fixture->diag, &unit), KILN_OK);
    assert_int_equal(gs_glslang_compile(unit, fixture->diag, &module), KILN_ERR_COMPILE);
    snprintf(expected, sizeof expected, "%s/k/k2.comp:5: 'missing'", fixture->root);
    assert_told(fixture, expected);
    gs_glslang_destroy(&unit);
}

static void test_refusals(void **state) {
    struct fixture *fixture = *state;
    static const struct {
        const char *text, *told;
    } rows[] = {
        {"#version 450\n" HEAD "#include \"no such.glsl\"\nvoid main() {}\n",
         "k.comp:3: #include \"no such.glsl\": no such file"},
        {"#version 450\n#include \"../../up.glsl\"\n" HEAD "void main() {}\n",
         "k.comp:2: #include \"../../up.glsl\": leaves the template tree"},
        {"#version 450\n\n#include \"/etc/hostname\"\n" HEAD "void main() {}\n",
         "k.comp:3: #include \"/etc/hostname\""},
        {"#version 450\n#include \"loop.glsl\"\n" HEAD "void main() {}\n",
         "loop.glsl:1: #include \"loop.glsl\": nested more than"},
        {HEAD "void main() {}\n", "k.comp:1: expected a #version line"},
        {"#version 450\n#error on purpose\n" HEAD "void main() {}\n",
         "k.comp:2: '#error' : on purpose"},
        {"#version 450\n#if 1\n" HEAD "void main() {}\n", "missing #endif"},
    };
    text_write(fixture, "k/loop.glsl", "#include \"loop.glsl\"\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gs_variant variant = variant_of("");
        struct gs_glslang_unit *unit = NULL;
        gs_source_close(&fixture->tree);
        gs_diag_destroy(&fixture->diag);
        text_write(fixture, "k/k.comp", rows[i].text);
        assert_int_equal(gs_diag_create(&fixture->diag), KILN_OK);
        assert_int_equal(gs_source_open(fixture->root, &fixture->tree, NULL), KILN_OK);
        assert_int_not_equal(unit_start(fixture, &variant, &unit), KILN_OK);
        assert_null(unit);
        assert_told(fixture, rows[i].told);
    }
}

static void test_warnings_are_errors(void **state) {
    struct fixture *fixture = *state;
    struct gs_variant variant = variant_of("");
    struct gs_glslang_unit *unit = NULL;
    struct gs_module module = {NULL, 0};
    text_write(fixture, "k/k.comp",
               "#version 450\n#extension GL_NO_such : enable\n" HEAD "void main() {}\n");
    enum kiln_result result = unit_start(fixture, &variant, &unit);
    if (result == KILN_OK) {
        result = gs_glslang_compile(unit, fixture->diag, &module);
    }
    assert_int_equal(result, KILN_ERR_COMPILE);
    assert_told(fixture, "k.comp:2: warning: '#extension'");
    gs_module_release(&module);
    gs_glslang_destroy(&unit);
}

/*
 * The performance recipe, each pass of it by what it leaves behind: two returns are one, the chain
 * of blocks is one block, the function's variable is a value, what nothing uses is gone, and the
 * call stays a call.
 */
static void test_performance_recipe(void **state) {
    (void)state;
    static const char source[] = "OpCapability Shader\n"
                                 "OpMemoryModel Logical GLSL450\n"
                                 "OpEntryPoint GLCompute %f \"main\"\n"
                                 "OpExecutionMode %f LocalSize 1 1 1\n"
                                 "OpDecorate %s Block\n"
                                 "OpMemberDecorate %s 0 Offset 0\n"
                                 "OpDecorate %v DescriptorSet 0\n"
                                 "OpDecorate %v Binding 0\n"
                                 "%void = OpTypeVoid\n"
                                 "%ft = OpTypeFunction %void\n"
                                 "%bool = OpTypeBool\n"
                                 "%u = OpTypeInt 32 0\n"
                                 "%gt = OpTypeFunction %u %u\n"
                                 "%s = OpTypeStruct %u\n"
                                 "%p = OpTypePointer StorageBuffer %s\n"
                                 "%pu = OpTypePointer StorageBuffer %u\n"
                                 "%pf = OpTypePointer Function %u\n"
                                 "%n0 = OpConstant %u 0\n"
                                 "%n7 = OpConstant %u 7\n"
                                 "%v = OpVariable %p StorageBuffer\n"
                                 "%f = OpFunction %void None %ft\n"
                                 "%l = OpLabel\n"
                                 "%x = OpVariable %pf Function\n"
                                 "OpBranch %m\n%m = OpLabel\n"
                                 "%at = OpAccessChain %pu %v %n0\n"
                                 "%in = OpLoad %u %at\n"
                                 "%unused = OpIMul %u %in %n7\n"
                                 "%y = OpFunctionCall %u %g %in\n"
                                 "OpStore %x %y\n"
                                 "%z = OpLoad %u %x\n"
                                 "OpStore %at %z\n"
                                 "OpReturn\nOpFunctionEnd\n"
                                 "%g = OpFunction %u None %gt\n"
                                 "%a = OpFunctionParameter %u\n"
                                 "%gl = OpLabel\n"
                                 "%c = OpIEqual %bool %a %n0\n"
                                 "OpSelectionMerge %end None\n"
                                 "OpBranchConditional %c %then %end\n"
                                 "%then = OpLabel\nOpReturnValue %n7\n"
                                 "%end = OpLabel\nOpReturnValue %a\nOpFunctionEnd\n";
    struct gs_module module;
    struct kiln_error error;
    size_t returns = 0, variables = 0, products = 0, calls = 0, main_labels = 0;
    assert_int_equal(gs_spvtools_assemble(source, GS_TARGET_VULKAN_1_1, &module, &error), KILN_OK);
    assert_int_equal(gs_spvtools_validate(&module, GS_TARGET_VULKAN_1_1, &error), KILN_OK);
    assert_int_equal(
        gs_spvtools_optimise(&module, GS_TARGET_VULKAN_1_1, GS_RECIPE_PERFORMANCE, &error),
        KILN_OK);
    assert_int_equal(gs_spvtools_validate(&module, GS_TARGET_VULKAN_1_1, &error), KILN_OK);
    struct gs_instruction instruction;
    size_t functions = 0;
    for (size_t position = 0; gs_module_next(&module, &position, &instruction);) {
        functions += instruction.opcode == SpvOpFunction;
        main_labels += functions == 1 && instruction.opcode == SpvOpLabel;
        returns += instruction.opcode == SpvOpReturnValue;
        variables += instruction.opcode == SpvOpVariable &&
                     instruction.words[3] == SpvStorageClassFunction && functions == 1;
        products += instruction.opcode == SpvOpIMul;
        calls += instruction.opcode == SpvOpFunctionCall;
    }
    assert_int_equal(main_labels, 1);
    assert_int_equal(returns, 1);
    assert_int_equal(variables, 0);
    assert_int_equal(products, 0);
    assert_int_equal(calls, 1);
    gs_module_release(&module);
}

static void test_optimiser_and_validator(void **state) {
    (void)state;
    static const char unused_binding[] = "OpCapability Shader\n"
                                         "OpMemoryModel Logical GLSL450\n"
                                         "OpEntryPoint GLCompute %f \"main\"\n"
                                         "OpExecutionMode %f LocalSize 1 1 1\n"
                                         "OpDecorate %s Block\n"
                                         "OpMemberDecorate %s 0 Offset 0\n"
                                         "OpDecorate %v DescriptorSet 0\n"
                                         "OpDecorate %v Binding 3\n"
                                         "%void = OpTypeVoid\n"
                                         "%ft = OpTypeFunction %void\n"
                                         "%u = OpTypeInt 32 0\n"
                                         "%s = OpTypeStruct %u\n"
                                         "%p = OpTypePointer StorageBuffer %s\n"
                                         "%v = OpVariable %p StorageBuffer\n"
                                         "%f = OpFunction %void None %ft\n"
                                         "%l = OpLabel\nOpReturn\nOpFunctionEnd\n";
    struct gs_module module;
    struct kiln_error error;
    struct mf_buffer text = {0};
    assert_int_equal(gs_spvtools_assemble(unused_binding, GS_TARGET_VULKAN_1_1, &module, &error),
                     KILN_OK);
    assert_int_equal(gs_spvtools_validate(&module, GS_TARGET_VULKAN_1_1, &error), KILN_OK);
    assert_int_equal(
        gs_spvtools_optimise(&module, GS_TARGET_VULKAN_1_1, GS_RECIPE_PERFORMANCE, &error),
        KILN_OK);
    assert_int_equal(gs_spvtools_print(&module, GS_TARGET_VULKAN_1_1, &text, &error), KILN_OK);
    assert_non_null(strstr(text.data, "Binding 3")); /* kept although nothing uses it */
    size_t last = module.word_count - 1;
    module.words[last] = 0x0001ffff;
    assert_int_equal(gs_spvtools_validate(&module, GS_TARGET_VULKAN_1_1, &error), KILN_ERR_SPIRV);
    assert_int_not_equal(error.message[0], 0);
    mf_buffer_release(&text);
    gs_module_release(&module);
    assert_int_equal(gs_spvtools_assemble("OpNonsense", GS_TARGET_VULKAN_1_1, &module, &error),
                     KILN_ERR_SPIRV);
    assert_null(module.words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_compiles_what_was_preprocessed, fixture_make,
                                        fixture_remove),
        cmocka_unit_test_setup_teardown(test_errors_name_file_and_line, fixture_make,
                                        fixture_remove),
        cmocka_unit_test_setup_teardown(test_refusals, fixture_make, fixture_remove),
        cmocka_unit_test_setup_teardown(test_warnings_are_errors, fixture_make, fixture_remove),
        cmocka_unit_test(test_performance_recipe),
        cmocka_unit_test(test_optimiser_and_validator),
    };
    if (gs_glslang_start(NULL) != KILN_OK) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gs_glslang_stop();
    return failed;
}
