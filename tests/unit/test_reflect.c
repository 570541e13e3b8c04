/* SPDX-License-Identifier: MIT */
/*
 * Reflection of fixtures against what their GLSL declares (numbers as glslangValidator -q prints
 * them), and the comparison with what a variant promised.
 */
#include "gs_reflect.h"
#include "spirv_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct reflected {
    struct mf_arena arena;
    struct mf_artifact artifact;
    struct kiln_error error;
    enum kiln_result result;
};

static void reflect(const void *bytes, size_t size_bytes, bool strip, struct reflected *out) {
    struct gs_module module;
    *out = (struct reflected){0};
    assert_int_equal(gs_module_read(bytes, size_bytes, NULL, &module, &out->error), KILN_OK);
    if (strip)
        assert_int_equal(gs_module_strip(&module, &out->error), KILN_OK);
    out->result = gs_reflect(&module, &out->arena, &out->artifact, &out->error);
    if (out->result == KILN_OK)
        assert_int_equal(
            gs_module_requirements(&module, &out->arena, &out->artifact.requires_, &out->error),
            KILN_OK);
    gs_module_release(&module);
}

static void reflect_file(const char *name, bool strip, struct reflected *out) {
    char path[256];
    size_t size_bytes = 0;
    snprintf(path, sizeof path, "tests/fixtures/spirv/%s.spv", name);
    void *bytes = spirv_file_read(path, &size_bytes);
    reflect(bytes, size_bytes, strip, out);
    free(bytes);
}

static void reflect_fixture(const char *name, struct reflected *out) {
    reflect_file(name, false, out);
    if (out->result != KILN_OK)
        fail_msg("%s: %s", name, out->error.message);
}

/* "set.binding name access element stride; ..." */
static void bindings_are(const struct reflected *r, const char *expected) {
    char text[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < r->artifact.binding_count; i++) {
        const struct mf_binding *b = &r->artifact.bindings[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u.%u %s %s %s %u",
                                 i == 0 ? "" : "; ", b->set, b->binding, b->name,
                                 mf_access_string(b->access), mf_scalar_string(b->element),
                                 b->stride_bytes);
    }
    assert_string_equal(text, expected);
}

/* "offset name type size; ..." */
static void push_is(const struct reflected *r, const char *expected, uint32_t push_bytes) {
    char text[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < r->artifact.push_count; i++) {
        const struct mf_push *p = &r->artifact.push[i];
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%u %s %s %u", i == 0 ? "" : "; ",
                             p->offset_bytes, p->name, mf_scalar_string(p->type), p->size_bytes);
    }
    assert_string_equal(text, expected);
    assert_int_equal(r->artifact.requires_.push_bytes, push_bytes);
}

/* "id name type default; ..." */
static void spec_is(const struct reflected *r, const char *expected) {
    char text[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < r->artifact.spec_count; i++) {
        const struct mf_spec_constant *s = &r->artifact.spec[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u %s %s 0x%llx",
                                 i == 0 ? "" : "; ", s->constant_id, s->name,
                                 mf_scalar_string(s->type), (unsigned long long)s->default_bits);
    }
    assert_string_equal(text, expected);
}

static void test_interface(void **state) {
    (void)state;
    struct reflected r;
    reflect_fixture("interface", &r);
    bindings_are(&r, "0.0 weights read u32 4; 0.1 x read f32 16; 0.2 y write f32 4; "
                     "0.3 blocks read_write struct 34; 1.0 halves read_write f16 2; "
                     "1.2 table read f32 16");
    push_is(&r, "0 nout u32 4; 4 k u32 4; 8 eps f32 4; 12 first i32 4; 16 pair u32 8", 24);
    spec_is(&r, "0 GROUP u32 0x20; 3 SCALE f32 0x3f000000; 4 WIDE bool 0x1; "
                "5 BIAS i32 0xfffffffd");
    mf_arena_release(&r.arena);
}

static void test_views(void **state) {
    (void)state;
    struct reflected r;
    reflect_fixture("views", &r);
    bindings_are(&r,
                 "0.1 tail read_write u32 4; 0.2 matrices read struct 64; 0.3 words read u32 4");
    push_is(&r, "16 shape_rows u32 4; 20 shape_columns u32 4; 24 factors f32 12", 36);
    spec_is(&r, "");
    mf_arena_release(&r.arena);
}

/* The library cannot parse this module; its skeleton it can. */
static void test_cooperative_matrix(void **state) {
    (void)state;
    struct reflected r;
    reflect_fixture("coopmat", &r);
    bindings_are(&r, "0.0 a read f16 2; 0.1 b read f16 2; 0.2 c write f32 4");
    push_is(&r, "0 k u32 4", 4);
    spec_is(&r, "7 TILE u32 0x10");
    mf_arena_release(&r.arena);
}

static void test_subgroup(void **state) {
    (void)state;
    struct reflected r;
    reflect_fixture("subgroup", &r);
    bindings_are(&r, "0.0 codes read i8 1; 0.1 sums read_write f32 4");
    push_is(&r, "", 0);
    mf_arena_release(&r.arena);
}

static void test_scalar(void **state) {
    (void)state;
    struct reflected r;
    reflect_fixture("scalar", &r);
    bindings_are(&r, "0.0 points read f32 12; 0.1 total read_write f32 4; 0.2 factors read f32 4");
    mf_arena_release(&r.arena);
}

/* Everything but the names survives stripping. */
static void test_stripped(void **state) {
    (void)state;
    struct reflected r;
    reflect_file("interface", true, &r);
    assert_int_equal(r.result, KILN_OK);
    bindings_are(&r, "0.0 binding_0_0 read u32 4; 0.1 binding_0_1 read f32 16; "
                     "0.2 binding_0_2 write f32 4; 0.3 binding_0_3 read_write struct 34; "
                     "1.0 binding_1_0 read_write f16 2; 1.2 binding_1_2 read f32 16");
    push_is(&r,
            "0 member_0 u32 4; 4 member_1 u32 4; 8 member_2 f32 4; 12 member_3 i32 4; "
            "16 member_4 u32 8",
            24);
    spec_is(&r, "0  u32 0x20; 3  f32 0x3f000000; 4  bool 0x1; 5  i32 0xfffffffd");
    mf_arena_release(&r.arena);
}

static void refused(const char *name, enum kiln_result code, const char *expected) {
    struct reflected r;
    reflect_file(name, false, &r);
    assert_int_equal(r.result, code);
    if (strstr(r.error.message, expected) == NULL)
        fail_msg("%s: expected '%s' in '%s'", name, expected, r.error.message);
    assert_int_equal(r.artifact.binding_count, 0);
    mf_arena_release(&r.arena);
}

static void test_refusals(void **state) {
    (void)state;
    refused("image", KILN_ERR_INTERFACE, "'picture'");
    refused("buffer_array", KILN_ERR_INTERFACE, "set 0 binding 0: an array of buffers");
    refused("spec_conflict", KILN_ERR_INTERFACE,
            "two specialisation constants have id 0, u32 0x1 and u32 0x40");
}

/* Ids 20.. are variables of one-member blocks; `count` of them, all members called `data`. */
static void make_buffers(struct spirv_make *make, uint32_t count, const char *member, bool bound) {
    spirv_make_begin(make, 0x00010300, 64);
    SPIRV_OP(make, 17, 1);
    SPIRV_OP(make, 14, 0, 1);
    spirv_make_text(make, 15, (const uint32_t[]){5, 1}, 2, "main", NULL, 0);
    SPIRV_OP(make, 16, 1, 17, 8, 1, 1);
    spirv_make_text(make, 6, (const uint32_t[]){12, 0}, 2, member, NULL, 0);
    SPIRV_NAME(make, 21, "second");
    SPIRV_OP(make, 71, 12, 2); /* Block */
    SPIRV_OP(make, 72, 12, 0, 35, 0);
    SPIRV_OP(make, 71, 11, 6, 8); /* ArrayStride 8 */
    for (uint32_t i = 0; i < count && bound; i++) {
        SPIRV_OP(make, 71, 20 + i, 34, 0);         /* DescriptorSet 0 */
        SPIRV_OP(make, 71, 20 + i, 33, count - i); /* Binding, falling */
    }
    SPIRV_OP(make, 19, 3);
    SPIRV_OP(make, 33, 4, 3);
    SPIRV_OP(make, 22, 10, 32);
    SPIRV_OP(make, 23, 14, 10, 2);
    SPIRV_OP(make, 29, 11, 14);
    SPIRV_OP(make, 30, 12, 11);
    SPIRV_OP(make, 32, 13, 12, 12);
    for (uint32_t i = 0; i < count; i++)
        SPIRV_OP(make, 59, 13, 20 + i, 12);
    SPIRV_OP(make, 54, 3, 1, 0, 4);
    SPIRV_OP(make, 248, 5);
    SPIRV_OP0(make, 253);
    SPIRV_OP0(make, 56);
}

static void test_names_of_other_front_ends(void **state) {
    (void)state;
    struct spirv_make make;
    struct reflected r;
    make_buffers(&make, 3, "@data", true); /* not an identifier: the variable's name, or none */
    reflect(make.words, make.word_count * 4, false, &r);
    bindings_are(&r, "0.1 binding_0_1 read_write f32 8; 0.2 second read_write f32 8; "
                     "0.3 binding_0_3 read_write f32 8");
    mf_arena_release(&r.arena);
    spirv_make_release(&make);
    make_buffers(&make, 2, "data", true);
    reflect(make.words, make.word_count * 4, false, &r);
    bindings_are(&r, "0.1 data read_write f32 8; 0.2 data_0_2 read_write f32 8");
    mf_arena_release(&r.arena);
    spirv_make_release(&make);
    make_buffers(&make, 2, "data", false);
    reflect(make.words, make.word_count * 4, false, &r);
    assert_int_equal(r.result, KILN_ERR_INTERFACE);
    assert_non_null(strstr(r.error.message, "has no set and binding"));
    mf_arena_release(&r.arena);
    spirv_make_release(&make);
}

static void test_version(void **state) {
    (void)state;
    const char *version = gs_reflect_version();
    assert_int_equal(strncmp(version, "0.64.0", 6), 0);
    assert_ptr_equal(version, gs_reflect_version());
}

/* What interface.comp's YAML would promise. */
static struct mf_binding promised_bindings[] = {
    {0, 0, "weights", MF_ACCESS_READ, MF_SCALAR_U32, 0},
    {0, 1, "x", MF_ACCESS_READ, MF_SCALAR_F32, 16},
    {0, 2, "y", MF_ACCESS_WRITE, MF_SCALAR_F32, 0},
    {0, 3, "blocks", MF_ACCESS_READ_WRITE, MF_SCALAR_STRUCT, 0},
    {1, 0, "halves", MF_ACCESS_READ_WRITE, MF_SCALAR_F16, 0},
    {1, 2, "table", MF_ACCESS_READ, MF_SCALAR_F32, 0},
};
static struct mf_push promised_push[] = {
    {"nout", 0, 4, MF_SCALAR_U32},   {"k", 4, 4, MF_SCALAR_U32},     {"eps", 8, 4, MF_SCALAR_F32},
    {"first", 12, 4, MF_SCALAR_I32}, {"pair", 16, 8, MF_SCALAR_U32},
};

struct promise {
    struct mf_binding bindings[8];
    struct mf_push push[8];
    struct mf_axis axes[2];
    struct gs_variant variant;
};

static void promise_make(struct promise *promise) {
    memset(promise, 0, sizeof *promise);
    memcpy(promise->bindings, promised_bindings, sizeof promised_bindings);
    memcpy(promise->push, promised_push, sizeof promised_push);
    promise->axes[0] = (struct mf_axis){"rows", "2"};
    promise->axes[1] = (struct mf_axis){"workgroup", "64"};
    promise->variant = (struct gs_variant){
        .promise = {.name = "interface__test",
                    .bindings = promise->bindings,
                    .binding_count = 6,
                    .push = promise->push,
                    .push_count = 5,
                    .axes = promise->axes,
                    .axis_count = 2},
        .yaml_path = "interface/interface.yaml",
        .yaml_line = 3,
    };
}

/* The only diagnostic is this one; NULL: there is none. */
static void compares_to(const struct promise *promise, const char *expected) {
    struct reflected r;
    struct gs_diag *diag = NULL;
    struct mf_buffer text = {0};
    reflect_fixture("interface", &r);
    assert_int_equal(gs_diag_create(&diag), KILN_OK);
    enum kiln_result result = gs_reflect_compare(&promise->variant, &r.artifact, diag);
    assert_int_equal(gs_diag_format(diag, &text), KILN_OK);
    if (expected == NULL) {
        assert_int_equal(result, KILN_OK);
        assert_int_equal(gs_diag_count(diag), 0);
    } else {
        assert_int_equal(result, KILN_ERR_INTERFACE);
        if (gs_diag_count(diag) != 1 || strstr(text.data, expected) == NULL ||
            strncmp(text.data, "interface/interface.yaml:3: ", 28) != 0)
            fail_msg("expected '%s' alone in '%s'", expected, text.data);
    }
    mf_buffer_release(&text);
    gs_diag_destroy(&diag);
    mf_arena_release(&r.arena);
}

static void test_promise_kept(void **state) {
    (void)state;
    struct promise promise;
    promise_make(&promise);
    compares_to(&promise, NULL);
    promise.variant.promise.axis_count = 1; /* no parameter named workgroup: nothing to compare */
    compares_to(&promise, NULL);
}

static void test_binding_differences(void **state) {
    (void)state;
    struct promise promise;
    promise_make(&promise);
    promise.bindings[0].name = "codes";
    compares_to(&promise, "set 0 binding 0: promised name 'codes', the module has 'weights'");
    promise_make(&promise);
    promise.bindings[2].access = MF_ACCESS_READ_WRITE;
    compares_to(&promise, "binding 2 (y): promised access read_write, the module has write");
    promise_make(&promise);
    promise.bindings[1].element = MF_SCALAR_U32;
    compares_to(&promise, "binding 1 (x): promised element u32, the module has f32");
    promise_make(&promise);
    promise.bindings[1].stride_bytes = 4;
    compares_to(&promise, "binding 1 (x): promised stride 4 bytes, the module has 16");
    promise_make(&promise);
    promise.variant.promise.binding_count = 5;
    compares_to(&promise, "set 1 binding 2: the module has 'table', it is not promised");
    promise_make(&promise);
    promise.bindings[6] = (struct mf_binding){2, 9, "z", MF_ACCESS_READ, MF_SCALAR_F32, 0};
    promise.variant.promise.binding_count = 7;
    compares_to(&promise, "set 2 binding 9: 'z' is promised, the module does not have it");
}

static void test_push_and_size_differences(void **state) {
    (void)state;
    struct promise promise;
    promise_make(&promise);
    promise.push[1].name = "cols";
    compares_to(&promise, "push constant 1: promised 'cols', the module has 'k'");
    promise_make(&promise);
    promise.push[2].type = MF_SCALAR_U32;
    compares_to(&promise, "push constant 2 (eps): promised type u32, the module has f32");
    promise_make(&promise);
    promise.push[4].size_bytes = 4;
    compares_to(&promise, "push constant 4 (pair): promised 4 bytes at 16, the module has 8 at 16");
    promise_make(&promise);
    promise.variant.promise.push_count = 4;
    compares_to(&promise, "push constant 4: the module has 'pair', it is not promised");
    promise_make(&promise);
    promise.push[5] = (struct mf_push){"more", 24, 4, MF_SCALAR_U32};
    promise.variant.promise.push_count = 6;
    compares_to(&promise, "push constant 5: 'more' is promised, the module does not have it");
    promise_make(&promise);
    promise.axes[1].value = "32"; /* 32 x 2 x 1 is 64 */
    compares_to(&promise, "parameter workgroup is 32, the module's local size is 32 x 2 x 1");
    promise_make(&promise);
    promise.axes[1].value = "wide";
    compares_to(&promise, "parameter workgroup is 'wide', expected a number");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interface),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_cooperative_matrix),
        cmocka_unit_test(test_subgroup),
        cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_names_of_other_front_ends),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_promise_kept),
        cmocka_unit_test(test_binding_differences),
        cmocka_unit_test(test_push_and_size_differences),
    };
    return cmocka_run_group_tests_name("reflect", tests, NULL, NULL);
}
