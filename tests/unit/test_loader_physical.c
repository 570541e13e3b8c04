/* SPDX-License-Identifier: MIT */
/* What is asked of a physical device, on made-up drivers: no Vulkan at all. */
#include "kl_physical.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A driver by its handle: NEW lists cooperative matrices 2, PLAIN does not know of them, OFF lists
 * the extension but has the feature off. */
enum { NEW, PLAIN, OFF, DRIVER_COUNT };
static int drivers[DRIVER_COUNT];
static VkPhysicalDevice handle_of(int driver) {
    return (VkPhysicalDevice)(void *)&drivers[driver];
}

static int driver_of(VkPhysicalDevice handle) {
    return (int)((int *)(void *)handle - drivers);
}

static VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice handle, const char *layer,
                                                      uint32_t *count,
                                                      VkExtensionProperties *rows) {
    static const char *const names[] = {"VK_NV_cooperative_matrix2", "VK_KHR_cooperative_matrix"};
    uint32_t listed = driver_of(handle) == PLAIN ? 0 : 2;
    assert_null(layer);
    for (uint32_t i = 0; rows && i < listed; i++) {
        memset(&rows[i], 0, sizeof(rows[i]));
        memcpy(rows[i].extensionName, names[i], strlen(names[i]) + 1);
    }
    *count = listed;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice handle,
                                                 VkPhysicalDeviceProperties *out) {
    (void)handle;
    memset(out, 0, sizeof(*out));
    out->apiVersion = VK_API_VERSION_1_3;
}

static void *find_in_chain(void *next, VkStructureType type) {
    VkBaseOutStructure *link = next;
    while (link && link->sType != type) {
        link = link->pNext;
    }
    return link;
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice handle,
                                                  VkPhysicalDeviceProperties2 *out) {
    VkPhysicalDeviceCooperativeMatrix2PropertiesNV *matrices = find_in_chain(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_PROPERTIES_NV);
    /* A driver may not be given a struct of an extension that it does not list. */
    assert_int_equal(matrices != NULL, driver_of(handle) != PLAIN);
    get_properties(handle, &out->properties);
    if (matrices) {
        matrices->cooperativeMatrixWorkgroupScopeMaxWorkgroupSize = 512;
        matrices->cooperativeMatrixFlexibleDimensionsMaxDimension = 1024;
        matrices->cooperativeMatrixWorkgroupScopeReservedSharedMemory = 4096;
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice handle,
                                                VkPhysicalDeviceFeatures2 *out) {
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV *matrices = find_in_chain(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV);
    assert_int_equal(matrices != NULL, driver_of(handle) != PLAIN);
    if (matrices) {
        matrices->cooperativeMatrixFlexibleDimensions = driver_of(handle) == NEW;
        matrices->cooperativeMatrixTensorAddressing = VK_TRUE;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL
list_flexible(VkPhysicalDevice handle, uint32_t *count,
              VkCooperativeMatrixFlexibleDimensionsPropertiesNV *rows) {
    assert_int_equal(driver_of(handle), NEW); /* else it may not be called */
    for (uint32_t i = 0; rows && i < 2; i++) {
        assert_int_equal(rows[i].sType,
                         VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV);
        rows[i].MGranularity = 32 + i;
        rows[i].NGranularity = 64 + i;
        rows[i].KGranularity = 16 + i;
        rows[i].AType = VK_COMPONENT_TYPE_FLOAT16_KHR;
        rows[i].BType = VK_COMPONENT_TYPE_SINT8_KHR;
        rows[i].CType = VK_COMPONENT_TYPE_FLOAT32_KHR;
        rows[i].ResultType = VK_COMPONENT_TYPE_SINT32_KHR;
        rows[i].saturatingAccumulation = i == 1;
        rows[i].scope = i == 1 ? VK_SCOPE_SUBGROUP_KHR : VK_SCOPE_WORKGROUP_KHR;
        rows[i].workgroupInvocations = i == 1 ? 0 : 256;
    }
    *count = 2;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL list_queues(VkPhysicalDevice handle, uint32_t *count,
                                              VkQueueFamilyProperties *rows) {
    (void)handle;
    *count = 1;
    if (rows) {
        rows[0] = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_COMPUTE_BIT, .queueCount = 1};
    }
}

static const struct kl_vulkan_table table = {
    .EnumerateDeviceExtensionProperties = list_extensions,
    .GetPhysicalDeviceProperties = get_properties,
    .GetPhysicalDeviceProperties2 = get_properties2,
    .GetPhysicalDeviceFeatures2 = get_features2,
    .GetPhysicalDeviceQueueFamilyProperties = list_queues,
    .GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV = list_flexible,
};

static void fill(int driver, struct kl_physical *physical, struct mf_arena *arena) {
    struct kiln_error error = {0};
    if (kl_physical_fill(&table, handle_of(driver), VK_API_VERSION_1_3, arena, physical, &error)) {
        fail_msg("%s", error.message);
    }
    assert_true(physical->usable);
}

static void test_flexible_dimensions(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    struct kl_physical physical;
    fill(NEW, &physical, &arena);
    const struct kiln_device_info *info = &physical.info;
    assert_true(kiln_feature_get(&info->features, "cooperativeMatrixFlexibleDimensions"));
    assert_true(kiln_feature_get(&info->features, "cooperativeMatrixTensorAddressing"));
    assert_false(kiln_feature_get(&info->features, "cooperativeMatrixBlockLoads"));
    assert_int_equal(info->coopmat_invocations_max, 512);
    assert_int_equal(info->coopmat_dimension_max, 1024);
    assert_int_equal(info->coopmat_workgroup_bytes, 4096);
    assert_int_equal(info->coopmat_flexible_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct kiln_coopmat_granularity *row = &info->coopmat_flexible[i];
        assert_int_equal(row->m, 32 + i);
        assert_int_equal(row->n, 64 + i);
        assert_int_equal(row->k, 16 + i);
        assert_int_equal(row->a, VK_COMPONENT_TYPE_FLOAT16_KHR);
        assert_int_equal(row->b, VK_COMPONENT_TYPE_SINT8_KHR);
        assert_int_equal(row->c, VK_COMPONENT_TYPE_FLOAT32_KHR);
        assert_int_equal(row->result, VK_COMPONENT_TYPE_SINT32_KHR);
        assert_int_equal(row->saturating, i == 1);
        assert_int_equal(row->scope, i == 1 ? VK_SCOPE_SUBGROUP_KHR : VK_SCOPE_WORKGROUP_KHR);
        assert_int_equal(row->invocations, i == 1 ? 0 : 256);
    }

    /* What is not enabled on the device is not there: the list goes with the feature. */
    static const char *const enabled_extensions[] = {"VK_NV_cooperative_matrix2"};
    struct kiln_feature_set enabled = info->features;
    struct kiln_error error = {0};
    assert_int_equal(
        kl_physical_restrict(&physical, &enabled, enabled_extensions, 1, &arena, &error), KILN_OK);
    assert_int_equal(info->coopmat_flexible_count, 2);
    assert_int_equal(kiln_feature_put(&enabled, "cooperativeMatrixFlexibleDimensions", false),
                     KILN_OK);
    assert_int_equal(
        kl_physical_restrict(&physical, &enabled, enabled_extensions, 1, &arena, &error), KILN_OK);
    assert_int_equal(info->coopmat_flexible_count, 0);
    assert_null(info->coopmat_flexible);
    mf_arena_release(&arena);
}

static void test_without(void **state) {
    (void)state;
    static const int without[] = {PLAIN, OFF};
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        struct mf_arena arena = {0};
        struct kl_physical physical;
        fill(without[i], &physical, &arena);
        assert_int_equal(physical.info.coopmat_flexible_count, 0);
        assert_null(physical.info.coopmat_flexible);
        assert_int_equal(physical.info.coopmat_dimension_max, without[i] == OFF ? 1024 : 0);
        mf_arena_release(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flexible_dimensions),
        cmocka_unit_test(test_without),
    };
    return cmocka_run_group_tests_name("loader_physical", tests, NULL, NULL);
}
