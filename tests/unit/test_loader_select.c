/* SPDX-License-Identifier: MIT */
/* Requirements and selection on made-up devices and manifests: no Vulkan at all. */
#include "kiln/kiln_select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The least that Vulkan 1.1 promises (specification, "Required Limits"). */
static struct kiln_device_info plain_device(void) {
    return (struct kiln_device_info){.name = "Plain",
                                     .type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
                                     .api_version = VK_API_VERSION_1_1,
                                     .subgroup_size = 32,
                                     .subgroup_size_min = 32,
                                     .subgroup_size_max = 32,
                                     .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT,
                                     .limits = {.max_storage_buffer_range_bytes = 134217728,
                                                .storage_offset_alignment_bytes = 256,
                                                .max_buffer_bytes = 1073741824,
                                                .max_allocation_bytes = 1073741824,
                                                .max_group_count = {65535, 65535, 65535},
                                                .max_local_size = {128, 128, 64},
                                                .max_local_invocations = 128,
                                                .max_workgroup_bytes = 16384,
                                                .max_push_bytes = 128,
                                                .max_storage_buffers = 4,
                                                .max_descriptor_sets = 4}};
}

#define TUPLE(m_, n_, k_, a_, b_, c_, result_, scope_, saturating_)                                \
    {                                                                                              \
        .m = (m_), .n = (n_), .k = (k_), .a = VK_COMPONENT_TYPE_##a_##_KHR,                        \
        .b = VK_COMPONENT_TYPE_##b_##_KHR, .c = VK_COMPONENT_TYPE_##c_##_KHR,                      \
        .result = VK_COMPONENT_TYPE_##result_##_KHR, .scope = VK_SCOPE_##scope_##_KHR,             \
        .saturating = (saturating_)                                                                \
    }

/* A device with everything. */
static const struct kiln_coopmat_tuple big_tuples[] = {
    TUPLE(16, 8, 16, FLOAT16, FLOAT16, FLOAT32, FLOAT32, SUBGROUP, false),
    TUPLE(16, 16, 32, SINT8, SINT8, SINT32, SINT32, SUBGROUP, false),
    /* What no artifact can use. */
    TUPLE(16, 16, 16, FLOAT16, FLOAT16, FLOAT32, FLOAT32, WORKGROUP, false),
    TUPLE(16, 8, 32, SINT8, SINT8, SINT32, SINT32, SUBGROUP, true),
    TUPLE(1, 8, 32, UINT8, SINT8, SINT32, SINT32, SUBGROUP, false),
    TUPLE(2, 8, 32, SINT8, UINT8, SINT32, SINT32, SUBGROUP, false),
    TUPLE(3, 8, 32, SINT8, SINT8, UINT32, SINT32, SUBGROUP, false),
    TUPLE(4, 8, 32, SINT8, SINT8, SINT32, UINT32, SUBGROUP, false),
};
#define GRANULARITY(m_, n_, k_, type_, sum_, scope_, saturating_, invocations_)                    \
    {                                                                                              \
        .m = (m_), .n = (n_), .k = (k_), .a = VK_COMPONENT_TYPE_##type_##_KHR,                     \
        .b = VK_COMPONENT_TYPE_##type_##_KHR, .c = VK_COMPONENT_TYPE_##sum_##_KHR,                 \
        .result = VK_COMPONENT_TYPE_##sum_##_KHR, .scope = VK_SCOPE_##scope_##_KHR,                \
        .saturating = (saturating_), .invocations = (invocations_)                                 \
    }

static const struct kiln_coopmat_granularity big_granularities[] = {
    GRANULARITY(32, 64, 16, FLOAT16, FLOAT32, WORKGROUP, false, 256),
    GRANULARITY(96, 32, 16, FLOAT16, FLOAT32, WORKGROUP, false, 128),
    GRANULARITY(16, 96, 16, FLOAT16, FLOAT32, WORKGROUP, false, 128),
    GRANULARITY(32, 32, 32, SINT8, SINT32, WORKGROUP, false, 256),
    /* What no artifact can use. */
    GRANULARITY(1, 1, 1, FLOAT16, FLOAT32, SUBGROUP, false, 0),
    GRANULARITY(1, 1, 1, FLOAT16, FLOAT16, WORKGROUP, false, 256),
    GRANULARITY(1, 1, 1, UINT8, UINT32, WORKGROUP, true, 256),
    GRANULARITY(0, 0, 0, FLOAT16, FLOAT32, WORKGROUP, false, 64),
};
static const char *const big_extensions[] = {"VK_KHR_cooperative_matrix"};

static struct kiln_device_info big_device(void) {
    struct kiln_device_info info = plain_device();
    snprintf(info.name, sizeof(info.name), "Big");
    info.api_version = VK_API_VERSION_1_3;
    info.subgroup_operations = 0xff;
    info.subgroup_size_pinnable = true;
    info.subgroup_size_min = 16;
    info.subgroup_size_max = 64;
    info.packed_dot_accelerated = true;
    info.limits.max_local_size[0] = info.limits.max_local_invocations = 1024;
    info.limits.max_workgroup_subgroups = 16;
    info.limits.max_workgroup_bytes = 49152;
    for (size_t i = 0; i < kiln_feature_count(); i++) {
        kiln_feature_put(&info.features, kiln_feature_name(i), true);
    }
    info.extensions = big_extensions;
    info.extension_count = 1;
    info.coopmat = big_tuples;
    info.coopmat_count = sizeof(big_tuples) / sizeof(big_tuples[0]);
    info.coopmat_flexible = big_granularities;
    info.coopmat_flexible_count = sizeof(big_granularities) / sizeof(big_granularities[0]);
    info.coopmat_dimension_max = 1024;
    info.coopmat_invocations_max = 1024;
    info.coopmat_workgroup_bytes = 16384;
    return info;
}

static const char *const dtypes_q4_k[] = {"q4_k", "f32"};
static const char *const dims_matvec[] = {"nout", "k"};
static const char *const capability_shader[] = {"Shader"};

static struct mf_artifact artifact_of(const char *name, const char *tier) {
    return (struct mf_artifact){.name = name,
                                .family = "matvec",
                                .kernel = "matvec",
                                .dtypes = dtypes_q4_k,
                                .dtype_count = 2,
                                .shape = "any",
                                .schedule = "row",
                                .tier = tier,
                                .requires_ = {.vulkan_major = 1,
                                              .vulkan_minor = 1,
                                              .spirv_major = 1,
                                              .spirv_minor = 3,
                                              .local_size = {64, 1, 1},
                                              .capabilities = capability_shader,
                                              .capability_count = 1},
                                .dims = dims_matvec,
                                .dim_count = 2};
}

static void expect_lack(const struct kiln_device_info *info, const struct mf_artifact *artifact,
                        const char *missing) {
    struct kiln_error error = {0};
    enum kiln_result result = kiln_requirements_check(info, artifact, &error);
    if (!missing) {
        if (result != KILN_OK) {
            fail_msg("%s", error.message);
        }
        return;
    }
    char expected[KILN_ERROR_MESSAGE_BYTES];
    snprintf(expected, sizeof(expected), "%s: %s lacks: %s", artifact->name, info->name, missing);
    assert_int_equal(result, KILN_ERR_UNSUPPORTED);
    assert_string_equal(error.message, expected);
}

static void test_feature_names(void **state) {
    (void)state;
    static const char *const needed[] = {"shaderFloat16",
                                         "storageBuffer16BitAccess",
                                         "storageBuffer8BitAccess",
                                         "shaderInt8",
                                         "shaderInt16",
                                         "shaderInt64",
                                         "cooperativeMatrix",
                                         "subgroupSizeControl",
                                         "shaderIntegerDotProduct",
                                         "computeFullSubgroups",
                                         "vulkanMemoryModel",
                                         "cooperativeMatrixReductions"};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        struct kiln_feature_set set = {{0, 0}};
        assert_false(kiln_feature_get(&set, needed[i]));
        assert_int_equal(kiln_feature_put(&set, needed[i], true), KILN_OK);
        assert_true(kiln_feature_get(&set, needed[i]));
        /* Exactly one feature is in the set. */
        size_t count = 0;
        for (size_t each = 0; each < kiln_feature_count(); each++) {
            count += kiln_feature_get(&set, kiln_feature_name(each));
        }
        assert_int_equal(count, 1);
        assert_int_equal(kiln_feature_put(&set, needed[i], false), KILN_OK);
        assert_int_equal(set.bits[0] | set.bits[1], 0);
    }
    struct kiln_feature_set set = {{0, 0}};
    assert_int_equal(kiln_feature_put(&set, "shaderFloat17", true), KILN_ERR_NOT_FOUND);
    assert_false(kiln_feature_get(&set, "shaderFloat17"));
    assert_null(kiln_feature_name(kiln_feature_count()));
}

static void test_versions(void **state) {
    (void)state;
    struct kiln_device_info info = plain_device();
    struct mf_artifact artifact = artifact_of("a", "portable");
    expect_lack(&info, &artifact, NULL);
    artifact.requires_.vulkan_minor = 2;
    artifact.requires_.spirv_minor = 5;
    expect_lack(&info, &artifact,
                "Vulkan 1.2 (the device has 1.1); SPIR-V 1.5 (the device takes 1.3)");
    info.api_version = VK_API_VERSION_1_2;
    expect_lack(&info, &artifact, NULL);
    artifact.requires_.spirv_minor = 6;
    expect_lack(&info, &artifact, "SPIR-V 1.6 (the device takes 1.5)");
    info.api_version = VK_API_VERSION_1_4;
    expect_lack(&info, &artifact, NULL);
    static const char *const spirv_1_4[] = {"VK_KHR_spirv_1_4"};
    info = plain_device();
    artifact.requires_.vulkan_minor = 1;
    artifact.requires_.spirv_minor = 4;
    expect_lack(&info, &artifact, "SPIR-V 1.4 (the device takes 1.3)");
    info.extensions = spirv_1_4;
    info.extension_count = 1;
    expect_lack(&info, &artifact, NULL);
}

static void test_names(void **state) {
    (void)state;
    static const char *const features[] = {"shaderFloat16", "shaderWarp"};
    static const char *const extensions[] = {"VK_KHR_8bit_storage", "VK_KHR_cooperative_matrix"};
    static const char *const capabilities[] = {"DotProductKHR", "Float16", "Shader",
                                               "Tessellation"};
    static const char *const operations[] = {"arithmetic", "basic"};
    struct kiln_device_info info = plain_device();
    struct mf_artifact artifact = artifact_of("a", "portable");
    artifact.requires_.features = features;
    artifact.requires_.feature_count = 2;
    artifact.requires_.extensions = extensions;
    artifact.requires_.extension_count = 2;
    artifact.requires_.capabilities = capabilities;
    artifact.requires_.capability_count = 4;
    artifact.requires_.subgroup_operations = operations;
    artifact.requires_.subgroup_operation_count = 2;
    expect_lack(&info, &artifact,
                "feature shaderFloat16; feature shaderWarp is not known to this loader; "
                "extension VK_KHR_8bit_storage; extension VK_KHR_cooperative_matrix; "
                "capability DotProductKHR needs shaderIntegerDotProduct; "
                "capability Float16 needs shaderFloat16; "
                "capability Tessellation is not known to this loader; "
                "subgroup operation arithmetic");
    /* VK_KHR_8bit_storage is part of Vulkan 1.2. */
    info = big_device();
    artifact.requires_.feature_count = 1;
    artifact.requires_.capability_count = 3;
    expect_lack(&info, &artifact, NULL);
    /* Subgroup operations that compute does not have show in the capability, too. */
    static const char *const arithmetic[] = {"GroupNonUniformArithmetic"};
    info.subgroup_operations = 1;
    artifact.requires_.capabilities = arithmetic;
    artifact.requires_.capability_count = 1;
    artifact.requires_.subgroup_operation_count = 0;
    expect_lack(&info, &artifact,
                "capability GroupNonUniformArithmetic needs its subgroup operations in compute");
}

static void test_limits(void **state) {
    (void)state;
    struct kiln_device_info info = plain_device();
    struct mf_artifact artifact = artifact_of("a", "portable");
    artifact.binding_count = 5;
    artifact.requires_.local_size[0] = 256;
    artifact.requires_.workgroup_bytes = 16385;
    artifact.requires_.push_bytes = 132;
    expect_lack(&info, &artifact,
                "local size 256 in x (limit 128); 256 invocations in a workgroup (limit 128); "
                "16385 bytes of workgroup memory (limit 16384); "
                "132 bytes of push constants (limit 128); 5 storage buffers (limit 4)");
    /* The product of three is taken in 64 bits: 2^22 · 2^22 · 2^22 is 0 in 64 and in 32. */
    artifact = artifact_of("a", "portable");
    for (size_t axis = 0; axis < 3; axis++) {
        info.limits.max_local_size[axis] = UINT32_MAX;
        artifact.requires_.local_size[axis] = 1u << 22;
    }
    struct kiln_error error = {0};
    assert_int_equal(kiln_requirements_check(&info, &artifact, &error), KILN_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "invocations in a workgroup (limit 128)"));
    artifact.requires_.local_size[1] = 0;
    assert_int_equal(kiln_requirements_check(&info, &artifact, &error), KILN_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "local size 0 in y"));
}

static void test_subgroup_size(void **state) {
    (void)state;
    struct kiln_device_info info = plain_device();
    struct mf_artifact artifact = artifact_of("a", "subgroup");
    artifact.requires_.subgroup_size = 32;
    expect_lack(&info, &artifact, NULL);
    artifact.requires_.subgroup_size = 16;
    expect_lack(&info, &artifact, "subgroup size 16 (the device has 32 and no size control)");
    info = big_device();
    expect_lack(&info, &artifact, NULL);
    artifact.requires_.subgroup_size = 8;
    expect_lack(&info, &artifact, "subgroup size 8 (the device has 16 to 64)");
    artifact.requires_.subgroup_size = 16;
    artifact.requires_.local_size[0] = 512;
    expect_lack(&info, &artifact, "512 invocations in subgroups of 16 (limit 16 subgroups)");
    /* SPIR-V 1.6 without control: the size varies unless there is only one. */
    artifact = artifact_of("a", "subgroup");
    artifact.requires_.subgroup_size = 32;
    artifact.requires_.spirv_minor = 6;
    info.subgroup_size_pinnable = false;
    expect_lack(&info, &artifact, "subgroup size 32 (the device has 32 and no size control)");
    info.subgroup_size_min = info.subgroup_size_max = 32;
    expect_lack(&info, &artifact, NULL);
}

static void test_tuples(void **state) {
    static const struct {
        const char *tuple, *component; /* NULL: no such axis */
        const char *lack;
    } rows[] = {
        {"16x8x16", NULL, NULL},
        {"16x8x16", "f16", NULL},
        {"16x16x32", "s8", NULL},
        /* Listed with workgroup scope, with saturation or with other types only. */
        {"16x16x16", NULL, "cooperative matrices of f16 16x16x16 (the driver lists 8 shapes)"},
        {"16x8x32", "s8", "cooperative matrices of s8 16x8x32 (the driver lists 8 shapes)"},
        {"16x8x16", "s8", "cooperative matrices of s8 16x8x16 (the driver lists 8 shapes)"},
        {"16x16x32", NULL, "cooperative matrices of f16 16x16x32 (the driver lists 8 shapes)"},
        {"16x16x32", "u8", "cooperative matrices of u8 16x16x32 (the driver lists 8 shapes)"},
        {"1x8x32", "s8", "cooperative matrices of s8 1x8x32 (the driver lists 8 shapes)"},
        {"2x8x32", "s8", "cooperative matrices of s8 2x8x32 (the driver lists 8 shapes)"},
        {"3x8x32", "s8", "cooperative matrices of s8 3x8x32 (the driver lists 8 shapes)"},
        {"4x8x32", "s8", "cooperative matrices of s8 4x8x32 (the driver lists 8 shapes)"},
        {"16x8x16", "s4", "cooperative matrices of unknown components s4"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct kiln_device_info info = big_device();
        struct mf_axis axes[] = {{"tuple", rows[i].tuple}, {"component", rows[i].component}};
        struct mf_artifact artifact = artifact_of("a", "coopmat");
        artifact.axes = axes;
        artifact.axis_count = rows[i].component ? 2 : 1;
        expect_lack(&info, &artifact, rows[i].lack);
    }
    struct kiln_device_info info = big_device();
    struct mf_axis axis = {"tuple", "16x16x16"};
    struct mf_artifact artifact = artifact_of("a", "coopmat");
    artifact.axes = &axis;
    artifact.axis_count = 1;
    info.coopmat_unlisted = true;
    expect_lack(&info, &artifact, NULL);
}

/* Matrices of a whole workgroup: multiples of the granularities for its size. */
static void test_flexible(void **state) {
    static const struct {
        const char *tuple, *component; /* NULL: no such axis */
        uint32_t local_size[3];
        const char *lack;
    } rows[] = {
        {"128x256x64", NULL, {256, 1, 1}, NULL},
        {"32x64x16", "f16", {16, 8, 2}, NULL},
        {"96x32x16", "f16", {128, 1, 1}, NULL}, /* by the first of two rows */
        {"16x96x16", "f16", {128, 1, 1}, NULL}, /* by the second */
        {"64x64x32", "s8", {256, 1, 1}, NULL},
        {"16x64x16",
         NULL,
         {256, 1, 1},
         "workgroup cooperative matrices of f16 16x64x16 (multiples of 32x64x16)"},
        {"32x32x16",
         NULL,
         {256, 1, 1},
         "workgroup cooperative matrices of f16 32x32x16 (multiples of 32x64x16)"},
        {"32x64x8",
         NULL,
         {256, 1, 1},
         "workgroup cooperative matrices of f16 32x64x8 (multiples of 32x64x16)"},
        {"32x64x16",
         NULL,
         {512, 1, 1},
         "workgroup cooperative matrices of f16 in 512 invocations (the driver lists 8 "
         "granularities)"},
        {"32x64x16",
         NULL,
         {64, 1, 1},
         "workgroup cooperative matrices of f16 in 64 invocations (the driver lists 8 "
         "granularities)"},
        {"32x64x32",
         "u8",
         {256, 1, 1},
         "workgroup cooperative matrices of u8 in 256 invocations (the driver lists 8 "
         "granularities)"},
        {"32x64x16", "s4", {256, 1, 1}, "cooperative matrices of unknown components s4"},
        {"32x64x1040", NULL, {256, 1, 1}, "cooperative matrices of dimension 1040 (limit 1024)"},
        {"1056x64x16", NULL, {256, 1, 1}, "cooperative matrices of dimension 1056 (limit 1024)"},
        {"32x1088x16", NULL, {256, 1, 1}, "cooperative matrices of dimension 1088 (limit 1024)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct kiln_device_info info = big_device();
        info.limits.max_local_size[1] = info.limits.max_local_size[2] = 1024;
        struct mf_axis axes[] = {{"tuple", rows[i].tuple}, {"component", rows[i].component}};
        struct mf_artifact artifact = artifact_of("a", "coopmat2");
        memcpy(artifact.requires_.local_size, rows[i].local_size, sizeof(rows[i].local_size));
        artifact.axes = axes;
        artifact.axis_count = rows[i].component ? 2 : 1;
        expect_lack(&info, &artifact, rows[i].lack);
    }
}

/* What the matrices take of the group's memory, and of its invocations. */
static void test_flexible_limits(void **state) {
    (void)state;
    struct kiln_device_info info = big_device();
    struct mf_axis axis = {"tuple", "128x256x64"};
    struct mf_artifact artifact = artifact_of("a", "coopmat2");
    artifact.axes = &axis;
    artifact.axis_count = 1;
    artifact.requires_.local_size[0] = 256;
    artifact.requires_.workgroup_bytes = 32768;
    expect_lack(&info, &artifact, NULL);
    artifact.requires_.workgroup_bytes = 32772;
    expect_lack(&info, &artifact,
                "32772 bytes of workgroup memory beside 16384 of its matrices (limit 49152)");
    artifact.requires_.workgroup_bytes = 0;
    info.coopmat_invocations_max = 255;
    expect_lack(&info, &artifact, "cooperative matrices of 256 invocations (limit 255)");
    /* A tier below asks the other list, and this one not even where other shapes pass there. */
    artifact.tier = "coopmat";
    expect_lack(&info, &artifact,
                "cooperative matrices of f16 128x256x64 (the driver lists 8 shapes)");
    artifact.tier = "coopmat2";
    info.coopmat_unlisted = true;
    info.coopmat_flexible_count = 0;
    expect_lack(&info, &artifact,
                "workgroup cooperative matrices of f16 in 256 invocations (the driver lists 0 "
                "granularities)");
}

/* ---- selection ---- */

static struct mf_grid_factor factors[] = {{"nout", 1}, {"nout", 4}, {"nout", 64}};
static const char *const features_coopmat[] = {"cooperativeMatrix"};
static const char *const features_dot[] = {"shaderIntegerDotProduct"};
static const char *const dtypes_q8_0[] = {"q8_0", "f32"};
static const char *const arithmetic_operations[] = {"arithmetic"};
static struct mf_axis baked_axis = {"baked_k", "2048"};

enum { BAKED, COOPMAT, DP4A, PORTABLE, PORTABLE_TILE, Q8, SUBGROUP, ARTIFACT_COUNT };

static void fill_manifest(struct mf_artifact artifacts[ARTIFACT_COUNT],
                          struct mf_manifest *manifest) {
    artifacts[BAKED] = artifact_of("a_baked", "subgroup");
    artifacts[BAKED].axes = &baked_axis;
    artifacts[BAKED].axis_count = 1;
    artifacts[COOPMAT] = artifact_of("b_coopmat", "coopmat");
    artifacts[COOPMAT].requires_.features = features_coopmat;
    artifacts[COOPMAT].requires_.feature_count = 1;
    artifacts[DP4A] = artifact_of("c_dp4a", "dp4a");
    artifacts[DP4A].requires_.features = features_dot;
    artifacts[DP4A].requires_.feature_count = 1;
    artifacts[PORTABLE] = artifact_of("d_portable", "portable");
    artifacts[PORTABLE_TILE] = artifact_of("e_tile", "portable");
    artifacts[PORTABLE_TILE].schedule = "tile";
    artifacts[Q8] = artifact_of("f_q8_0", "portable");
    artifacts[Q8].dtypes = dtypes_q8_0;
    artifacts[SUBGROUP] = artifact_of("g_subgroup", "subgroup");
    artifacts[SUBGROUP].requires_.subgroup_operations = arithmetic_operations;
    artifacts[SUBGROUP].requires_.subgroup_operation_count = 1;
    for (size_t i = 0; i < ARTIFACT_COUNT; i++) {
        artifacts[i].grid.axes[0] = (struct mf_grid_axis){&factors[i == PORTABLE_TILE ? 2 : 0], 1};
    }
    *manifest = (struct mf_manifest){.artifacts = artifacts, .artifact_count = ARTIFACT_COUNT};
}

static void expect_choice(const struct kiln_device_info *info, const struct kiln_query *query,
                          const char *expected) {
    struct mf_artifact artifacts[ARTIFACT_COUNT];
    struct mf_manifest manifest;
    const struct mf_artifact *chosen = NULL;
    struct kiln_error error = {0};
    fill_manifest(artifacts, &manifest);
    if (kiln_select(&manifest, info, query, &chosen, NULL, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
    assert_string_equal(chosen->name, expected);
}

/* A repacked type and its raw one are two types: neither stands in for the other. */
static void test_repacked_types(void **state) {
    (void)state;
    static const char *const names[] = {"q8_0", "q8_0p", "q6_k", "q6_kp", "q3_k", "q3_kp"};
    enum { COUNT = sizeof names / sizeof names[0] };
    struct kiln_device_info big = big_device();
    for (size_t only = 0; only < COUNT; only++) {
        const char *dtypes[] = {names[only], "f32"};
        struct mf_artifact artifact = artifact_of("matvec", "portable");
        artifact.dtypes = dtypes;
        const struct mf_manifest manifest = {.artifacts = &artifact, .artifact_count = 1};
        for (size_t asked = 0; asked < COUNT; asked++) {
            const char *wanted[] = {names[asked], "f32"};
            const struct kiln_query query = {
                .family = "matvec", .dtypes = wanted, .dtype_count = 2};
            const struct mf_artifact *chosen = NULL;
            enum kiln_result result = kiln_select(&manifest, &big, &query, &chosen, NULL, NULL);
            assert_int_equal(result, asked == only ? KILN_OK : KILN_ERR_NO_VARIANT);
            assert_ptr_equal(chosen, asked == only ? &artifact : NULL);
        }
    }
}

static void test_ranking(void **state) {
    (void)state;
    struct kiln_device_info big = big_device();
    struct kiln_device_info plain = plain_device();
    struct mf_dim dims[] = {{"nout", 4096}, {"k", 4096}};
    struct kiln_query query = {
        .family = "matvec", .dtypes = dtypes_q4_k, .dtype_count = 2, .dims = dims, .dim_count = 2};
    expect_choice(&big, &query, "g_subgroup");
    expect_choice(&plain, &query, "d_portable"); /* 4096 groups rather than 64 */
    dims[0].value = 32768;
    expect_choice(&plain, &query, "e_tile"); /* 512 groups are enough: fewer than 32768 */
    query.precision = KILN_PRECISION_FAST;
    expect_choice(&big, &query, "b_coopmat");
    query.tier = "dp4a";
    query.precision = KILN_PRECISION_EXACT; /* a forced tier is not asked for its precision */
    expect_choice(&big, &query, "c_dp4a");
    query.tier = NULL;
    dims[1].value = 2048;
    expect_choice(&big, &query, "a_baked");
    dims[1].value = 2049;
    expect_choice(&big, &query, "g_subgroup");
    query.dtypes = dtypes_q8_0;
    expect_choice(&big, &query, "f_q8_0");
    /* On processors matrices are not worth it; without acceleration packed dots are not either. */
    query.dtypes = dtypes_q4_k;
    query.precision = KILN_PRECISION_FAST;
    big.type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    expect_choice(&big, &query, "c_dp4a");
    big.packed_dot_accelerated = false;
    expect_choice(&big, &query, "g_subgroup");
}

static void test_padding(void **state) {
    (void)state;
    struct kiln_device_info plain = plain_device();
    struct mf_dim dims[] = {{"nout", 65}, {"k", 4096}};
    struct kiln_query query = {.family = "matvec",
                               .dtypes = dtypes_q4_k,
                               .dtype_count = 2,
                               .tier = "portable",
                               .dims = dims,
                               .dim_count = 2};
    /* Tiles of 64 compute 128 rows of which 65 count. */
    expect_choice(&plain, &query, "d_portable");
    dims[0].value = 64;
    expect_choice(&plain, &query, "d_portable"); /* no padding: 64 groups rather than 1 */
    query.schedule = "tile";
    expect_choice(&plain, &query, "e_tile");
    /* 65535 groups are the limit of x and these grids do not fold. */
    query.schedule = NULL;
    dims[0].value = 65536;
    expect_choice(&plain, &query, "e_tile");
}

/* A tile of 64 tokens for 2 is 32 times the work, although its 4096 groups would be enough. */
static void test_padding_counts(void **state) {
    (void)state;
    static struct mf_grid_factor column[] = {{"nout", 16}, {"t", 1}};
    static struct mf_grid_factor tile[] = {{"nout", 16}, {"t", 64}};
    static const char *const dims_matmul[] = {"nout", "t"};
    struct kiln_device_info plain = plain_device();
    struct mf_artifact artifacts[] = {artifact_of("column", "portable"),
                                      artifact_of("tile", "portable")};
    for (size_t i = 0; i < 2; i++) {
        artifacts[i].dims = dims_matmul;
        artifacts[i].grid.axes[0] = (struct mf_grid_axis){i ? &tile[0] : &column[0], 1};
        artifacts[i].grid.axes[1] = (struct mf_grid_axis){i ? &tile[1] : &column[1], 1};
    }
    struct mf_manifest manifest = {.artifacts = artifacts, .artifact_count = 2};
    struct mf_dim dims[] = {{"nout", 65536}, {"t", 2}};
    struct kiln_query query = {.family = "matvec", .dims = dims, .dim_count = 2};
    static const struct {
        uint64_t t;
        const char *expected;
    } rows[] = {{2, "column"}, {58, "column"}, {63, "tile"}, {64, "tile"}, {65, "column"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct mf_artifact *chosen = NULL;
        dims[1].value = rows[i].t;
        assert_int_equal(kiln_select(&manifest, &plain, &query, &chosen, NULL, NULL), KILN_OK);
        assert_string_equal(chosen->name, rows[i].expected);
    }
}

/* A dimension beyond its limit rules an artifact out; of equals the closest limit is taken. */
static void test_dim_limits(void **state) {
    (void)state;
    static struct mf_grid_factor rows[] = {{"nout", 1}};
    static const struct mf_dim_limit limits[] = {{"k", 576, 8}, {"k", 256, 8}, {"k", 128, 16}};
    struct kiln_device_info plain = plain_device();
    struct mf_artifact artifacts[] = {artifact_of("h576", "portable"),
                                      artifact_of("h256", "portable"),
                                      artifact_of("h128", "portable")};
    for (size_t i = 0; i < 3; i++) {
        artifacts[i].limits = &limits[i];
        artifacts[i].limit_count = 1;
        artifacts[i].grid.axes[0] = (struct mf_grid_axis){rows, 1};
    }
    struct mf_manifest manifest = {.artifacts = artifacts, .artifact_count = 3};
    struct mf_dim dims[] = {{"nout", 640}, {"k", 0}};
    struct kiln_query query = {.family = "matvec", .dims = dims, .dim_count = 2};
    static const struct {
        uint64_t k;
        const char *expected;
    } choices[] = {{64, "h128"},  {128, "h128"}, {136, "h256"}, {72, "h256"},
                   {256, "h256"}, {264, "h576"}, {576, "h576"}};
    const struct mf_artifact *chosen = NULL;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        dims[1].value = choices[i].k;
        assert_int_equal(kiln_select(&manifest, &plain, &query, &chosen, NULL, NULL), KILN_OK);
        assert_string_equal(chosen->name, choices[i].expected);
    }
    struct mf_buffer text = {0};
    struct kiln_error error = {0};
    dims[1].value = 584;
    assert_int_equal(kiln_select(&manifest, &plain, &query, &chosen, &text, &error),
                     KILN_ERR_NO_VARIANT);
    assert_non_null(strstr(error.message, "h576: dimension k is 584, expected at most 576"));
    assert_non_null(strstr(text.data, "h128: rejected: h128: dimension k is 584, expected at most "
                                      "128\n"));
    mf_buffer_release(&text);
    dims[1].value = 60;
    assert_int_equal(kiln_select(&manifest, &plain, &query, &chosen, NULL, &error),
                     KILN_ERR_NO_VARIANT);
    assert_non_null(strstr(error.message, "h576: dimension k is 60, expected a multiple of 8"));
}

static void test_explanation(void **state) {
    (void)state;
    struct mf_artifact artifacts[ARTIFACT_COUNT];
    struct mf_manifest manifest;
    struct kiln_device_info plain = plain_device();
    struct mf_dim dims[] = {{"nout", 640}, {"k", 4096}};
    struct kiln_query query = {.family = "matvec",
                               .dtypes = dtypes_q4_k,
                               .dtype_count = 2,
                               .precision = KILN_PRECISION_FAST,
                               .dims = dims,
                               .dim_count = 2};
    const struct mf_artifact *chosen = NULL;
    struct mf_buffer text = {0};
    fill_manifest(artifacts, &manifest);
    assert_int_equal(kiln_select(&manifest, &plain, &query, &chosen, &text, NULL), KILN_OK);
    assert_string_equal(
        text.data, "a_baked: rejected: made for baked_k = 2048 only\n"
                   "b_coopmat: rejected: b_coopmat: Plain lacks: feature cooperativeMatrix\n"
                   "c_dp4a: rejected: c_dp4a: Plain lacks: feature shaderIntegerDotProduct\n"
                   "d_portable: score 1, 640 groups\n"
                   "e_tile: score 1, 10 groups\n"
                   "f_q8_0: rejected: other dtypes\n"
                   "g_subgroup: rejected: g_subgroup: Plain lacks: subgroup operation arithmetic\n"
                   "selected: d_portable\n");
    mf_buffer_release(&text);
}

static void expect_no_variant(const struct kiln_query *query, enum kiln_result expected,
                              const char *words) {
    struct mf_artifact artifacts[ARTIFACT_COUNT];
    struct mf_manifest manifest;
    struct kiln_device_info plain = plain_device();
    const struct mf_artifact *chosen = (const struct mf_artifact *)8;
    struct kiln_error error = {0};
    fill_manifest(artifacts, &manifest);
    assert_int_equal(kiln_select(&manifest, &plain, query, &chosen, NULL, &error), expected);
    assert_null(chosen);
    if (!strstr(error.message, words)) {
        fail_msg("expected \"%s\" in: %s", words, error.message);
    }
}

static void test_no_variant(void **state) {
    (void)state;
    static const char *const dtypes_other[] = {"iq9_z", "f32"};
    struct mf_dim dims[] = {{"nout", 640}, {"k", 2048}, {"t", 1}};
    struct kiln_query query = {.family = "matvec"};
    expect_no_variant(&(struct kiln_query){.family = "matmul"}, KILN_ERR_NO_VARIANT,
                      "no artifact of matmul");
    expect_no_variant(&(struct kiln_query){0}, KILN_ERR_ARGUMENT, "no family");
    query.kernel = "other";
    expect_no_variant(&query, KILN_ERR_NO_VARIANT, "no artifact of matvec, kernel other");
    query.kernel = NULL;
    query.tier = "coopmat";
    expect_no_variant(&query, KILN_ERR_NO_VARIANT, "none of 7 artifacts of matvec fits Plain");
    expect_no_variant(&query, KILN_ERR_NO_VARIANT, "lacks: feature cooperativeMatrix");
    query.tier = NULL;
    query.dtypes = dtypes_other;
    query.dtype_count = 2;
    expect_no_variant(&query, KILN_ERR_NO_VARIANT, "other dtypes");
    query.dtype_count = 0;
    query.dims = dims;
    query.dim_count = 1;
    expect_no_variant(&query, KILN_ERR_NO_VARIANT, "k");
    query.dim_count = 3;
    expect_no_variant(&query, KILN_ERR_NO_VARIANT, "has no dimension t");
    query.shape = "k2048";
    expect_no_variant(&query, KILN_ERR_NO_VARIANT, "shape any");
}

static void test_environment(void **state) {
    (void)state;
    struct kiln_query query = {.family = "matvec"};
    struct kiln_error error = {0};
    assert_int_equal(unsetenv("KILN_TIER"), 0);
    assert_int_equal(kiln_query_apply_environment(&query, &error), KILN_OK);
    assert_null(query.tier);
    assert_int_equal(setenv("KILN_TIER", "", 1), 0);
    assert_int_equal(kiln_query_apply_environment(&query, &error), KILN_OK);
    assert_null(query.tier);
    assert_int_equal(setenv("KILN_TIER", "sub", 1), 0);
    assert_int_equal(kiln_query_apply_environment(&query, &error), KILN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "\"sub\""));
    assert_int_equal(setenv("KILN_TIER", "subgroup", 1), 0);
    assert_int_equal(kiln_query_apply_environment(&query, &error), KILN_OK);
    assert_string_equal(query.tier, "subgroup");
    query.tier = "dp4a";
    assert_int_equal(kiln_query_apply_environment(&query, &error), KILN_OK);
    assert_string_equal(query.tier, "dp4a");
    /* kiln_select does not look at it. */
    struct kiln_device_info big = big_device();
    query = (struct kiln_query){.family = "matvec"};
    assert_int_equal(setenv("KILN_TIER", "portable", 1), 0);
    expect_choice(&big, &query, "g_subgroup");
    assert_int_equal(unsetenv("KILN_TIER"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feature_names),  cmocka_unit_test(test_versions),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_limits),
        cmocka_unit_test(test_subgroup_size),  cmocka_unit_test(test_tuples),
        cmocka_unit_test(test_flexible),       cmocka_unit_test(test_flexible_limits),
        cmocka_unit_test(test_repacked_types), cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_padding),        cmocka_unit_test(test_dim_limits),
        cmocka_unit_test(test_explanation),    cmocka_unit_test(test_no_variant),
        cmocka_unit_test(test_environment),    cmocka_unit_test(test_padding_counts),
    };
    return cmocka_run_group_tests_name("loader_select", tests, NULL, NULL);
}
