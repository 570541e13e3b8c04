/* SPDX-License-Identifier: MIT */
/*
 * Requirements of modules: fixtures against what their GLSL says, and small modules against sizes
 * and features worked out by hand. test_requires_table.c compares the table with the Vulkan
 * registry.
 */
#include "gs_module.h"
#include "spirv_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct measured {
    struct mf_arena arena;
    struct mf_requires requires_;
    struct kiln_error error;
    enum kiln_result result;
};

static void measure(const void *bytes, size_t size_bytes, struct measured *out) {
    struct gs_module module;
    *out = (struct measured){0};
    if (gs_module_read(bytes, size_bytes, NULL, &module, &out->error) != KILN_OK)
        fail_msg("the gate refused the test's own module: %s", out->error.message);
    out->result = gs_module_requirements(&module, &out->arena, &out->requires_, &out->error);
    gs_module_release(&module);
}

static void measure_make(struct spirv_make *make, struct measured *out) {
    measure(make->words, make->word_count * 4, out);
    spirv_make_release(make);
}

static void measure_fixture(const char *name, struct measured *out) {
    char path[256];
    size_t size_bytes = 0;
    snprintf(path, sizeof path, "tests/fixtures/spirv/%s.spv", name);
    void *bytes = spirv_file_read(path, &size_bytes);
    measure(bytes, size_bytes, out);
    free(bytes);
    if (out->result != KILN_OK)
        fail_msg("%s: %s", name, out->error.message);
}

/* The names, joined by spaces. */
static void names_are(const char *const *names, size_t count, const char *expected) {
    char text[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", i == 0 ? "" : " ", names[i]);
    assert_string_equal(text, expected);
}

static void features_are(const struct measured *m, const char *features, const char *extensions) {
    names_are(m->requires_.features, m->requires_.feature_count, features);
    names_are(m->requires_.extensions, m->requires_.extension_count, extensions);
}

static void versions_are(const struct measured *m, uint32_t vulkan_minor, uint32_t spirv_minor) {
    assert_int_equal(m->requires_.vulkan_major, 1);
    assert_int_equal(m->requires_.vulkan_minor, vulkan_minor);
    assert_int_equal(m->requires_.spirv_major, 1);
    assert_int_equal(m->requires_.spirv_minor, spirv_minor);
}

static void local_size_is(const struct measured *m, uint32_t x, uint32_t y, uint32_t z) {
    const uint32_t expected[3] = {x, y, z};
    assert_memory_equal(m->requires_.local_size, expected, sizeof expected);
}

static void test_interface_fixture(void **state) {
    (void)state;
    struct measured m;
    measure_fixture("interface", &m);
    versions_are(&m, 1, 3);
    local_size_is(&m, 32, 2, 1); /* x by specialisation constant 0 */
    /* float tile[32 * 4 + 1] and bool flags[3] */
    assert_int_equal(m.requires_.workgroup_bytes, 129 * 4 + 3 * 4);
    features_are(&m, "shaderFloat16 shaderInt16 storageBuffer16BitAccess",
                 "VK_KHR_shader_float16_int8");
    names_are(m.requires_.capabilities, m.requires_.capability_count,
              "Float16 Int16 Shader StorageBuffer16BitAccess");
    assert_int_equal(m.requires_.subgroup_operation_count, 0);
    mf_arena_release(&m.arena);
}

static void test_coopmat_fixture(void **state) {
    (void)state;
    struct measured m;
    measure_fixture("coopmat", &m);
    versions_are(&m, 3, 6);
    local_size_is(&m, 32, 1, 1);
    assert_int_equal(m.requires_.workgroup_bytes, 0);
    features_are(&m, "cooperativeMatrix shaderFloat16 storageBuffer16BitAccess vulkanMemoryModel",
                 "VK_KHR_cooperative_matrix");
    mf_arena_release(&m.arena);
}

static void test_subgroup_fixture(void **state) {
    (void)state;
    struct measured m;
    measure_fixture("subgroup", &m);
    versions_are(&m, 2, 5);
    names_are(m.requires_.subgroup_operations, m.requires_.subgroup_operation_count,
              "arithmetic basic shuffle_relative vote");
    /* subgroupAdd of a float16_t needs the extended types */
    features_are(&m,
                 "shaderFloat16 shaderInt8 shaderIntegerDotProduct shaderSubgroupExtendedTypes "
                 "storageBuffer8BitAccess",
                 "VK_KHR_shader_integer_dot_product");
    mf_arena_release(&m.arena);
}

static void test_scalar_fixture(void **state) {
    (void)state;
    struct measured m;
    measure_fixture("scalar", &m);
    versions_are(&m, 1, 3);
    assert_int_equal(m.requires_.workgroup_bytes, 4);
    features_are(&m, "scalarBlockLayout shaderSharedFloat32AtomicAdd uniformBufferStandardLayout",
                 "VK_EXT_scalar_block_layout VK_EXT_shader_atomic_float "
                 "VK_KHR_uniform_buffer_standard_layout");
    mf_arena_release(&m.arena);
}

static void test_local_size_id_fixture(void **state) {
    (void)state;
    struct measured m;
    measure_fixture("local_size_id", &m);
    versions_are(&m, 2, 4);
    local_size_is(&m, 8, 3, 1);
    features_are(&m, "maintenance4", "VK_KHR_maintenance4");
    mf_arena_release(&m.arena);
}

/* Everything but the module's own: capabilities, an extension or NULL, and a mode or 0. */
static void make_with(struct spirv_make *make, uint32_t version, const uint32_t *capabilities,
                      size_t capability_count, const char *extension, uint32_t mode) {
    spirv_make_begin(make, version, 64);
    SPIRV_OP(make, 17, 1);
    for (size_t i = 0; i < capability_count; i++)
        SPIRV_OP(make, 17, capabilities[i]);
    if (extension != NULL)
        spirv_make_text(make, 10, NULL, 0, extension, NULL, 0);
    SPIRV_OP(make, 14, 0, 1);
    spirv_make_text(make, 15, (const uint32_t[]){5, 1}, 2, "main", NULL, 0);
    SPIRV_OP(make, 16, 1, 17, 8, 1, 1);
    if (mode != 0)
        SPIRV_OP(make, 16, 1, mode);
    SPIRV_OP(make, 19, 3);
    SPIRV_OP(make, 33, 4, 3);
}

static void make_end(struct spirv_make *make) {
    SPIRV_OP(make, 54, 3, 1, 0, 4);
    SPIRV_OP(make, 248, 5);
    SPIRV_OP0(make, 253);
    SPIRV_OP0(make, 56);
}

static void test_versions(void **state) {
    (void)state;
    static const uint32_t minors[][2] = {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 2}, {5, 2}, {6, 3}};
    for (size_t i = 0; i < sizeof minors / sizeof *minors; i++) {
        struct spirv_make make;
        struct measured m;
        make_with(&make, 0x00010000 | minors[i][0] << 8, (const uint32_t[]){9, 6019}, 2, NULL, 0);
        make_end(&make);
        measure_make(&make, &m);
        assert_int_equal(m.result, KILN_OK);
        versions_are(&m, minors[i][1], minors[i][0]);
        /* Float16 is core in 1.2, integer dot products in 1.3 */
        static const char *const extensions[] = {
            "VK_KHR_shader_float16_int8 VK_KHR_shader_integer_dot_product",
            "VK_KHR_shader_integer_dot_product",
            "",
        };
        features_are(&m, "shaderFloat16 shaderIntegerDotProduct", extensions[minors[i][1] - 1]);
        mf_arena_release(&m.arena);
    }
}

static void test_kept_fields(void **state) {
    (void)state;
    struct spirv_make make;
    struct gs_module module;
    struct mf_arena arena = {0};
    struct mf_requires requires_ = {.push_bytes = 24, .subgroup_size = 32};
    make_with(&make, 0x00010300, NULL, 0, NULL, 0);
    make_end(&make);
    assert_int_equal(gs_module_read(make.words, make.word_count * 4, NULL, &module, NULL), KILN_OK);
    assert_int_equal(gs_module_requirements(&module, &arena, &requires_, NULL), KILN_OK);
    assert_int_equal(requires_.push_bytes, 24);
    assert_int_equal(requires_.subgroup_size, 32);
    mf_arena_release(&arena);
    gs_module_release(&module);
    spirv_make_release(&make);
}

static void unsupported(struct spirv_make *make, const char *expected) {
    struct measured m;
    measure_make(make, &m);
    assert_int_equal(m.result, KILN_ERR_UNSUPPORTED);
    if (strstr(m.error.message, expected) == NULL)
        fail_msg("expected '%s' in '%s'", expected, m.error.message);
    assert_int_equal(m.requires_.vulkan_major, 0); /* untouched */
    mf_arena_release(&m.arena);
}

static void test_unknown_is_unsupported(void **state) {
    (void)state;
    /* Kernel, Geometry, RayQueryKHR, RoundingModeRTE, and a number that nobody has */
    static const uint32_t capabilities[] = {6, 2, 4472, 4467, 9999};
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        struct spirv_make make;
        char expected[64];
        snprintf(expected, sizeof expected, "capability %u", capabilities[i]);
        make_with(&make, 0x00010300, &capabilities[i], 1, NULL, 0);
        make_end(&make);
        unsupported(&make, expected);
    }
    struct spirv_make make;
    make_with(&make, 0x00010300, NULL, 0, "SPV_KHR_ray_query", 0);
    make_end(&make);
    unsupported(&make, "SPV_KHR_ray_query");
    make_with(&make, 0x00010300, NULL, 0, NULL, 4461); /* SignedZeroInfNanPreserve */
    make_end(&make);
    unsupported(&make, "execution mode 4461");
}

static void test_modes(void **state) {
    (void)state;
    struct spirv_make make;
    struct measured m;
    make_with(&make, 0x00010600, NULL, 0, "SPV_KHR_maximal_reconvergence", 6023);
    make_end(&make);
    measure_make(&make, &m);
    features_are(&m, "shaderMaximalReconvergence", "VK_KHR_shader_maximal_reconvergence");
    mf_arena_release(&m.arena);
}

static void test_implied_capabilities(void **state) {
    (void)state;
    struct spirv_make make;
    struct measured m;
    /* UniformAndStorageBuffer8BitAccess, DotProductInput4x8Bit, GroupNonUniformRotateKHR */
    make_with(&make, 0x00010600, (const uint32_t[]){4449, 6017, 6026}, 3, NULL, 0);
    make_end(&make);
    measure_make(&make, &m);
    features_are(&m,
                 "shaderInt8 shaderIntegerDotProduct shaderSubgroupRotate storageBuffer8BitAccess "
                 "uniformAndStorageBuffer8BitAccess",
                 "VK_KHR_shader_subgroup_rotate");
    names_are(m.requires_.subgroup_operations, m.requires_.subgroup_operation_count,
              "basic rotate");
    names_are(m.requires_.capabilities, m.requires_.capability_count,
              "DotProductInput4x8Bit GroupNonUniformRotateKHR Shader "
              "UniformAndStorageBuffer8BitAccess");
    mf_arena_release(&m.arena);
}

/* Ids from 10: u32 10, i32 11, u64 12, f16 13, bool 14, f32 15; constants 2, 3, -7 of i32; 5 u32.
 */
static void make_types(struct spirv_make *make) {
    make_with(make, 0x00010300, NULL, 0, NULL, 0);
    SPIRV_OP(make, 21, 10, 32, 0);
    SPIRV_OP(make, 21, 11, 32, 1);
    SPIRV_OP(make, 21, 12, 64, 0);
    SPIRV_OP(make, 22, 13, 16);
    SPIRV_OP(make, 20, 14);
    SPIRV_OP(make, 22, 15, 32);
    SPIRV_OP(make, 43, 11, 20, 2);
    SPIRV_OP(make, 50, 11, 21, 3);
    SPIRV_OP(make, 50, 11, 22, 0xfffffff9);
    SPIRV_OP(make, 43, 10, 23, 5);
    SPIRV_OP(make, 48, 14, 24);       /* OpSpecConstantTrue */
    SPIRV_OP(make, 43, 12, 25, 0, 1); /* 2^32 */
    SPIRV_OP(make, 43, 10, 26, 0);
}

/* Adds `shared T v;` with T = type_id, as variable 61 by pointer 60, and measures. */
static void workgroup_is(struct spirv_make *make, uint32_t type_id, uint32_t expected) {
    struct measured m;
    SPIRV_OP(make, 32, 60, 4, type_id);
    SPIRV_OP(make, 59, 60, 61, 4);
    make_end(make);
    measure_make(make, &m);
    if (m.result != KILN_OK)
        fail_msg("%s", m.error.message);
    assert_int_equal(m.requires_.workgroup_bytes, expected);
    mf_arena_release(&m.arena);
}

static void test_workgroup_types(void **state) {
    (void)state;
    struct spirv_make make;
    make_types(&make);
    workgroup_is(&make, 14, 4); /* a bool is 4 bytes */
    make_types(&make);
    workgroup_is(&make, 12, 8);
    make_types(&make);
    SPIRV_OP(&make, 23, 30, 15, 3); /* vec3 */
    SPIRV_OP(&make, 28, 31, 30, 23);
    workgroup_is(&make, 31, 5 * 12);
    make_types(&make);
    SPIRV_OP(&make, 30, 30, 13, 10, 13); /* {f16, u32, f16}: 2, pad, 4, 2, pad */
    SPIRV_OP(&make, 28, 31, 30, 23);
    workgroup_is(&make, 31, 5 * 12);
    make_types(&make);
    SPIRV_OP(&make, 23, 30, 15, 4);
    SPIRV_OP(&make, 24, 31, 30, 3); /* mat3x4 */
    workgroup_is(&make, 31, 48);
    make_types(&make); /* two variables: 3 halves, then a u32 at the next multiple of 4 */
    SPIRV_OP(&make, 28, 30, 13, 21);
    SPIRV_OP(&make, 32, 40, 4, 30);
    SPIRV_OP(&make, 59, 40, 41, 4);
    workgroup_is(&make, 10, 12);
}

static void test_specialised_lengths(void **state) {
    (void)state;
    static const struct {
        uint32_t opcode, a, b, expected; /* bytes: 4 an element */
    } cases[] = {
        {128, 20, 21, 4 * 5},  /* IAdd 2 + 3 */
        {130, 21, 20, 4 * 1},  /* ISub */
        {132, 23, 21, 4 * 15}, /* IMul */
        {134, 23, 20, 4 * 2},  /* UDiv 5 / 2 */
        {137, 23, 21, 4 * 2},  /* UMod 5 % 3 */
        {139, 22, 21, 4 * 2},  /* SMod -7 mod 3 = 2 */
        {194, 23, 20, 4 * 1},  /* ShiftRightLogical 5 >> 2 */
        {196, 23, 21, 4 * 40}, /* ShiftLeftLogical 5 << 3 */
        {197, 23, 20, 4 * 7},  /* BitwiseOr 5 | 2 */
        {198, 23, 21, 4 * 6},  /* BitwiseXor 5 ^ 3 */
        {199, 23, 21, 4 * 1},  /* BitwiseAnd 5 & 3 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct spirv_make make;
        make_types(&make);
        SPIRV_OP(&make, 52, 10, 30, cases[i].opcode, cases[i].a, cases[i].b);
        SPIRV_OP(&make, 28, 31, 10, 30);
        workgroup_is(&make, 31, cases[i].expected);
    }
    /* (-7 rem 3) = -1, (-7 / 3) = -2, (-7 >> 1) = -4: negated to be lengths */
    static const uint32_t negated[][4] = {{138, 22, 21, 1}, {135, 22, 21, 2}, {195, 22, 20, 2}};
    for (size_t i = 0; i < 3; i++) {
        struct spirv_make make;
        make_types(&make);
        SPIRV_OP(&make, 52, 11, 30, negated[i][0], negated[i][1], negated[i][2]);
        SPIRV_OP(&make, 52, 11, 31, 126, 30); /* SNegate */
        SPIRV_OP(&make, 28, 32, 10, 31);
        workgroup_is(&make, 32, 4 * negated[i][3]);
    }
}

static void test_specialised_choices(void **state) {
    (void)state;
    struct spirv_make make;
    make_types(&make);
    SPIRV_OP(&make, 52, 14, 30, 177, 22, 20);     /* SLessThan -7 < 2: true */
    SPIRV_OP(&make, 52, 14, 31, 176, 22, 20);     /* ULessThan: false */
    SPIRV_OP(&make, 52, 14, 32, 167, 30, 31);     /* LogicalAnd: false */
    SPIRV_OP(&make, 52, 10, 33, 169, 32, 23, 21); /* Select: 3 */
    SPIRV_OP(&make, 52, 10, 34, 169, 24, 23, 21); /* Select by the bool constant: 5 */
    SPIRV_OP(&make, 52, 10, 35, 132, 33, 34);     /* 15 */
    SPIRV_OP(&make, 28, 36, 10, 35);
    workgroup_is(&make, 36, 60);
    make_types(&make); /* extraction from a composite, conversion of width */
    SPIRV_OP(&make, 23, 30, 11, 3);
    SPIRV_OP(&make, 51, 30, 31, 20, 21, 22);
    SPIRV_OP(&make, 52, 11, 32, 81, 31, 1); /* 3 */
    SPIRV_OP(&make, 52, 12, 33, 113, 32);   /* UConvert to u64 */
    SPIRV_OP(&make, 28, 34, 10, 33);
    workgroup_is(&make, 34, 12);
}

static void workgroup_refused(struct spirv_make *make, uint32_t type_id, enum kiln_result code,
                              const char *expected) {
    struct measured m;
    SPIRV_OP(make, 32, 60, 4, type_id);
    SPIRV_OP(make, 59, 60, 61, 4);
    make_end(make);
    measure_make(make, &m);
    assert_int_equal(m.result, code);
    if (strstr(m.error.message, expected) == NULL)
        fail_msg("expected '%s' in '%s'", expected, m.error.message);
    mf_arena_release(&m.arena);
}

static void test_unknown_workgroup_sizes(void **state) {
    (void)state;
    struct spirv_make make;
    const char *unknown = "size of Workgroup variable 61 is not known";
    make_types(&make); /* division by zero */
    SPIRV_OP(&make, 52, 10, 30, 134, 23, 26);
    SPIRV_OP(&make, 28, 31, 10, 30);
    workgroup_refused(&make, 31, KILN_ERR_UNSUPPORTED, unknown);
    make_types(&make); /* a shift beyond the width */
    SPIRV_OP(&make, 43, 10, 33, 32);
    SPIRV_OP(&make, 52, 10, 30, 196, 23, 33);
    SPIRV_OP(&make, 28, 31, 10, 30);
    workgroup_refused(&make, 31, KILN_ERR_UNSUPPORTED, unknown);
    make_types(&make); /* a length that is defined only later */
    SPIRV_OP(&make, 28, 31, 10, 30);
    SPIRV_OP(&make, 43, 10, 30, 4);
    workgroup_refused(&make, 31, KILN_ERR_UNSUPPORTED, unknown);
    make_types(&make);
    SPIRV_OP(&make, 29, 31, 10); /* a runtime array */
    workgroup_refused(&make, 31, KILN_ERR_UNSUPPORTED, unknown);
    make_types(&make); /* 2^32 * 2^32 * 4: beyond 64 bits */
    SPIRV_OP(&make, 28, 30, 10, 25);
    SPIRV_OP(&make, 28, 31, 30, 25);
    workgroup_refused(&make, 31, KILN_ERR_LIMIT, "Workgroup variables take 18446744073709551615");
    make_types(&make);
    SPIRV_OP(&make, 28, 30, 10, 25);
    workgroup_refused(&make, 30, KILN_ERR_LIMIT, "take 17179869184 bytes, expected at most");
}

/* Explicitly laid out Workgroup blocks alias each other: only the largest counts. */
static void test_explicit_workgroup_blocks(void **state) {
    (void)state;
    struct spirv_make make;
    struct measured m;
    spirv_make_begin(&make, 0x00010400, 64);
    SPIRV_OP(&make, 17, 1);
    SPIRV_OP(&make, 17, 4428);
    spirv_make_text(&make, 10, NULL, 0, "SPV_KHR_workgroup_memory_explicit_layout", NULL, 0);
    SPIRV_OP(&make, 14, 0, 1);
    spirv_make_text(&make, 15, (const uint32_t[]){5, 1}, 2, "main", NULL, 0);
    SPIRV_OP(&make, 16, 1, 17, 8, 1, 1);
    SPIRV_OP(&make, 71, 20, 2);         /* Block */
    SPIRV_OP(&make, 72, 20, 0, 35, 0);  /* Offset 0 */
    SPIRV_OP(&make, 72, 20, 1, 35, 32); /* Offset 32 */
    SPIRV_OP(&make, 71, 21, 2);
    SPIRV_OP(&make, 72, 21, 0, 35, 16);
    SPIRV_OP(&make, 71, 13, 6, 8); /* ArrayStride 8 */
    SPIRV_OP(&make, 19, 3);
    SPIRV_OP(&make, 33, 4, 3);
    SPIRV_OP(&make, 21, 10, 32, 0);
    SPIRV_OP(&make, 43, 10, 11, 6);
    SPIRV_OP(&make, 28, 13, 10, 11); /* u32[6] in steps of 8 */
    SPIRV_OP(&make, 30, 20, 10, 10); /* ends at 36 */
    SPIRV_OP(&make, 30, 21, 13);     /* ends at 16 + 48 */
    SPIRV_OP(&make, 32, 30, 4, 20);
    SPIRV_OP(&make, 32, 31, 4, 21);
    SPIRV_OP(&make, 32, 32, 4, 10);
    SPIRV_OP(&make, 59, 30, 40, 4);
    SPIRV_OP(&make, 59, 31, 41, 4);
    SPIRV_OP(&make, 59, 32, 42, 4); /* 4 bytes more */
    make_end(&make);
    measure_make(&make, &m);
    assert_int_equal(m.result, KILN_OK);
    assert_int_equal(m.requires_.workgroup_bytes, 64 + 4);
    features_are(&m, "workgroupMemoryExplicitLayout", "VK_KHR_workgroup_memory_explicit_layout");
    mf_arena_release(&m.arena);
}

static void test_zero_initialised(void **state) {
    (void)state;
    struct spirv_make make;
    struct measured m;
    make_types(&make);
    SPIRV_OP(&make, 46, 10, 30); /* OpConstantNull */
    SPIRV_OP(&make, 32, 60, 4, 10);
    SPIRV_OP(&make, 59, 60, 61, 4, 30);
    make_end(&make);
    measure_make(&make, &m);
    features_are(&m, "shaderZeroInitializeWorkgroupMemory",
                 "VK_KHR_zero_initialize_workgroup_memory");
    mf_arena_release(&m.arena);
}

/* One atomic on a variable of a storage class and a type; words of the instruction after opcode. */
static void atomic_is(uint32_t capability, uint32_t storage_class, uint16_t type_op,
                      uint32_t width_bits, uint16_t opcode, const char *features,
                      const char *extensions) {
    struct spirv_make make;
    struct measured m;
    make_with(&make, 0x00010300, &capability, 1, NULL, 0);
    if (type_op == 21)
        SPIRV_OP(&make, 21, 10, width_bits, 0);
    else
        SPIRV_OP(&make, 22, 10, width_bits);
    SPIRV_OP(&make, 32, 11, storage_class, 10);
    SPIRV_OP(&make, 21, 12, 32, 1);
    SPIRV_OP(&make, 43, 12, 13, 1);
    SPIRV_OP(&make, 46, 10, 14);
    SPIRV_OP(&make, 59, 11, 15, storage_class);
    SPIRV_OP(&make, 54, 3, 1, 0, 4);
    SPIRV_OP(&make, 248, 5);
    if (opcode == 228) /* OpAtomicStore: pointer, scope, semantics, value */
        SPIRV_OP(&make, 228, 15, 13, 13, 14);
    else if (opcode != 0)
        SPIRV_OP(&make, opcode, 10, 16, 15, 13, 13, 14);
    SPIRV_OP0(&make, 253);
    SPIRV_OP0(&make, 56);
    measure_make(&make, &m);
    if (m.result != KILN_OK)
        fail_msg("%s", m.error.message);
    features_are(&m, features, extensions);
    mf_arena_release(&m.arena);
}

static void test_atomics(void **state) {
    (void)state;
    static const char one[] = "VK_EXT_shader_atomic_float";
    static const char two[] = "VK_EXT_shader_atomic_float2";
    atomic_is(6033, 12, 22, 32, 6035, "shaderBufferFloat32AtomicAdd", one);
    atomic_is(6033, 4, 22, 32, 6035, "shaderSharedFloat32AtomicAdd", one);
    atomic_is(6034, 12, 22, 64, 6035, "shaderBufferFloat64AtomicAdd", one);
    atomic_is(6095, 4, 22, 16, 6035, "shaderSharedFloat16AtomicAdd", two);
    atomic_is(5612, 12, 22, 32, 5614, "shaderBufferFloat32AtomicMinMax", two);
    atomic_is(5612, 4, 22, 32, 5615, "shaderSharedFloat32AtomicMinMax", two);
    atomic_is(12, 12, 21, 64, 234, "shaderBufferInt64Atomics shaderInt64",
              "VK_KHR_shader_atomic_int64");
    atomic_is(12, 4, 21, 64, 228, "shaderInt64 shaderSharedInt64Atomics",
              "VK_KHR_shader_atomic_int64");
    atomic_is(1, 4, 22, 32, 229, "shaderSharedFloat32Atomics", one);
    atomic_is(1, 12, 22, 32, 228, "shaderBufferFloat32Atomics", one);
    atomic_is(1, 12, 21, 32, 234, "", "");
    /* declared and not used: one of the features has to be there all the same */
    atomic_is(6033, 12, 22, 32, 0, "shaderBufferFloat32AtomicAdd", one);
}

/* A storage block of two members at these offsets; which layout features does it need? */
static void layout_is(uint32_t storage_class, uint32_t first_type, uint32_t second_type,
                      uint32_t second_offset, const char *features) {
    struct spirv_make make;
    struct measured m;
    spirv_make_begin(&make, 0x00010500, 64);
    SPIRV_OP(&make, 17, 1);
    SPIRV_OP(&make, 14, 0, 1);
    spirv_make_text(&make, 15, (const uint32_t[]){5, 1}, 2, "main", (const uint32_t[]){41}, 1);
    SPIRV_OP(&make, 16, 1, 17, 8, 1, 1);
    SPIRV_OP(&make, 71, 30, 2); /* Block */
    SPIRV_OP(&make, 72, 30, 0, 35, 0);
    SPIRV_OP(&make, 72, 30, 1, 35, second_offset);
    SPIRV_OP(&make, 72, 16, 0, 35, 0); /* inner struct {f32, f16} */
    SPIRV_OP(&make, 72, 16, 1, 35, 4);
    SPIRV_OP(&make, 71, 17, 6, 4); /* array of f32, stride 4 */
    SPIRV_OP(&make, 19, 3);
    SPIRV_OP(&make, 33, 4, 3);
    SPIRV_OP(&make, 22, 10, 32);
    SPIRV_OP(&make, 22, 11, 16);
    SPIRV_OP(&make, 21, 12, 32, 0);
    SPIRV_OP(&make, 43, 12, 13, 2);
    SPIRV_OP(&make, 23, 14, 10, 2); /* vec2 */
    SPIRV_OP(&make, 23, 15, 10, 3); /* vec3 */
    SPIRV_OP(&make, 30, 16, 10, 11);
    SPIRV_OP(&make, 28, 17, 10, 13);
    SPIRV_OP(&make, 30, 30, first_type, second_type);
    SPIRV_OP(&make, 32, 40, storage_class, 30);
    SPIRV_OP(&make, 59, 40, 41, storage_class);
    make_end(&make);
    measure_make(&make, &m);
    assert_int_equal(m.result, KILN_OK);
    features_are(&m, features, "");
    mf_arena_release(&m.arena);
}

static void test_block_layouts(void **state) {
    (void)state;
    static const char scalar[] = "scalarBlockLayout";
    static const char uniform[] = "uniformBufferStandardLayout";
    layout_is(12, 10, 14, 8, "");
    layout_is(12, 10, 14, 4, "");      /* relaxed: a vec2 at 4 stays inside 16 bytes */
    layout_is(12, 10, 14, 12, scalar); /* and at 12 it does not */
    layout_is(12, 10, 15, 4, "");      /* vec3 at 4 to 15 */
    layout_is(12, 10, 15, 8, scalar);  /* vec3 at 8 to 19 */
    layout_is(12, 16, 11, 8, "");      /* after {f32, f16}: its end is 6, padded to 8 */
    layout_is(12, 16, 11, 6, scalar);  /* in its tail padding */
    layout_is(9, 16, 11, 6, scalar);   /* push constants follow the same rule */
    layout_is(6, 16, 11, 6, "");       /* Private has no layout */
    layout_is(12, 10, 16, 4, "");      /* a struct of alignment 4 in a storage block */
    layout_is(2, 10, 14, 8, "");       /* uniform blocks: vectors as anywhere */
    layout_is(2, 10, 16, 4, uniform);  /* structs at multiples of 16 */
    layout_is(2, 10, 17, 16, uniform); /* array stride 4 */
    layout_is(2, 10, 14, 12, scalar);
}

static void subgroup_is(const uint32_t *capabilities, size_t capability_count, uint16_t type_op,
                        uint32_t width_bits, const uint32_t *words, size_t word_count,
                        const char *features, const char *operations) {
    struct spirv_make make;
    struct measured m;
    make_with(&make, 0x00010500, capabilities, capability_count, NULL, 0);
    if (type_op == 21)
        SPIRV_OP(&make, 21, 10, width_bits, 0);
    else
        SPIRV_OP(&make, 22, 10, width_bits);
    SPIRV_OP(&make, 20, 11);
    if (type_op != 21 || width_bits != 32)
        SPIRV_OP(&make, 21, 12, 32, 0);
    else
        SPIRV_OP(&make, 21, 12, 32, 1);
    SPIRV_OP(&make, 43, 12, 13, 3);
    SPIRV_OP(&make, 46, 10, 14);
    SPIRV_OP(&make, 23, 15, 10, 2);
    SPIRV_OP(&make, 46, 15, 16);
    SPIRV_OP(&make, 54, 3, 1, 0, 4);
    SPIRV_OP(&make, 248, 5);
    spirv_make_words(&make, words, word_count);
    SPIRV_OP0(&make, 253);
    SPIRV_OP0(&make, 56);
    measure_make(&make, &m);
    if (m.result != KILN_OK)
        fail_msg("%s", m.error.message);
    names_are(m.requires_.features, m.requires_.feature_count, features);
    names_are(m.requires_.subgroup_operations, m.requires_.subgroup_operation_count, operations);
    mf_arena_release(&m.arena);
}

static void test_subgroup_types(void **state) {
    (void)state;
    static const char extended[] = "shaderSubgroupExtendedTypes";
    static const uint32_t vote[] = {61, 62};
    static const uint32_t arithmetic[] = {61, 63};
    static const uint32_t rotate[] = {6026};
    /* OpGroupNonUniformAllEqual %bool %20 scope value; ...IAdd type result scope Reduce value */
    static const uint32_t all_equal[] = {5u << 16 | 336, 11, 20, 13, 14};
    static const uint32_t vector_equal[] = {5u << 16 | 336, 11, 20, 13, 16};
    static const uint32_t add[] = {6u << 16 | 349, 10, 20, 13, 0, 14};
    static const uint32_t turn[] = {6u << 16 | 4431, 10, 20, 13, 14, 13};
    static const uint32_t turn_in[] = {7u << 16 | 4431, 10, 20, 13, 14, 13, 13};
    subgroup_is(vote, 2, 21, 32, all_equal, 5, "", "basic vote");
    subgroup_is(vote, 2, 21, 8, all_equal, 5, extended, "basic vote");
    subgroup_is(vote, 2, 22, 16, vector_equal, 5, extended, "basic vote");
    subgroup_is(vote, 2, 22, 64, all_equal, 5, "", "basic vote");
    subgroup_is(arithmetic, 2, 21, 32, add, 6, "", "arithmetic basic");
    subgroup_is(arithmetic, 2, 21, 16, add, 6, extended, "arithmetic basic");
    subgroup_is(arithmetic, 2, 21, 64, add, 6, extended, "arithmetic basic");
    subgroup_is(rotate, 1, 21, 32, turn, 6, "shaderSubgroupRotate", "basic rotate");
    subgroup_is(rotate, 1, 21, 32, turn_in, 7, "shaderSubgroupRotate shaderSubgroupRotateClustered",
                "basic rotate rotate_clustered");
}

static void test_workgroup_scope_matrix(void **state) {
    (void)state;
    for (uint32_t scope = 2; scope <= 3; scope++) {
        struct spirv_make make;
        struct measured m;
        make_with(&make, 0x00010600, (const uint32_t[]){6022}, 1, "SPV_KHR_cooperative_matrix", 0);
        SPIRV_OP(&make, 21, 10, 32, 0);
        SPIRV_OP(&make, 22, 11, 32);
        SPIRV_OP(&make, 43, 10, 12, scope);
        SPIRV_OP(&make, 43, 10, 13, 16);
        SPIRV_OP(&make, 4456, 14, 11, 12, 13, 13, 12);
        make_end(&make);
        measure_make(&make, &m);
        features_are(&m,
                     scope == 2 ? "cooperativeMatrix cooperativeMatrixFlexibleDimensions "
                                  "cooperativeMatrixWorkgroupScope"
                                : "cooperativeMatrix",
                     scope == 2 ? "VK_KHR_cooperative_matrix VK_NV_cooperative_matrix2"
                                : "VK_KHR_cooperative_matrix");
        mf_arena_release(&m.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interface_fixture),
        cmocka_unit_test(test_coopmat_fixture),
        cmocka_unit_test(test_subgroup_fixture),
        cmocka_unit_test(test_scalar_fixture),
        cmocka_unit_test(test_local_size_id_fixture),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_kept_fields),
        cmocka_unit_test(test_unknown_is_unsupported),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_implied_capabilities),
        cmocka_unit_test(test_workgroup_types),
        cmocka_unit_test(test_specialised_lengths),
        cmocka_unit_test(test_specialised_choices),
        cmocka_unit_test(test_unknown_workgroup_sizes),
        cmocka_unit_test(test_explicit_workgroup_blocks),
        cmocka_unit_test(test_zero_initialised),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_block_layouts),
        cmocka_unit_test(test_subgroup_types),
        cmocka_unit_test(test_workgroup_scope_matrix),
    };
    return cmocka_run_group_tests_name("requires", tests, NULL, NULL);
}
