/* SPDX-License-Identifier: MIT */
#include "vf_device.h"

#include "mf_file.h"
#include "vf_dirty_words.h"
#include "vf_guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIRTY_WORD_COUNT = 4096, DIRTY_GROUP_COUNT = 512 };

/* The manifest of a bundle that holds nothing but the dirtying kernel. */
static void dirty_artifact(struct mf_artifact *out) {
    static const char *const dtypes[] = {"f32"};
    static const char *const dims[] = {"groups"};
    static const char *const capabilities[] = {"Shader"};
    static const struct mf_binding bindings[] = {{0, 0, "sink", MF_ACCESS_WRITE, MF_SCALAR_U32, 4}};
    static const struct mf_push push[] = {{"groups", 0, 4, MF_SCALAR_U32},
                                          {"pattern", 4, 4, MF_SCALAR_U32}};
    static const struct mf_grid_factor factors[] = {{"groups", 1}};

    *out = (struct mf_artifact){
        .name = "dirty__f32__any__plain__portable",
        .family = "dirty",
        .kernel = "dirty",
        .dtypes = dtypes,
        .dtype_count = 1,
        .shape = "any",
        .schedule = "plain",
        .tier = "portable",
        .file = "dirty.spv",
        .size_bytes = sizeof vf_dirty_words,
        .requires_ = {.vulkan_major = 1,
                      .vulkan_minor = 1,
                      .spirv_major = 1,
                      .spirv_minor = 3,
                      .local_size = {64, 1, 1},
                      .workgroup_bytes = 4 * DIRTY_WORD_COUNT,
                      .push_bytes = 8,
                      .capabilities = capabilities,
                      .capability_count = 1},
        .bindings = bindings,
        .binding_count = 1,
        .push = push,
        .push_count = 2,
        .dims = dims,
        .dim_count = 1,
        .grid = {.axes = {{factors, 1}, {NULL, 0}, {NULL, 0}}},
        .reference = "none",
        .tolerance = {.exact = true, .max_abs = -1, .rel = -1, .scale = -1},
    };
    out->content = mf_hash_bytes(MF_HASH_CONTENT, vf_dirty_words, sizeof vf_dirty_words);
}

static enum kiln_result dirty_bundle_write(const char *directory, struct kiln_error *error) {
    struct mf_artifact artifact;
    struct mf_manifest manifest = {.format = MF_MANIFEST_FORMAT,
                                   .abi = MF_MANIFEST_ABI,
                                   .toolchain = {"none", "none", "none", "none", "none"},
                                   .artifacts = &artifact,
                                   .artifact_count = 1};
    struct mf_buffer text = {0};
    char path[512];

    dirty_artifact(&artifact);
    enum kiln_result result = mf_artifact_interface_hash(&artifact, &artifact.iface);
    if (result == KILN_OK) {
        result = mf_manifest_write(&manifest, &text, error);
    }
    if (result == KILN_OK) {
        snprintf(path, sizeof path, "%s/dirty.spv", directory);
        result = mf_file_write_atomic(path, vf_dirty_words, sizeof vf_dirty_words, NULL, error);
    }
    if (result == KILN_OK) {
        snprintf(path, sizeof path, "%s/manifest.json", directory);
        result = mf_file_write_atomic(path, text.data, text.size_bytes, NULL, error);
    }
    mf_buffer_release(&text);
    return result;
}

static void remove_bundle(const char *directory) {
    static const char *const names[] = {"dirty.spv", "manifest.json"};
    char path[512];

    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
}

/* libkiln makes pipelines from bundles, so the kernel becomes one for a moment. */
static enum kiln_result dirty_pipeline(struct vf_device *device, struct kiln_error *error) {
    const char *scratch = getenv("TMPDIR");
    char directory[256];
    struct kiln_bundle *bundle = NULL;

    snprintf(directory, sizeof directory, "%s/kiln_verify.XXXXXX",
             scratch && *scratch ? scratch : "/tmp");
    if (!mkdtemp(directory)) {
        return kiln_error_set(error, KILN_ERR_IO, "cannot make a directory like %s", directory);
    }
    enum kiln_result result = dirty_bundle_write(directory, error);
    if (result == KILN_OK) {
        result = kiln_bundle_open_directory(directory, &bundle, error);
    }
    if (result == KILN_OK) {
        result = kiln_pipeline_get(device->device, bundle, kiln_bundle_artifact(bundle, 0),
                                   &device->dirty, error);
    }
    kiln_bundle_close(&bundle);
    remove_bundle(directory);
    return result;
}

enum kiln_result vf_device_dirty(struct vf_device *device, uint32_t pattern, uint32_t timeout_ms,
                                 struct kiln_error *error) {
    const struct kiln_range range = kiln_buffer_range("sink", device->dirty_sink, 0, 0);
    const struct mf_dim dim = {"groups", device->dirty_group_count};
    const struct kiln_param param = kiln_param_u64("pattern", pattern);
    const struct kiln_dispatch dispatch = {.pipeline = device->dirty,
                                           .ranges = &range,
                                           .range_count = 1,
                                           .dims = &dim,
                                           .dim_count = 1,
                                           .params = &param,
                                           .param_count = 1};

    return kiln_quick_run(&dispatch, timeout_ms, NULL, error);
}

static enum kiln_result dirty_check(struct vf_device *device, uint32_t timeout_ms,
                                    struct kiln_error *error) {
    const uint32_t expected = (uint32_t)DIRTY_WORD_COUNT * VF_GUARD_PATTERN_FIRST;
    uint32_t words[DIRTY_GROUP_COUNT] = {0};
    enum kiln_result result = vf_device_dirty(device, VF_GUARD_PATTERN_FIRST, timeout_ms, error);

    if (result == KILN_OK) {
        result = kiln_buffer_download(device->dirty_sink, 0, words,
                                      sizeof words[0] * device->dirty_group_count, error);
    }
    for (uint32_t i = 0; result == KILN_OK && i < device->dirty_group_count; i++) {
        if (words[i] != expected) {
            result = kiln_error_set(error, KILN_ERR_MISMATCH,
                                    "the kernel that dirties shared memory gives 0x%08" PRIx32
                                    " in group %" PRIu32 ", expected 0x%08" PRIx32,
                                    words[i], i, expected);
        }
    }
    return result;
}

enum kiln_result vf_device_open(struct kiln_instance *instance, size_t index, uint32_t timeout_ms,
                                struct vf_device *out, struct kiln_error *error) {
    *out = (struct vf_device){0};
    enum kiln_result result = kiln_device_open(instance, index, &out->device, error);

    if (result == KILN_OK) {
        out->info = kiln_device_info(out->device);
        /* A processor runs groups one after the other: a few are enough there. */
        out->dirty_group_count =
            out->info->type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 32 : DIRTY_GROUP_COUNT;
        result = kiln_buffer_create(out->device, sizeof(uint32_t) * DIRTY_GROUP_COUNT,
                                    &out->dirty_sink, error);
    }
    if (result == KILN_OK) {
        result = dirty_pipeline(out, error);
    }
    if (result == KILN_OK) {
        result = dirty_check(out, timeout_ms, error);
    }
    if (result != KILN_OK) {
        vf_device_close(out);
    }
    return result;
}

void vf_device_close(struct vf_device *device) {
    kiln_buffer_destroy(&device->dirty_sink);
    kiln_device_close(&device->device);
    *device = (struct vf_device){0};
}

static void exceed(char *text, size_t size, const char *what, uint64_t needed, uint64_t limit) {
    const size_t used = strlen(text);

    if (needed > limit && used < size) {
        snprintf(text + used, size - used, "%s%s %" PRIu64 " > %" PRIu64, used ? ", " : "", what,
                 needed, limit);
    }
}

enum kiln_result vf_limits_check(const struct kiln_limits *limits,
                                 const struct mf_artifact *artifact, struct kiln_error *error) {
    const struct mf_requires *needs = &artifact->requires_;
    static const char *const axes[3] = {"local size x", "local size y", "local size z"};
    char text[400] = "";
    uint64_t invocations = 1;

    for (size_t i = 0; i < 3; i++) {
        exceed(text, sizeof text, axes[i], needs->local_size[i], limits->max_local_size[i]);
        invocations *= needs->local_size[i];
    }
    exceed(text, sizeof text, "invocations", invocations, limits->max_local_invocations);
    exceed(text, sizeof text, "workgroup bytes", needs->workgroup_bytes,
           limits->max_workgroup_bytes);
    exceed(text, sizeof text, "push constant bytes", needs->push_bytes, limits->max_push_bytes);
    exceed(text, sizeof text, "storage buffers", artifact->binding_count,
           limits->max_storage_buffers);
    if (text[0]) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "over the device's limits: %s", text);
    }
    return KILN_OK;
}
