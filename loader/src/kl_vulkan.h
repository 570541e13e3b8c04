/* SPDX-License-Identifier: MIT */
/*
 * kl_vulkan: the functions of Vulkan that libkiln calls, and how they are found.
 *
 * One list, three levels: GLOBAL functions are asked for without an instance, INSTANCE functions
 * with it, DEVICE functions with the device. Each table belongs to one instance or device; there
 * are no global function pointers. OPTIONAL ones may be NULL and are called only after the
 * extension that brings them was found.
 *
 * Thread safety: a table is immutable once filled.
 */
#ifndef KL_VULKAN_H
#define KL_VULKAN_H

#include "kiln/kiln_device.h"

/* X(level, name without the prefix vk) */
#define KL_VULKAN_FUNCTIONS(X)                                                                     \
    X(GLOBAL, EnumerateInstanceExtensionProperties)                                                \
    X(GLOBAL, CreateInstance)                                                                      \
    X(INSTANCE, DestroyInstance)                                                                   \
    X(INSTANCE, EnumeratePhysicalDevices)                                                          \
    X(INSTANCE, EnumerateDeviceExtensionProperties)                                                \
    X(INSTANCE, GetPhysicalDeviceProperties)                                                       \
    X(INSTANCE, GetPhysicalDeviceProperties2)                                                      \
    X(INSTANCE, GetPhysicalDeviceFeatures2)                                                        \
    X(INSTANCE, GetPhysicalDeviceMemoryProperties)                                                 \
    X(INSTANCE, GetPhysicalDeviceQueueFamilyProperties)                                            \
    X(INSTANCE, CreateDevice)                                                                      \
    X(INSTANCE, GetDeviceProcAddr)                                                                 \
    X(OPTIONAL, GetPhysicalDeviceCooperativeMatrixPropertiesKHR)                                   \
    X(OPTIONAL, GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV)                  \
    X(DEVICE, DestroyDevice)                                                                       \
    X(DEVICE, DeviceWaitIdle)                                                                      \
    X(DEVICE, GetDeviceQueue)                                                                      \
    X(DEVICE, QueueSubmit)                                                                         \
    X(DEVICE, CreateShaderModule)                                                                  \
    X(DEVICE, DestroyShaderModule)                                                                 \
    X(DEVICE, CreateDescriptorSetLayout)                                                           \
    X(DEVICE, DestroyDescriptorSetLayout)                                                          \
    X(DEVICE, CreatePipelineLayout)                                                                \
    X(DEVICE, DestroyPipelineLayout)                                                               \
    X(DEVICE, CreatePipelineCache)                                                                 \
    X(DEVICE, DestroyPipelineCache)                                                                \
    X(DEVICE, CreateComputePipelines)                                                              \
    X(DEVICE, DestroyPipeline)                                                                     \
    X(DEVICE, CreateDescriptorPool)                                                                \
    X(DEVICE, DestroyDescriptorPool)                                                               \
    X(DEVICE, ResetDescriptorPool)                                                                 \
    X(DEVICE, AllocateDescriptorSets)                                                              \
    X(DEVICE, UpdateDescriptorSets)                                                                \
    X(DEVICE, CreateBuffer)                                                                        \
    X(DEVICE, DestroyBuffer)                                                                       \
    X(DEVICE, GetBufferMemoryRequirements)                                                         \
    X(DEVICE, AllocateMemory)                                                                      \
    X(DEVICE, FreeMemory)                                                                          \
    X(DEVICE, BindBufferMemory)                                                                    \
    X(DEVICE, MapMemory)                                                                           \
    X(DEVICE, FlushMappedMemoryRanges)                                                             \
    X(DEVICE, InvalidateMappedMemoryRanges)                                                        \
    X(DEVICE, CreateCommandPool)                                                                   \
    X(DEVICE, DestroyCommandPool)                                                                  \
    X(DEVICE, ResetCommandPool)                                                                    \
    X(DEVICE, AllocateCommandBuffers)                                                              \
    X(DEVICE, BeginCommandBuffer)                                                                  \
    X(DEVICE, EndCommandBuffer)                                                                    \
    X(DEVICE, CreateFence)                                                                         \
    X(DEVICE, DestroyFence)                                                                        \
    X(DEVICE, ResetFences)                                                                         \
    X(DEVICE, WaitForFences)                                                                       \
    X(DEVICE, CreateQueryPool)                                                                     \
    X(DEVICE, DestroyQueryPool)                                                                    \
    X(DEVICE, GetQueryPoolResults)                                                                 \
    X(DEVICE, CmdResetQueryPool)                                                                   \
    X(DEVICE, CmdWriteTimestamp)                                                                   \
    X(DEVICE, CmdPipelineBarrier)                                                                  \
    X(DEVICE, CmdBindPipeline)                                                                     \
    X(DEVICE, CmdBindDescriptorSets)                                                               \
    X(DEVICE, CmdPushConstants)                                                                    \
    X(DEVICE, CmdDispatch)                                                                         \
    X(DEVICE, CmdCopyBuffer)                                                                       \
    X(DEVICE, CmdFillBuffer)

struct kl_vulkan_table {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define KL_MEMBER(level, name) PFN_vk##name name;
    KL_VULKAN_FUNCTIONS(KL_MEMBER)
#undef KL_MEMBER
};

/*
 * Each fills one level of the table; KILN_ERR_UNSUPPORTED names the first function that the loader
 * or driver does not have. OPTIONAL functions come with the instance level.
 */
enum kiln_result kl_vulkan_load_global(struct kl_vulkan_table *table, struct kiln_error *error);
enum kiln_result kl_vulkan_load_instance(struct kl_vulkan_table *table, VkInstance instance,
                                         struct kiln_error *error);
enum kiln_result kl_vulkan_load_device(struct kl_vulkan_table *table, VkDevice device,
                                       struct kiln_error *error);

/*
 * dlopen of the Vulkan loader; `path` NULL tries the usual names. Sets *library (for
 * kl_vulkan_close_library) and table->GetInstanceProcAddr. KILN_ERR_NO_LOADER has the reason.
 */
enum kiln_result kl_vulkan_open_library(const char *path, void **library,
                                        struct kl_vulkan_table *table, struct kiln_error *error);
void kl_vulkan_close_library(void **library);

/*
 * The kiln code of a VkResult below zero or VK_TIMEOUT, with "call: VK_ERROR_..." in the message;
 * KILN_OK for VK_SUCCESS. `call` names the Vulkan function, `subject` what it was for (may be
 * NULL).
 */
enum kiln_result kl_vulkan_check(VkResult result, const char *call, const char *subject,
                                 struct kiln_error *error);

/* "VK_ERROR_DEVICE_LOST" and so on; "an unnamed VkResult" for values not in the list. */
const char *kl_vulkan_result_string(VkResult result);

#endif /* KL_VULKAN_H */
