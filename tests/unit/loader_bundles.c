/* SPDX-License-Identifier: MIT */
#include "loader_bundles.h"

#include "loader_modules.h"
#include "mf_file.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const f32_dtypes[] = {"f32"};
static const char *const i32_dtypes[] = {"i32"};
static const char *const rows_dims[] = {"nout", "k"};
static const struct mf_dim_limit rows_limit = {"k", 1u << 30, 1};
static const char *const count_dims[] = {"count"};
static const char *const shader_capabilities[] = {"Shader"};
static const char *const subgroup_capabilities[] = {"GroupNonUniform", "Shader"};
static const char *const basic_operations[] = {"basic"};
static const struct mf_grid_factor rows_factor = {"nout", 16};
static const struct mf_grid_factor count16_factor = {"count", 16};
static const struct mf_grid_factor count64_factor = {"count", 64};
static const struct mf_push rows_push[] = {{"nout", 0, 4, MF_SCALAR_U32},
                                           {"k", 4, 4, MF_SCALAR_U32},
                                           {"row_first", 8, 4, MF_SCALAR_U32},
                                           {"scale", 12, 4, MF_SCALAR_F32}};
static const struct mf_push count_push[] = {{"count", 0, 4, MF_SCALAR_U32}};
static const struct mf_binding rows_bindings[] = {
    {0, 0, "weights", MF_ACCESS_READ, MF_SCALAR_U32, 4},
    {0, 1, "y", MF_ACCESS_WRITE, MF_SCALAR_F32, 4}};
static const struct mf_binding spec_bindings[] = {
    {1, 2, "values", MF_ACCESS_WRITE, MF_SCALAR_I32, 4}};
static const struct mf_binding subgroup_bindings[] = {
    {0, 0, "values", MF_ACCESS_WRITE, MF_SCALAR_U32, 4}};
static const struct mf_spec_constant spec_constants[] = {{7, "FIRST", MF_SCALAR_I32, 5}};

/* What the three have in common. */
static struct mf_artifact common_artifact(const char *name, const char *file) {
    return (struct mf_artifact){
        .name = name,
        .family = name,
        .dtypes = f32_dtypes,
        .dtype_count = 1,
        .shape = "any",
        .schedule = "row",
        .tier = "portable",
        .file = file,
        .requires_ = {.vulkan_major = 1,
                      .vulkan_minor = 1,
                      .spirv_major = 1,
                      .spirv_minor = 3,
                      .local_size = {16, 1, 1},
                      .push_bytes = 4,
                      .capabilities = shader_capabilities,
                      .capability_count = 1},
        .push = count_push,
        .push_count = 1,
        .dims = count_dims,
        .dim_count = 1,
        .reference = "none",
        .tolerance = {.exact = true, .max_abs = -1, .rel = -1, .scale = -1}};
}

static void fill_artifacts(struct mf_artifact *artifacts) {
    artifacts[0] = common_artifact(LOADER_ROWS, "rows.spv");
    artifacts[0].family = artifacts[0].kernel = "matvec";
    artifacts[0].schedule = "rows";
    artifacts[0].requires_.push_bytes = 16;
    artifacts[0].push = rows_push;
    artifacts[0].push_count = 4;
    artifacts[0].dims = rows_dims;
    artifacts[0].dim_count = 2;
    artifacts[0].limits = &rows_limit;
    artifacts[0].limit_count = 1;
    artifacts[0].bindings = rows_bindings;
    artifacts[0].binding_count = 2;
    artifacts[0].grid.axes[0] = (struct mf_grid_axis){&rows_factor, 1};
    artifacts[0].grid.fold = true;

    artifacts[1] = common_artifact(LOADER_SPEC, "sub/spec.spv");
    artifacts[1].family = artifacts[1].kernel = "scale";
    artifacts[1].dtypes = i32_dtypes;
    artifacts[1].bindings = spec_bindings;
    artifacts[1].binding_count = 1;
    artifacts[1].spec = spec_constants;
    artifacts[1].spec_count = 1;
    artifacts[1].grid.axes[0] = (struct mf_grid_axis){&count16_factor, 1};

    artifacts[2] = common_artifact(LOADER_SUBGROUP, "subgroup.spv");
    artifacts[2].family = artifacts[2].kernel = "softmax";
    artifacts[2].tier = "subgroup";
    artifacts[2].bindings = subgroup_bindings;
    artifacts[2].binding_count = 1;
    artifacts[2].requires_.local_size[0] = 64;
    artifacts[2].requires_.capabilities = subgroup_capabilities;
    artifacts[2].requires_.capability_count = 2;
    artifacts[2].requires_.subgroup_operations = basic_operations;
    artifacts[2].requires_.subgroup_operation_count = 1;
    artifacts[2].grid.axes[0] = (struct mf_grid_axis){&count64_factor, 1};
}

void loader_bundle_begin(struct loader_bundle *bundle) {
    memset(bundle, 0, sizeof(*bundle));
    const char *parent = getenv("TMPDIR");
    snprintf(bundle->directory, sizeof(bundle->directory), "%s/kiln bundle XXXXXX",
             parent && parent[0] ? parent : "/tmp");
    assert_non_null(mkdtemp(bundle->directory));
    fill_artifacts(bundle->artifacts);
    bundle->words[0] = loader_module_rows_words;
    bundle->words[1] = loader_module_spec_words;
    bundle->words[2] = loader_module_subgroup_words;
    bundle->artifacts[0].size_bytes = 4 * loader_module_rows_word_count;
    bundle->artifacts[1].size_bytes = 4 * loader_module_spec_word_count;
    bundle->artifacts[2].size_bytes = 4 * loader_module_subgroup_word_count;
    bundle->manifest.format = MF_MANIFEST_FORMAT;
    bundle->manifest.abi = MF_MANIFEST_ABI;
    bundle->manifest.toolchain =
        (struct mf_toolchain){"15.1.0", "v2025.1", "0.64.0", "1", "a test's toolchain"};
    bundle->manifest.artifacts = bundle->artifacts;
    bundle->manifest.artifact_count = LOADER_ARTIFACT_COUNT;
}

void loader_bundle_seal(struct loader_bundle *bundle) {
    for (size_t i = 0; i < LOADER_ARTIFACT_COUNT; i++) {
        struct mf_artifact *artifact = &bundle->artifacts[i];
        artifact->content =
            mf_hash_bytes(MF_HASH_CONTENT, bundle->words[i], (size_t)artifact->size_bytes);
        assert_int_equal(mf_artifact_interface_hash(artifact, &artifact->iface), KILN_OK);
    }
}

const char *loader_bundle_path(const struct loader_bundle *bundle, const char *name,
                               char path[512]) {
    snprintf(path, 512, "%s/%s", bundle->directory, name);
    return path;
}

void loader_bundle_put(const struct loader_bundle *bundle, const char *name, const void *bytes,
                       size_t size_bytes) {
    char path[512];
    struct kiln_error error = {0};
    if (mf_file_write_atomic(loader_bundle_path(bundle, name, path), bytes, size_bytes, NULL,
                             &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
}

void loader_bundle_write_manifest(struct loader_bundle *bundle) {
    struct mf_buffer json = {0};
    struct kiln_error error = {0};
    if (mf_manifest_write(&bundle->manifest, &json, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
    loader_bundle_put(bundle, "manifest.json", json.data, json.size_bytes);
    mf_buffer_release(&json);
}

void loader_bundle_write_modules(const struct loader_bundle *bundle) {
    char path[512];
    assert_int_equal(mf_file_make_directory(loader_bundle_path(bundle, "sub", path), NULL),
                     KILN_OK);
    for (size_t i = 0; i < LOADER_ARTIFACT_COUNT; i++) {
        loader_bundle_put(bundle, bundle->artifacts[i].file, bundle->words[i],
                          (size_t)bundle->artifacts[i].size_bytes);
    }
}

void loader_bundle_make(struct loader_bundle *bundle) {
    loader_bundle_begin(bundle);
    loader_bundle_seal(bundle);
    loader_bundle_write_manifest(bundle);
    loader_bundle_write_modules(bundle);
}

static int remove_entry(const char *path, const struct stat *status, int type,
                        struct FTW *position) {
    (void)status;
    (void)type;
    (void)position;
    return remove(path);
}

void loader_bundle_remove(struct loader_bundle *bundle) {
    assert_int_equal(nftw(bundle->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}
