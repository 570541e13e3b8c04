/* SPDX-License-Identifier: MIT */
#include "gs_requires_table.h"

#include <spirv/unified1/spirv.h>

#include <string.h>

/* Newer than the SPIR-V headers of the baseline (SPV_KHR_bfloat16). */
enum {
    CAPABILITY_BFLOAT16_TYPE = 5116,
    CAPABILITY_BFLOAT16_DOT_PRODUCT = 5117,
    CAPABILITY_BFLOAT16_COOPERATIVE_MATRIX = 5118
};

#define NONE                                                                                       \
    { NULL, NULL, 0 }
#define NOTHING_MORE NULL, SpvCapabilityShader, false
#define FEATURE(number, feature, core, extension)                                                  \
    { SpvCapability##number, #number, {feature, extension, core}, NOTHING_MORE }
#define IMPLYING(number, feature, core, extension, implied)                                        \
    {                                                                                              \
        SpvCapability##number, #number, {feature, extension, core}, NULL, SpvCapability##implied,  \
            false                                                                                  \
    }
#define SUBGROUP(number, operation)                                                                \
    { SpvCapability##number, #number, NONE, operation, SpvCapabilityGroupNonUniform, false }
#define ATOMIC(number, feature, extension)                                                         \
    { SpvCapability##number, #number, {feature, extension, 0}, NULL, SpvCapabilityShader, true }

#define MATRIX2 "VK_NV_cooperative_matrix2"
#define ATOMIC1 "VK_EXT_shader_atomic_float"
#define ATOMIC2 "VK_EXT_shader_atomic_float2"
#define EXPLICIT "VK_KHR_workgroup_memory_explicit_layout"
#define DOT "VK_KHR_shader_integer_dot_product"

/* clang-format off */
static const struct gs_capability_row capability_rows[] = {
    FEATURE(Matrix, NULL, 0, NULL),
    FEATURE(Shader, NULL, 0, NULL),
    FEATURE(Float16, "shaderFloat16", 2, "VK_KHR_shader_float16_int8"),
    FEATURE(Float64, "shaderFloat64", 0, NULL),
    FEATURE(Int64, "shaderInt64", 0, NULL),
    {SpvCapabilityInt64Atomics, "Int64Atomics",
     {"shaderBufferInt64Atomics", "VK_KHR_shader_atomic_int64", 2}, NULL, SpvCapabilityInt64, true},
    FEATURE(Int16, "shaderInt16", 0, NULL),
    FEATURE(Int8, "shaderInt8", 2, "VK_KHR_shader_float16_int8"),
    SUBGROUP(GroupNonUniform, "basic"),
    SUBGROUP(GroupNonUniformVote, "vote"),
    SUBGROUP(GroupNonUniformArithmetic, "arithmetic"),
    SUBGROUP(GroupNonUniformBallot, "ballot"),
    SUBGROUP(GroupNonUniformShuffle, "shuffle"),
    SUBGROUP(GroupNonUniformShuffleRelative, "shuffle_relative"),
    SUBGROUP(GroupNonUniformClustered, "clustered"),
    SUBGROUP(GroupNonUniformQuad, "quad"),
    FEATURE(SubgroupBallotKHR, NULL, 0, "VK_EXT_shader_subgroup_ballot"),
    FEATURE(SubgroupVoteKHR, NULL, 0, "VK_EXT_shader_subgroup_vote"),
    FEATURE(WorkgroupMemoryExplicitLayoutKHR, "workgroupMemoryExplicitLayout", 0, EXPLICIT),
    IMPLYING(WorkgroupMemoryExplicitLayout8BitAccessKHR, "workgroupMemoryExplicitLayout8BitAccess",
             0, EXPLICIT, WorkgroupMemoryExplicitLayoutKHR),
    IMPLYING(WorkgroupMemoryExplicitLayout16BitAccessKHR,
             "workgroupMemoryExplicitLayout16BitAccess", 0, EXPLICIT,
             WorkgroupMemoryExplicitLayoutKHR),
    FEATURE(StorageBuffer16BitAccess, "storageBuffer16BitAccess", 1, "VK_KHR_16bit_storage"),
    IMPLYING(UniformAndStorageBuffer16BitAccess, "uniformAndStorageBuffer16BitAccess", 1,
             "VK_KHR_16bit_storage", StorageBuffer16BitAccess),
    FEATURE(StoragePushConstant16, "storagePushConstant16", 1, "VK_KHR_16bit_storage"),
    FEATURE(DeviceGroup, NULL, 1, "VK_KHR_device_group"),
    FEATURE(VariablePointersStorageBuffer, "variablePointersStorageBuffer", 1,
            "VK_KHR_variable_pointers"),
    IMPLYING(VariablePointers, "variablePointers", 1, "VK_KHR_variable_pointers",
             VariablePointersStorageBuffer),
    FEATURE(StorageBuffer8BitAccess, "storageBuffer8BitAccess", 2, "VK_KHR_8bit_storage"),
    IMPLYING(UniformAndStorageBuffer8BitAccess, "uniformAndStorageBuffer8BitAccess", 2,
             "VK_KHR_8bit_storage", StorageBuffer8BitAccess),
    FEATURE(StoragePushConstant8, "storagePushConstant8", 2, "VK_KHR_8bit_storage"),
    {CAPABILITY_BFLOAT16_TYPE, "BFloat16TypeKHR",
     {"shaderBFloat16Type", "VK_KHR_shader_bfloat16", 0}, NOTHING_MORE},
    {CAPABILITY_BFLOAT16_DOT_PRODUCT, "BFloat16DotProductKHR",
     {"shaderBFloat16DotProduct", "VK_KHR_shader_bfloat16", 0},
     NULL, CAPABILITY_BFLOAT16_TYPE, false},
    {CAPABILITY_BFLOAT16_COOPERATIVE_MATRIX, "BFloat16CooperativeMatrixKHR",
     {"shaderBFloat16CooperativeMatrix", "VK_KHR_shader_bfloat16", 0},
     NULL, CAPABILITY_BFLOAT16_TYPE, false},
    {SpvCapabilityGroupNonUniformPartitionedNV, "GroupNonUniformPartitionedNV",
     {NULL, "VK_NV_shader_subgroup_partitioned", 0}, "partitioned", SpvCapabilityShader, false},
    FEATURE(VulkanMemoryModel, "vulkanMemoryModel", 2, "VK_KHR_vulkan_memory_model"),
    FEATURE(VulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope", 2,
            "VK_KHR_vulkan_memory_model"),
    FEATURE(PhysicalStorageBufferAddresses, "bufferDeviceAddress", 2,
            "VK_KHR_buffer_device_address"),
    FEATURE(CooperativeVectorNV, "cooperativeVector", 0, "VK_NV_cooperative_vector"),
    {SpvCapabilityAtomicFloat16VectorNV, "AtomicFloat16VectorNV",
     {"shaderFloat16VectorAtomics", "VK_NV_shader_atomic_float16_vector", 0}, NOTHING_MORE},
    FEATURE(RawAccessChainsNV, "shaderRawAccessChains", 0, "VK_NV_raw_access_chains"),
    FEATURE(CooperativeMatrixReductionsNV, "cooperativeMatrixReductions", 0, MATRIX2),
    FEATURE(CooperativeMatrixConversionsNV, "cooperativeMatrixConversions", 0, MATRIX2),
    FEATURE(CooperativeMatrixPerElementOperationsNV, "cooperativeMatrixPerElementOperations", 0,
            MATRIX2),
    FEATURE(CooperativeMatrixTensorAddressingNV, "cooperativeMatrixTensorAddressing", 0, MATRIX2),
    FEATURE(CooperativeMatrixBlockLoadsNV, "cooperativeMatrixBlockLoads", 0, MATRIX2),
    FEATURE(TensorAddressingNV, "cooperativeMatrixTensorAddressing", 0, MATRIX2),
    ATOMIC(AtomicFloat32MinMaxEXT, "shaderBufferFloat32AtomicMinMax", ATOMIC2),
    ATOMIC(AtomicFloat64MinMaxEXT, "shaderBufferFloat64AtomicMinMax", ATOMIC2),
    ATOMIC(AtomicFloat16MinMaxEXT, "shaderBufferFloat16AtomicMinMax", ATOMIC2),
    FEATURE(ExpectAssumeKHR, "shaderExpectAssume", 4, "VK_KHR_shader_expect_assume"),
    FEATURE(DotProductInputAll, "shaderIntegerDotProduct", 3, DOT),
    IMPLYING(DotProductInput4x8Bit, "shaderIntegerDotProduct", 3, DOT, Int8),
    FEATURE(DotProductInput4x8BitPacked, "shaderIntegerDotProduct", 3, DOT),
    FEATURE(DotProduct, "shaderIntegerDotProduct", 3, DOT),
    FEATURE(CooperativeMatrixKHR, "cooperativeMatrix", 0, "VK_KHR_cooperative_matrix"),
    FEATURE(ReplicatedCompositesEXT, "shaderReplicatedComposites", 0,
            "VK_EXT_shader_replicated_composites"),
    {SpvCapabilityGroupNonUniformRotateKHR, "GroupNonUniformRotateKHR",
     {"shaderSubgroupRotate", "VK_KHR_shader_subgroup_rotate", 4},
     "rotate", SpvCapabilityGroupNonUniform, false},
    FEATURE(FloatControls2, "shaderFloatControls2", 4, "VK_KHR_shader_float_controls2"),
    ATOMIC(AtomicFloat32AddEXT, "shaderBufferFloat32AtomicAdd", ATOMIC1),
    ATOMIC(AtomicFloat64AddEXT, "shaderBufferFloat64AtomicAdd", ATOMIC1),
    ATOMIC(AtomicFloat16AddEXT, "shaderBufferFloat16AtomicAdd", ATOMIC2),
};

static const struct gs_extension_row extension_rows[] = {
    {"SPV_EXT_physical_storage_buffer", {NULL, "VK_EXT_buffer_device_address", 0}},
    {"SPV_EXT_replicated_composites", {NULL, "VK_EXT_shader_replicated_composites", 0}},
    {"SPV_EXT_shader_atomic_float16_add", {NULL, ATOMIC2, 0}},
    {"SPV_EXT_shader_atomic_float_add", {NULL, ATOMIC1, 0}},
    {"SPV_EXT_shader_atomic_float_min_max", {NULL, ATOMIC2, 0}},
    {"SPV_GOOGLE_decorate_string", {NULL, "VK_GOOGLE_decorate_string", 0}},
    {"SPV_GOOGLE_hlsl_functionality1", {NULL, "VK_GOOGLE_hlsl_functionality1", 0}},
    {"SPV_GOOGLE_user_type", {NULL, "VK_GOOGLE_user_type", 0}},
    {"SPV_KHR_16bit_storage", {NULL, "VK_KHR_16bit_storage", 1}},
    {"SPV_KHR_8bit_storage", {NULL, "VK_KHR_8bit_storage", 2}},
    {"SPV_KHR_bfloat16", {NULL, "VK_KHR_shader_bfloat16", 0}},
    {"SPV_KHR_cooperative_matrix", {NULL, "VK_KHR_cooperative_matrix", 0}},
    {"SPV_KHR_device_group", {NULL, "VK_KHR_device_group", 1}},
    {"SPV_KHR_expect_assume", {NULL, "VK_KHR_shader_expect_assume", 4}},
    {"SPV_KHR_float_controls", {NULL, "VK_KHR_shader_float_controls", 2}},
    {"SPV_KHR_float_controls2", {NULL, "VK_KHR_shader_float_controls2", 4}},
    {"SPV_KHR_integer_dot_product", {NULL, DOT, 3}},
    {"SPV_KHR_maximal_reconvergence", {NULL, "VK_KHR_shader_maximal_reconvergence", 0}},
    {"SPV_KHR_non_semantic_info", {NULL, "VK_KHR_shader_non_semantic_info", 3}},
    {"SPV_KHR_physical_storage_buffer", {NULL, "VK_KHR_buffer_device_address", 2}},
    {"SPV_KHR_relaxed_extended_instruction",
     {NULL, "VK_KHR_shader_relaxed_extended_instruction", 0}},
    {"SPV_KHR_shader_ballot", {NULL, "VK_EXT_shader_subgroup_ballot", 0}},
    {"SPV_KHR_storage_buffer_storage_class", {NULL, "VK_KHR_storage_buffer_storage_class", 1}},
    {"SPV_KHR_subgroup_rotate", {NULL, "VK_KHR_shader_subgroup_rotate", 4}},
    {"SPV_KHR_subgroup_uniform_control_flow",
     {NULL, "VK_KHR_shader_subgroup_uniform_control_flow", 0}},
    {"SPV_KHR_subgroup_vote", {NULL, "VK_EXT_shader_subgroup_vote", 0}},
    {"SPV_KHR_variable_pointers", {NULL, "VK_KHR_variable_pointers", 1}},
    {"SPV_KHR_vulkan_memory_model", {NULL, "VK_KHR_vulkan_memory_model", 2}},
    {"SPV_KHR_workgroup_memory_explicit_layout", {NULL, EXPLICIT, 0}},
    {"SPV_NV_cooperative_matrix2", {NULL, MATRIX2, 0}},
    {"SPV_NV_cooperative_vector", {NULL, "VK_NV_cooperative_vector", 0}},
    {"SPV_NV_raw_access_chains", {NULL, "VK_NV_raw_access_chains", 0}},
    {"SPV_NV_shader_atomic_fp16_vector", {NULL, "VK_NV_shader_atomic_float16_vector", 0}},
    {"SPV_NV_shader_subgroup_partitioned", {NULL, "VK_NV_shader_subgroup_partitioned", 0}},
    {"SPV_NV_tensor_addressing", {NULL, MATRIX2, 0}},
};

static const struct gs_mode_row mode_rows[] = {
    {SpvExecutionModeLocalSize, NONE},
    {SpvExecutionModeLocalSizeId, {"maintenance4", "VK_KHR_maintenance4", 3}},
    {SpvExecutionModeSubgroupUniformControlFlowKHR,
     {"shaderSubgroupUniformControlFlow", "VK_KHR_shader_subgroup_uniform_control_flow", 0}},
    {SpvExecutionModeMaximallyReconvergesKHR,
     {"shaderMaximalReconvergence", "VK_KHR_shader_maximal_reconvergence", 0}},
    {SpvExecutionModeFPFastMathDefault,
     {"shaderFloatControls2", "VK_KHR_shader_float_controls2", 4}},
};
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

const struct gs_capability_row *gs_requires_capabilities(size_t *count) {
    *count = COUNT_OF(capability_rows);
    return capability_rows;
}

const struct gs_extension_row *gs_requires_extensions(size_t *count) {
    *count = COUNT_OF(extension_rows);
    return extension_rows;
}

const struct gs_capability_row *gs_requires_capability(uint32_t capability) {
    for (size_t i = 0; i < COUNT_OF(capability_rows); i++) {
        if (capability_rows[i].capability == capability)
            return &capability_rows[i];
    }
    return NULL;
}

const struct gs_extension_row *gs_requires_extension(const char *name) {
    for (size_t i = 0; i < COUNT_OF(extension_rows); i++) {
        if (strcmp(extension_rows[i].name, name) == 0)
            return &extension_rows[i];
    }
    return NULL;
}

const struct gs_mode_row *gs_requires_mode(uint32_t mode) {
    for (size_t i = 0; i < COUNT_OF(mode_rows); i++) {
        if (mode_rows[i].mode == mode)
            return &mode_rows[i];
    }
    return NULL;
}
