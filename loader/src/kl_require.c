/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_select.h"

#include "kl_feature.h"

#include <stdio.h>
#include <string.h>

/* What a SPIR-V capability asks of a device. NULL: nothing. Source: Vulkan specification, appendix
 * "Vulkan Environment for SPIR-V", table of capabilities. */
struct kl_capability {
    const char *name; /* without a suffix KHR, EXT or NV */
    const char *feature;
    const char *extension;
    VkSubgroupFeatureFlags subgroup; /* any of these */
};

static const struct kl_capability capability_table[] = {
    {"Matrix", NULL, NULL, 0},
    {"Shader", NULL, NULL, 0},
    {"Float64", "shaderFloat64", NULL, 0},
    {"Int64", "shaderInt64", NULL, 0},
    {"Int16", "shaderInt16", NULL, 0},
    {"Int8", "shaderInt8", NULL, 0},
    {"Float16", "shaderFloat16", NULL, 0},
    {"Int64Atomics", "shaderBufferInt64Atomics", NULL, 0},
    {"AtomicFloat32Add", "shaderBufferFloat32AtomicAdd", NULL, 0},
    {"StorageBuffer16BitAccess", "storageBuffer16BitAccess", NULL, 0},
    {"StorageUniformBufferBlock16", "storageBuffer16BitAccess", NULL, 0},
    {"UniformAndStorageBuffer16BitAccess", "uniformAndStorageBuffer16BitAccess", NULL, 0},
    {"StorageUniform16", "uniformAndStorageBuffer16BitAccess", NULL, 0},
    {"StoragePushConstant16", "storagePushConstant16", NULL, 0},
    {"StorageBuffer8BitAccess", "storageBuffer8BitAccess", NULL, 0},
    {"UniformAndStorageBuffer8BitAccess", "uniformAndStorageBuffer8BitAccess", NULL, 0},
    {"StoragePushConstant8", "storagePushConstant8", NULL, 0},
    {"VariablePointersStorageBuffer", "variablePointersStorageBuffer", NULL, 0},
    {"VariablePointers", "variablePointers", NULL, 0},
    {"DotProduct", "shaderIntegerDotProduct", NULL, 0},
    {"DotProductInputAll", "shaderIntegerDotProduct", NULL, 0},
    {"DotProductInput4x8Bit", "shaderIntegerDotProduct", NULL, 0},
    {"DotProductInput4x8BitPacked", "shaderIntegerDotProduct", NULL, 0},
    {"CooperativeMatrix", "cooperativeMatrix", NULL, 0},
    {"CooperativeMatrixReductions", "cooperativeMatrixReductions", NULL, 0},
    {"CooperativeMatrixConversions", "cooperativeMatrixConversions", NULL, 0},
    {"CooperativeMatrixPerElementOperations", "cooperativeMatrixPerElementOperations", NULL, 0},
    {"CooperativeMatrixTensorAddressing", "cooperativeMatrixTensorAddressing", NULL, 0},
    {"CooperativeMatrixBlockLoads", "cooperativeMatrixBlockLoads", NULL, 0},
    {"TensorAddressing", "cooperativeMatrixTensorAddressing", NULL, 0},
    {"VulkanMemoryModel", "vulkanMemoryModel", NULL, 0},
    {"VulkanMemoryModelDeviceScope", "vulkanMemoryModelDeviceScope", NULL, 0},
    {"PhysicalStorageBufferAddresses", "bufferDeviceAddress", NULL, 0},
    {"ExpectAssume", "shaderExpectAssume", NULL, 0},
    {"WorkgroupMemoryExplicitLayout", "workgroupMemoryExplicitLayout", NULL, 0},
    {"WorkgroupMemoryExplicitLayout8BitAccess", "workgroupMemoryExplicitLayout8BitAccess", NULL, 0},
    {"WorkgroupMemoryExplicitLayout16BitAccess", "workgroupMemoryExplicitLayout16BitAccess", NULL,
     0},
    {"DenormPreserve", NULL, "VK_KHR_shader_float_controls", 0},
    {"DenormFlushToZero", NULL, "VK_KHR_shader_float_controls", 0},
    {"SignedZeroInfNanPreserve", NULL, "VK_KHR_shader_float_controls", 0},
    {"RoundingModeRTE", NULL, "VK_KHR_shader_float_controls", 0},
    {"RoundingModeRTZ", NULL, "VK_KHR_shader_float_controls", 0},
    {"GroupNonUniform", NULL, NULL, VK_SUBGROUP_FEATURE_BASIC_BIT},
    {"GroupNonUniformVote", NULL, NULL, VK_SUBGROUP_FEATURE_VOTE_BIT},
    {"GroupNonUniformArithmetic", NULL, NULL, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT},
    {"GroupNonUniformBallot", NULL, NULL, VK_SUBGROUP_FEATURE_BALLOT_BIT},
    {"GroupNonUniformShuffle", NULL, NULL, VK_SUBGROUP_FEATURE_SHUFFLE_BIT},
    {"GroupNonUniformShuffleRelative", NULL, NULL, VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT},
    {"GroupNonUniformClustered", NULL, NULL, VK_SUBGROUP_FEATURE_CLUSTERED_BIT},
    {"GroupNonUniformQuad", NULL, NULL, VK_SUBGROUP_FEATURE_QUAD_BIT},
    {"GroupNonUniformRotate", "shaderSubgroupRotate", NULL, 0},
};

/* Names of subgroup operations in manifests. */
static const struct {
    const char *name;
    VkSubgroupFeatureFlags flag;
} subgroup_table[] = {
    {"basic", VK_SUBGROUP_FEATURE_BASIC_BIT},
    {"vote", VK_SUBGROUP_FEATURE_VOTE_BIT},
    {"arithmetic", VK_SUBGROUP_FEATURE_ARITHMETIC_BIT},
    {"ballot", VK_SUBGROUP_FEATURE_BALLOT_BIT},
    {"shuffle", VK_SUBGROUP_FEATURE_SHUFFLE_BIT},
    {"shuffle_relative", VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT},
    {"clustered", VK_SUBGROUP_FEATURE_CLUSTERED_BIT},
    {"quad", VK_SUBGROUP_FEATURE_QUAD_BIT},
    {"rotate", VK_SUBGROUP_FEATURE_ROTATE_BIT},
    {"rotate_clustered", VK_SUBGROUP_FEATURE_ROTATE_CLUSTERED_BIT},
};

/* Lists what is missing, separated by "; ". */
struct kl_missing {
    const struct kiln_device_info *info;
    const struct mf_artifact *artifact;
    struct mf_buffer text;
};

#define KL_MISSING(missing, ...)                                                                   \
    do {                                                                                           \
        mf_buffer_append_string(&(missing)->text, (missing)->text.size_bytes ? "; " : "");         \
        mf_buffer_append_format(&(missing)->text, __VA_ARGS__);                                    \
    } while (0)

/* True when `name` is `stem`, or `stem` and the suffix of an extension. */
static bool kl_capability_fits(const char *name, const char *stem) {
    size_t length = strlen(stem);
    if (strncmp(name, stem, length) != 0) {
        return false;
    }
    const char *suffix = name + length;
    return suffix[0] == '\0' || strcmp(suffix, "KHR") == 0 || strcmp(suffix, "EXT") == 0 ||
           strcmp(suffix, "NV") == 0;
}

static void kl_require_capability(struct kl_missing *missing, const char *name) {
    const struct kl_capability *row = NULL;
    for (size_t i = 0; !row && i < sizeof(capability_table) / sizeof(capability_table[0]); i++) {
        row = kl_capability_fits(name, capability_table[i].name) ? &capability_table[i] : NULL;
    }
    if (!row) {
        KL_MISSING(missing, "capability %s is not known to this loader", name);
        return;
    }
    if (row->feature && !kiln_feature_get(&missing->info->features, row->feature)) {
        KL_MISSING(missing, "capability %s needs %s", name, row->feature);
    }
    if (row->extension && !kiln_device_info_extension(missing->info, row->extension)) {
        KL_MISSING(missing, "capability %s needs %s", name, row->extension);
    }
    if (row->subgroup && !(missing->info->subgroup_operations & row->subgroup)) {
        KL_MISSING(missing, "capability %s needs its subgroup operations in compute", name);
    }
}

static bool kl_feature_known(const char *name) {
    for (size_t i = 0; i < kiln_feature_count(); i++) {
        if (strcmp(kiln_feature_name(i), name) == 0) {
            return true;
        }
    }
    return false;
}

static void kl_require_names(struct kl_missing *missing) {
    const struct mf_requires *requires_ = &missing->artifact->requires_;
    const struct kiln_device_info *info = missing->info;
    for (size_t i = 0; i < requires_->feature_count; i++) {
        const char *name = requires_->features[i];
        if (!kl_feature_known(name)) {
            KL_MISSING(missing, "feature %s is not known to this loader", name);
        } else if (!kiln_feature_get(&info->features, name)) {
            KL_MISSING(missing, "feature %s", name);
        }
    }
    for (size_t i = 0; i < requires_->extension_count; i++) {
        if (!kiln_device_info_extension(info, requires_->extensions[i])) {
            KL_MISSING(missing, "extension %s", requires_->extensions[i]);
        }
    }
    for (size_t i = 0; i < requires_->capability_count; i++) {
        kl_require_capability(missing, requires_->capabilities[i]);
    }
    for (size_t i = 0; i < requires_->subgroup_operation_count; i++) {
        const char *name = requires_->subgroup_operations[i];
        VkSubgroupFeatureFlags flag = 0;
        for (size_t row = 0; row < sizeof(subgroup_table) / sizeof(subgroup_table[0]); row++) {
            flag |= strcmp(subgroup_table[row].name, name) == 0 ? subgroup_table[row].flag : 0;
        }
        if (!(info->subgroup_operations & flag)) {
            KL_MISSING(missing, "subgroup operation %s%s", name,
                       flag ? "" : " (not known to this loader)");
        }
    }
}

/* Newest SPIR-V minor version of a Vulkan 1.x device. */
static uint32_t kl_spirv_minor(const struct kiln_device_info *info) {
    static const uint32_t by_vulkan_minor[] = {0, 3, 5, 6, 6};
    uint32_t minor = VK_API_VERSION_MINOR(info->api_version);
    uint32_t spirv = by_vulkan_minor[minor < 4 ? minor : 4];
    if (spirv < 4 && kiln_device_info_extension(info, "VK_KHR_spirv_1_4")) {
        spirv = 4;
    }
    return spirv;
}

static void kl_require_versions(struct kl_missing *missing) {
    const struct mf_requires *requires_ = &missing->artifact->requires_;
    uint32_t version = missing->info->api_version;
    if (VK_MAKE_API_VERSION(0, requires_->vulkan_major, requires_->vulkan_minor, 0) > version) {
        KL_MISSING(missing, "Vulkan %u.%u (the device has %u.%u)", requires_->vulkan_major,
                   requires_->vulkan_minor, VK_API_VERSION_MAJOR(version),
                   VK_API_VERSION_MINOR(version));
    }
    uint32_t spirv_minor = kl_spirv_minor(missing->info);
    if (requires_->spirv_major != 1 || requires_->spirv_minor > spirv_minor) {
        KL_MISSING(missing, "SPIR-V %u.%u (the device takes 1.%u)", requires_->spirv_major,
                   requires_->spirv_minor, spirv_minor);
    }
}

static void kl_require_subgroup_size(struct kl_missing *missing, uint64_t invocations) {
    const struct kiln_device_info *info = missing->info;
    uint32_t size = missing->artifact->requires_.subgroup_size;
    if (size == 0) {
        return;
    }
    if (!info->subgroup_size_pinnable) {
        /* SPIR-V 1.6 lets the driver choose any size in the range for each kernel. */
        bool fixed = info->subgroup_size_min == info->subgroup_size_max ||
                     missing->artifact->requires_.spirv_minor < 6;
        if (size != info->subgroup_size || !fixed) {
            KL_MISSING(missing, "subgroup size %u (the device has %u and no size control)", size,
                       info->subgroup_size);
        }
        return;
    }
    if (size < info->subgroup_size_min || size > info->subgroup_size_max ||
        (size & (size - 1)) != 0) {
        KL_MISSING(missing, "subgroup size %u (the device has %u to %u)", size,
                   info->subgroup_size_min, info->subgroup_size_max);
    } else if (invocations > (uint64_t)size * info->limits.max_workgroup_subgroups) {
        KL_MISSING(missing, "%llu invocations in subgroups of %u (limit %u subgroups)",
                   (unsigned long long)invocations, size, info->limits.max_workgroup_subgroups);
    }
}

static void kl_require_limits(struct kl_missing *missing) {
    const struct mf_requires *requires_ = &missing->artifact->requires_;
    const struct kiln_limits *limits = &missing->info->limits;
    uint64_t invocations = 1;
    for (size_t axis = 0; axis < 3; axis++) {
        uint32_t size = requires_->local_size[axis];
        if (size == 0 || size > limits->max_local_size[axis]) {
            KL_MISSING(missing, "local size %u in %c (limit %u)", size, "xyz"[axis],
                       limits -> max_local_size[axis]);
        }
        /* Each factor is below 2^32: stop before the product of three can overflow. */
        invocations = invocations > UINT32_MAX ? invocations : invocations * size;
    }
    if (invocations > limits->max_local_invocations) {
        KL_MISSING(missing, "%llu invocations in a workgroup (limit %u)",
                   (unsigned long long)invocations, limits->max_local_invocations);
    }
    if (requires_->workgroup_bytes > limits->max_workgroup_bytes) {
        KL_MISSING(missing, "%u bytes of workgroup memory (limit %u)", requires_->workgroup_bytes,
                   limits->max_workgroup_bytes);
    }
    if (requires_->push_bytes > limits->max_push_bytes) {
        KL_MISSING(missing, "%u bytes of push constants (limit %u)", requires_->push_bytes,
                   limits->max_push_bytes);
    }
    if (missing->artifact->binding_count > limits->max_storage_buffers) {
        KL_MISSING(missing, "%zu storage buffers (limit %u)", missing->artifact->binding_count,
                   limits->max_storage_buffers);
    }
    kl_require_subgroup_size(missing, invocations);
}

/* Component types of cooperative matrices, by the axis `component`. */
struct kl_component {
    const char *name;
    VkComponentTypeKHR factor; /* of A and B */
    VkComponentTypeKHR sum;    /* of C and the result */
};

static const struct kl_component component_table[] = {
    {"f16", VK_COMPONENT_TYPE_FLOAT16_KHR, VK_COMPONENT_TYPE_FLOAT32_KHR}, /* without the axis */
    {"s8", VK_COMPONENT_TYPE_SINT8_KHR, VK_COMPONENT_TYPE_SINT32_KHR},
    {"u8", VK_COMPONENT_TYPE_UINT8_KHR, VK_COMPONENT_TYPE_UINT32_KHR},
};

static const char *kl_axis_value(const struct mf_artifact *artifact, const char *name) {
    for (size_t i = 0; i < artifact->axis_count; i++) {
        if (strcmp(artifact->axes[i].name, name) == 0) {
            return artifact->axes[i].value;
        }
    }
    return NULL;
}

/* What the axes `tuple` and `component` say about an artifact's cooperative matrices. */
struct kl_shape {
    unsigned m, n, k;
    const struct kl_component *component;
};

/* False where there is nothing to ask: another tier, no tuple, or unknown components, which are
 * missing. */
static bool kl_shape_read(struct kl_missing *missing, const char *tier, struct kl_shape *shape) {
    const char *value = kl_axis_value(missing->artifact, "tuple");
    const char *name = kl_axis_value(missing->artifact, "component");
    *shape = (struct kl_shape){.component = name ? NULL : &component_table[0]};
    if (strcmp(missing->artifact->tier, tier) != 0 || !value ||
        sscanf(value, "%ux%ux%u", &shape->m, &shape->n, &shape->k) != 3) {
        return false;
    }
    for (size_t i = 0; name && i < sizeof(component_table) / sizeof(component_table[0]); i++) {
        if (strcmp(component_table[i].name, name) == 0) {
            shape->component = &component_table[i];
        }
    }
    if (!shape->component) {
        KL_MISSING(missing, "cooperative matrices of unknown components %s", name);
        return false;
    }
    return true;
}

/* The axis `tuple` of a coopmat artifact has to be a shape of the driver's list, with its types. */
static void kl_require_tuple(struct kl_missing *missing) {
    const struct kiln_device_info *info = missing->info;
    struct kl_shape shape;
    if (!kl_shape_read(missing, "coopmat", &shape)) {
        return;
    }
    bool listed = info->coopmat_unlisted;
    for (size_t row = 0; row < info->coopmat_count; row++) {
        const struct kiln_coopmat_tuple *tuple = &info->coopmat[row];
        listed |= tuple->m == shape.m && tuple->n == shape.n && tuple->k == shape.k &&
                  tuple->a == shape.component->factor && tuple->b == shape.component->factor &&
                  tuple->c == shape.component->sum && tuple->result == shape.component->sum &&
                  !tuple->saturating && tuple->scope == VK_SCOPE_SUBGROUP_KHR;
    }
    if (!listed) {
        KL_MISSING(missing, "cooperative matrices of %s %ux%ux%u (the driver lists %zu shapes)",
                   shape.component->name, shape.m, shape.n, shape.k, info->coopmat_count);
    }
}

/*
 * That of a coopmat2 artifact, whose matrices belong to the whole workgroup, has to be made of
 * multiples of what the driver lists for these types and this many invocations.
 */
static void kl_require_flexible(struct kl_missing *missing) {
    const struct kiln_device_info *info = missing->info;
    const struct mf_requires *requires_ = &missing->artifact->requires_;
    struct kl_shape shape;
    if (!kl_shape_read(missing, "coopmat2", &shape)) {
        return;
    }
    /* A workgroup beyond all limits is refused by them; here it only must not wrap around. */
    uint64_t invocations = (uint64_t)requires_->local_size[0] * requires_->local_size[1];
    invocations = invocations > UINT32_MAX ? UINT64_MAX : invocations * requires_->local_size[2];
    const struct kiln_coopmat_granularity *nearest = NULL;
    bool listed = false;
    for (size_t i = 0; !listed && i < info->coopmat_flexible_count; i++) {
        const struct kiln_coopmat_granularity *row = &info->coopmat_flexible[i];
        if (row->a == shape.component->factor && row->b == shape.component->factor &&
            row->c == shape.component->sum && row->result == shape.component->sum &&
            !row->saturating && row->scope == VK_SCOPE_WORKGROUP_KHR &&
            row->invocations == invocations && row->m != 0 && row->n != 0 && row->k != 0) {
            nearest = row;
            listed = shape.m % row->m == 0 && shape.n % row->n == 0 && shape.k % row->k == 0;
        }
    }
    if (!nearest) {
        KL_MISSING(missing,
                   "workgroup cooperative matrices of %s in %llu invocations (the driver lists %zu "
                   "granularities)",
                   shape.component->name, (unsigned long long)invocations,
                   info->coopmat_flexible_count);
    } else if (!listed) {
        KL_MISSING(missing, "workgroup cooperative matrices of %s %ux%ux%u (multiples of %ux%ux%u)",
                   shape.component->name, shape.m, shape.n, shape.k, nearest->m, nearest->n,
                   nearest->k);
    }
    unsigned longest = shape.m > shape.n ? shape.m : shape.n;
    longest = longest > shape.k ? longest : shape.k;
    if (nearest && longest > info->coopmat_dimension_max) {
        KL_MISSING(missing, "cooperative matrices of dimension %u (limit %u)", longest,
                   info->coopmat_dimension_max);
    }
    if (nearest && invocations > info->coopmat_invocations_max) {
        KL_MISSING(missing, "cooperative matrices of %llu invocations (limit %u)",
                   (unsigned long long)invocations, info->coopmat_invocations_max);
    }
    uint64_t bytes = (uint64_t)requires_->workgroup_bytes + info->coopmat_workgroup_bytes;
    if (nearest && bytes > info->limits.max_workgroup_bytes) {
        KL_MISSING(missing, "%u bytes of workgroup memory beside %u of its matrices (limit %u)",
                   requires_->workgroup_bytes, info->coopmat_workgroup_bytes,
                   info->limits.max_workgroup_bytes);
    }
}

enum kiln_result kiln_requirements_check(const struct kiln_device_info *info,
                                         const struct mf_artifact *artifact,
                                         struct kiln_error *error) {
    struct kl_missing missing = {.info = info, .artifact = artifact};
    enum kiln_result result = KILN_OK;
    kl_require_versions(&missing);
    kl_require_names(&missing);
    kl_require_limits(&missing);
    kl_require_tuple(&missing);
    kl_require_flexible(&missing);
    if (missing.text.failed) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "%s: no memory to check its requirements",
                                artifact->name);
    } else if (missing.text.size_bytes > 0) {
        result = kiln_error_set(error, KILN_ERR_UNSUPPORTED, "%s: %s lacks: %s", artifact->name,
                                info->name, missing.text.data);
    }
    mf_buffer_release(&missing.text);
    return result;
}
