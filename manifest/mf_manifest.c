/* SPDX-License-Identifier: MIT */
#include "mf_manifest.h"

#include <string.h>

static const char *const access_names[] = {
    [MF_ACCESS_READ] = "read", [MF_ACCESS_WRITE] = "write", [MF_ACCESS_READ_WRITE] = "read_write"};

static const struct {
    const char *name;
    uint32_t size_bytes;
} scalars[] = {
    [MF_SCALAR_U8] = {"u8", 1},         [MF_SCALAR_I8] = {"i8", 1},
    [MF_SCALAR_U16] = {"u16", 2},       [MF_SCALAR_I16] = {"i16", 2},
    [MF_SCALAR_U32] = {"u32", 4},       [MF_SCALAR_I32] = {"i32", 4},
    [MF_SCALAR_U64] = {"u64", 8},       [MF_SCALAR_I64] = {"i64", 8},
    [MF_SCALAR_F16] = {"f16", 2},       [MF_SCALAR_F32] = {"f32", 4},
    [MF_SCALAR_F64] = {"f64", 8},       [MF_SCALAR_BOOL] = {"bool", 4},
    [MF_SCALAR_STRUCT] = {"struct", 0},
};

const char *mf_access_string(enum mf_access access) {
    size_t index = (size_t)access;
    return index < sizeof access_names / sizeof access_names[0] ? access_names[index] : "unknown";
}

const char *mf_scalar_string(enum mf_scalar scalar) {
    size_t index = (size_t)scalar;
    return index < sizeof scalars / sizeof scalars[0] ? scalars[index].name : "unknown";
}

uint32_t mf_scalar_bytes(enum mf_scalar scalar) {
    size_t index = (size_t)scalar;
    return index < sizeof scalars / sizeof scalars[0] ? scalars[index].size_bytes : 0;
}

void mf_manifest_release(struct mf_manifest *manifest) {
    if (manifest) {
        mf_arena_release(&manifest->arena);
        *manifest = (struct mf_manifest){0};
    }
}

const struct mf_artifact *mf_manifest_find(const struct mf_manifest *manifest, const char *name) {
    size_t low = 0;
    size_t high = manifest->artifact_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(manifest->artifacts[middle].name, name);
        if (order == 0) {
            return &manifest->artifacts[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

char *mf_artifact_file_name(struct mf_arena *arena, const char *name,
                            const struct mf_hash *content) {
    char text[MF_HASH_TEXT_BYTES];
    mf_hash_format(content, text);
    return mf_arena_format(arena, "%s.%.8s.spv", name, text);
}

/* ---- interface hash: the order of the fields is FORMAT.md's, "Interface hash" ---- */

static void hash_strings(struct mf_hash_state *state, const char *const *strings, size_t count) {
    mf_hash_add_u64(state, count);
    for (size_t i = 0; i < count; i++) {
        mf_hash_add_string(state, strings[i]);
    }
}

static void hash_bindings(struct mf_hash_state *state, const struct mf_artifact *artifact) {
    mf_hash_add_u64(state, artifact->binding_count);
    for (size_t i = 0; i < artifact->binding_count; i++) {
        const struct mf_binding *binding = &artifact->bindings[i];
        mf_hash_add_u64(state, binding->set);
        mf_hash_add_u64(state, binding->binding);
        mf_hash_add_string(state, binding->name);
        mf_hash_add_string(state, mf_access_string(binding->access));
        mf_hash_add_string(state, mf_scalar_string(binding->element));
        mf_hash_add_u64(state, binding->stride_bytes);
    }
}

static void hash_constants(struct mf_hash_state *state, const struct mf_artifact *artifact) {
    mf_hash_add_u64(state, artifact->push_count);
    for (size_t i = 0; i < artifact->push_count; i++) {
        const struct mf_push *push = &artifact->push[i];
        mf_hash_add_string(state, push->name);
        mf_hash_add_u64(state, push->offset_bytes);
        mf_hash_add_u64(state, push->size_bytes);
        mf_hash_add_string(state, mf_scalar_string(push->type));
    }
    mf_hash_add_u64(state, artifact->spec_count);
    for (size_t i = 0; i < artifact->spec_count; i++) {
        const struct mf_spec_constant *spec = &artifact->spec[i];
        mf_hash_add_u64(state, spec->constant_id);
        mf_hash_add_string(state, spec->name);
        mf_hash_add_string(state, mf_scalar_string(spec->type));
        mf_hash_add_u64(state, spec->default_bits);
    }
}

static void hash_limits(struct mf_hash_state *state, const struct mf_artifact *artifact) {
    mf_hash_add_u64(state, artifact->limit_count);
    for (size_t i = 0; i < artifact->limit_count; i++) {
        const struct mf_dim_limit *limit = &artifact->limits[i];
        mf_hash_add_string(state, limit->dim);
        mf_hash_add_u64(state, limit->max);
        mf_hash_add_u64(state, limit->multiple);
    }
}

static void hash_grid(struct mf_hash_state *state, const struct mf_grid *grid) {
    for (size_t axis = 0; axis < 3; axis++) {
        mf_hash_add_u64(state, grid->axes[axis].factor_count);
        for (size_t i = 0; i < grid->axes[axis].factor_count; i++) {
            mf_hash_add_string(state, grid->axes[axis].factors[i].dim);
            mf_hash_add_u64(state, grid->axes[axis].factors[i].tile);
        }
    }
    mf_hash_add_u64(state, grid->fold ? 1 : 0);
}

static void hash_requires(struct mf_hash_state *state, const struct mf_requires *requires_) {
    mf_hash_add_u64(state, requires_->vulkan_major);
    mf_hash_add_u64(state, requires_->vulkan_minor);
    mf_hash_add_u64(state, requires_->spirv_major);
    mf_hash_add_u64(state, requires_->spirv_minor);
    for (size_t i = 0; i < 3; i++) {
        mf_hash_add_u64(state, requires_->local_size[i]);
    }
    mf_hash_add_u64(state, requires_->workgroup_bytes);
    mf_hash_add_u64(state, requires_->push_bytes);
    mf_hash_add_u64(state, requires_->subgroup_size);
    hash_strings(state, requires_->subgroup_operations, requires_->subgroup_operation_count);
    hash_strings(state, requires_->features, requires_->feature_count);
    hash_strings(state, requires_->extensions, requires_->extension_count);
    hash_strings(state, requires_->capabilities, requires_->capability_count);
}

enum kiln_result mf_artifact_interface_hash(const struct mf_artifact *artifact,
                                            struct mf_hash *out) {
    *out = (struct mf_hash){{0}};
    struct mf_hash_state *state = NULL;
    enum kiln_result result = mf_hash_begin(MF_HASH_INTERFACE, &state);
    if (result != KILN_OK) {
        return result;
    }
    mf_hash_add_u64(state, MF_MANIFEST_ABI);
    hash_bindings(state, artifact);
    hash_constants(state, artifact);
    hash_strings(state, artifact->dims, artifact->dim_count);
    hash_limits(state, artifact);
    hash_grid(state, &artifact->grid);
    hash_requires(state, &artifact->requires_);
    *out = mf_hash_end(&state);
    return KILN_OK;
}

/* ---- dispatch geometry ---- */

enum kiln_result mf_artifact_check_dims(const struct mf_artifact *artifact,
                                        const struct mf_dim *dims, size_t dim_count,
                                        struct kiln_error *error) {
    for (size_t i = 0; i < artifact->limit_count; i++) {
        const struct mf_dim_limit *limit = &artifact->limits[i];
        for (size_t j = 0; j < dim_count; j++) {
            if (strcmp(dims[j].name, limit->dim) != 0) {
                continue;
            }
            if (dims[j].value > limit->max) {
                return kiln_error_set(
                    error, KILN_ERR_LIMIT, "%s: dimension %s is %llu, expected at most %u",
                    artifact->name, limit->dim, (unsigned long long)dims[j].value, limit->max);
            }
            if (limit->multiple > 1 && dims[j].value % limit->multiple != 0) {
                return kiln_error_set(
                    error, KILN_ERR_LIMIT, "%s: dimension %s is %llu, expected a multiple of %u",
                    artifact->name, limit->dim, (unsigned long long)dims[j].value, limit->multiple);
            }
        }
    }
    return KILN_OK;
}

/* The factor's ceil(dim / tile). */
static enum kiln_result factor_count(const struct mf_grid_factor *factor, const struct mf_dim *dims,
                                     size_t dim_count, uint64_t *count, struct kiln_error *error) {
    *count = 0;
    if (factor->tile == 0) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "grid: dimension \"%s\" has tile 0",
                              factor->dim);
    }
    for (size_t i = 0; i < dim_count; i++) {
        if (strcmp(dims[i].name, factor->dim) == 0) {
            *count = dims[i].value / factor->tile + (dims[i].value % factor->tile != 0);
            return KILN_OK;
        }
    }
    return kiln_error_set(error, KILN_ERR_NOT_FOUND, "grid: dimension \"%s\" is not given",
                          factor->dim);
}

/* Groups of one axis: 0 when any factor is 0, otherwise the product, at most UINT64_MAX. */
static enum kiln_result axis_count(const struct mf_grid_axis *axis, const struct mf_dim *dims,
                                   size_t dim_count, uint64_t *count, struct kiln_error *error) {
    bool zero = false;
    *count = 1;
    for (size_t i = 0; i < axis->factor_count; i++) {
        uint64_t factor = 0;
        enum kiln_result result = factor_count(&axis->factors[i], dims, dim_count, &factor, error);
        if (result != KILN_OK) {
            return result;
        }
        zero = zero || factor == 0;
        if (__builtin_mul_overflow(*count, factor, count)) {
            *count = UINT64_MAX;
        }
    }
    if (zero) {
        *count = 0;
    }
    return KILN_OK;
}

#define FOLD_MAX_GROUPS (UINT64_C(1) << 32)

static uint64_t divide_up(uint64_t value, uint64_t divisor) {
    return value / divisor + (value % divisor != 0);
}

/* The fewest z, for that the fewest y, for both the fewest x with x * y * z >= count. The surplus
 * is below y * z groups. Kernels number folded groups in 32 bits, so the total is at most 2^32. */
static enum kiln_result fold_count(uint64_t count, const uint32_t limit[3], uint32_t groups[3],
                                   struct kiln_error *error) {
    uint64_t z = divide_up(count, (uint64_t)limit[0] * limit[1]);
    if (z > limit[2]) {
        return kiln_error_set(error, KILN_ERR_LIMIT,
                              "grid: %llu groups exceed the device's %u x %u x %u",
                              (unsigned long long)count, limit[0], limit[1], limit[2]);
    }
    if (count > FOLD_MAX_GROUPS) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "grid: %llu folded groups exceed 2^32",
                              (unsigned long long)count);
    }
    uint64_t y = divide_up(count, (uint64_t)limit[0] * z);
    uint64_t x = divide_up(count, y * z);
    if (x * y * z > FOLD_MAX_GROUPS) {
        return kiln_error_set(error, KILN_ERR_LIMIT,
                              "grid: %llu groups, folded to %llu x %llu x %llu, exceed 2^32",
                              (unsigned long long)count, (unsigned long long)x,
                              (unsigned long long)y, (unsigned long long)z);
    }
    groups[0] = (uint32_t)x;
    groups[1] = (uint32_t)y;
    groups[2] = (uint32_t)z;
    return KILN_OK;
}

enum kiln_result mf_grid_groups(const struct mf_grid *grid, const struct mf_dim *dims,
                                size_t dim_count, const uint32_t limit[3], uint32_t groups[3],
                                struct kiln_error *error) {
    groups[0] = groups[1] = groups[2] = 0;
    if (grid->fold && (grid->axes[1].factor_count > 0 || grid->axes[2].factor_count > 0)) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "grid: a folded grid has factors on y or z");
    }
    if (limit[0] == 0 || limit[1] == 0 || limit[2] == 0) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "grid: a limit of the device is 0");
    }
    uint64_t counts[3];
    for (size_t axis = 0; axis < 3; axis++) {
        enum kiln_result result =
            axis_count(&grid->axes[axis], dims, dim_count, &counts[axis], error);
        if (result != KILN_OK) {
            return result;
        }
    }
    if (counts[0] == 0 || counts[1] == 0 || counts[2] == 0) {
        return KILN_OK;
    }
    if (grid->fold && counts[0] > limit[0]) {
        return fold_count(counts[0], limit, groups, error);
    }
    for (size_t axis = 0; axis < 3; axis++) {
        if (counts[axis] > limit[axis]) {
            return kiln_error_set(error, KILN_ERR_LIMIT,
                                  "grid: %llu groups on axis %c exceed the device's %u",
                                  (unsigned long long)counts[axis], "xyz"[axis], limit[axis]);
        }
    }
    for (size_t axis = 0; axis < 3; axis++) {
        groups[axis] = (uint32_t)counts[axis];
    }
    return KILN_OK;
}
