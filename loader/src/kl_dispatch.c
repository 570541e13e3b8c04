/* SPDX-License-Identifier: MIT */
#include "kl_recorder.h"

#include <stdlib.h>
#include <string.h>

#define KL_ROW_FIRST "row_first"
#define KL_BINDING_CAPACITY 32u
#define KL_PUSH_CAPACITY_BYTES 256u
#define KL_DIM_CAPACITY 16u
#define KL_PARAM_CAPACITY 64u

/* A dispatch with its names resolved: one piece, or one window of a larger one. */
struct kl_launch {
    const struct kiln_dispatch *dispatch;
    const struct kiln_pipeline *pipeline;
    struct kiln_limits limits;                            /* overrides applied */
    const struct kiln_range *ranges[KL_BINDING_CAPACITY]; /* in the artifact's order */
    size_t window_binding;                                /* its index, or SIZE_MAX */
    size_t window_dim;                                    /* index into the dispatch's dims */
    struct mf_dim dims[KL_DIM_CAPACITY];
    struct kiln_param params[KL_PARAM_CAPACITY]; /* room for row_first behind the caller's */
    size_t param_count;
    uint64_t row_first; /* as the caller gave it */
};

static uint64_t kl_round_up(uint64_t value, uint64_t unit) {
    return value > UINT64_MAX - unit ? UINT64_MAX - UINT64_MAX % unit
                                     : (value + unit - 1) / unit * unit;
}

/* What is bound: weights are padded to 16 bytes, words are the least that kernels access. */
static uint64_t kl_bound_bytes(const struct mf_binding *binding, uint64_t size_bytes) {
    return kl_round_up(size_bytes, binding->access == MF_ACCESS_READ ? 16 : 4);
}

static void kl_launch_limits(struct kl_launch *launch, const struct kiln_device_info *info) {
    const struct kiln_limits_override *override = launch->dispatch->limits;
    launch->limits = info->limits;
    if (!override) {
        return;
    }
    if (override->max_storage_buffer_range_bytes) {
        launch->limits.max_storage_buffer_range_bytes = override->max_storage_buffer_range_bytes;
    }
    for (size_t axis = 0; axis < 3; axis++) {
        if (override->max_group_count[axis]) {
            launch->limits.max_group_count[axis] = override->max_group_count[axis];
        }
    }
}

/* The dims given are exactly the artifact's. */
static enum kiln_result kl_launch_dims(struct kl_launch *launch, struct kiln_error *error) {
    const struct kiln_dispatch *dispatch = launch->dispatch;
    const struct mf_artifact *artifact = launch->pipeline->artifact;
    if (dispatch->dim_count > KL_DIM_CAPACITY || artifact->dim_count > KL_DIM_CAPACITY) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "%s: %zu dimensions, at most %u",
                              artifact->name, dispatch->dim_count, KL_DIM_CAPACITY);
    }
    unsigned given[KL_DIM_CAPACITY] = {0};
    for (size_t i = 0; i < dispatch->dim_count; i++) {
        const char *name = dispatch->dims[i].name;
        size_t row = 0;
        while (row < artifact->dim_count && strcmp(artifact->dims[row], name) != 0) {
            row++;
        }
        if (row == artifact->dim_count) {
            return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: has no dimension %s",
                                  artifact->name, name);
        }
        if (given[row]++) {
            return kiln_error_set(error, KILN_ERR_DUPLICATE, "%s: dimension %s is given twice",
                                  artifact->name, name);
        }
        launch->dims[i] = dispatch->dims[i];
    }
    for (size_t row = 0; row < artifact->dim_count; row++) {
        if (!given[row]) {
            return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: dimension %s is not given",
                                  artifact->name, artifact->dims[row]);
        }
    }
    return KILN_OK;
}

/* The ranges given are exactly the artifact's bindings. */
static enum kiln_result kl_launch_ranges(struct kl_launch *launch, struct kiln_error *error) {
    const struct kiln_dispatch *dispatch = launch->dispatch;
    const struct mf_artifact *artifact = launch->pipeline->artifact;
    if (artifact->binding_count > KL_BINDING_CAPACITY) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "%s: %zu bindings, at most %u", artifact->name,
                              artifact->binding_count, KL_BINDING_CAPACITY);
    }
    for (size_t i = 0; i < dispatch->range_count; i++) {
        const char *name = dispatch->ranges[i].name;
        size_t row = 0;
        while (row < artifact->binding_count && strcmp(artifact->bindings[row].name, name) != 0) {
            row++;
        }
        if (row == artifact->binding_count) {
            return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: has no binding %s",
                                  artifact->name, name);
        }
        if (launch->ranges[row]) {
            return kiln_error_set(error, KILN_ERR_DUPLICATE, "%s: binding %s is given twice",
                                  artifact->name, name);
        }
        launch->ranges[row] = &dispatch->ranges[i];
    }
    for (size_t row = 0; row < artifact->binding_count; row++) {
        if (!launch->ranges[row]) {
            return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: binding %s is not given",
                                  artifact->name, artifact->bindings[row].name);
        }
    }
    return KILN_OK;
}

/* Sizes and offsets against the limits. A binding that is windowed may exceed the range. */
static enum kiln_result kl_launch_check_ranges(const struct kl_launch *launch,
                                               struct kiln_error *error) {
    const struct mf_artifact *artifact = launch->pipeline->artifact;
    const struct kiln_limits *limits = &launch->limits;
    for (size_t row = 0; row < artifact->binding_count; row++) {
        const struct mf_binding *binding = &artifact->bindings[row];
        const struct kiln_range *range = launch->ranges[row];
        if (!range->buffer || range->size_bytes == 0) {
            return kiln_error_set(error, KILN_ERR_ARGUMENT, "%s: binding %s: %s", artifact->name,
                                  binding->name, range->buffer ? "an empty range" : "no buffer");
        }
        if (range->offset_bytes % limits->storage_offset_alignment_bytes != 0) {
            return kiln_error_set(error, KILN_ERR_LIMIT,
                                  "%s: binding %s: offset %llu is no multiple of %llu "
                                  "(minStorageBufferOffsetAlignment)",
                                  artifact->name, binding->name,
                                  (unsigned long long)range->offset_bytes,
                                  (unsigned long long)limits->storage_offset_alignment_bytes);
        }
        uint64_t bound = kl_bound_bytes(binding, range->size_bytes);
        if (row != launch->window_binding && bound > limits->max_storage_buffer_range_bytes) {
            return kiln_error_set(error, KILN_ERR_LIMIT,
                                  "%s: binding %s: %llu bytes, the device binds at most %llu "
                                  "(maxStorageBufferRange)",
                                  artifact->name, binding->name, (unsigned long long)bound,
                                  (unsigned long long)limits->max_storage_buffer_range_bytes);
        }
    }
    return KILN_OK;
}

/* Resolves the windowing, when the weights do not fit in one range; window_binding tells. */
static enum kiln_result kl_launch_windowing(struct kl_launch *launch, struct kiln_error *error) {
    const struct kiln_windowing *windowing = &launch->dispatch->windowing;
    const struct mf_artifact *artifact = launch->pipeline->artifact;
    launch->window_binding = SIZE_MAX;
    if (!windowing->binding) {
        return KILN_OK;
    }
    size_t row = 0;
    while (row < artifact->binding_count &&
           strcmp(artifact->bindings[row].name, windowing->binding) != 0) {
        row++;
    }
    size_t dim = 0;
    while (dim < launch->dispatch->dim_count && windowing->dim &&
           strcmp(launch->dims[dim].name, windowing->dim) != 0) {
        dim++;
    }
    size_t push = 0;
    while (push < artifact->push_count && strcmp(artifact->push[push].name, KL_ROW_FIRST) != 0) {
        push++;
    }
    if (row == artifact->binding_count || !windowing->dim || dim == launch->dispatch->dim_count ||
        push == artifact->push_count) {
        return kiln_error_set(error, KILN_ERR_NOT_FOUND,
                              "%s: row windows need binding %s, dimension %s and a push constant "
                              "row_first",
                              artifact->name, windowing->binding,
                              windowing->dim ? windowing->dim : "(null)");
    }
    const struct kiln_range *range = launch->ranges[row];
    if (windowing->row_bytes == 0 ||
        launch->dims[dim].value > range->size_bytes / windowing->row_bytes) {
        return kiln_error_set(
            error, KILN_ERR_LIMIT,
            "%s: binding %s: %llu rows of %llu bytes do not fit in %llu bytes", artifact->name,
            windowing->binding, (unsigned long long)launch->dims[dim].value,
            (unsigned long long)windowing->row_bytes, (unsigned long long)range->size_bytes);
    }
    launch->window_dim = dim;
    launch->window_binding = row;
    return KILN_OK;
}

/* Copies the params, row_first apart: it moves with the windows. */
static enum kiln_result kl_launch_params(struct kl_launch *launch, struct kiln_error *error) {
    const struct kiln_dispatch *dispatch = launch->dispatch;
    const char *name = launch->pipeline->artifact->name;
    if (dispatch->param_count >= KL_PARAM_CAPACITY) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "%s: %zu params, at most %u", name,
                              dispatch->param_count, KL_PARAM_CAPACITY - 1);
    }
    if (launch->pipeline->artifact->requires_.push_bytes > KL_PUSH_CAPACITY_BYTES) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "%s: %u bytes of push constants, at most %u",
                              name, launch->pipeline->artifact->requires_.push_bytes,
                              KL_PUSH_CAPACITY_BYTES);
    }
    for (size_t i = 0; i < dispatch->param_count; i++) {
        const struct kiln_param *param = &dispatch->params[i];
        bool moves = launch->window_binding != SIZE_MAX && strcmp(param->name, KL_ROW_FIRST) == 0;
        if (moves && param->kind != KILN_PARAM_REAL && (int64_t)param->value.u >= 0) {
            launch->row_first = param->value.u;
        } else {
            launch->params[launch->param_count++] = *param;
        }
    }
    return KILN_OK;
}

/* Numbers of one piece, all known before anything is recorded. */
struct kl_piece {
    struct kiln_window window; /* zero without windows */
    uint32_t groups[3];
    unsigned char push[KL_PUSH_CAPACITY_BYTES];
};

static enum kiln_result kl_piece_prepare(struct kl_launch *launch, uint64_t row_done,
                                         struct kl_piece *piece, struct kiln_error *error) {
    const struct mf_artifact *artifact = launch->pipeline->artifact;
    const struct kiln_dispatch *dispatch = launch->dispatch;
    size_t param_count = launch->param_count;
    *piece = (struct kl_piece){0};
    if (launch->window_binding != SIZE_MAX) {
        enum kiln_result result = kiln_window_next(
            row_done, dispatch->dims[launch->window_dim].value, dispatch->windowing.row_bytes,
            launch->ranges[launch->window_binding]->offset_bytes,
            launch->limits.max_storage_buffer_range_bytes,
            launch->limits.storage_offset_alignment_bytes, &piece->window, error);
        if (result) {
            return result;
        }
        launch->dims[launch->window_dim].value = piece->window.row_count;
        launch->params[param_count++] =
            kiln_param_u64(KL_ROW_FIRST, launch->row_first + piece->window.row_first);
    }
    enum kiln_result result =
        kiln_push_fill(artifact, launch->dims, dispatch->dim_count, launch->params, param_count,
                       piece->push, sizeof(piece->push), error);
    return result ? result
                  : mf_grid_groups(&artifact->grid, launch->dims, dispatch->dim_count,
                                   launch->limits.max_group_count, piece->groups, error);
}

static void kl_piece_write_sets(const struct kl_launch *launch, const struct kl_piece *piece,
                                const VkDescriptorSet *sets) {
    const struct mf_artifact *artifact = launch->pipeline->artifact;
    struct kiln_device *device = launch->pipeline->device;
    VkDescriptorBufferInfo infos[KL_BINDING_CAPACITY];
    VkWriteDescriptorSet writes[KL_BINDING_CAPACITY];
    for (size_t row = 0; row < artifact->binding_count; row++) {
        const struct mf_binding *binding = &artifact->bindings[row];
        const struct kiln_range *range = launch->ranges[row];
        bool windowed = row == launch->window_binding;
        infos[row] = (VkDescriptorBufferInfo){
            .buffer = range->buffer,
            .offset = windowed ? piece->window.offset_bytes : range->offset_bytes,
            .range =
                kl_bound_bytes(binding, windowed ? piece->window.size_bytes : range->size_bytes)};
        writes[row] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                             .dstSet = sets[binding->set],
                                             .dstBinding = binding->binding,
                                             .descriptorCount = 1,
                                             .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             .pBufferInfo = &infos[row]};
    }
    device->table.UpdateDescriptorSets(device->handle, (uint32_t)artifact->binding_count, writes, 0,
                                       NULL);
}

static enum kiln_result kl_piece_record(struct kiln_recorder *recorder, VkCommandBuffer commands,
                                        const struct kl_launch *launch,
                                        const struct kl_piece *piece, struct kiln_error *error) {
    const struct kiln_pipeline *pipeline = launch->pipeline;
    const struct kl_vulkan_table *table = &pipeline->device->table;
    VkDescriptorSet sets[KL_SET_CAPACITY] = {VK_NULL_HANDLE};
    enum kiln_result result = kl_recorder_allocate(recorder, pipeline, sets, error);
    if (result) {
        return result;
    }
    kl_piece_write_sets(launch, piece, sets);
    table->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    if (pipeline->set_count > 0) {
        table->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0,
                                     pipeline->set_count, sets, 0, NULL);
    }
    uint32_t push_bytes = (pipeline->artifact->requires_.push_bytes + 3u) & ~3u;
    if (push_bytes > 0) {
        table->CmdPushConstants(commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                push_bytes, piece->push);
    }
    table->CmdDispatch(commands, piece->groups[0], piece->groups[1], piece->groups[2]);
    return KILN_OK;
}

static bool kl_launch_is_empty(const struct kl_piece *piece) {
    return piece->groups[0] == 0 || piece->groups[1] == 0 || piece->groups[2] == 0;
}

/* One pass over all pieces: `commands` NULL only checks, so that a refusal records nothing. */
static enum kiln_result kl_launch_pieces(struct kiln_recorder *recorder, VkCommandBuffer commands,
                                         struct kl_launch *launch, struct kiln_error *error) {
    const struct kiln_dispatch *dispatch = launch->dispatch;
    uint64_t row_count =
        launch->window_binding == SIZE_MAX ? 1 : dispatch->dims[launch->window_dim].value;
    for (uint64_t row_done = 0; row_done < row_count;) {
        struct kl_piece piece;
        enum kiln_result result = kl_piece_prepare(launch, row_done, &piece, error);
        if (!result && commands && !kl_launch_is_empty(&piece)) {
            result = kl_piece_record(recorder, commands, launch, &piece, error);
        }
        if (result) {
            return result;
        }
        row_done += piece.window.row_count ? piece.window.row_count : 1;
    }
    return KILN_OK;
}

enum kiln_result kiln_dispatch_record(struct kiln_recorder *recorder, VkCommandBuffer commands,
                                      const struct kiln_dispatch *dispatch,
                                      struct kiln_error *error) {
    if (!recorder || !commands || !dispatch || !dispatch->pipeline ||
        dispatch->pipeline->device != kl_recorder_device(recorder)) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "kiln_dispatch_record: recorder, command buffer, dispatch and a "
                              "pipeline of the recorder's device are needed");
    }
    struct kl_launch launch = {.dispatch = dispatch, .pipeline = dispatch->pipeline};
    uint32_t groups[3] = {0, 0, 0};
    kl_launch_limits(&launch, &dispatch->pipeline->device->physical.info);
    enum kiln_result result = kl_launch_dims(&launch, error);
    /* Whether the whole fits the device's group counts matters only when it is not windowed. */
    if (!result &&
        mf_grid_groups(&dispatch->pipeline->artifact->grid, launch.dims, dispatch->dim_count,
                       launch.limits.max_group_count, groups, NULL) == KILN_OK &&
        groups[0] == 0) {
        return KILN_OK;
    }
    if (!result) {
        result = mf_artifact_check_dims(dispatch->pipeline->artifact, launch.dims,
                                        dispatch->dim_count, error);
    }
    if (!result) {
        result = kl_launch_ranges(&launch, error);
    }
    if (!result) {
        result = kl_launch_windowing(&launch, error);
    }
    if (!result) {
        result = kl_launch_check_ranges(&launch, error);
    }
    if (!result) {
        result = kl_launch_params(&launch, error);
    }
    if (!result) {
        result = kl_launch_pieces(recorder, NULL, &launch, error);
    }
    return result ? result : kl_launch_pieces(recorder, commands, &launch, error);
}

void kiln_barrier_record(struct kiln_device *device, VkCommandBuffer commands) {
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                         VK_ACCESS_HOST_READ_BIT};
    VkPipelineStageFlags device_stages =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    device->table.CmdPipelineBarrier(commands, device_stages,
                                     device_stages | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                                     NULL, 0, NULL);
}
