/* SPDX-License-Identifier: MIT */
/*
 * kl_physical: everything that is asked of a physical device, once.
 *
 * Thread safety: filling belongs to one thread; a filled struct is immutable.
 */
#ifndef KL_PHYSICAL_H
#define KL_PHYSICAL_H

#include "kiln/kiln_device.h"
#include "kl_vulkan.h"
#include "mf_buffer.h"

struct kl_physical {
    VkPhysicalDevice handle;
    uint32_t queue_family_index;  /* first one with compute */
    bool usable;                  /* Vulkan 1.1 and a compute queue */
    struct kiln_device_info info; /* all that is available; its pointers are into the arena */
};

/*
 * Asks the device for its properties, extensions, features and matrix shapes. `api_version` is what
 * the instance was made for. Of a device below Vulkan 1.1 only name, type and version are known.
 * KILN_ERR_MEMORY, KILN_ERR_VULKAN, KILN_ERR_DEVICE_LOST.
 */
enum kiln_result kl_physical_fill(const struct kl_vulkan_table *table, VkPhysicalDevice handle,
                                  uint32_t api_version, struct mf_arena *arena,
                                  struct kl_physical *physical, struct kiln_error *error);

/*
 * Cuts the info down to what is enabled on a device: the features that are in `enabled` too, the
 * extensions by name (copied into the arena, sorted), and all that follows from them.
 */
enum kiln_result kl_physical_restrict(struct kl_physical *physical,
                                      const struct kiln_feature_set *enabled,
                                      const char *const *extensions, size_t extension_count,
                                      struct mf_arena *arena, struct kiln_error *error);

/* timestampValidBits of a queue family, 0 for a family that does not exist. *compute tells whether
 * it has compute. */
enum kiln_result kl_physical_queue_family(const struct kl_vulkan_table *table,
                                          VkPhysicalDevice handle, uint32_t index,
                                          uint32_t *timestamp_bits, bool *compute,
                                          struct kiln_error *error);

#endif /* KL_PHYSICAL_H */
