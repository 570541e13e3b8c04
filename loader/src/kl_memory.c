/* SPDX-License-Identifier: MIT */
#include "kl_memory.h"

static bool kl_memory_find_type(const VkPhysicalDeviceMemoryProperties *types, uint32_t allowed,
                                const VkMemoryPropertyFlags *wishes, size_t wish_count,
                                uint32_t *index) {
    for (size_t wish = 0; wish < wish_count; wish++) {
        for (uint32_t i = 0; i < types->memoryTypeCount; i++) {
            if ((allowed >> i & 1) &&
                (types->memoryTypes[i].propertyFlags & wishes[wish]) == wishes[wish]) {
                *index = i;
                return true;
            }
        }
    }
    return false;
}

static enum kiln_result kl_memory_allocate(struct kiln_device *device,
                                           const VkMemoryPropertyFlags *wishes, size_t wish_count,
                                           struct kl_memory *out, struct kiln_error *error) {
    const struct kl_vulkan_table *table = &device->table;
    VkMemoryRequirements needs;
    uint32_t type = 0;
    table->GetBufferMemoryRequirements(device->handle, out->buffer, &needs);
    if (!kl_memory_find_type(&device->memory, needs.memoryTypeBits, wishes, wish_count, &type)) {
        return kiln_error_set(error, KILN_ERR_UNSUPPORTED, "%s: no fitting type of memory",
                              device->physical.info.name);
    }
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    VkResult status = table->AllocateMemory(device->handle, &allocate, NULL, &out->memory);
    if (status != VK_SUCCESS) {
        out->memory = VK_NULL_HANDLE;
        return kiln_error_set(
            error, status == VK_ERROR_DEVICE_LOST ? KILN_ERR_DEVICE_LOST : KILN_ERR_MEMORY,
            "%s: vkAllocateMemory of %llu bytes: %s", device->physical.info.name,
            (unsigned long long)needs.size, kl_vulkan_result_string(status));
    }
    enum kiln_result result =
        kl_vulkan_check(table->BindBufferMemory(device->handle, out->buffer, out->memory, 0),
                        "vkBindBufferMemory", NULL, error);
    VkMemoryPropertyFlags flags = device->memory.memoryTypes[type].propertyFlags;
    out->coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    if (!result && (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) &&
        (wishes[0] & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)) {
        result = kl_vulkan_check(
            table->MapMemory(device->handle, out->memory, 0, VK_WHOLE_SIZE, 0, &out->mapped),
            "vkMapMemory", NULL, error);
    }
    return result;
}

enum kiln_result kl_memory_create(struct kiln_device *device, uint64_t size_bytes,
                                  VkBufferUsageFlags usage, const VkMemoryPropertyFlags *wishes,
                                  size_t wish_count, struct kl_memory *out,
                                  struct kiln_error *error) {
    *out = (struct kl_memory){0};
    VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = size_bytes,
                                 .usage = usage,
                                 .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    enum kiln_result result =
        kl_vulkan_check(device->table.CreateBuffer(device->handle, &create, NULL, &out->buffer),
                        "vkCreateBuffer", device->physical.info.name, error);
    if (!result) {
        result = kl_memory_allocate(device, wishes, wish_count, out, error);
    }
    if (result) {
        kl_memory_destroy(device, out);
    }
    return result;
}

void kl_memory_destroy(struct kiln_device *device, struct kl_memory *memory) {
    if (memory->buffer) {
        device->table.DestroyBuffer(device->handle, memory->buffer, NULL);
    }
    if (memory->memory) {
        device->table.FreeMemory(device->handle, memory->memory, NULL);
    }
    *memory = (struct kl_memory){0};
}

static VkMappedMemoryRange kl_memory_range(const struct kl_memory *memory) {
    return (VkMappedMemoryRange){.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
                                 .memory = memory->memory,
                                 .size = VK_WHOLE_SIZE};
}

enum kiln_result kl_memory_flush(struct kiln_device *device, const struct kl_memory *memory,
                                 struct kiln_error *error) {
    VkMappedMemoryRange range = kl_memory_range(memory);
    return memory->coherent
               ? KILN_OK
               : kl_vulkan_check(device->table.FlushMappedMemoryRanges(device->handle, 1, &range),
                                 "vkFlushMappedMemoryRanges", NULL, error);
}

enum kiln_result kl_memory_invalidate(struct kiln_device *device, const struct kl_memory *memory,
                                      struct kiln_error *error) {
    VkMappedMemoryRange range = kl_memory_range(memory);
    return memory->coherent ? KILN_OK
                            : kl_vulkan_check(device->table.InvalidateMappedMemoryRanges(
                                                  device->handle, 1, &range),
                                              "vkInvalidateMappedMemoryRanges", NULL, error);
}
