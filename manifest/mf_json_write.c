/* SPDX-License-Identifier: MIT */
/* The writer of mf_manifest.h, above the JSON seam. Keys are sorted by mf_json_dump. */
#include "mf_json.h"
#include "mf_manifest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_strings(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                        const char *const *strings, size_t count) {
    struct mf_json *array = mf_json_put_array(builder, parent, key);
    for (size_t i = 0; i < count; i++) {
        mf_json_put_string(builder, array, NULL, strings[i]);
    }
}

static void put_hash(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                     const struct mf_hash *hash) {
    char text[MF_HASH_TEXT_BYTES];
    mf_hash_format(hash, text);
    mf_json_put_string(builder, parent, key, text);
}

static void put_version(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                        uint32_t major, uint32_t minor) {
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu32 ".%" PRIu32, major, minor);
    mf_json_put_string(builder, parent, key, text);
}

static void put_requires(struct mf_json_builder *builder, struct mf_json *parent,
                         const struct mf_requires *requires_) {
    struct mf_json *object = mf_json_put_object(builder, parent, "requires");
    put_version(builder, object, "vulkan", requires_->vulkan_major, requires_->vulkan_minor);
    put_version(builder, object, "spirv", requires_->spirv_major, requires_->spirv_minor);
    struct mf_json *local_size = mf_json_put_array(builder, object, "local_size");
    for (size_t i = 0; i < 3; i++) {
        mf_json_put_u64(builder, local_size, NULL, requires_->local_size[i]);
    }
    mf_json_put_u64(builder, object, "workgroup_bytes", requires_->workgroup_bytes);
    mf_json_put_u64(builder, object, "push_bytes", requires_->push_bytes);
    mf_json_put_u64(builder, object, "subgroup_size", requires_->subgroup_size);
    put_strings(builder, object, "subgroup_operations", requires_->subgroup_operations,
                requires_->subgroup_operation_count);
    put_strings(builder, object, "features", requires_->features, requires_->feature_count);
    put_strings(builder, object, "extensions", requires_->extensions, requires_->extension_count);
    put_strings(builder, object, "capabilities", requires_->capabilities,
                requires_->capability_count);
}

static void put_bindings(struct mf_json_builder *builder, struct mf_json *parent,
                         const struct mf_artifact *artifact) {
    struct mf_json *array = mf_json_put_array(builder, parent, "bindings");
    for (size_t i = 0; i < artifact->binding_count; i++) {
        const struct mf_binding *binding = &artifact->bindings[i];
        struct mf_json *object = mf_json_put_object(builder, array, NULL);
        mf_json_put_u64(builder, object, "set", binding->set);
        mf_json_put_u64(builder, object, "binding", binding->binding);
        mf_json_put_string(builder, object, "name", binding->name);
        mf_json_put_string(builder, object, "access", mf_access_string(binding->access));
        mf_json_put_string(builder, object, "element", mf_scalar_string(binding->element));
        mf_json_put_u64(builder, object, "stride", binding->stride_bytes);
    }
}

static void put_constants(struct mf_json_builder *builder, struct mf_json *parent,
                          const struct mf_artifact *artifact) {
    struct mf_json *array = mf_json_put_array(builder, parent, "push");
    for (size_t i = 0; i < artifact->push_count; i++) {
        const struct mf_push *push = &artifact->push[i];
        struct mf_json *object = mf_json_put_object(builder, array, NULL);
        mf_json_put_string(builder, object, "name", push->name);
        mf_json_put_u64(builder, object, "offset", push->offset_bytes);
        mf_json_put_u64(builder, object, "size", push->size_bytes);
        mf_json_put_string(builder, object, "type", mf_scalar_string(push->type));
    }
    array = mf_json_put_array(builder, parent, "spec");
    for (size_t i = 0; i < artifact->spec_count; i++) {
        const struct mf_spec_constant *spec = &artifact->spec[i];
        struct mf_json *object = mf_json_put_object(builder, array, NULL);
        mf_json_put_u64(builder, object, "id", spec->constant_id);
        mf_json_put_string(builder, object, "name", spec->name);
        mf_json_put_string(builder, object, "type", mf_scalar_string(spec->type));
        /* As text: JSON numbers are not exact beyond 2^53 for many readers. */
        char bits[32];
        (void)snprintf(bits, sizeof bits, "0x%0*" PRIx64, (int)mf_scalar_bytes(spec->type) * 2,
                       spec->default_bits);
        mf_json_put_string(builder, object, "default", bits);
    }
}

static void put_limits(struct mf_json_builder *builder, struct mf_json *parent,
                       const struct mf_artifact *artifact) {
    struct mf_json *array = mf_json_put_array(builder, parent, "limits");
    for (size_t i = 0; i < artifact->limit_count; i++) {
        struct mf_json *object = mf_json_put_object(builder, array, NULL);
        mf_json_put_string(builder, object, "dim", artifact->limits[i].dim);
        mf_json_put_u64(builder, object, "max", artifact->limits[i].max);
        mf_json_put_u64(builder, object, "multiple", artifact->limits[i].multiple);
    }
}

static void put_grid(struct mf_json_builder *builder, struct mf_json *parent,
                     const struct mf_grid *grid) {
    static const char *const keys[3] = {"x", "y", "z"};
    struct mf_json *object = mf_json_put_object(builder, parent, "grid");
    for (size_t axis = 0; axis < 3; axis++) {
        struct mf_json *array = mf_json_put_array(builder, object, keys[axis]);
        for (size_t i = 0; i < grid->axes[axis].factor_count; i++) {
            struct mf_json *factor = mf_json_put_object(builder, array, NULL);
            mf_json_put_string(builder, factor, "dim", grid->axes[axis].factors[i].dim);
            mf_json_put_u64(builder, factor, "tile", grid->axes[axis].factors[i].tile);
        }
    }
    mf_json_put_bool(builder, object, "fold", grid->fold);
}

static void put_bound(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                      double bound) {
    if (!isfinite(bound)) {
        if (builder->failed == KILN_OK) {
            builder->failed = KILN_ERR_ARGUMENT;
        }
    } else if (bound >= 0) {
        mf_json_put_real(builder, parent, key, bound);
    }
}

static void put_tolerance(struct mf_json_builder *builder, struct mf_json *parent,
                          const struct mf_tolerance *tolerance) {
    struct mf_json *object = mf_json_put_object(builder, parent, "tolerance");
    if (tolerance->exact) {
        mf_json_put_bool(builder, object, "exact", true);
    }
    put_bound(builder, object, "max_abs", tolerance->max_abs);
    put_bound(builder, object, "rel", tolerance->rel);
    put_bound(builder, object, "scale", tolerance->scale);
    if (tolerance->ulp_f16 > 0) {
        mf_json_put_u64(builder, object, "ulp_f16", tolerance->ulp_f16);
    }
}

static void put_artifact(struct mf_json_builder *builder, struct mf_json *object,
                         const struct mf_artifact *artifact) {
    mf_json_put_string(builder, object, "name", artifact->name);
    mf_json_put_string(builder, object, "family", artifact->family);
    mf_json_put_string(builder, object, "kernel", artifact->kernel);
    put_strings(builder, object, "dtypes", artifact->dtypes, artifact->dtype_count);
    mf_json_put_string(builder, object, "shape", artifact->shape);
    mf_json_put_string(builder, object, "schedule", artifact->schedule);
    mf_json_put_string(builder, object, "tier", artifact->tier);
    mf_json_put_string(builder, object, "file", artifact->file);
    mf_json_put_u64(builder, object, "size", artifact->size_bytes);
    put_hash(builder, object, "recipe", &artifact->recipe);
    put_hash(builder, object, "content", &artifact->content);
    put_hash(builder, object, "iface", &artifact->iface);
    struct mf_json *axes = mf_json_put_object(builder, object, "axes");
    for (size_t i = 0; i < artifact->axis_count; i++) {
        mf_json_put_string(builder, axes, artifact->axes[i].name, artifact->axes[i].value);
    }
    put_requires(builder, object, &artifact->requires_);
    put_bindings(builder, object, artifact);
    put_constants(builder, object, artifact);
    put_strings(builder, object, "dims", artifact->dims, artifact->dim_count);
    put_limits(builder, object, artifact);
    put_grid(builder, object, &artifact->grid);
    mf_json_put_string(builder, object, "reference", artifact->reference);
    put_tolerance(builder, object, &artifact->tolerance);
}

static enum kiln_result check_sorted(const struct mf_manifest *manifest, struct kiln_error *error) {
    for (size_t i = 1; i < manifest->artifact_count; i++) {
        if (strcmp(manifest->artifacts[i - 1].name, manifest->artifacts[i].name) >= 0) {
            return kiln_error_set(error, KILN_ERR_ARGUMENT,
                                  "artifact %s: expected names in ascending order, found it "
                                  "behind %s",
                                  manifest->artifacts[i].name, manifest->artifacts[i - 1].name);
        }
    }
    for (size_t i = 1; i < manifest->exclusion_count; i++) {
        if (strcmp(manifest->excluded[i - 1].name, manifest->excluded[i].name) >= 0) {
            return kiln_error_set(error, KILN_ERR_ARGUMENT,
                                  "excluded %s: expected names in ascending order, found it "
                                  "behind %s",
                                  manifest->excluded[i].name, manifest->excluded[i - 1].name);
        }
    }
    return KILN_OK;
}

static struct mf_json *build_manifest(struct mf_json_builder *builder,
                                      const struct mf_manifest *manifest, const char **culprit) {
    struct mf_json *root = mf_json_new_object(builder);
    mf_json_put_u64(builder, root, "format", manifest->format);
    mf_json_put_u64(builder, root, "abi", manifest->abi);
    struct mf_json *toolchain = mf_json_put_object(builder, root, "toolchain");
    mf_json_put_string(builder, toolchain, "glslang", manifest->toolchain.glslang);
    mf_json_put_string(builder, toolchain, "spirv_tools", manifest->toolchain.spirv_tools);
    mf_json_put_string(builder, toolchain, "spirv_cross", manifest->toolchain.spirv_cross);
    mf_json_put_string(builder, toolchain, "pipeline", manifest->toolchain.pipeline);
    mf_json_put_string(builder, toolchain, "signature", manifest->toolchain.signature);
    struct mf_json *artifacts = mf_json_put_array(builder, root, "artifacts");
    for (size_t i = 0; i < manifest->artifact_count && builder->failed == KILN_OK; i++) {
        *culprit = manifest->artifacts[i].name;
        put_artifact(builder, mf_json_put_object(builder, artifacts, NULL),
                     &manifest->artifacts[i]);
    }
    struct mf_json *excluded = mf_json_put_array(builder, root, "excluded");
    for (size_t i = 0; i < manifest->exclusion_count && builder->failed == KILN_OK; i++) {
        *culprit = manifest->excluded[i].name;
        struct mf_json *object = mf_json_put_object(builder, excluded, NULL);
        mf_json_put_string(builder, object, "name", manifest->excluded[i].name);
        mf_json_put_string(builder, object, "reason", manifest->excluded[i].reason);
    }
    return root;
}

/* Appends the text of the tree, or reports why it could not be built. Takes the tree. */
static enum kiln_result finish(struct mf_json *root, const struct mf_json_builder *builder,
                               const char *culprit, bool pretty, struct mf_buffer *out,
                               struct kiln_error *error) {
    enum kiln_result result = builder->failed;
    if (result == KILN_OK) {
        result = mf_json_dump(root, pretty, out);
    }
    mf_json_release(&root);
    if (result == KILN_OK) {
        return KILN_OK;
    }
    const char *reason = kiln_result_string(result);
    if (result == KILN_ERR_FORMAT) {
        reason = "a text is not UTF-8";
    } else if (result == KILN_ERR_ARGUMENT) {
        reason = "a tolerance is not finite";
    }
    return kiln_error_set(error, result, "cannot write %s: %s", culprit, reason);
}

enum kiln_result mf_manifest_write(const struct mf_manifest *manifest, struct mf_buffer *out,
                                   struct kiln_error *error) {
    enum kiln_result result = check_sorted(manifest, error);
    if (result != KILN_OK) {
        return result;
    }
    struct mf_json_builder builder = {0};
    const char *culprit = "the toolchain";
    struct mf_json *root = build_manifest(&builder, manifest, &culprit);
    return finish(root, &builder, culprit, true, out, error);
}

enum kiln_result mf_artifact_write(const struct mf_artifact *artifact, struct mf_buffer *out,
                                   struct kiln_error *error) {
    struct mf_json_builder builder = {0};
    struct mf_json *root = mf_json_new_object(&builder);
    put_artifact(&builder, root, artifact);
    return finish(root, &builder, artifact->name, false, out, error);
}
