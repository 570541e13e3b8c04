/* SPDX-License-Identifier: MIT */
#include "kl_physical.h"

#include "kl_feature.h"

#include <stdlib.h>
#include <string.h>

static enum kiln_result kl_physical_no_memory(struct kiln_error *error) {
    return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for the description of a device");
}

/* Fixed-size strings of drivers: always terminated here, whatever the driver wrote. */
static void kl_physical_copy_text(char *to, const char *from, size_t size_bytes) {
    memcpy(to, from, size_bytes - 1);
    to[size_bytes - 1] = '\0';
}

static int kl_physical_compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A sorted copy of `count` names in the arena; NULL when memory is out. */
static const char **kl_physical_sorted(const char *const *names, size_t count,
                                       struct mf_arena *arena) {
    const char **sorted = mf_arena_alloc(arena, count + 1, sizeof(*sorted));
    for (size_t i = 0; sorted && i < count; i++) {
        sorted[i] = mf_arena_string(arena, names[i]);
        if (!sorted[i]) {
            return NULL;
        }
    }
    if (sorted && count > 0) {
        qsort(sorted, count, sizeof(*sorted), kl_physical_compare);
    }
    return sorted;
}

static enum kiln_result kl_physical_list_extensions(const struct kl_vulkan_table *table,
                                                    struct kl_physical *physical,
                                                    struct mf_arena *arena,
                                                    struct kiln_error *error) {
    uint32_t count = 0;
    VkResult status =
        table->EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, NULL);
    VkExtensionProperties *rows = mf_arena_alloc(arena, (size_t)count + 1, sizeof(*rows));
    const char **names = mf_arena_alloc(arena, (size_t)count + 1, sizeof(*names));
    if (!rows || !names) {
        return kl_physical_no_memory(error);
    }
    if (status == VK_SUCCESS) {
        status = table->EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, rows);
    }
    if (status != VK_SUCCESS && status != VK_INCOMPLETE) {
        return kl_vulkan_check(status, "vkEnumerateDeviceExtensionProperties", physical->info.name,
                               error);
    }
    for (uint32_t i = 0; i < count; i++) {
        rows[i].extensionName[VK_MAX_EXTENSION_NAME_SIZE - 1] = '\0';
        names[i] = rows[i].extensionName;
    }
    physical->info.extensions = kl_physical_sorted(names, count, arena);
    physical->info.extension_count = count;
    return physical->info.extensions ? KILN_OK : kl_physical_no_memory(error);
}

static void kl_physical_read_limits(const VkPhysicalDeviceLimits *from, struct kiln_limits *to) {
    to->max_storage_buffer_range_bytes = from->maxStorageBufferRange;
    to->storage_offset_alignment_bytes = from->minStorageBufferOffsetAlignment;
    for (size_t axis = 0; axis < 3; axis++) {
        to->max_group_count[axis] = from->maxComputeWorkGroupCount[axis];
        to->max_local_size[axis] = from->maxComputeWorkGroupSize[axis];
    }
    to->max_local_invocations = from->maxComputeWorkGroupInvocations;
    to->max_workgroup_bytes = from->maxComputeSharedMemorySize;
    to->max_push_bytes = from->maxPushConstantsSize;
    to->max_storage_buffers = from->maxPerStageDescriptorStorageBuffers;
    to->max_descriptor_sets = from->maxBoundDescriptorSets;
    to->timestamp_period_ns = (double)from->timestampPeriod;
}

/* The property structs that are asked for, where the device knows them. */
struct kl_property_chain {
    VkPhysicalDeviceProperties2 head;
    VkPhysicalDeviceIDProperties id;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceMaintenance3Properties maintenance3;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceSubgroupSizeControlProperties size_control;
    VkPhysicalDeviceMaintenance4Properties maintenance4;
    VkPhysicalDeviceShaderIntegerDotProductProperties dot;
    VkPhysicalDeviceCooperativeMatrix2PropertiesNV coopmat2;
};

#define KL_LINK_PROPERTY(member, stype)                                                            \
    do {                                                                                           \
        chain->member.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##stype;                           \
        chain->member.pNext = chain->head.pNext;                                                   \
        chain->head.pNext = &chain->member;                                                        \
    } while (0)

static void kl_physical_begin_properties(struct kl_property_chain *chain,
                                         const struct kiln_device_info *info) {
    memset(chain, 0, sizeof(*chain));
    chain->head.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    KL_LINK_PROPERTY(id, ID_PROPERTIES);
    KL_LINK_PROPERTY(subgroup, SUBGROUP_PROPERTIES);
    KL_LINK_PROPERTY(maintenance3, MAINTENANCE_3_PROPERTIES);
    if (kiln_device_info_extension(info, "VK_KHR_driver_properties")) {
        KL_LINK_PROPERTY(driver, DRIVER_PROPERTIES);
    }
    if (kiln_device_info_extension(info, "VK_EXT_subgroup_size_control")) {
        KL_LINK_PROPERTY(size_control, SUBGROUP_SIZE_CONTROL_PROPERTIES);
    }
    if (kiln_device_info_extension(info, "VK_KHR_maintenance4")) {
        KL_LINK_PROPERTY(maintenance4, MAINTENANCE_4_PROPERTIES);
    }
    if (kiln_device_info_extension(info, "VK_KHR_shader_integer_dot_product")) {
        KL_LINK_PROPERTY(dot, SHADER_INTEGER_DOT_PRODUCT_PROPERTIES);
    }
    if (kiln_device_info_extension(info, "VK_NV_cooperative_matrix2")) {
        KL_LINK_PROPERTY(coopmat2, COOPERATIVE_MATRIX_2_PROPERTIES_NV);
    }
}

static void kl_physical_read_properties(const struct kl_property_chain *chain,
                                        struct kiln_device_info *info) {
    kl_physical_read_limits(&chain->head.properties.limits, &info->limits);
    memcpy(info->device_uuid, chain->id.deviceUUID, VK_UUID_SIZE);
    memcpy(info->pipeline_cache_uuid, chain->head.properties.pipelineCacheUUID, VK_UUID_SIZE);
    kl_physical_copy_text(info->driver_name, chain->driver.driverName, sizeof(info->driver_name));
    kl_physical_copy_text(info->driver_info, chain->driver.driverInfo, sizeof(info->driver_info));

    info->subgroup_size = chain->subgroup.subgroupSize;
    if (chain->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) {
        info->subgroup_operations = chain->subgroup.supportedOperations;
    }
    uint32_t least = chain->size_control.minSubgroupSize;
    uint32_t most = chain->size_control.maxSubgroupSize;
    info->subgroup_size_min = least ? least : info->subgroup_size;
    info->subgroup_size_max = most ? most : info->subgroup_size;
    info->limits.max_workgroup_subgroups = chain->size_control.maxComputeWorkgroupSubgroups;
    info->subgroup_size_pinnable =
        (chain->size_control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    info->packed_dot_accelerated =
        chain->dot.integerDotProduct4x8BitPackedSignedAccelerated == VK_TRUE;
    info->coopmat_dimension_max = chain->coopmat2.cooperativeMatrixFlexibleDimensionsMaxDimension;
    info->coopmat_invocations_max = chain->coopmat2.cooperativeMatrixWorkgroupScopeMaxWorkgroupSize;
    info->coopmat_workgroup_bytes =
        chain->coopmat2.cooperativeMatrixWorkgroupScopeReservedSharedMemory;

    uint64_t allocation = chain->maintenance3.maxMemoryAllocationSize;
    uint64_t buffer = chain->maintenance4.maxBufferSize;
    info->limits.max_allocation_bytes = allocation;
    info->limits.max_buffer_bytes = buffer ? buffer : allocation;
}

static enum kiln_result kl_physical_list_tuples(const struct kl_vulkan_table *table,
                                                struct kl_physical *physical,
                                                struct mf_arena *arena, struct kiln_error *error) {
    struct kiln_device_info *info = &physical->info;
    if (!kl_feature_has(&info->features, KL_FEATURE_cooperativeMatrix) ||
        !table->GetPhysicalDeviceCooperativeMatrixPropertiesKHR) {
        return KILN_OK;
    }
    uint32_t count = 0;
    VkResult status =
        table->GetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical->handle, &count, NULL);
    VkCooperativeMatrixPropertiesKHR *rows =
        mf_arena_alloc(arena, (size_t)count + 1, sizeof(*rows));
    struct kiln_coopmat_tuple *tuples = mf_arena_alloc(arena, (size_t)count + 1, sizeof(*tuples));
    if (!rows || !tuples) {
        return kl_physical_no_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        rows[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    }
    if (status == VK_SUCCESS) {
        status =
            table->GetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical->handle, &count, rows);
    }
    if (status != VK_SUCCESS && status != VK_INCOMPLETE) {
        return kl_vulkan_check(status, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR",
                               info->name, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        const VkCooperativeMatrixPropertiesKHR *row = &rows[i];
        tuples[i] = (struct kiln_coopmat_tuple){.m = row->MSize,
                                                .n = row->NSize,
                                                .k = row->KSize,
                                                .a = row->AType,
                                                .b = row->BType,
                                                .c = row->CType,
                                                .result = row->ResultType,
                                                .scope = row->scope,
                                                .saturating = row->saturatingAccumulation};
    }
    info->coopmat = tuples;
    info->coopmat_count = count;
    return KILN_OK;
}

/* Without the extension even asking would end the process in some Vulkan loaders. */
static enum kiln_result kl_physical_list_flexible(const struct kl_vulkan_table *table,
                                                  struct kl_physical *physical,
                                                  struct mf_arena *arena,
                                                  struct kiln_error *error) {
    struct kiln_device_info *info = &physical->info;
    if (!kl_feature_has(&info->features, KL_FEATURE_cooperativeMatrixFlexibleDimensions) ||
        !table->GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV) {
        return KILN_OK;
    }
    uint32_t count = 0;
    VkResult status = table->GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(
        physical->handle, &count, NULL);
    VkCooperativeMatrixFlexibleDimensionsPropertiesNV *rows =
        mf_arena_alloc(arena, (size_t)count + 1, sizeof(*rows));
    struct kiln_coopmat_granularity *listed =
        mf_arena_alloc(arena, (size_t)count + 1, sizeof(*listed));
    if (!rows || !listed) {
        return kl_physical_no_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        rows[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV;
    }
    if (status == VK_SUCCESS) {
        status = table->GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(
            physical->handle, &count, rows);
    }
    if (status != VK_SUCCESS && status != VK_INCOMPLETE) {
        return kl_vulkan_check(status,
                               "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV",
                               info->name, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        const VkCooperativeMatrixFlexibleDimensionsPropertiesNV *row = &rows[i];
        listed[i] = (struct kiln_coopmat_granularity){.m = row->MGranularity,
                                                      .n = row->NGranularity,
                                                      .k = row->KGranularity,
                                                      .a = row->AType,
                                                      .b = row->BType,
                                                      .c = row->CType,
                                                      .result = row->ResultType,
                                                      .scope = row->scope,
                                                      .saturating = row->saturatingAccumulation,
                                                      .invocations = row->workgroupInvocations};
    }
    info->coopmat_flexible = listed;
    info->coopmat_flexible_count = count;
    return KILN_OK;
}

static enum kiln_result kl_physical_find_queue(const struct kl_vulkan_table *table,
                                               struct kl_physical *physical,
                                               struct kiln_error *error) {
    uint32_t count = 0;
    table->GetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, NULL);
    physical->usable = false;
    for (uint32_t i = 0; !physical->usable && i < count; i++) {
        enum kiln_result result = kl_physical_queue_family(
            table, physical->handle, i, &physical->info.limits.timestamp_valid_bits,
            &physical->usable, error);
        if (result) {
            return result;
        }
        physical->queue_family_index = i;
    }
    return KILN_OK;
}

enum kiln_result kl_physical_queue_family(const struct kl_vulkan_table *table,
                                          VkPhysicalDevice handle, uint32_t index,
                                          uint32_t *timestamp_bits, bool *compute,
                                          struct kiln_error *error) {
    *timestamp_bits = 0;
    *compute = false;
    uint32_t count = 0;
    table->GetPhysicalDeviceQueueFamilyProperties(handle, &count, NULL);
    VkQueueFamilyProperties *families = calloc((size_t)count + 1, sizeof(*families));
    if (!families) {
        return kl_physical_no_memory(error);
    }
    table->GetPhysicalDeviceQueueFamilyProperties(handle, &count, families);
    if (index < count) {
        *timestamp_bits = families[index].timestampValidBits;
        *compute = (families[index].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
    }
    free(families);
    return KILN_OK;
}

static void kl_physical_read_features(const struct kl_vulkan_table *table,
                                      struct kl_physical *physical) {
    struct kiln_device_info *info = &physical->info;
    struct kl_feature_chain chain;
    struct kl_feature_source source = {.api_version = info->api_version,
                                       .extensions = info->extensions,
                                       .extension_count = info->extension_count};
    kl_feature_chain_begin(&chain, &source);
    table->GetPhysicalDeviceFeatures2(physical->handle, &chain.head);
    kl_feature_chain_read(&chain, &info->features);
    if (!kl_feature_has(&info->features, KL_FEATURE_subgroupSizeControl)) {
        info->subgroup_size_pinnable = false;
    }
}

enum kiln_result kl_physical_fill(const struct kl_vulkan_table *table, VkPhysicalDevice handle,
                                  uint32_t api_version, struct mf_arena *arena,
                                  struct kl_physical *physical, struct kiln_error *error) {
    *physical = (struct kl_physical){.handle = handle};
    struct kiln_device_info *info = &physical->info;
    VkPhysicalDeviceProperties basic;
    table->GetPhysicalDeviceProperties(handle, &basic);
    kl_physical_copy_text(info->name, basic.deviceName, sizeof(info->name));
    info->type = basic.deviceType;
    info->vendor_id = basic.vendorID;
    info->device_id = basic.deviceID;
    info->driver_version = basic.driverVersion;
    info->api_version = basic.apiVersion < api_version ? basic.apiVersion : api_version;
    if (info->api_version < VK_API_VERSION_1_1) {
        return KILN_OK;
    }
    enum kiln_result result = kl_physical_list_extensions(table, physical, arena, error);
    if (result) {
        return result;
    }
    struct kl_property_chain chain;
    kl_physical_begin_properties(&chain, info);
    table->GetPhysicalDeviceProperties2(handle, &chain.head);
    kl_physical_read_properties(&chain, info);
    kl_physical_read_features(table, physical);
    result = kl_physical_list_tuples(table, physical, arena, error);
    result = result ? result : kl_physical_list_flexible(table, physical, arena, error);
    return result ? result : kl_physical_find_queue(table, physical, error);
}

enum kiln_result kl_physical_restrict(struct kl_physical *physical,
                                      const struct kiln_feature_set *enabled,
                                      const char *const *extensions, size_t extension_count,
                                      struct mf_arena *arena, struct kiln_error *error) {
    struct kiln_device_info *info = &physical->info;
    for (size_t i = 0; i < sizeof(enabled->bits) / sizeof(enabled->bits[0]); i++) {
        info->features.bits[i] &= enabled->bits[i];
    }
    info->extensions = kl_physical_sorted(extensions, extension_count, arena);
    info->extension_count = extension_count;
    if (!info->extensions) {
        return kl_physical_no_memory(error);
    }
    if (!kl_feature_has(&info->features, KL_FEATURE_subgroupSizeControl)) {
        info->subgroup_size_pinnable = false;
    }
    if (!kl_feature_has(&info->features, KL_FEATURE_cooperativeMatrix)) {
        info->coopmat = NULL;
        info->coopmat_count = 0;
    }
    if (!kl_feature_has(&info->features, KL_FEATURE_cooperativeMatrixFlexibleDimensions)) {
        info->coopmat_flexible = NULL;
        info->coopmat_flexible_count = 0;
    }
    return KILN_OK;
}
