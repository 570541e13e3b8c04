/* SPDX-License-Identifier: MIT */
/*
 * kl_device: what every object on a device shares.
 *
 * Immutable after creation, but for the mutex, the count of stuck submissions and the pipelines,
 * which lock for themselves.
 */
#ifndef KL_DEVICE_H
#define KL_DEVICE_H

#include "kl_instance.h"

#include <pthread.h>

struct kl_pipeline_cache;
struct kl_transfer;

struct kiln_device {
    struct kiln_instance *instance; /* NULL for a wrapped device */
    struct kl_vulkan_table table;
    struct mf_arena arena;
    struct kl_physical physical; /* queue family in use, info as enabled */
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice handle;
    VkQueue queue;
    pthread_mutex_t queue_mutex;
    bool queue_mutex_made;
    atomic_size_t stuck_count; /* submissions that timed out and were abandoned */
    VkPipelineCache driver_cache;
    struct kl_pipeline_cache *pipelines;
    struct kl_transfer *transfer;
    bool always_staged; /* tests: use staging although the memory could be mapped */
};

/*
 * One submission of a command buffer, under the queue's mutex. The fence is signalled at the end.
 * KILN_ERR_DEVICE_LOST and others from vkQueueSubmit.
 */
enum kiln_result kl_device_submit(struct kiln_device *device, VkCommandBuffer commands,
                                  VkFence fence, struct kiln_error *error);

#endif /* KL_DEVICE_H */
