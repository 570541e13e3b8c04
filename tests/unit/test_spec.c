/* SPDX-License-Identifier: MIT */
/*
 * From a template tree to variants: every field of one small tree by hand, how rules combine, and
 * every directory of tests/bad/yaml with the first error line that stands beside it.
 */
#include "gs_spec.h"

#include "mf_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct tree {
    char root[128];
    struct gs_plan plan;
    struct gs_diag *diag;
    struct mf_buffer text;
};

static void write_text(const char *root, const char *name, const char *text) {
    char path[256];
    struct kiln_error error;
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(mf_file_write_atomic(path, text, strlen(text), NULL, &error), KILN_OK);
}

static int tree_make(void **state) {
    struct tree *tree = calloc(1, sizeof *tree);
    const char *base = getenv("TMPDIR");
    char directory[160];
    assert_non_null(tree);
    snprintf(tree->root, sizeof tree->root, "%s/kiln-spec-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(tree->root));
    snprintf(directory, sizeof directory, "%s/fam", tree->root);
    assert_int_equal(mkdir(directory, 0755), 0);
    write_text(tree->root, "fam/k.comp", "#version 450\n");
    write_text(tree->root, "fam/other.comp", "#version 450\n");
    *state = tree;
    return 0;
}

static void tree_clear(struct tree *tree) {
    gs_plan_release(&tree->plan);
    gs_diag_destroy(&tree->diag);
    mf_buffer_release(&tree->text);
}

static int tree_remove(void **state) {
    struct tree *tree = *state;
    char command[256];
    tree_clear(tree);
    snprintf(command, sizeof command, "rm -rf '%s'", tree->root);
    int status = system(command);
    free(tree);
    return status;
}

static enum kiln_result plan(struct tree *tree, const char *root, size_t budget) {
    tree_clear(tree);
    assert_int_equal(gs_diag_create(&tree->diag), KILN_OK);
    struct gs_plan_options options = {.template_root = root, .variant_budget = budget};
    enum kiln_result result = gs_plan_make(&options, &tree->plan, tree->diag);
    assert_int_equal(gs_diag_result(tree->diag), result);
    assert_int_equal(gs_diag_format(tree->diag, &tree->text), KILN_OK);
    if (result != KILN_OK) {
        static const struct gs_plan zero;
        assert_memory_equal(&tree->plan, &zero, sizeof zero);
    }
    return result;
}

static void expect_plan(struct tree *tree, const char *yaml) {
    write_text(tree->root, "fam/k.yaml", yaml);
    if (plan(tree, tree->root, 0) != KILN_OK)
        fail_msg("%s", tree->text.data);
}

/* The first diagnostic, without the temporary directory. */
static void expect_error(struct tree *tree, const char *yaml, enum kiln_result result,
                         const char *message) {
    write_text(tree->root, "fam/k.yaml", yaml);
    assert_int_equal(plan(tree, tree->root, 0), result);
    assert_memory_equal(tree->text.data, tree->root, strlen(tree->root));
    const char *text = tree->text.data + strlen(tree->root);
    if (strncmp(text, message, strlen(message)) != 0)
        fail_msg("expected %s\ngot %s", message, text);
}

#define HEAD "kernel: k\nfamily: fam\ntemplate: k.comp\n"
#define TAIL                                                                                       \
    "dims: [n]\ngrid: {x: [n]}\nbindings: [{name: y, access: write, element: f32}]\n"              \
    "reference: add\ntolerance: {exact: true}\n"

static const char whole[] =
    HEAD "axes:\n"
         "  dtype: [q4_k, f32]\n"
         "  layout:\n"
         "    - {workgroup: 64, rows: 1}\n"
         "    - {rows: 2, workgroup: 128}\n"
         "  tier: [subgroup, portable]\n"
         "exclude:\n"
         "  - {dtype: f32, rows: [2], why: \"${dtype} saturates the bus\"}\n"
         "dtypes: [\"${dtype}\", f32]\n"
         "shape: any\n"
         "schedule: \"row_w${workgroup}r${rows}\"\n"
         "tier: \"${tier}\"\n"
         "defines: [dtype, rows, tier]\n"
         "constants: {K_EPS: \"${rows}e-6f\"}\n"
         "target: vulkan1.2\n"
         "recipe: size\n"
         "dims: [nout, {name: k, multiple: \"${workgroup}\"}, {name: t, max: 512}]\n"
         "grid: {x: [nout/rows/4, t], fold: true}\n"
         "bindings:\n"
         "  - {name: weights, access: read, element: u32}\n"
         "  - {name: x, access: read_write, element: f16}\n"
         "push: [nout, {name: base, type: u64}, {name: eps, type: f32}, {name: last, type: u8}]\n"
         "requires: {subgroup_size: \"${workgroup}\"}\n"
         "reference: matvec\n"
         "tolerance: {max_abs: 1e-3, scale: 2.5, ulp_f16: 1}\n"
         "overrides:\n"
         "  - when: {tier: subgroup}\n"
         "    set: {target: vulkan1.1, template: other.comp}\n"
         "  - when: {rows: 2, tier: subgroup}\n"
         "    set: {target: vulkan1.3, tolerance: {rel: 1}, defines: [tier]}\n";

static void test_names(void **state) {
    struct tree *tree = *state;
    expect_plan(tree, whole);
    static const char *const names[] = {
        "fam__f32_f32__any__row_w64r1__portable",   "fam__f32_f32__any__row_w64r1__subgroup",
        "fam__q4_k_f32__any__row_w128r2__portable", "fam__q4_k_f32__any__row_w128r2__subgroup",
        "fam__q4_k_f32__any__row_w64r1__portable",  "fam__q4_k_f32__any__row_w64r1__subgroup",
    };
    assert_int_equal(tree->plan.variant_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(tree->plan.variants[i].promise.name, names[i]);
    assert_int_equal(tree->plan.exclusion_count, 2);
    assert_string_equal(tree->plan.excluded[0].name, "fam__f32_f32__any__row_w128r2__portable");
    assert_string_equal(tree->plan.excluded[1].name, "fam__f32_f32__any__row_w128r2__subgroup");
    assert_string_equal(tree->plan.excluded[0].reason, "f32 saturates the bus");
}

static void test_source(void **state) {
    struct tree *tree = *state;
    char path[256];
    expect_plan(tree, whole);
    snprintf(path, sizeof path, "%s/fam/k.yaml", tree->root);
    assert_int_equal(tree->plan.source_count, 1);
    assert_string_equal(tree->plan.sources[0].path, path);
    struct mf_hash hash = mf_hash_bytes(MF_HASH_FILE, whole, strlen(whole));
    assert_true(mf_hash_equal(&tree->plan.sources[0].hash, &hash));
    /* A final slash changes no path. */
    snprintf(path, sizeof path, "%s//", tree->root);
    assert_int_equal(plan(tree, path, 0), KILN_OK);
    snprintf(path, sizeof path, "%s/fam/k.yaml", tree->root);
    assert_string_equal(tree->plan.variants[0].yaml_path, path);
}

static void test_promise(void **state) {
    struct tree *tree = *state;
    expect_plan(tree, whole);
    const struct gs_variant *variant = &tree->plan.variants[2]; /* q4_k, w128 r2, portable */
    const struct mf_artifact *promise = &variant->promise;
    assert_string_equal(promise->family, "fam");
    assert_string_equal(promise->kernel, "k");
    assert_int_equal(promise->dtype_count, 2);
    assert_string_equal(promise->dtypes[0], "q4_k");
    assert_string_equal(promise->dtypes[1], "f32");
    assert_string_equal(promise->shape, "any");
    assert_string_equal(promise->schedule, "row_w128r2");
    assert_string_equal(promise->tier, "portable");
    static const char *const axes[4][2] = {
        {"dtype", "q4_k"}, {"rows", "2"}, {"tier", "portable"}, {"workgroup", "128"}};
    assert_int_equal(promise->axis_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(promise->axes[i].name, axes[i][0]);
        assert_string_equal(promise->axes[i].value, axes[i][1]);
    }
    assert_int_equal(promise->binding_count, 2);
    assert_int_equal(promise->bindings[1].set, 0);
    assert_int_equal(promise->bindings[1].binding, 1);
    assert_string_equal(promise->bindings[1].name, "x");
    assert_int_equal(promise->bindings[1].access, MF_ACCESS_READ_WRITE);
    assert_int_equal(promise->bindings[1].element, MF_SCALAR_F16);
    assert_int_equal(promise->bindings[0].access, MF_ACCESS_READ);
    assert_int_equal(promise->bindings[0].element, MF_SCALAR_U32);
    static const uint32_t push[4][2] = {{0, 4}, {8, 8}, {16, 4}, {20, 1}};
    assert_int_equal(promise->push_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(promise->push[i].offset_bytes, push[i][0]);
        assert_int_equal(promise->push[i].size_bytes, push[i][1]);
    }
    assert_string_equal(promise->push[2].name, "eps");
    assert_int_equal(promise->push[2].type, MF_SCALAR_F32);
    assert_int_equal(promise->push[0].type, MF_SCALAR_U32);
    assert_int_equal(promise->dim_count, 3);
    assert_string_equal(promise->dims[2], "t");
    assert_int_equal(promise->limit_count, 2);
    assert_string_equal(promise->limits[0].dim, "k");
    assert_int_equal(promise->limits[0].max, UINT32_MAX);
    assert_int_equal(promise->limits[0].multiple, 128);
    assert_string_equal(promise->limits[1].dim, "t");
    assert_int_equal(promise->limits[1].max, 512);
    assert_int_equal(promise->limits[1].multiple, 1);
    assert_int_equal(promise->grid.axes[0].factor_count, 2);
    assert_string_equal(promise->grid.axes[0].factors[0].dim, "nout");
    assert_int_equal(promise->grid.axes[0].factors[0].tile, 8); /* rows = 2, times 4 */
    assert_string_equal(promise->grid.axes[0].factors[1].dim, "t");
    assert_int_equal(promise->grid.axes[0].factors[1].tile, 1);
    assert_int_equal(promise->grid.axes[1].factor_count, 0);
    assert_true(promise->grid.fold);
    assert_int_equal(promise->requires_.subgroup_size, 128);
    assert_string_equal(promise->reference, "matvec");
    assert_true(promise->tolerance.max_abs == 1e-3 && promise->tolerance.scale == 2.5);
    assert_true(promise->tolerance.rel < 0 && promise->tolerance.ulp_f16 == 1);
    assert_false(promise->tolerance.exact);
}

static void test_variant(void **state) {
    struct tree *tree = *state;
    char path[256];
    expect_plan(tree, whole);
    const struct gs_variant *variant = &tree->plan.variants[2];
    snprintf(path, sizeof path, "%s/fam/k.comp", tree->root);
    assert_string_equal(variant->template_path, path);
    assert_int_equal(variant->yaml_line, 1);
    assert_int_equal(variant->target, GS_TARGET_VULKAN_1_2);
    assert_string_equal(gs_target_string(variant->target), "vulkan1.2");
    assert_int_equal(variant->recipe, GS_RECIPE_SIZE);
    assert_string_equal(gs_recipe_string(variant->recipe), "size");
    assert_int_equal(variant->define_count, 4);
    assert_string_equal(variant->defines[0].name, "K_DTYPE");
    assert_string_equal(variant->defines[0].value, "DTYPE_Q4_K");
    assert_int_equal(variant->defines[0].line, 16);
    assert_int_equal(variant->defines[3].line, 17);
    assert_string_equal(variant->preamble, "#define K_DTYPE DTYPE_Q4_K\n#define K_ROWS 2\n"
                                           "#define K_TIER TIER_PORTABLE\n#define K_EPS 2e-6f\n");
}

/* Of two overrides that match, the later one wins key by key; what it does not set stays. */
static void test_overrides(void **state) {
    struct tree *tree = *state;
    char path[256];
    expect_plan(tree, whole);
    snprintf(path, sizeof path, "%s/fam/other.comp", tree->root);
    const struct gs_variant *both = &tree->plan.variants[3];
    const struct gs_variant *first = &tree->plan.variants[5];
    assert_string_equal(both->template_path, path);
    assert_string_equal(first->template_path, path);
    assert_int_equal(both->target, GS_TARGET_VULKAN_1_3);
    assert_int_equal(first->target, GS_TARGET_VULKAN_1_1);
    assert_true(both->promise.tolerance.rel == 1.0 && both->promise.tolerance.max_abs < 0);
    assert_string_equal(both->preamble, "#define K_TIER TIER_SUBGROUP\n#define K_EPS 2e-6f\n");
    assert_int_equal(first->define_count, 4);
}

/* What a file need not say. */
static void test_defaults(void **state) {
    struct tree *tree = *state;
    expect_plan(tree, HEAD "dtypes: [f32]\nshape: any\nschedule: flat\ntier: portable\n" TAIL);
    assert_int_equal(tree->plan.variant_count, 1);
    const struct gs_variant *variant = tree->plan.variants;
    assert_string_equal(variant->promise.name, "fam__f32__any__flat__portable");
    assert_string_equal(variant->preamble, "");
    assert_int_equal(variant->target, GS_TARGET_VULKAN_1_1);
    assert_int_equal(variant->recipe, GS_RECIPE_PERFORMANCE);
    assert_int_equal(variant->promise.push_count, 0);
    assert_int_equal(variant->promise.requires_.subgroup_size, 0);
    assert_true(variant->promise.tolerance.exact);
    assert_true(variant->promise.tolerance.max_abs < 0 && variant->promise.tolerance.rel < 0 &&
                variant->promise.tolerance.scale < 0);
}

/* All problems of all files, in order of file and line. */
static void test_all_problems(void **state) {
    struct tree *tree = *state;
    write_text(tree->root, "fam/b.yaml", "kernel: b\nkernel: c\n");
    write_text(tree->root, "fam/k.yaml",
               HEAD "dtypes: [f32, nope]\nshape: A\nschedule: flat\ntier: portabl\nfoo: 1\n" TAIL);
    assert_int_equal(plan(tree, tree->root, 0), KILN_ERR_DUPLICATE);
    assert_int_equal(gs_diag_count(tree->diag), 2);
    write_text(tree->root, "fam/k.yaml",
               HEAD "dtypes: [f32, nope]\nshape: A\nschedule: flat\ntier: portabl\n" TAIL);
    assert_int_equal(plan(tree, tree->root, 0), KILN_ERR_DUPLICATE);
    assert_int_equal(gs_diag_count(tree->diag), 4);
    assert_non_null(strstr(tree->text.data, "fam/b.yaml:2: key 'kernel' is repeated"));
    assert_non_null(strstr(tree->text.data, "fam/k.yaml:4: there is no dtype 'nope'"));
    assert_non_null(strstr(tree->text.data, "fam/k.yaml:5: shape: "));
    assert_non_null(strstr(tree->text.data, "fam/k.yaml:7: there is no tier 'portabl'"));
}

static void test_budget(void **state) {
    struct tree *tree = *state;
    write_text(tree->root, "fam/k.yaml", whole);
    assert_int_equal(plan(tree, tree->root, 6), KILN_OK); /* exclusions do not count */
    assert_int_equal(plan(tree, tree->root, 5), KILN_ERR_LIMIT);
    assert_non_null(strstr(tree->text.data, "fam/k.yaml:4: 6 variants are planned, the budget is "
                                            "5; the largest family is 'fam' with 6"));
    /* Two kernels of one family outweigh a larger kernel of another. */
    write_text(tree->root, "fam/big.yaml",
               "kernel: big\nfamily: big\ntemplate: k.comp\naxes: {r: [1, 2, 3, 4, 5, 6, 7]}\n"
               "dtypes: [f32]\nshape: any\nschedule: \"s${r}\"\ntier: portable\n" TAIL);
    write_text(tree->root, "fam/small.yaml",
               "kernel: small\nfamily: fam\ntemplate: k.comp\naxes: {r: [1, 2]}\n"
               "dtypes: [f32]\nshape: any\nschedule: \"s${r}\"\ntier: portable\n" TAIL);
    assert_int_equal(plan(tree, tree->root, 15), KILN_OK);
    assert_int_equal(plan(tree, tree->root, 14), KILN_ERR_LIMIT);
    assert_non_null(strstr(tree->text.data, "fam/k.yaml:4: 15 variants are planned, the budget is "
                                            "14; the largest family is 'fam' with 8"));
}

static void test_limits(void **state) {
    struct tree *tree = *state;
    struct mf_buffer text = {0};
    mf_buffer_append_string(&text, HEAD "axes:\n  r: [0");
    for (int i = 1; i < 1025; i++)
        mf_buffer_append_format(&text, ", %d", i);
    mf_buffer_append_string(&text, "]\ndtypes: [f32]\nshape: any\nschedule: \"s${r}\"\n"
                                   "tier: portable\n" TAIL);
    expect_error(tree, text.data, KILN_ERR_LIMIT,
                 "/fam/k.yaml:5: the axis 'r' has 1025 values; at most 1024");
    /* 2^64 = (2^8)^8 combinations wrap to none in 64 bits. */
    mf_buffer_clear(&text);
    mf_buffer_append_string(&text, HEAD "axes:\n");
    for (char axis = 'a'; axis <= 'h'; axis++) {
        mf_buffer_append_format(&text, "  %c: [0", axis);
        for (int i = 1; i < 256; i++)
            mf_buffer_append_format(&text, ", %d", i);
        mf_buffer_append_string(&text, "]\n");
    }
    mf_buffer_append_string(&text, "dtypes: [f32]\nshape: any\n"
                                   "schedule: \"s${a}${b}${c}${d}${e}${f}${g}${h}\"\n"
                                   "tier: portable\n" TAIL);
    expect_error(tree, text.data, KILN_ERR_LIMIT,
                 "/fam/k.yaml:4: the axes of kernel 'k', family 'fam', make more than 65536");
    mf_buffer_release(&text);
}

/* A directory that is not there, and a file too large to be meant. */
static void test_files(void **state) {
    struct tree *tree = *state;
    char path[160];
    snprintf(path, sizeof path, "%s/absent", tree->root);
    assert_int_equal(plan(tree, path, 0), KILN_ERR_NOT_FOUND);
    assert_non_null(strstr(tree->text.data, "/absent"));
    struct mf_buffer text = {0};
    for (int i = 0; i < 1 << 16; i++)
        mf_buffer_append_string(&text, "# 16 characters\n");
    mf_buffer_append_string(&text, "#\n");
    write_text(tree->root, "fam/k.yaml", text.data);
    assert_int_equal(plan(tree, tree->root, 0), KILN_ERR_LIMIT);
    assert_non_null(strstr(tree->text.data, "fam/k.yaml"));
    mf_buffer_release(&text);
}

/* Each tests/bad/yaml/<case>/ is a template tree; `expected` is the first line of its errors. */
static void test_bad(void **state) {
    struct tree *tree = *state;
    struct mf_arena arena = {0};
    struct kiln_error error;
    char **names = NULL;
    size_t count = 0;
    int wrong = 0;
    assert_int_equal(mf_file_list("tests/bad/yaml", true, &arena, &names, &count, &error), KILN_OK);
    assert_true(count > 80);
    for (size_t i = 0; i < count; i++) {
        char root[256], path[300];
        struct mf_buffer expected = {0};
        snprintf(root, sizeof root, "tests/bad/yaml/%s", names[i]);
        snprintf(path, sizeof path, "%s/expected", root);
        assert_int_equal(mf_file_read(path, 0, &expected, &error), KILN_OK);
        assert_int_not_equal(plan(tree, root, 0), KILN_OK);
        if (strncmp(tree->text.data, expected.data, expected.size_bytes) != 0) {
            print_message("%s\nexpected %sgot %s", root, expected.data, tree->text.data);
            wrong++;
        }
        mf_buffer_release(&expected);
    }
    mf_arena_release(&arena);
    assert_int_equal(wrong, 0);
}

#define TREE_TEST(function) cmocka_unit_test_setup_teardown(function, tree_make, tree_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TREE_TEST(test_names),        TREE_TEST(test_source),    TREE_TEST(test_promise),
        TREE_TEST(test_variant),      TREE_TEST(test_overrides), TREE_TEST(test_defaults),
        TREE_TEST(test_all_problems), TREE_TEST(test_budget),    TREE_TEST(test_limits),
        TREE_TEST(test_files),        TREE_TEST(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
