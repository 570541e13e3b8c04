/* SPDX-License-Identifier: MIT */
#include "kl_device.h"

#include "kl_feature.h"
#include "kl_pipeline.h"
#include "kl_transfer.h"

#include <stdlib.h>
#include <string.h>

/* A device without handles yet; NULL when memory is out. */
static struct kiln_device *kl_device_alloc(struct kiln_error *error) {
    struct kiln_device *device = calloc(1, sizeof(*device));
    if (!device) {
        kiln_error_set(error, KILN_ERR_MEMORY, "no memory for a device");
        return NULL;
    }
    atomic_init(&device->stuck_count, 0);
    return device;
}

/* What own and wrapped devices do alike once the VkDevice is there. */
static enum kiln_result kl_device_finish(struct kiln_device *device, struct kiln_error *error) {
    if (pthread_mutex_init(&device->queue_mutex, NULL) != 0) {
        return kiln_error_set(error, KILN_ERR_SYSTEM, "pthread_mutex_init failed");
    }
    device->queue_mutex_made = true;
    enum kiln_result result = kl_vulkan_load_device(&device->table, device->handle, error);
    if (result) {
        return result;
    }
    device->table.GetPhysicalDeviceMemoryProperties(device->physical.handle, &device->memory);
    VkPipelineCacheCreateInfo create = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    result = kl_vulkan_check(
        device->table.CreatePipelineCache(device->handle, &create, NULL, &device->driver_cache),
        "vkCreatePipelineCache", device->physical.info.name, error);
    if (!result) {
        result = kl_pipeline_cache_create(&device->pipelines, error);
    }
    return result ? result : kl_transfer_create(device, &device->transfer, error);
}

static enum kiln_result kl_device_create_handle(struct kiln_device *device,
                                                struct kiln_error *error) {
    struct kiln_device_info *info = &device->physical.info;
    struct kl_feature_source source = {.api_version = info->api_version,
                                       .extensions = info->extensions,
                                       .extension_count = info->extension_count};
    const char *names[KL_EXTENSION_CAPACITY];
    size_t name_count = kl_extension_wanted(&source, names, KL_EXTENSION_CAPACITY);
    struct kl_feature_chain chain;
    kl_feature_chain_begin(&chain, &source);
    kl_feature_chain_write(&chain, &info->features);

    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = device->physical.queue_family_index,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .pNext = &chain.head,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue,
                                 .enabledExtensionCount = (uint32_t)name_count,
                                 .ppEnabledExtensionNames = names};
    VkResult status =
        device->table.CreateDevice(device->physical.handle, &create, NULL, &device->handle);
    if (status != VK_SUCCESS) {
        device->handle = VK_NULL_HANDLE;
        return kl_vulkan_check(status, "vkCreateDevice", info->name, error);
    }
    return kl_physical_restrict(&device->physical, &info->features, names, name_count,
                                &device->arena, error);
}

enum kiln_result kiln_device_open(struct kiln_instance *instance, size_t index,
                                  struct kiln_device **device, struct kiln_error *error) {
    *device = NULL;
    if (index >= instance->device_count || !instance->devices[index].usable) {
        return kiln_error_set(error, KILN_ERR_NO_DEVICE,
                              "device %zu of %zu: not there, or without Vulkan 1.1 or compute",
                              index, instance->device_count);
    }
    struct kiln_device *opened = kl_device_alloc(error);
    if (!opened) {
        return KILN_ERR_MEMORY;
    }
    opened->instance = kl_instance_hold(instance);
    opened->table = instance->table;
    opened->physical = instance->devices[index];
    enum kiln_result result = kl_device_create_handle(opened, error);
    if (!result) {
        result = kl_device_finish(opened, error);
    }
    if (result) {
        kiln_device_close(&opened);
        return result;
    }
    opened->table.GetDeviceQueue(opened->handle, opened->physical.queue_family_index, 0,
                                 &opened->queue);
    *device = opened;
    return KILN_OK;
}

static enum kiln_result kl_device_describe_wrapped(struct kiln_device *device,
                                                   const struct kiln_device_wrap_params *params,
                                                   struct kiln_error *error) {
    uint32_t version = params->api_version ? params->api_version : VK_API_VERSION_1_1;
    enum kiln_result result = kl_physical_fill(&device->table, params->physical_device, version,
                                               &device->arena, &device->physical, error);
    if (result) {
        return result;
    }
    if (device->physical.info.api_version < VK_API_VERSION_1_1) {
        return kiln_error_set(error, KILN_ERR_UNSUPPORTED,
                              "%s: Vulkan 1.0 device or instance, 1.1 is required",
                              device->physical.info.name);
    }
    bool compute = false;
    device->physical.queue_family_index = params->queue_family_index;
    result = kl_physical_queue_family(
        &device->table, params->physical_device, params->queue_family_index,
        &device->physical.info.limits.timestamp_valid_bits, &compute, error);
    if (!result && !compute) {
        result = kiln_error_set(error, KILN_ERR_ARGUMENT,
                                "%s: queue family %u does not exist or has no compute",
                                device->physical.info.name, params->queue_family_index);
    }
    if (result) {
        return result;
    }
    struct kiln_feature_set enabled = {{0, 0}};
    for (size_t i = 0; i < params->enabled_feature_count; i++) {
        kiln_feature_put(&enabled, params->enabled_features[i], true);
    }
    return kl_physical_restrict(&device->physical, &enabled, params->enabled_extensions,
                                params->enabled_extension_count, &device->arena, error);
}

enum kiln_result kiln_device_wrap(const struct kiln_device_wrap_params *params,
                                  struct kiln_device **device, struct kiln_error *error) {
    *device = NULL;
    if (!params || !params->get_instance_proc_addr || !params->instance ||
        !params->physical_device || !params->device || !params->queue) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "kiln_device_wrap: all handles and vkGetInstanceProcAddr are needed");
    }
    struct kiln_device *wrapped = kl_device_alloc(error);
    if (!wrapped) {
        return KILN_ERR_MEMORY;
    }
    wrapped->table.GetInstanceProcAddr = params->get_instance_proc_addr;
    wrapped->handle = params->device;
    wrapped->queue = params->queue;
    enum kiln_result result = kl_vulkan_load_instance(&wrapped->table, params->instance, error);
    if (!result) {
        result = kl_device_describe_wrapped(wrapped, params, error);
    }
    if (!result) {
        result = kl_device_finish(wrapped, error);
    }
    if (result) {
        kiln_device_close(&wrapped);
        return result;
    }
    *device = wrapped;
    return KILN_OK;
}

void kiln_device_close(struct kiln_device **device) {
    if (!device || !*device) {
        return;
    }
    struct kiln_device *closing = *device;
    *device = NULL;
    const struct kl_vulkan_table *table = &closing->table;
    bool stuck = atomic_load(&closing->stuck_count) > 0;
    if (stuck) {
        return;
    }
    if (closing->handle && table->DeviceWaitIdle) {
        pthread_mutex_lock(&closing->queue_mutex);
        table->DeviceWaitIdle(closing->handle);
        pthread_mutex_unlock(&closing->queue_mutex);
    }
    kl_transfer_destroy(&closing->transfer);
    kl_pipeline_cache_destroy(&closing->pipelines);
    if (closing->driver_cache) {
        table->DestroyPipelineCache(closing->handle, closing->driver_cache, NULL);
    }
    if (closing->instance && closing->handle && table->DestroyDevice) {
        table->DestroyDevice(closing->handle, NULL);
    }
    if (closing->queue_mutex_made) {
        pthread_mutex_destroy(&closing->queue_mutex);
    }
    kiln_instance_close(&closing->instance);
    mf_arena_release(&closing->arena);
    free(closing);
}

enum kiln_result kl_device_submit(struct kiln_device *device, VkCommandBuffer commands,
                                  VkFence fence, struct kiln_error *error) {
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    pthread_mutex_lock(&device->queue_mutex);
    VkResult status = device->table.QueueSubmit(device->queue, 1, &submit, fence);
    pthread_mutex_unlock(&device->queue_mutex);
    return kl_vulkan_check(status, "vkQueueSubmit", device->physical.info.name, error);
}

const struct kiln_device_info *kiln_device_info(const struct kiln_device *device) {
    return &device->physical.info;
}

VkDevice kiln_device_handle(const struct kiln_device *device) {
    return device->handle;
}

VkPhysicalDevice kiln_device_physical(const struct kiln_device *device) {
    return device->physical.handle;
}

VkQueue kiln_device_queue(const struct kiln_device *device, uint32_t *queue_family_index) {
    if (queue_family_index) {
        *queue_family_index = device->physical.queue_family_index;
    }
    return device->queue;
}

PFN_vkGetDeviceProcAddr kiln_device_proc_addr(const struct kiln_device *device) {
    return device->table.GetDeviceProcAddr;
}
