/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_quick.h"

#include "kl_device.h"

#include <stdlib.h>
#include <string.h>

enum kl_batch_state {
    KL_BATCH_EMPTY,
    KL_BATCH_RECORDING,
    KL_BATCH_PENDING /* submitted and not known to be done */
};

struct kiln_batch {
    struct kiln_device *device;
    struct kiln_recorder *recorder;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    enum kl_batch_state state;
    VkQueryPool queries; /* two for each timer */
    uint32_t timer_capacity;
    uint32_t timer_count; /* of what is recorded or was run last */
    bool in_span;
    bool times_valid;
    uint64_t *ticks; /* two for each timer */
};

static enum kiln_result kl_batch_make_timers(struct kiln_batch *batch, struct kiln_error *error) {
    struct kiln_device *device = batch->device;
    if (batch->timer_capacity == 0 || device->physical.info.limits.timestamp_valid_bits == 0) {
        return KILN_OK;
    }
    if (batch->timer_capacity > UINT32_MAX / 2) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "%u timers, at most %u", batch->timer_capacity,
                              UINT32_MAX / 2);
    }
    batch->ticks = calloc(batch->timer_capacity, 2 * sizeof(*batch->ticks));
    if (!batch->ticks) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for timers");
    }
    VkQueryPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                    .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                    .queryCount = 2 * batch->timer_capacity};
    return kl_vulkan_check(
        device->table.CreateQueryPool(device->handle, &create, NULL, &batch->queries),
        "vkCreateQueryPool", NULL, error);
}

static enum kiln_result kl_batch_make_commands(struct kiln_batch *batch, struct kiln_error *error) {
    struct kiln_device *device = batch->device;
    const struct kl_vulkan_table *table = &device->table;
    VkCommandPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                      .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                      .queueFamilyIndex = device->physical.queue_family_index};
    enum kiln_result result =
        kl_vulkan_check(table->CreateCommandPool(device->handle, &create, NULL, &batch->pool),
                        "vkCreateCommandPool", NULL, error);
    if (result) {
        return result;
    }
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = batch->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    result =
        kl_vulkan_check(table->AllocateCommandBuffers(device->handle, &allocate, &batch->commands),
                        "vkAllocateCommandBuffers", NULL, error);
    if (result) {
        return result;
    }
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return kl_vulkan_check(table->CreateFence(device->handle, &fence, NULL, &batch->fence),
                           "vkCreateFence", NULL, error);
}

enum kiln_result kiln_batch_create(struct kiln_device *device, uint32_t timer_capacity,
                                   struct kiln_batch **batch, struct kiln_error *error) {
    *batch = NULL;
    struct kiln_batch *made = calloc(1, sizeof(*made));
    if (!made) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for a batch");
    }
    made->device = device;
    made->timer_capacity = timer_capacity;
    enum kiln_result result = kiln_recorder_create(device, &made->recorder, error);
    if (!result) {
        result = kl_batch_make_commands(made, error);
    }
    if (!result) {
        result = kl_batch_make_timers(made, error);
    }
    if (result) {
        kiln_batch_destroy(&made);
    }
    *batch = made;
    return result;
}

void kiln_batch_destroy(struct kiln_batch **batch) {
    if (!batch || !*batch) {
        return;
    }
    struct kiln_batch *ending = *batch;
    struct kiln_device *device = ending->device;
    *batch = NULL;
    if (ending->state == KL_BATCH_PENDING) {
        atomic_fetch_add(&device->stuck_count, 1);
        return;
    }
    if (ending->queries) {
        device->table.DestroyQueryPool(device->handle, ending->queries, NULL);
    }
    if (ending->fence) {
        device->table.DestroyFence(device->handle, ending->fence, NULL);
    }
    if (ending->pool) {
        device->table.DestroyCommandPool(device->handle, ending->pool, NULL);
    }
    kiln_recorder_destroy(&ending->recorder);
    free(ending->ticks);
    free(ending);
}

/* Makes sure that the command buffer is recording. */
static enum kiln_result kl_batch_begin(struct kiln_batch *batch, struct kiln_error *error) {
    struct kiln_device *device = batch->device;
    const struct kl_vulkan_table *table = &device->table;
    if (batch->state == KL_BATCH_RECORDING) {
        return KILN_OK;
    }
    if (batch->state == KL_BATCH_PENDING) {
        return kiln_error_set(error, KILN_ERR_BUSY, "the batch is still pending on the device");
    }
    batch->timer_count = 0;
    batch->in_span = false;
    batch->times_valid = false;
    enum kiln_result result = kiln_recorder_reset(batch->recorder, error);
    if (!result) {
        result = kl_vulkan_check(table->ResetCommandPool(device->handle, batch->pool, 0),
                                 "vkResetCommandPool", NULL, error);
    }
    if (!result) {
        VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                          .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
        result = kl_vulkan_check(table->BeginCommandBuffer(batch->commands, &begin),
                                 "vkBeginCommandBuffer", NULL, error);
    }
    if (result) {
        return result;
    }
    if (batch->queries) {
        table->CmdResetQueryPool(batch->commands, batch->queries, 0, 2 * batch->timer_capacity);
    }
    batch->state = KL_BATCH_RECORDING;
    return KILN_OK;
}

/*
 * Both timestamps at the bottom of the pipe: the first is the moment when all earlier work has
 * ended, so that the difference holds this dispatch alone.
 */
static void kl_batch_write_time(struct kiln_batch *batch, bool timed, uint32_t query) {
    if (timed) {
        batch->device->table.CmdWriteTimestamp(
            batch->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, batch->queries, query);
    }
}

enum kiln_result kiln_batch_dispatch(struct kiln_batch *batch, const struct kiln_dispatch *dispatch,
                                     struct kiln_error *error) {
    enum kiln_result result = kl_batch_begin(batch, error);
    if (result) {
        return result;
    }
    bool timed = batch->queries && !batch->in_span && batch->timer_count < batch->timer_capacity;
    uint32_t query = 2 * batch->timer_count;
    kl_batch_write_time(batch, timed, query);
    result = kiln_dispatch_record(batch->recorder, batch->commands, dispatch, error);
    if (result) {
        batch->state = KL_BATCH_EMPTY;
        batch->timer_count = 0;
        return result;
    }
    kl_batch_write_time(batch, timed, query + 1);
    batch->timer_count += timed ? 1 : 0;
    kiln_barrier_record(batch->device, batch->commands);
    return KILN_OK;
}

/* Why a span cannot begin or end here; KILN_OK when it can. */
static enum kiln_result kl_batch_check_span(const struct kiln_batch *batch, bool ends,
                                            struct kiln_error *error) {
    if (batch->in_span != ends) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "a span %s",
                              ends ? "ends that did not begin" : "begins inside another");
    }
    if (!batch->queries && batch->device->physical.info.limits.timestamp_valid_bits == 0) {
        return kiln_error_set(error, KILN_ERR_UNSUPPORTED, "%s: its queue has no timestamps",
                              batch->device->physical.info.name);
    }
    if (batch->timer_count >= batch->timer_capacity) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "all %u timers are taken",
                              batch->timer_capacity);
    }
    return KILN_OK;
}

static enum kiln_result kl_batch_mark_span(struct kiln_batch *batch, bool ends,
                                           struct kiln_error *error) {
    enum kiln_result result = kl_batch_begin(batch, error);
    if (!result) {
        result = kl_batch_check_span(batch, ends, error);
        if (result) {
            batch->state = KL_BATCH_EMPTY;
            batch->timer_count = 0;
        }
    }
    if (result) {
        return result;
    }
    kl_batch_write_time(batch, true, 2 * batch->timer_count + (ends ? 1 : 0));
    batch->in_span = !ends;
    batch->timer_count += ends ? 1 : 0;
    return KILN_OK;
}

enum kiln_result kiln_batch_span_begin(struct kiln_batch *batch, struct kiln_error *error) {
    return kl_batch_mark_span(batch, false, error);
}

enum kiln_result kiln_batch_span_end(struct kiln_batch *batch, struct kiln_error *error) {
    return kl_batch_mark_span(batch, true, error);
}

enum kiln_result kiln_batch_copy(struct kiln_batch *batch, const struct kiln_buffer *from,
                                 uint64_t from_offset_bytes, struct kiln_buffer *to,
                                 uint64_t to_offset_bytes, uint64_t size_bytes,
                                 struct kiln_error *error) {
    uint64_t from_size = kiln_buffer_size(from);
    uint64_t to_size = kiln_buffer_size(to);
    enum kiln_result result = kl_batch_begin(batch, error);
    if (result || size_bytes == 0) {
        return result;
    }
    if (from_offset_bytes > from_size || size_bytes > from_size - from_offset_bytes ||
        to_offset_bytes > to_size || size_bytes > to_size - to_offset_bytes) {
        batch->state = KL_BATCH_EMPTY;
        batch->timer_count = 0;
        return kiln_error_set(error, KILN_ERR_LIMIT,
                              "a copy of %llu bytes from %llu of %llu to %llu of %llu",
                              (unsigned long long)size_bytes, (unsigned long long)from_offset_bytes,
                              (unsigned long long)from_size, (unsigned long long)to_offset_bytes,
                              (unsigned long long)to_size);
    }
    VkBufferCopy region = {
        .srcOffset = from_offset_bytes, .dstOffset = to_offset_bytes, .size = size_bytes};
    batch->device->table.CmdCopyBuffer(batch->commands, kiln_buffer_handle(from),
                                       kiln_buffer_handle(to), 1, &region);
    kiln_barrier_record(batch->device, batch->commands);
    return KILN_OK;
}

static enum kiln_result kl_batch_read_times(struct kiln_batch *batch, struct kiln_error *error) {
    struct kiln_device *device = batch->device;
    if (batch->timer_count == 0) {
        return KILN_OK;
    }
    uint32_t count = 2 * batch->timer_count;
    enum kiln_result result =
        kl_vulkan_check(device->table.GetQueryPoolResults(device->handle, batch->queries, 0, count,
                                                          count * sizeof(uint64_t), batch->ticks,
                                                          sizeof(uint64_t), VK_QUERY_RESULT_64_BIT),
                        "vkGetQueryPoolResults", NULL, error);
    batch->times_valid = result == KILN_OK;
    return result;
}

enum kiln_result kiln_batch_wait(struct kiln_batch *batch, uint32_t timeout_ms,
                                 struct kiln_error *error) {
    struct kiln_device *device = batch->device;
    if (batch->state != KL_BATCH_PENDING) {
        return KILN_OK;
    }
    uint64_t timeout_ns = timeout_ms ? (uint64_t)timeout_ms * 1000000u : UINT64_MAX;
    VkResult status =
        device->table.WaitForFences(device->handle, 1, &batch->fence, VK_TRUE, timeout_ns);
    if (status == VK_TIMEOUT) {
        return kiln_error_set(error, KILN_ERR_VULKAN, "%s: vkWaitForFences: VK_TIMEOUT after %u ms",
                              device->physical.info.name, timeout_ms);
    }
    batch->state = KL_BATCH_EMPTY;
    enum kiln_result result =
        kl_vulkan_check(status, "vkWaitForFences", device->physical.info.name, error);
    return result ? result : kl_batch_read_times(batch, error);
}

enum kiln_result kiln_batch_run(struct kiln_batch *batch, uint32_t timeout_ms,
                                struct kiln_error *error) {
    struct kiln_device *device = batch->device;
    enum kiln_result result = kl_batch_begin(batch, error);
    if (result) {
        return result;
    }
    batch->state = KL_BATCH_EMPTY;
    result = kl_vulkan_check(device->table.EndCommandBuffer(batch->commands), "vkEndCommandBuffer",
                             NULL, error);
    if (!result) {
        result = kl_vulkan_check(device->table.ResetFences(device->handle, 1, &batch->fence),
                                 "vkResetFences", NULL, error);
    }
    if (!result) {
        result = kl_device_submit(device, batch->commands, batch->fence, error);
    }
    if (result) {
        return result;
    }
    batch->state = KL_BATCH_PENDING;
    return kiln_batch_wait(batch, timeout_ms, error);
}

enum kiln_result kiln_batch_time(const struct kiln_batch *batch, uint32_t index, double *time_ns,
                                 struct kiln_error *error) {
    const struct kiln_limits *limits = &batch->device->physical.info.limits;
    *time_ns = 0.0;
    if (limits->timestamp_valid_bits == 0) {
        return kiln_error_set(error, KILN_ERR_UNSUPPORTED, "%s: its queue has no timestamps",
                              batch->device->physical.info.name);
    }
    if (!batch->times_valid || index >= batch->timer_count) {
        return kiln_error_set(error, KILN_ERR_NOT_FOUND, "dispatch %u was not timed (%u were)",
                              index, batch->times_valid ? batch->timer_count : 0);
    }
    uint64_t mask = UINT64_MAX >> (64 - limits->timestamp_valid_bits); /* 36 to 64 bits */
    uint64_t ticks = (batch->ticks[2 * index + 1] - batch->ticks[2 * index]) & mask;
    *time_ns = (double)ticks * limits->timestamp_period_ns;
    return KILN_OK;
}
