/* SPDX-License-Identifier: MIT */
/*
 * Imported modules are loaded, selected and dispatched like our own, each entry point of a module
 * with its own interface, and a bundle that was built is not replaced by an import.
 */
#include "gs_import.h"
#include "gs_spvtools.h"
#include "loader_rows.h"
#include "mf_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT 10u

/*
 * scale: y[i] = x[i] * factor, bindings 0 and 1, a push constant. count: c[i] = i, binding 0 of
 * another type, no push constant. Both with local size 2.
 */
static const char two_kernels[] =
    "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %scale \"scale\" %gid\n"
    "OpEntryPoint GLCompute %count \"count\" %gid\n"
    "OpExecutionMode %scale LocalSize 2 1 1\nOpExecutionMode %count LocalSize 2 1 1\n"
    "OpName %x \"x\"\nOpName %y \"y\"\nOpName %c \"c\"\nOpMemberName %ps 0 \"factor\"\n"
    "OpDecorate %gid BuiltIn GlobalInvocationId\n"
    "OpDecorate %fa ArrayStride 4\nOpDecorate %ua ArrayStride 4\n"
    "OpDecorate %fs Block\nOpMemberDecorate %fs 0 Offset 0\n"
    "OpDecorate %us Block\nOpMemberDecorate %us 0 Offset 0\n"
    "OpDecorate %ps Block\nOpMemberDecorate %ps 0 Offset 0\n"
    "OpDecorate %x DescriptorSet 0\nOpDecorate %x Binding 0\nOpDecorate %x NonWritable\n"
    "OpDecorate %y DescriptorSet 0\nOpDecorate %y Binding 1\n"
    "OpDecorate %c DescriptorSet 0\nOpDecorate %c Binding 0\n"
    "%void = OpTypeVoid\n%ft = OpTypeFunction %void\n"
    "%u = OpTypeInt 32 0\n%f = OpTypeFloat 32\n%v3 = OpTypeVector %u 3\n"
    "%fa = OpTypeRuntimeArray %f\n%ua = OpTypeRuntimeArray %u\n"
    "%fs = OpTypeStruct %fa\n%us = OpTypeStruct %ua\n%ps = OpTypeStruct %f\n"
    "%pin = OpTypePointer Input %v3\n%piu = OpTypePointer Input %u\n"
    "%pfs = OpTypePointer StorageBuffer %fs\n%pus = OpTypePointer StorageBuffer %us\n"
    "%pf = OpTypePointer StorageBuffer %f\n%pu = OpTypePointer StorageBuffer %u\n"
    "%pps = OpTypePointer PushConstant %ps\n%ppf = OpTypePointer PushConstant %f\n"
    "%n0 = OpConstant %u 0\n"
    "%gid = OpVariable %pin Input\n%x = OpVariable %pfs StorageBuffer\n"
    "%y = OpVariable %pfs StorageBuffer\n%c = OpVariable %pus StorageBuffer\n"
    "%push = OpVariable %pps PushConstant\n"
    "%scale = OpFunction %void None %ft\n%l1 = OpLabel\n"
    "%a1 = OpAccessChain %piu %gid %n0\n%i1 = OpLoad %u %a1\n"
    "%xp = OpAccessChain %pf %x %n0 %i1\n%xv = OpLoad %f %xp\n"
    "%fp = OpAccessChain %ppf %push %n0\n%fv = OpLoad %f %fp\n"
    "%m = OpFMul %f %xv %fv\n"
    "%yp = OpAccessChain %pf %y %n0 %i1\nOpStore %yp %m\nOpReturn\nOpFunctionEnd\n"
    "%count = OpFunction %void None %ft\n%l2 = OpLabel\n"
    "%a2 = OpAccessChain %piu %gid %n0\n%i2 = OpLoad %u %a2\n"
    "%cp = OpAccessChain %pu %c %n0 %i2\nOpStore %cp %i2\nOpReturn\nOpFunctionEnd\n";

struct place {
    char directory[160], module[192], out[256];
};

static void place_make(struct place *place, const char *text) {
    struct gs_module module;
    struct kiln_error error;
    const char *temporary = getenv("TMPDIR");
    snprintf(place->directory, sizeof place->directory, "%.128s/kiln-import-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    assert_non_null(mkdtemp(place->directory));
    snprintf(place->module, sizeof place->module, "%s/two kernels.spv", place->directory);
    snprintf(place->out, sizeof place->out, "%s/out", place->directory);
    if (gs_spvtools_assemble(text, GS_TARGET_VULKAN_1_1, &module, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(
        mf_file_write(place->module, module.words, module.word_count * 4, MF_VOLATILE, NULL, NULL),
        KILN_OK);
    gs_module_release(&module);
}

static void place_remove(const struct place *place) {
    char command[192];
    snprintf(command, sizeof command, "rm -rf '%s'", place->directory);
    assert_int_equal(system(command), 0);
}

static enum kiln_result import_into(const struct place *place, enum gs_recipe recipe,
                                    const char *words) {
    const char *const paths[] = {place->module};
    const struct gs_import_options options = {paths, 1, place->out, recipe};
    struct gs_import_summary summary;
    struct gs_diag *diag = NULL;
    struct mf_buffer text = {0};
    assert_int_equal(gs_diag_create(&diag), KILN_OK);
    enum kiln_result result = gs_import_run(&options, &summary, diag);
    assert_int_equal(gs_diag_format(diag, &text), KILN_OK);
    if (words != NULL ? text.data == NULL || strstr(text.data, words) == NULL : result != KILN_OK) {
        fail_msg("expected \"%s\", found: %s", words != NULL ? words : "success",
                 text.data != NULL ? text.data : "nothing");
    }
    mf_buffer_release(&text);
    gs_diag_destroy(&diag);
    return result;
}

static void run_scale(struct loader_fixture *fixture, struct kiln_pipeline *pipeline) {
    struct kiln_buffer *x = NULL, *y = NULL;
    float values[COUNT], found[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = (float)i - 3.5f;
    }
    must(fixture, kiln_buffer_create(fixture->device, sizeof values, &x, &fixture->error));
    must(fixture, kiln_buffer_create(fixture->device, sizeof values, &y, &fixture->error));
    must(fixture, kiln_buffer_upload(x, 0, values, sizeof values, &fixture->error));
    must(fixture, kiln_buffer_fill(y, 0, sizeof values, POISON, &fixture->error));
    const struct kiln_range ranges[] = {kiln_buffer_range("x", x, 0, sizeof values),
                                        kiln_buffer_range("y", y, 0, sizeof values)};
    const struct mf_dim dims[] = {{"groups_x", 4}, {"groups_y", 1}, {"groups_z", 1}};
    const struct kiln_param params[] = {kiln_param_f64("factor", 4.0)};
    const struct kiln_dispatch dispatch = {.pipeline = pipeline,
                                           .ranges = ranges,
                                           .range_count = 2,
                                           .dims = dims,
                                           .dim_count = 3,
                                           .params = params,
                                           .param_count = 1};
    must(fixture, kiln_quick_run(&dispatch, TIMEOUT_MS, NULL, &fixture->error));
    must(fixture, kiln_buffer_download(y, 0, found, sizeof found, &fixture->error));
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t word;
        memcpy(&word, &found[i], sizeof word);
        if (i < 8) { /* four groups of two */
            assert_true(found[i] == values[i] * 4.0f);
        } else {
            assert_int_equal(word, POISON);
        }
    }
    kiln_buffer_destroy(&x);
    kiln_buffer_destroy(&y);
}

static void test_runs_like_our_own(void **state) {
    struct loader_fixture *fixture = *state;
    static const enum gs_recipe recipes[] = {GS_RECIPE_NONE, GS_RECIPE_PERFORMANCE, GS_RECIPE_SIZE};
    for (size_t i = 0; i < 3; i++) {
        struct place place;
        struct kiln_bundle *bundle = NULL;
        struct kiln_pipeline *pipeline = NULL;
        const struct mf_artifact *artifact = NULL;
        const struct kiln_query query = {
            .family = "two_kernels", .kernel = "scale", .tier = "imported"};
        place_make(&place, two_kernels);
        assert_int_equal(import_into(&place, recipes[i], NULL), KILN_OK);
        must(fixture, kiln_bundle_open_directory(place.out, &bundle, &fixture->error));
        must(fixture, kiln_select(kiln_bundle_manifest(bundle), kiln_device_info(fixture->device),
                                  &query, &artifact, NULL, &fixture->error));
        assert_string_equal(artifact->name, "two_kernels__f32__any__scale_w2x1x1__imported");
        must(fixture,
             kiln_pipeline_get(fixture->device, bundle, artifact, &pipeline, &fixture->error));
        run_scale(fixture, pipeline);
        kiln_device_close(&fixture->device); /* its pipelines go before the bundle's words */
        kiln_bundle_close(&bundle);
        must(fixture, kiln_quick_open_device(NULL, NULL, KILN_CPU_LAST_RESORT, &fixture->device,
                                             &fixture->error));
        place_remove(&place);
    }
}

/* What only the other entry point uses is not part of an artifact. */
static void test_entry_points_are_apart(void **state) {
    (void)state;
    struct place place;
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error;
    place_make(&place, two_kernels);
    assert_int_equal(import_into(&place, GS_RECIPE_NONE, NULL), KILN_OK);
    assert_int_equal(kiln_bundle_open_directory(place.out, &bundle, &error), KILN_OK);
    assert_int_equal(kiln_bundle_manifest(bundle)->artifact_count, 2);
    const struct mf_artifact *count =
        kiln_bundle_find(bundle, "two_kernels__u32__any__count_w2x1x1__imported");
    const struct mf_artifact *scale =
        kiln_bundle_find(bundle, "two_kernels__f32__any__scale_w2x1x1__imported");
    assert_non_null(count);
    assert_non_null(scale);
    assert_int_equal(count->binding_count, 1);
    assert_string_equal(count->bindings[0].name, "c");
    assert_int_equal(count->bindings[0].element, MF_SCALAR_U32);
    assert_int_equal(count->push_count, 0);
    assert_int_equal(scale->binding_count, 2);
    assert_string_equal(scale->bindings[0].name, "x");
    assert_int_equal(scale->bindings[0].access, MF_ACCESS_READ);
    assert_int_equal(scale->push_count, 1);
    assert_string_equal(scale->push[0].name, "factor");
    kiln_bundle_close(&bundle);
    place_remove(&place);
}

/* An import replaces an import and nothing else. */
static void test_keeps_what_was_built(void **state) {
    (void)state;
    struct place place;
    struct loader_bundle made;
    char manifest[288];
    struct mf_buffer before = {0}, after = {0};
    place_make(&place, two_kernels);
    assert_int_equal(import_into(&place, GS_RECIPE_NONE, NULL), KILN_OK);
    assert_int_equal(import_into(&place, GS_RECIPE_SIZE, NULL), KILN_OK);
    loader_bundle_make(&made);
    snprintf(place.out, sizeof place.out, "%s", made.directory);
    snprintf(manifest, sizeof manifest, "%s/manifest.json", made.directory);
    assert_int_equal(mf_file_read(manifest, 0, &before, NULL), KILN_OK);
    assert_int_equal(import_into(&place, GS_RECIPE_NONE, "built"), KILN_ERR_PATH);
    assert_int_equal(mf_file_read(manifest, 0, &after, NULL), KILN_OK);
    assert_int_equal(before.size_bytes, after.size_bytes);
    assert_memory_equal(before.data, after.data, before.size_bytes);
    mf_buffer_release(&before);
    mf_buffer_release(&after);
    loader_bundle_remove(&made);
    place_remove(&place);
}

int main(void) {
    if (!loader_has_device()) {
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs_like_our_own, loader_set_up, loader_tear_down),
        cmocka_unit_test(test_entry_points_are_apart),
        cmocka_unit_test(test_keeps_what_was_built),
    };
    return cmocka_run_group_tests_name("import", tests, NULL, NULL);
}
