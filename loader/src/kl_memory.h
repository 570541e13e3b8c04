/* SPDX-License-Identifier: MIT */
/*
 * kl_memory: a buffer with memory of its own.
 *
 * Thread safety: all functions may be called from any thread, for different buffers.
 */
#ifndef KL_MEMORY_H
#define KL_MEMORY_H

#include "kl_device.h"

struct kl_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *mapped; /* the whole buffer, when its memory is HOST_VISIBLE; else NULL */
    bool coherent;
};

/*
 * Makes a buffer and binds memory of the first type that has all flags of wishes[0], else of
 * wishes[1], and so on. HOST_VISIBLE memory stays mapped. *out is all zero on failure.
 * KILN_ERR_UNSUPPORTED: no type fits any wish. KILN_ERR_MEMORY: none left; the message has the
 * size.
 */
enum kiln_result kl_memory_create(struct kiln_device *device, uint64_t size_bytes,
                                  VkBufferUsageFlags usage, const VkMemoryPropertyFlags *wishes,
                                  size_t wish_count, struct kl_memory *out,
                                  struct kiln_error *error);
void kl_memory_destroy(struct kiln_device *device, struct kl_memory *memory);

/* Around host access of mapped memory that is not coherent; nothing to do for coherent memory. */
enum kiln_result kl_memory_flush(struct kiln_device *device, const struct kl_memory *memory,
                                 struct kiln_error *error);
enum kiln_result kl_memory_invalidate(struct kiln_device *device, const struct kl_memory *memory,
                                      struct kiln_error *error);

#endif /* KL_MEMORY_H */
