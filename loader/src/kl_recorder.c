/* SPDX-License-Identifier: MIT */
#include "kl_recorder.h"

#include <stdlib.h>

#define KL_POOL_SETS 64u
#define KL_POOL_BUFFERS (KL_POOL_SETS * 8u)

struct kl_pool {
    VkDescriptorPool handle;
    struct kl_pool *next;
};

struct kiln_recorder {
    struct kiln_device *device;
    struct kl_pool *pools; /* the first is the one in use; full ones and empty ones follow */
    struct kl_pool *spare; /* reset and not in use */
};

enum kiln_result kiln_recorder_create(struct kiln_device *device, struct kiln_recorder **recorder,
                                      struct kiln_error *error) {
    *recorder = calloc(1, sizeof(**recorder));
    if (!*recorder) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for a recorder");
    }
    (*recorder)->device = device;
    return KILN_OK;
}

enum kiln_result kiln_recorder_reset(struct kiln_recorder *recorder, struct kiln_error *error) {
    struct kiln_device *device = recorder->device;
    while (recorder->pools) {
        struct kl_pool *pool = recorder->pools;
        enum kiln_result result =
            kl_vulkan_check(device->table.ResetDescriptorPool(device->handle, pool->handle, 0),
                            "vkResetDescriptorPool", NULL, error);
        if (result) {
            return result;
        }
        recorder->pools = pool->next;
        pool->next = recorder->spare;
        recorder->spare = pool;
    }
    return KILN_OK;
}

static void kl_recorder_free_pools(struct kiln_device *device, struct kl_pool *pools) {
    while (pools) {
        struct kl_pool *next = pools->next;
        device->table.DestroyDescriptorPool(device->handle, pools->handle, NULL);
        free(pools);
        pools = next;
    }
}

void kiln_recorder_destroy(struct kiln_recorder **recorder) {
    if (!recorder || !*recorder) {
        return;
    }
    kl_recorder_free_pools((*recorder)->device, (*recorder)->pools);
    kl_recorder_free_pools((*recorder)->device, (*recorder)->spare);
    free(*recorder);
    *recorder = NULL;
}

/* A pool with room for at least one pipeline's sets, put first. */
static enum kiln_result kl_recorder_add_pool(struct kiln_recorder *recorder, uint32_t least_buffers,
                                             struct kiln_error *error) {
    struct kiln_device *device = recorder->device;
    struct kl_pool *pool = recorder->spare;
    if (pool && least_buffers <= KL_POOL_BUFFERS) {
        recorder->spare = pool->next;
        pool->next = recorder->pools;
        recorder->pools = pool;
        return KILN_OK;
    }
    pool = calloc(1, sizeof(*pool));
    if (!pool) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for descriptors");
    }
    VkDescriptorPoolSize size = {
        .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .descriptorCount = least_buffers > KL_POOL_BUFFERS ? least_buffers : KL_POOL_BUFFERS};
    VkDescriptorPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                         .maxSets = KL_POOL_SETS,
                                         .poolSizeCount = 1,
                                         .pPoolSizes = &size};
    enum kiln_result result = kl_vulkan_check(
        device->table.CreateDescriptorPool(device->handle, &create, NULL, &pool->handle),
        "vkCreateDescriptorPool", NULL, error);
    if (result) {
        free(pool);
        return result;
    }
    pool->next = recorder->pools;
    recorder->pools = pool;
    return KILN_OK;
}

enum kiln_result kl_recorder_allocate(struct kiln_recorder *recorder,
                                      const struct kiln_pipeline *pipeline,
                                      VkDescriptorSet sets[KL_SET_CAPACITY],
                                      struct kiln_error *error) {
    struct kiln_device *device = recorder->device;
    if (pipeline->set_count == 0) {
        return KILN_OK;
    }
    VkResult status = VK_ERROR_OUT_OF_POOL_MEMORY;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (recorder->pools) {
            VkDescriptorSetAllocateInfo allocate = {
                .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                .descriptorPool = recorder->pools->handle,
                .descriptorSetCount = pipeline->set_count,
                .pSetLayouts = pipeline->sets};
            status = device->table.AllocateDescriptorSets(device->handle, &allocate, sets);
        }
        if (attempt == 0 && status != VK_SUCCESS) {
            enum kiln_result result =
                kl_recorder_add_pool(recorder, (uint32_t)pipeline->artifact->binding_count, error);
            if (result) {
                return result;
            }
        } else {
            break;
        }
    }
    return kl_vulkan_check(status, "vkAllocateDescriptorSets", pipeline->artifact->name, error);
}

struct kiln_device *kl_recorder_device(const struct kiln_recorder *recorder) {
    return recorder->device;
}
