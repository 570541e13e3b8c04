/* SPDX-License-Identifier: MIT */
/*
 * kl_feature: the one table of device features, and the structs that carry them.
 *
 * KL_FEATURE_STRUCTS lists Vulkan's feature structs with the extension that brought each and the
 * minor version of Vulkan 1 that took it in (0: none so far). KL_FEATURES lists the members that
 * artifacts may require, each by the struct that holds it. Everything else is made from the two:
 * names, the chain that is queried, the chain that is enabled, the extensions to enable.
 * Source: Vulkan specification, "Features", and the extensions' appendices.
 *
 * Thread safety: all functions are pure.
 */
#ifndef KL_FEATURE_H
#define KL_FEATURE_H

#include "kiln/kiln_device.h"

/* X(tag, struct without VkPhysicalDevice, sType without VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_,
 *   extension, minor version that includes it) */
#define KL_FEATURE_STRUCTS(X)                                                                      \
    X(storage16, 16BitStorageFeatures, 16BIT_STORAGE_FEATURES, "VK_KHR_16bit_storage", 1)          \
    X(variable_pointers, VariablePointersFeatures, VARIABLE_POINTERS_FEATURES,                     \
      "VK_KHR_variable_pointers", 1)                                                               \
    X(storage8, 8BitStorageFeatures, 8BIT_STORAGE_FEATURES, "VK_KHR_8bit_storage", 2)              \
    X(float16_int8, ShaderFloat16Int8Features, SHADER_FLOAT16_INT8_FEATURES,                       \
      "VK_KHR_shader_float16_int8", 2)                                                             \
    X(atomic_int64, ShaderAtomicInt64Features, SHADER_ATOMIC_INT64_FEATURES,                       \
      "VK_KHR_shader_atomic_int64", 2)                                                             \
    X(memory_model, VulkanMemoryModelFeatures, VULKAN_MEMORY_MODEL_FEATURES,                       \
      "VK_KHR_vulkan_memory_model", 2)                                                             \
    X(subgroup_types, ShaderSubgroupExtendedTypesFeatures,                                         \
      SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES, "VK_KHR_shader_subgroup_extended_types", 2)         \
    X(buffer_address, BufferDeviceAddressFeatures, BUFFER_DEVICE_ADDRESS_FEATURES,                 \
      "VK_KHR_buffer_device_address", 2)                                                           \
    X(scalar_layout, ScalarBlockLayoutFeatures, SCALAR_BLOCK_LAYOUT_FEATURES,                      \
      "VK_EXT_scalar_block_layout", 2)                                                             \
    X(integer_dot, ShaderIntegerDotProductFeatures, SHADER_INTEGER_DOT_PRODUCT_FEATURES,           \
      "VK_KHR_shader_integer_dot_product", 3)                                                      \
    X(subgroup_control, SubgroupSizeControlFeatures, SUBGROUP_SIZE_CONTROL_FEATURES,               \
      "VK_EXT_subgroup_size_control", 3)                                                           \
    X(maintenance4, Maintenance4Features, MAINTENANCE_4_FEATURES, "VK_KHR_maintenance4", 3)        \
    X(zero_workgroup, ZeroInitializeWorkgroupMemoryFeatures,                                       \
      ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES, "VK_KHR_zero_initialize_workgroup_memory", 3)     \
    X(subgroup_rotate, ShaderSubgroupRotateFeatures, SHADER_SUBGROUP_ROTATE_FEATURES,              \
      "VK_KHR_shader_subgroup_rotate", 4)                                                          \
    X(expect_assume, ShaderExpectAssumeFeatures, SHADER_EXPECT_ASSUME_FEATURES,                    \
      "VK_KHR_shader_expect_assume", 4)                                                            \
    X(explicit_layout, WorkgroupMemoryExplicitLayoutFeaturesKHR,                                   \
      WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR, "VK_KHR_workgroup_memory_explicit_layout", 0) \
    X(atomic_float, ShaderAtomicFloatFeaturesEXT, SHADER_ATOMIC_FLOAT_FEATURES_EXT,                \
      "VK_EXT_shader_atomic_float", 0)                                                             \
    X(coopmat, CooperativeMatrixFeaturesKHR, COOPERATIVE_MATRIX_FEATURES_KHR,                      \
      "VK_KHR_cooperative_matrix", 0)                                                              \
    X(coopmat2, CooperativeMatrix2FeaturesNV, COOPERATIVE_MATRIX_2_FEATURES_NV,                    \
      "VK_NV_cooperative_matrix2", 0)

/* C(member) of VkPhysicalDeviceFeatures, then X(tag, member). The order is part of nothing. */
#define KL_FEATURES(C, X)                                                                          \
    C(shaderFloat64)                                                                               \
    C(shaderInt64)                                                                                 \
    C(shaderInt16)                                                                                 \
    X(storage16, storageBuffer16BitAccess)                                                         \
    X(storage16, uniformAndStorageBuffer16BitAccess)                                               \
    X(storage16, storagePushConstant16)                                                            \
    X(variable_pointers, variablePointersStorageBuffer)                                            \
    X(variable_pointers, variablePointers)                                                         \
    X(storage8, storageBuffer8BitAccess)                                                           \
    X(storage8, uniformAndStorageBuffer8BitAccess)                                                 \
    X(storage8, storagePushConstant8)                                                              \
    X(float16_int8, shaderFloat16)                                                                 \
    X(float16_int8, shaderInt8)                                                                    \
    X(atomic_int64, shaderBufferInt64Atomics)                                                      \
    X(atomic_int64, shaderSharedInt64Atomics)                                                      \
    X(memory_model, vulkanMemoryModel)                                                             \
    X(memory_model, vulkanMemoryModelDeviceScope)                                                  \
    X(subgroup_types, shaderSubgroupExtendedTypes)                                                 \
    X(buffer_address, bufferDeviceAddress)                                                         \
    X(scalar_layout, scalarBlockLayout)                                                            \
    X(integer_dot, shaderIntegerDotProduct)                                                        \
    X(subgroup_control, subgroupSizeControl)                                                       \
    X(subgroup_control, computeFullSubgroups)                                                      \
    X(maintenance4, maintenance4)                                                                  \
    X(zero_workgroup, shaderZeroInitializeWorkgroupMemory)                                         \
    X(subgroup_rotate, shaderSubgroupRotate)                                                       \
    X(subgroup_rotate, shaderSubgroupRotateClustered)                                              \
    X(expect_assume, shaderExpectAssume)                                                           \
    X(explicit_layout, workgroupMemoryExplicitLayout)                                              \
    X(explicit_layout, workgroupMemoryExplicitLayoutScalarBlockLayout)                             \
    X(explicit_layout, workgroupMemoryExplicitLayout8BitAccess)                                    \
    X(explicit_layout, workgroupMemoryExplicitLayout16BitAccess)                                   \
    X(atomic_float, shaderBufferFloat32Atomics)                                                    \
    X(atomic_float, shaderBufferFloat32AtomicAdd)                                                  \
    X(atomic_float, shaderSharedFloat32Atomics)                                                    \
    X(atomic_float, shaderSharedFloat32AtomicAdd)                                                  \
    X(coopmat, cooperativeMatrix)                                                                  \
    X(coopmat2, cooperativeMatrixWorkgroupScope)                                                   \
    X(coopmat2, cooperativeMatrixFlexibleDimensions)                                               \
    X(coopmat2, cooperativeMatrixReductions)                                                       \
    X(coopmat2, cooperativeMatrixConversions)                                                      \
    X(coopmat2, cooperativeMatrixPerElementOperations)                                             \
    X(coopmat2, cooperativeMatrixTensorAddressing)                                                 \
    X(coopmat2, cooperativeMatrixBlockLoads)

enum kl_feature {
#define KL_CORE(member) KL_FEATURE_##member,
#define KL_MEMBER(tag, member) KL_FEATURE_##member,
    KL_FEATURES(KL_CORE, KL_MEMBER)
#undef KL_CORE
#undef KL_MEMBER
        KL_FEATURE_COUNT
};

enum kl_feature_struct {
#define KL_MEMBER(tag, type, stype, extension, minor) KL_FEATURE_STRUCT_##tag,
    KL_FEATURE_STRUCTS(KL_MEMBER)
#undef KL_MEMBER
        KL_FEATURE_STRUCT_COUNT
};

/* The structs linked through pNext, head first. It is self-referential: never copy it. */
struct kl_feature_chain {
    VkPhysicalDeviceFeatures2 head;
#define KL_MEMBER(tag, type, stype, extension, minor) VkPhysicalDevice##type tag;
    KL_FEATURE_STRUCTS(KL_MEMBER)
#undef KL_MEMBER
};

bool kl_feature_has(const struct kiln_feature_set *set, enum kl_feature feature);
void kl_feature_put(struct kiln_feature_set *set, enum kl_feature feature, bool value);

/* What a chain needs to know: the API version in use and the device's extensions, sorted. */
struct kl_feature_source {
    uint32_t api_version;
    const char *const *extensions;
    size_t extension_count;
};

/* Links the structs that the source knows, all members false. */
void kl_feature_chain_begin(struct kl_feature_chain *chain, const struct kl_feature_source *source);

/* Between a chain and a set. Members of structs that are not linked are false. */
void kl_feature_chain_read(const struct kl_feature_chain *chain, struct kiln_feature_set *set);
void kl_feature_chain_write(struct kl_feature_chain *chain, const struct kiln_feature_set *set);

/* True when `name` occurs in the sorted list. */
bool kl_extension_listed(const char *const *extensions, size_t count, const char *name);

/* Minor version of Vulkan 1 that includes the extension; 0: none, or not known here. */
uint32_t kl_extension_core_minor(const char *name);

/*
 * Names of the extensions to enable on an own device, at most `capacity` of them, into `names`
 * (static storage); returns how many. They are those of linked structs that the API version does
 * not include, and others of use to compute kernels, as far as the source lists them.
 */
#define KL_EXTENSION_CAPACITY 64
size_t kl_extension_wanted(const struct kl_feature_source *source, const char **names,
                           size_t capacity);

#endif /* KL_FEATURE_H */
