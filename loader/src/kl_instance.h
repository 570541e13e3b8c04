/* SPDX-License-Identifier: MIT */
/*
 * kl_instance: the Vulkan instance behind own devices.
 *
 * Each device that was opened from an instance holds a reference, so that the two may be closed in
 * either order. The count is atomic; the rest is immutable after creation.
 */
#ifndef KL_INSTANCE_H
#define KL_INSTANCE_H

#include "kl_physical.h"

#include <stdatomic.h>

struct kiln_instance {
    atomic_size_t reference_count;
    void *library;
    VkInstance handle;
    struct kl_vulkan_table table; /* global and instance levels */
    struct mf_arena arena;
    struct kl_physical *devices;
    size_t device_count;
};

/* Adds a reference, dropped with kiln_instance_close. Returns `instance`. */
struct kiln_instance *kl_instance_hold(struct kiln_instance *instance);

#endif /* KL_INSTANCE_H */
