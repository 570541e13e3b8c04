/* SPDX-License-Identifier: MIT */
/*
 * tests/fixtures/manifest/manifest.json and artifact.json are made by
 * tests/tools/make_manifest_golden.py: the text by Python's json module, the interface hashes by
 * calling libxxhash on FORMAT.md's fields.
 */
#include "mf_file.h"
#include "mf_manifest.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct mf_buffer golden;          /* the file's text */
static struct mf_buffer golden_artifact; /* the second artifact, one line */

static int load_golden(void **state) {
    (void)state;
    struct kiln_error error;
    if (mf_file_read("tests/fixtures/manifest/manifest.json", 0, &golden, &error) != KILN_OK ||
        mf_file_read("tests/fixtures/manifest/artifact.json", 0, &golden_artifact, &error) !=
            KILN_OK) {
        print_error("%s\n", error.message);
        return -1;
    }
    return 0;
}

static int release_golden(void **state) {
    (void)state;
    mf_buffer_release(&golden);
    mf_buffer_release(&golden_artifact);
    return 0;
}

/* ---- the golden manifest in C ---- */

static const struct mf_binding add_bindings[] = {{0, 0, "a", MF_ACCESS_READ, MF_SCALAR_F32, 4},
                                                 {0, 1, "y", MF_ACCESS_WRITE, MF_SCALAR_F32, 4}};

static const struct mf_binding matmul_bindings[] = {
    {0, 0, "weights", MF_ACCESS_READ, MF_SCALAR_U32, 4},
    {0, 1, "x", MF_ACCESS_READ, MF_SCALAR_F16, 8},
    {0, 2, "y", MF_ACCESS_READ_WRITE, MF_SCALAR_F32, 16},
    {1, 0, "ids", MF_ACCESS_READ, MF_SCALAR_STRUCT, 12}};

static const struct mf_binding matvec_bindings[] = {
    {0, 0, "weights", MF_ACCESS_READ, MF_SCALAR_U32, 4},
    {0, 1, "x", MF_ACCESS_READ, MF_SCALAR_F32, 4},
    {0, 2, "y", MF_ACCESS_WRITE, MF_SCALAR_F32, 4}};

static const struct mf_push matmul_push[] = {{"t", 0, 4, MF_SCALAR_U32},
                                             {"nout", 4, 4, MF_SCALAR_U32},
                                             {"k", 8, 4, MF_SCALAR_U32},
                                             {"eps", 16, 4, MF_SCALAR_F32}};
static const struct mf_push matvec_push[] = {{"nout", 0, 4, MF_SCALAR_U32},
                                             {"k", 4, 4, MF_SCALAR_U32}};

static const struct mf_spec_constant matmul_spec[] = {
    {0, "workgroup", MF_SCALAR_U32, 128},
    {1, "", MF_SCALAR_F64, UINT64_C(0xbff0000000000000)},
    {7, "fast", MF_SCALAR_BOOL, 1},
    {9, "half_one", MF_SCALAR_F16, 0x3c00}};

static const char *const shader_only[] = {"Shader"};
static const char *const matmul_capabilities[] = {"CooperativeMatrixKHR", "Float16", "Shader",
                                                  "VulkanMemoryModel"};
static const char *const matvec_capabilities[] = {"GroupNonUniform", "GroupNonUniformArithmetic",
                                                  "Shader"};
static const char *const matmul_features[] = {"cooperativeMatrix", "shaderFloat16",
                                              "vulkanMemoryModel"};
static const char *const matmul_extensions[] = {"VK_KHR_cooperative_matrix"};
static const char *const matmul_operations[] = {"arithmetic", "basic", "shuffle"};
static const char *const f32_f32[] = {"f32", "f32"};
static const char *const matmul_dtypes[] = {"q4_k", "f16", "f32"};
static const char *const matvec_dtypes[] = {"q4_k", "f32"};
static const char *const matmul_dims[] = {"t", "nout", "k"};
static const char *const matvec_dims[] = {"nout", "k"};
static const struct mf_dim_limit matmul_limits[] = {{"t", UINT32_MAX, 7}, {"k", 65536, 256}};
static const struct mf_axis matmul_axes[] = {{"dtype", "q4_k"},
                                             {"label", "gr\xc3\xb6\xc3\x9f"
                                                       "e \"q\" \\ 2"},
                                             {"tuple", "16x16x16"}};
static const struct mf_axis matvec_axes[] = {{"rows", "2"}, {"workgroup", "64"}};
static const struct mf_grid_factor matmul_x[] = {{"nout", 64}};
static const struct mf_grid_factor matmul_y[] = {{"t", 64}, {"k", UINT32_MAX}};
static const struct mf_grid_factor matvec_x[] = {{"nout", 2}};

struct sample {
    struct mf_artifact artifacts[3];
    struct mf_exclusion excluded[2];
    struct mf_manifest manifest;
};

static void fill_add(struct mf_artifact *a) {
    a->name = "add__f32_f32__any__flat_w256__portable";
    a->family = a->kernel = "add";
    a->dtypes = f32_f32;
    a->dtype_count = 2;
    a->shape = "any";
    a->schedule = "flat_w256";
    a->tier = "portable";
    a->size_bytes = 20;
    a->recipe.bytes[15] = 1;
    a->content = mf_hash_bytes(MF_HASH_CONTENT, "add", 3);
    a->requires_ = (struct mf_requires){.vulkan_major = 1,
                                        .vulkan_minor = 1,
                                        .spirv_major = 1,
                                        .spirv_minor = 3,
                                        .local_size = {256, 1, 1},
                                        .capabilities = shader_only,
                                        .capability_count = 1};
    a->bindings = add_bindings;
    a->binding_count = COUNT_OF(add_bindings);
    a->reference = "";
    a->tolerance = (struct mf_tolerance){true, -1, -1, -1, 0};
}

static void fill_matmul(struct mf_artifact *a) {
    a->name = "matmul__q4_k_f16__any__mma_16x16x16w128__coopmat";
    a->family = "matmul";
    a->kernel = "matmul_coopmat";
    a->dtypes = matmul_dtypes;
    a->dtype_count = COUNT_OF(matmul_dtypes);
    a->shape = "any";
    a->schedule = "mma_16x16x16w128";
    a->tier = "coopmat";
    a->size_bytes = 123456;
    (void)mf_hash_parse("fedcba98765432100123456789abcdef", &a->recipe);
    a->content = mf_hash_bytes(MF_HASH_CONTENT, "matmul", 6);
    a->axes = matmul_axes;
    a->axis_count = COUNT_OF(matmul_axes);
    a->requires_ = (struct mf_requires){.vulkan_major = 1,
                                        .vulkan_minor = 3,
                                        .spirv_major = 1,
                                        .spirv_minor = 6,
                                        .local_size = {128, 2, 1},
                                        .workgroup_bytes = 16384,
                                        .push_bytes = 20,
                                        .subgroup_size = 32,
                                        .subgroup_operations = matmul_operations,
                                        .subgroup_operation_count = COUNT_OF(matmul_operations),
                                        .features = matmul_features,
                                        .feature_count = COUNT_OF(matmul_features),
                                        .extensions = matmul_extensions,
                                        .extension_count = COUNT_OF(matmul_extensions),
                                        .capabilities = matmul_capabilities,
                                        .capability_count = COUNT_OF(matmul_capabilities)};
    a->bindings = matmul_bindings;
    a->binding_count = COUNT_OF(matmul_bindings);
    a->push = matmul_push;
    a->push_count = COUNT_OF(matmul_push);
    a->spec = matmul_spec;
    a->spec_count = COUNT_OF(matmul_spec);
    a->dims = matmul_dims;
    a->dim_count = COUNT_OF(matmul_dims);
    a->limits = matmul_limits;
    a->limit_count = COUNT_OF(matmul_limits);
    a->grid = (struct mf_grid){{{matmul_x, 1}, {matmul_y, 2}, {NULL, 0}}, false};
    a->reference = "matmul";
    a->tolerance = (struct mf_tolerance){false, 0.3, 1e-5, 0.01, 1};
}

static void fill_matvec(struct mf_artifact *a) {
    a->name = "matvec__q4_k_f32__any__row_w64r2__subgroup";
    a->family = a->kernel = "matvec";
    a->dtypes = matvec_dtypes;
    a->dtype_count = COUNT_OF(matvec_dtypes);
    a->shape = "any";
    a->schedule = "row_w64r2";
    a->tier = "subgroup";
    a->size_bytes = 4096;
    (void)mf_hash_parse("0123456789abcdef0123456789abcdef", &a->recipe);
    a->content = mf_hash_bytes(MF_HASH_CONTENT, "matvec", 6);
    a->axes = matvec_axes;
    a->axis_count = COUNT_OF(matvec_axes);
    a->requires_ = (struct mf_requires){.vulkan_major = 1,
                                        .vulkan_minor = 1,
                                        .spirv_major = 1,
                                        .spirv_minor = 3,
                                        .local_size = {64, 1, 1},
                                        .workgroup_bytes = 256,
                                        .push_bytes = 8,
                                        .subgroup_operations = matmul_operations,
                                        .subgroup_operation_count = 2,
                                        .capabilities = matvec_capabilities,
                                        .capability_count = COUNT_OF(matvec_capabilities)};
    a->bindings = matvec_bindings;
    a->binding_count = COUNT_OF(matvec_bindings);
    a->push = matvec_push;
    a->push_count = COUNT_OF(matvec_push);
    a->dims = matvec_dims;
    a->dim_count = COUNT_OF(matvec_dims);
    a->grid = (struct mf_grid){{{matvec_x, 1}, {NULL, 0}, {NULL, 0}}, true};
    a->reference = "matvec";
    a->tolerance = (struct mf_tolerance){false, 0.001, 0.001, -1, 0};
}

/* File names go to sample->manifest.arena. */
static void make_sample(struct sample *sample) {
    *sample = (struct sample){0};
    fill_add(&sample->artifacts[0]);
    fill_matmul(&sample->artifacts[1]);
    fill_matvec(&sample->artifacts[2]);
    struct mf_manifest *m = &sample->manifest;
    for (size_t i = 0; i < 3; i++) {
        struct mf_artifact *a = &sample->artifacts[i];
        a->file = mf_artifact_file_name(&m->arena, a->name, &a->content);
        assert_non_null(a->file);
        assert_int_equal(mf_artifact_interface_hash(a, &a->iface), KILN_OK);
    }
    sample->excluded[0] = (struct mf_exclusion){
        "matmul__q8_0_f16__any__mma_8x8x8__coopmat2",
        "no GL_NV_cooperative_matrix2: \"templates\\x.comp\":3 \xe2\x80\x93 unknown"};
    sample->excluded[1] =
        (struct mf_exclusion){"matvec__iq1_s_f32__any__row_w64r2__dp4a", "codes exceed int8"};
    m->format = MF_MANIFEST_FORMAT;
    m->abi = MF_MANIFEST_ABI;
    m->toolchain = (struct mf_toolchain){"15.1.0", "v2025.1", "0.64.0", "1",
                                         "glslang 15.1.0; spirv-tools v2025.1; kiln 1"};
    m->artifacts = sample->artifacts;
    m->artifact_count = 3;
    m->excluded = sample->excluded;
    m->exclusion_count = 2;
}

/* ---- writing and reading back ---- */

static void writer_gives_the_golden_bytes(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    struct mf_buffer text = {0};
    struct kiln_error error;
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, &error), KILN_OK);
    assert_string_equal(text.data, golden.data);
    mf_buffer_clear(&text);
    assert_int_equal(mf_artifact_write(&sample.artifacts[1], &text, &error), KILN_OK);
    assert_string_equal(text.data, golden_artifact.data);
    mf_buffer_release(&text);
    mf_arena_release(&sample.manifest.arena);
}

static void writing_what_was_read_gives_the_same_bytes(void **state) {
    (void)state;
    struct mf_manifest manifest;
    struct kiln_error error = {0};
    enum kiln_result result =
        mf_manifest_parse(golden.data, golden.size_bytes, "m", &manifest, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(result, KILN_OK);
    struct mf_buffer text = {0};
    assert_int_equal(mf_manifest_write(&manifest, &text, NULL), KILN_OK);
    assert_string_equal(text.data, golden.data);
    mf_buffer_release(&text);
    mf_manifest_release(&manifest);
    assert_null(manifest.artifacts);
    mf_manifest_release(&manifest);
    mf_manifest_release(NULL);
}

static void reader_fills_every_kind_of_field(void **state) {
    (void)state;
    struct mf_manifest manifest;
    assert_int_equal(mf_manifest_parse(golden.data, golden.size_bytes, "m", &manifest, NULL),
                     KILN_OK);
    assert_int_equal(manifest.artifact_count, 3);
    assert_int_equal(manifest.exclusion_count, 2);
    assert_string_equal(manifest.excluded[1].reason, "codes exceed int8");
    assert_string_equal(manifest.toolchain.spirv_cross, "0.64.0");
    const struct mf_artifact *a =
        mf_manifest_find(&manifest, "matmul__q4_k_f16__any__mma_16x16x16w128__coopmat");
    assert_ptr_equal(a, &manifest.artifacts[1]);
    assert_string_equal(a->kernel, "matmul_coopmat");
    assert_int_equal(a->dtype_count, 3);
    assert_string_equal(a->dtypes[1], "f16");
    assert_int_equal(a->size_bytes, 123456);
    assert_int_equal(a->recipe.bytes[0], 0xfe);
    assert_int_equal(a->axis_count, 3);
    assert_string_equal(a->axes[2].name, "tuple");
    assert_string_equal(a->axes[2].value, "16x16x16");
    assert_int_equal(a->requires_.vulkan_minor, 3);
    assert_int_equal(a->requires_.spirv_minor, 6);
    assert_int_equal(a->requires_.local_size[1], 2);
    assert_int_equal(a->requires_.subgroup_size, 32);
    assert_string_equal(a->requires_.features[2], "vulkanMemoryModel");
    assert_int_equal(a->bindings[3].set, 1);
    assert_int_equal(a->bindings[3].element, MF_SCALAR_STRUCT);
    assert_int_equal(a->bindings[2].access, MF_ACCESS_READ_WRITE);
    assert_int_equal(a->bindings[2].stride_bytes, 16);
    assert_int_equal(a->push[3].offset_bytes, 16);
    assert_int_equal(a->push[3].type, MF_SCALAR_F32);
    assert_true(a->spec[1].default_bits == UINT64_C(0xbff0000000000000));
    assert_string_equal(a->spec[1].name, "");
    assert_string_equal(a->dims[2], "k");
    assert_int_equal(a->grid.axes[1].factors[1].tile, UINT32_MAX);
    assert_int_equal(a->grid.axes[2].factor_count, 0);
    assert_true(a->tolerance.max_abs == 0.3 && a->tolerance.rel == 1e-5);
    assert_int_equal(a->tolerance.ulp_f16, 1);
    assert_false(a->tolerance.exact);
    assert_true(manifest.artifacts[0].tolerance.exact);
    assert_true(manifest.artifacts[0].tolerance.max_abs < 0);
    assert_true(manifest.artifacts[2].grid.fold);
    assert_null(mf_manifest_find(&manifest, "matmul"));
    assert_null(mf_manifest_find(&manifest, ""));
    assert_null(mf_manifest_find(&manifest, "zzz"));
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(mf_manifest_find(&manifest, manifest.artifacts[i].name),
                         &manifest.artifacts[i]);
    }
    mf_manifest_release(&manifest);
}

static void one_artifact_round_trips(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    struct mf_artifact artifact;
    struct mf_buffer text = {0};
    assert_int_equal(mf_artifact_parse(golden_artifact.data, golden_artifact.size_bytes, "cache",
                                       &arena, &artifact, NULL),
                     KILN_OK);
    assert_int_equal(mf_artifact_write(&artifact, &text, NULL), KILN_OK);
    assert_string_equal(text.data, golden_artifact.data);
    for (size_t size = 0; size < golden_artifact.size_bytes; size++) {
        assert_int_not_equal(
            mf_artifact_parse(golden_artifact.data, size, "cache", &arena, &artifact, NULL),
            KILN_OK);
        assert_null(artifact.name);
    }
    mf_buffer_release(&text);
    mf_arena_release(&arena);
}

static void an_empty_bundle_round_trips(void **state) {
    (void)state;
    struct mf_manifest manifest = {.format = 1, .abi = 1, .toolchain = {"a", "b", "c", "d", "e"}};
    struct mf_buffer text = {0};
    assert_int_equal(mf_manifest_write(&manifest, &text, NULL), KILN_OK);
    assert_string_equal(text.data,
                        "{\n  \"abi\": 1,\n  \"artifacts\": [],\n  \"excluded\": [],\n"
                        "  \"format\": 1,\n  \"toolchain\": {\n    \"glslang\": \"a\",\n"
                        "    \"pipeline\": \"d\",\n    \"signature\": \"e\",\n"
                        "    \"spirv_cross\": \"c\",\n    \"spirv_tools\": \"b\"\n  }\n}\n");
    struct mf_manifest back;
    assert_int_equal(mf_manifest_parse(text.data, text.size_bytes, "m", &back, NULL), KILN_OK);
    assert_int_equal(back.artifact_count, 0);
    assert_null(mf_manifest_find(&back, "x"));
    mf_manifest_release(&back);
    mf_buffer_release(&text);
}

static void writer_refuses_unsorted_and_unwritable(void **state) {
    (void)state;
    struct sample sample;
    struct mf_buffer text = {0};
    struct kiln_error error;
    make_sample(&sample);
    sample.artifacts[2].name = sample.artifacts[1].name;
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, &error), KILN_ERR_ARGUMENT);
    sample.artifacts[2].name = "b";
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, &error), KILN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "artifact b: expected names in ascending order"));
    mf_arena_release(&sample.manifest.arena);
    make_sample(&sample);
    sample.excluded[1].name = sample.excluded[0].name;
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, &error), KILN_ERR_ARGUMENT);
    mf_arena_release(&sample.manifest.arena);
    make_sample(&sample);
    sample.artifacts[1].tolerance.rel = NAN;
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, &error), KILN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, sample.artifacts[1].name));
    mf_arena_release(&sample.manifest.arena);
    make_sample(&sample);
    sample.excluded[0].reason = "\xff";
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, &error), KILN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "UTF-8"));
    assert_int_equal(text.size_bytes, 0);
    mf_arena_release(&sample.manifest.arena);
    mf_buffer_release(&text);
}

static void enum_strings_are_the_documented_ones(void **state) {
    (void)state;
    static const char *const scalars[] = {"u8",  "i8",  "u16", "i16", "u32",  "i32",   "u64",
                                          "i64", "f16", "f32", "f64", "bool", "struct"};
    static const uint32_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 4, 0};
    for (int i = 0; i <= MF_SCALAR_STRUCT; i++) {
        assert_string_equal(mf_scalar_string((enum mf_scalar)i), scalars[i]);
        assert_int_equal(mf_scalar_bytes((enum mf_scalar)i), sizes[i]);
    }
    assert_string_equal(mf_access_string(MF_ACCESS_READ), "read");
    assert_string_equal(mf_access_string(MF_ACCESS_WRITE), "write");
    assert_string_equal(mf_access_string(MF_ACCESS_READ_WRITE), "read_write");
    assert_string_equal(mf_access_string((enum mf_access)3), "unknown");
    assert_string_equal(mf_scalar_string((enum mf_scalar) - 1), "unknown");
    assert_int_equal(mf_scalar_bytes((enum mf_scalar)99), 0);
}

/* ---- the interface hash ---- */

static void interface_hash_sees_the_interface_only(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    struct mf_artifact a = sample.artifacts[1];
    struct mf_hash hash;
    a.name = a.family = a.kernel = a.file = a.reference = "other";
    a.size_bytes = 4;
    a.axis_count = 0;
    a.tolerance.exact = true;
    a.recipe.bytes[0] = a.content.bytes[0] = a.iface.bytes[0] = 0x55;
    assert_int_equal(mf_artifact_interface_hash(&a, &hash), KILN_OK);
    assert_true(mf_hash_equal(&hash, &sample.artifacts[1].iface));
    mf_arena_release(&sample.manifest.arena);
}

#define CHANGED(statement)                                                                         \
    do {                                                                                           \
        struct mf_artifact a = sample.artifacts[1];                                                \
        struct mf_binding bindings[4];                                                             \
        struct mf_push push[4];                                                                    \
        struct mf_spec_constant spec[4];                                                           \
        const char *dims[3] = {"t", "nout", "k"};                                                  \
        struct mf_dim_limit limits[2];                                                             \
        struct mf_grid_factor factor = {"nout", 64};                                               \
        struct mf_hash hash;                                                                       \
        memcpy(bindings, matmul_bindings, sizeof bindings);                                        \
        memcpy(push, matmul_push, sizeof push);                                                    \
        memcpy(spec, matmul_spec, sizeof spec);                                                    \
        memcpy(limits, matmul_limits, sizeof limits);                                              \
        a.bindings = bindings;                                                                     \
        a.push = push;                                                                             \
        a.spec = spec;                                                                             \
        a.dims = dims;                                                                             \
        a.limits = limits;                                                                         \
        a.grid.axes[0].factors = &factor;                                                          \
        assert_int_equal(mf_artifact_interface_hash(&a, &hash), KILN_OK);                          \
        assert_true(mf_hash_equal(&hash, &sample.artifacts[1].iface));                             \
        statement;                                                                                 \
        assert_int_equal(mf_artifact_interface_hash(&a, &hash), KILN_OK);                          \
        assert_false(mf_hash_equal(&hash, &sample.artifacts[1].iface));                            \
    } while (0)

static void interface_hash_changes_with_each_field(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    CHANGED(bindings[0].set = 3);
    CHANGED(bindings[0].binding = 9);
    CHANGED(bindings[0].name = "w");
    CHANGED(bindings[0].access = MF_ACCESS_WRITE);
    CHANGED(bindings[0].element = MF_SCALAR_I32);
    CHANGED(bindings[0].stride_bytes = 16);
    CHANGED(a.binding_count = 3);
    CHANGED(push[1].name = "n");
    CHANGED(push[1].offset_bytes = 5);
    CHANGED(push[1].size_bytes = 8);
    CHANGED(push[1].type = MF_SCALAR_I32);
    CHANGED(a.push_count = 3);
    CHANGED(spec[1].constant_id = 2);
    CHANGED(spec[1].name = "n");
    CHANGED(spec[1].type = MF_SCALAR_U64);
    CHANGED(spec[1].default_bits = 0);
    CHANGED(a.spec_count = 0);
    CHANGED(dims[0] = "tokens");
    CHANGED(a.dim_count = 2);
    CHANGED(limits[0].dim = "nout");
    CHANGED(limits[1].max = 65535);
    CHANGED(limits[1].multiple = 128);
    CHANGED(a.limit_count = 1);
    CHANGED(factor.dim = "t");
    CHANGED(factor.tile = 32);
    CHANGED(a.grid.axes[0].factor_count = 0);
    CHANGED(a.grid.fold = true);
    CHANGED(a.requires_.vulkan_major = 2);
    CHANGED(a.requires_.vulkan_minor = 2);
    CHANGED(a.requires_.spirv_major = 2);
    CHANGED(a.requires_.spirv_minor = 5);
    CHANGED(a.requires_.local_size[0] = 64);
    CHANGED(a.requires_.local_size[1] = 1);
    CHANGED(a.requires_.local_size[2] = 2);
    CHANGED(a.requires_.workgroup_bytes = 0);
    CHANGED(a.requires_.push_bytes = 24);
    CHANGED(a.requires_.subgroup_size = 0);
    CHANGED(a.requires_.subgroup_operation_count = 2);
    CHANGED(a.requires_.feature_count = 2);
    CHANGED(a.requires_.extension_count = 0);
    CHANGED(a.requires_.capability_count = 3);
    mf_arena_release(&sample.manifest.arena);
}

static void expect_twins(const struct mf_buffer *text) {
    struct mf_manifest manifest;
    struct kiln_error error = {0};
    assert_int_equal(mf_manifest_parse(text->data, text->size_bytes, "m", &manifest, &error),
                     KILN_ERR_DUPLICATE);
    assert_non_null(strstr(error.message, "files equal up to letter case: \"dir/"));
    assert_null(manifest.artifacts);
}

static void files_equal_up_to_letter_case_are_refused(void **state) {
    (void)state;
    struct sample sample;
    make_sample(&sample);
    struct mf_buffer text = {0};
    sample.artifacts[0].file = "dir/Same.spv";
    sample.artifacts[2].file = "dir/sAME.spv";
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, NULL), KILN_OK);
    expect_twins(&text);
    mf_buffer_clear(&text);
    sample.artifacts[2].file = "dir/Same.spv";
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, NULL), KILN_OK);
    expect_twins(&text);
    mf_buffer_clear(&text);
    sample.artifacts[2].file = "dir/Same2.spv";
    struct mf_manifest manifest;
    assert_int_equal(mf_manifest_write(&sample.manifest, &text, NULL), KILN_OK);
    assert_int_equal(mf_manifest_parse(text.data, text.size_bytes, "m", &manifest, NULL), KILN_OK);
    mf_manifest_release(&manifest);
    mf_buffer_release(&text);
    mf_arena_release(&sample.manifest.arena);
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(locales) && !found; i++) {
        found = setlocale(LC_ALL, locales[i]) != NULL && localeconv()->decimal_point[0] != '.';
    }
    if (!found) {
        print_message("# no locale with a decimal comma is installed\n");
        (void)setlocale(LC_ALL, "C");
        skip();
    }
    writer_gives_the_golden_bytes(state);
    writing_what_was_read_gives_the_same_bytes(state);
    (void)setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writer_gives_the_golden_bytes),
        cmocka_unit_test(writing_what_was_read_gives_the_same_bytes),
        cmocka_unit_test(reader_fills_every_kind_of_field),
        cmocka_unit_test(one_artifact_round_trips),
        cmocka_unit_test(an_empty_bundle_round_trips),
        cmocka_unit_test(writer_refuses_unsorted_and_unwritable),
        cmocka_unit_test(enum_strings_are_the_documented_ones),
        cmocka_unit_test(interface_hash_sees_the_interface_only),
        cmocka_unit_test(interface_hash_changes_with_each_field),
        cmocka_unit_test(files_equal_up_to_letter_case_are_refused),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, load_golden, release_golden);
}
