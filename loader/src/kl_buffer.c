/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_quick.h"

#include "kl_memory.h"
#include "kl_transfer.h"

#include <stdlib.h>
#include <string.h>

#define KL_BUFFER_UNIT_BYTES 16u /* the padding that kernels may read behind weights */

struct kiln_buffer {
    struct kiln_device *device;
    struct kl_memory memory;
    uint64_t size_bytes;
};

/* Memory that the device and the host reach alike is mapped; other memory is staged. */
static bool kl_buffer_is_unified(const struct kiln_device *device) {
    VkPhysicalDeviceType type = device->physical.info.type;
    return !device->always_staged &&
           (type == VK_PHYSICAL_DEVICE_TYPE_CPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU);
}

enum kiln_result kiln_buffer_create(struct kiln_device *device, uint64_t size_bytes,
                                    struct kiln_buffer **buffer, struct kiln_error *error) {
    enum {
        LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        HOST = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT
    };
    static const VkMemoryPropertyFlags unified[] = {LOCAL | HOST | CACHED, HOST | CACHED,
                                                    LOCAL | HOST, HOST};
    static const VkMemoryPropertyFlags discrete[] = {LOCAL, 0};
    const struct kiln_limits *limits = &device->physical.info.limits;
    *buffer = NULL;
    if (size_bytes == 0 || size_bytes > limits->max_buffer_bytes ||
        size_bytes > limits->max_allocation_bytes) {
        return kiln_error_set(
            error, size_bytes ? KILN_ERR_LIMIT : KILN_ERR_ARGUMENT,
            "%s: a buffer of %llu bytes, expected 1 to %llu", device->physical.info.name,
            (unsigned long long)size_bytes,
            (unsigned long long)(limits->max_buffer_bytes < limits->max_allocation_bytes
                                     ? limits->max_buffer_bytes
                                     : limits->max_allocation_bytes));
    }
    struct kiln_buffer *made = calloc(1, sizeof(*made));
    if (!made) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for a buffer");
    }
    made->device = device;
    made->size_bytes =
        (size_bytes + KL_BUFFER_UNIT_BYTES - 1) / KL_BUFFER_UNIT_BYTES * KL_BUFFER_UNIT_BYTES;
    bool mapped = kl_buffer_is_unified(device);
    enum kiln_result result =
        kl_memory_create(device, made->size_bytes,
                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                         mapped ? unified : discrete, mapped ? 4 : 2, &made->memory, error);
    if (result) {
        free(made);
        return result;
    }
    *buffer = made;
    return KILN_OK;
}

void kiln_buffer_destroy(struct kiln_buffer **buffer) {
    if (!buffer || !*buffer) {
        return;
    }
    struct kiln_device *device = (*buffer)->device;
    /* Abandoned work may still use it. */
    if (atomic_load(&device->stuck_count) == 0) {
        kl_memory_destroy(device, &(*buffer)->memory);
    }
    free(*buffer);
    *buffer = NULL;
}

static enum kiln_result kl_buffer_check_range(const struct kiln_buffer *buffer,
                                              uint64_t offset_bytes, uint64_t size_bytes,
                                              struct kiln_error *error) {
    if (offset_bytes > buffer->size_bytes || size_bytes > buffer->size_bytes - offset_bytes) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "%llu bytes at %llu of a buffer of %llu bytes",
                              (unsigned long long)size_bytes, (unsigned long long)offset_bytes,
                              (unsigned long long)buffer->size_bytes);
    }
    return KILN_OK;
}

enum kiln_result kiln_buffer_upload(struct kiln_buffer *buffer, uint64_t offset_bytes,
                                    const void *bytes, uint64_t size_bytes,
                                    struct kiln_error *error) {
    enum kiln_result result = kl_buffer_check_range(buffer, offset_bytes, size_bytes, error);
    if (result || size_bytes == 0) {
        return result;
    }
    if (!buffer->memory.mapped) {
        return kl_transfer_upload(buffer->device->transfer, buffer->memory.buffer, offset_bytes,
                                  bytes, size_bytes, error);
    }
    memcpy((char *)buffer->memory.mapped + offset_bytes, bytes, (size_t)size_bytes);
    return kl_memory_flush(buffer->device, &buffer->memory, error);
}

enum kiln_result kiln_buffer_download(struct kiln_buffer *buffer, uint64_t offset_bytes,
                                      void *bytes, uint64_t size_bytes, struct kiln_error *error) {
    enum kiln_result result = kl_buffer_check_range(buffer, offset_bytes, size_bytes, error);
    if (result || size_bytes == 0) {
        return result;
    }
    if (!buffer->memory.mapped) {
        return kl_transfer_download(buffer->device->transfer, buffer->memory.buffer, offset_bytes,
                                    bytes, size_bytes, error);
    }
    result = kl_memory_invalidate(buffer->device, &buffer->memory, error);
    if (!result) {
        memcpy(bytes, (const char *)buffer->memory.mapped + offset_bytes, (size_t)size_bytes);
    }
    return result;
}

enum kiln_result kiln_buffer_fill(struct kiln_buffer *buffer, uint64_t offset_bytes,
                                  uint64_t size_bytes, uint32_t word, struct kiln_error *error) {
    enum kiln_result result = kl_buffer_check_range(buffer, offset_bytes, size_bytes, error);
    if (!result && (offset_bytes | size_bytes) % sizeof(word) != 0) {
        result = kiln_error_set(error, KILN_ERR_ARGUMENT,
                                "a fill of %llu bytes at %llu, expected multiples of 4",
                                (unsigned long long)size_bytes, (unsigned long long)offset_bytes);
    }
    if (result || size_bytes == 0) {
        return result;
    }
    if (!buffer->memory.mapped) {
        return kl_transfer_fill(buffer->device->transfer, buffer->memory.buffer, offset_bytes,
                                size_bytes, word, error);
    }
    char *at = (char *)buffer->memory.mapped + offset_bytes;
    for (uint64_t done = 0; done < size_bytes; done += sizeof(word)) {
        memcpy(at + done, &word, sizeof(word));
    }
    return kl_memory_flush(buffer->device, &buffer->memory, error);
}

VkBuffer kiln_buffer_handle(const struct kiln_buffer *buffer) {
    return buffer->memory.buffer;
}

uint64_t kiln_buffer_size(const struct kiln_buffer *buffer) {
    return buffer->size_bytes;
}

struct kiln_range kiln_buffer_range(const char *name, const struct kiln_buffer *buffer,
                                    uint64_t offset_bytes, uint64_t size_bytes) {
    uint64_t rest = buffer->size_bytes > offset_bytes ? buffer->size_bytes - offset_bytes : 0;
    return (struct kiln_range){.name = name,
                               .buffer = buffer->memory.buffer,
                               .offset_bytes = offset_bytes,
                               .size_bytes = size_bytes ? size_bytes : rest};
}
