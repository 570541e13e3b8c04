/* SPDX-License-Identifier: MIT */
#include "kl_transfer.h"

#include "kiln/kiln_dispatch.h"
#include "kl_memory.h"

#include <stdlib.h>
#include <string.h>

#define KL_STAGING_BYTES ((uint64_t)16 * 1024 * 1024)

struct kl_transfer {
    struct kiln_device *device;
    pthread_mutex_t mutex;
    struct kl_memory staging;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
};

enum kiln_result kl_transfer_create(struct kiln_device *device, struct kl_transfer **transfer,
                                    struct kiln_error *error) {
    *transfer = NULL;
    struct kl_transfer *made = calloc(1, sizeof(*made));
    if (!made) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for transfers");
    }
    made->device = device;
    if (pthread_mutex_init(&made->mutex, NULL) != 0) {
        free(made);
        return kiln_error_set(error, KILN_ERR_SYSTEM, "pthread_mutex_init failed");
    }
    *transfer = made;
    return KILN_OK;
}

void kl_transfer_destroy(struct kl_transfer **transfer) {
    if (!*transfer) {
        return;
    }
    struct kl_transfer *ending = *transfer;
    struct kiln_device *device = ending->device;
    if (ending->fence) {
        device->table.DestroyFence(device->handle, ending->fence, NULL);
    }
    if (ending->pool) {
        device->table.DestroyCommandPool(device->handle, ending->pool, NULL);
    }
    kl_memory_destroy(device, &ending->staging);
    pthread_mutex_destroy(&ending->mutex);
    free(ending);
    *transfer = NULL;
}

/* Makes what is not there yet; called with the mutex held. */
static enum kiln_result kl_transfer_prepare(struct kl_transfer *transfer,
                                            struct kiln_error *error) {
    static const VkMemoryPropertyFlags wishes[] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                                       VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                                   VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT};
    struct kiln_device *device = transfer->device;
    const struct kl_vulkan_table *table = &device->table;
    enum kiln_result result = KILN_OK;
    if (!transfer->staging.buffer) {
        result =
            kl_memory_create(device, KL_STAGING_BYTES,
                             VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                             wishes, 2, &transfer->staging, error);
    }
    if (!result && !transfer->pool) {
        VkCommandPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                          .queueFamilyIndex = device->physical.queue_family_index};
        result = kl_vulkan_check(
            table->CreateCommandPool(device->handle, &create, NULL, &transfer->pool),
            "vkCreateCommandPool", NULL, error);
    }
    if (!result && !transfer->commands) {
        VkCommandBufferAllocateInfo allocate = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = transfer->pool,
                                                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                .commandBufferCount = 1};
        result = kl_vulkan_check(
            table->AllocateCommandBuffers(device->handle, &allocate, &transfer->commands),
            "vkAllocateCommandBuffers", NULL, error);
    }
    if (!result && !transfer->fence) {
        VkFenceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        result =
            kl_vulkan_check(table->CreateFence(device->handle, &create, NULL, &transfer->fence),
                            "vkCreateFence", NULL, error);
    }
    return result;
}

static enum kiln_result kl_transfer_begin(struct kl_transfer *transfer, struct kiln_error *error) {
    struct kiln_device *device = transfer->device;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    enum kiln_result result =
        kl_vulkan_check(device->table.ResetCommandPool(device->handle, transfer->pool, 0),
                        "vkResetCommandPool", NULL, error);
    return result ? result
                  : kl_vulkan_check(device->table.BeginCommandBuffer(transfer->commands, &begin),
                                    "vkBeginCommandBuffer", NULL, error);
}

static enum kiln_result kl_transfer_finish(struct kl_transfer *transfer, struct kiln_error *error) {
    struct kiln_device *device = transfer->device;
    kiln_barrier_record(device, transfer->commands);
    enum kiln_result result = kl_vulkan_check(device->table.EndCommandBuffer(transfer->commands),
                                              "vkEndCommandBuffer", NULL, error);
    if (!result) {
        result = kl_vulkan_check(device->table.ResetFences(device->handle, 1, &transfer->fence),
                                 "vkResetFences", NULL, error);
    }
    if (!result) {
        result = kl_device_submit(device, transfer->commands, transfer->fence, error);
    }
    if (!result) {
        result = kl_vulkan_check(
            device->table.WaitForFences(device->handle, 1, &transfer->fence, VK_TRUE, UINT64_MAX),
            "vkWaitForFences", "a transfer", error);
    }
    return result;
}

static enum kiln_result kl_transfer_copy(struct kl_transfer *transfer, VkBuffer from,
                                         uint64_t from_offset_bytes, VkBuffer to,
                                         uint64_t to_offset_bytes, uint64_t size_bytes,
                                         struct kiln_error *error) {
    VkBufferCopy region = {
        .srcOffset = from_offset_bytes, .dstOffset = to_offset_bytes, .size = size_bytes};
    enum kiln_result result = kl_transfer_begin(transfer, error);
    if (result) {
        return result;
    }
    transfer->device->table.CmdCopyBuffer(transfer->commands, from, to, 1, &region);
    return kl_transfer_finish(transfer, error);
}

enum kiln_result kl_transfer_upload(struct kl_transfer *transfer, VkBuffer to,
                                    uint64_t offset_bytes, const void *bytes, uint64_t size_bytes,
                                    struct kiln_error *error) {
    pthread_mutex_lock(&transfer->mutex);
    enum kiln_result result = kl_transfer_prepare(transfer, error);
    for (uint64_t done = 0; !result && done < size_bytes;) {
        uint64_t part = size_bytes - done < KL_STAGING_BYTES ? size_bytes - done : KL_STAGING_BYTES;
        memcpy(transfer->staging.mapped, (const char *)bytes + done, (size_t)part);
        result = kl_memory_flush(transfer->device, &transfer->staging, error);
        if (!result) {
            result = kl_transfer_copy(transfer, transfer->staging.buffer, 0, to,
                                      offset_bytes + done, part, error);
        }
        done += part;
    }
    pthread_mutex_unlock(&transfer->mutex);
    return result;
}

enum kiln_result kl_transfer_download(struct kl_transfer *transfer, VkBuffer from,
                                      uint64_t offset_bytes, void *bytes, uint64_t size_bytes,
                                      struct kiln_error *error) {
    pthread_mutex_lock(&transfer->mutex);
    enum kiln_result result = kl_transfer_prepare(transfer, error);
    for (uint64_t done = 0; !result && done < size_bytes;) {
        uint64_t part = size_bytes - done < KL_STAGING_BYTES ? size_bytes - done : KL_STAGING_BYTES;
        result = kl_transfer_copy(transfer, from, offset_bytes + done, transfer->staging.buffer, 0,
                                  part, error);
        if (!result) {
            result = kl_memory_invalidate(transfer->device, &transfer->staging, error);
        }
        if (!result) {
            memcpy((char *)bytes + done, transfer->staging.mapped, (size_t)part);
        }
        done += part;
    }
    pthread_mutex_unlock(&transfer->mutex);
    return result;
}

enum kiln_result kl_transfer_fill(struct kl_transfer *transfer, VkBuffer to, uint64_t offset_bytes,
                                  uint64_t size_bytes, uint32_t word, struct kiln_error *error) {
    pthread_mutex_lock(&transfer->mutex);
    enum kiln_result result = kl_transfer_prepare(transfer, error);
    if (!result) {
        result = kl_transfer_begin(transfer, error);
    }
    if (!result) {
        transfer->device->table.CmdFillBuffer(transfer->commands, to, offset_bytes, size_bytes,
                                              word);
        result = kl_transfer_finish(transfer, error);
    }
    pthread_mutex_unlock(&transfer->mutex);
    return result;
}
