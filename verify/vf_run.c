/* SPDX-License-Identifier: MIT */
#include "vf_run.h"

#include "vf_guard.h"
#include "vf_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One buffer of a run: its place in the allocation and the host's copy of it. */
struct binding_memory {
    const struct vf_buffer *buffer;
    enum mf_dtype dtype; /* outputs */
    struct vf_guard_span span;
    uint8_t *host;  /* span.total_bytes */
    uint8_t *first; /* outputs: payload of the first run */
    struct kiln_buffer *device;
};

struct run {
    struct vf_device *device;
    struct kiln_pipeline *pipeline;
    const struct vf_case *kase;
    const struct vf_problem *problem;
    const struct vf_run_params *params;
    struct kiln_limits_override limits;
    struct binding_memory memory[VF_BUFFER_MAX];
};

const char *vf_status_string(enum vf_status status) {
    switch (status) {
    case VF_STATUS_PASS:
        return "pass";
    case VF_STATUS_FAIL:
        return "fail";
    case VF_STATUS_SKIP:
        return "skip";
    default:
        return "none";
    }
}

static void outcome_set(struct vf_outcome *out, enum vf_status status, const char *what,
                        const char *detail) {
    out->status = status;
    snprintf(out->reason, sizeof out->reason, "%s%s%s", what, *what && *detail ? ": " : "", detail);
}

static void outcome_fail(struct vf_outcome *out, const struct kiln_error *error, const char *what) {
    outcome_set(out, VF_STATUS_FAIL, what, error->message);
    /* After a timeout the work may still run; its buffers must not be touched again. */
    out->device_unusable = out->device_unusable || error->code == KILN_ERR_DEVICE_LOST ||
                           strstr(error->message, "VK_TIMEOUT") != NULL;
}

static uint32_t lower(uint32_t a, uint32_t b) {
    return a && (!b || a < b) ? a : b;
}

/* The limits of the command line and of the case together; 0 stays "the device's own". */
static struct kiln_limits_override run_limits(const struct vf_case *kase,
                                              const struct vf_problem *problem,
                                              const struct vf_run_params *params,
                                              const struct kiln_limits *device) {
    struct kiln_limits_override limits = params->limits;

    if (kase->group_limit) {
        /* z stays the device's: the product of three small limits would not hold the groups. */
        limits.max_group_count[0] = lower(limits.max_group_count[0], kase->group_limit);
        limits.max_group_count[1] = lower(limits.max_group_count[1], kase->group_limit);
    }
    for (size_t i = 0; kase->window_count && i < problem->buffer_count; i++) {
        const struct vf_buffer *buffer = &problem->buffers[i];
        if (buffer->row_bytes) {
            const uint64_t rows = buffer->size_bytes / buffer->row_bytes / kase->window_count + 1;
            uint64_t step = device->storage_offset_alignment_bytes;
            while (step > 1 &&
                   step / 2 * buffer->row_bytes % device->storage_offset_alignment_bytes == 0) {
                step /= 2;
            }
            const uint64_t aligned = (rows + step - 1) / step * step;
            limits.max_storage_buffer_range_bytes = (aligned * buffer->row_bytes + 15) / 16 * 16;
        }
    }
    return limits;
}

/* A payload that no single range and no window can bind: the device cannot run the case. */
static bool skip_for_size(struct run *run, struct vf_outcome *out) {
    const struct kiln_limits *limits = &run->device->info->limits;
    char text[160];

    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        const struct binding_memory *memory = &run->memory[i];
        const uint64_t range = memory->span.padded_bytes;
        const bool windows = memory->buffer->row_bytes != 0;

        if (memory->span.total_bytes > limits->max_buffer_bytes) {
            snprintf(text, sizeof text, "%s: %" PRIu64 " bytes > maxBufferSize %" PRIu64,
                     memory->buffer->binding, memory->span.total_bytes, limits->max_buffer_bytes);
        } else if (!windows && range > limits->max_storage_buffer_range_bytes) {
            snprintf(text, sizeof text, "%s: %" PRIu64 " bytes > maxStorageBufferRange %" PRIu64,
                     memory->buffer->binding, range, limits->max_storage_buffer_range_bytes);
        } else {
            continue;
        }
        outcome_set(out, VF_STATUS_SKIP, "over the device's limits", text);
        return true;
    }
    return false;
}

static void memory_layout(struct run *run, const struct mf_artifact *artifact) {
    const uint64_t alignment = run->device->info->limits.storage_offset_alignment_bytes;

    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        struct binding_memory *memory = &run->memory[i];
        const struct vf_buffer *buffer = &run->problem->buffers[i];
        uint64_t payload_bytes = buffer->size_bytes;

        memory->buffer = buffer;
        if (buffer->expected) {
            memory->dtype = vf_output_dtype(buffer, artifact);
            payload_bytes = vf_output_bytes(memory->dtype, buffer->element_count);
        }
        memory->span = vf_guard_layout(payload_bytes, alignment);
    }
}

static enum kiln_result memory_create(struct run *run, struct kiln_error *error) {
    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        struct binding_memory *memory = &run->memory[i];

        memory->host = malloc((size_t)memory->span.total_bytes);
        memory->first = malloc((size_t)memory->span.payload_bytes + 1);
        if (!memory->host || !memory->first) {
            return kiln_error_set(error, KILN_ERR_MEMORY, "no host memory for %s",
                                  memory->buffer->binding);
        }
        const enum kiln_result result = kiln_buffer_create(
            run->device->device, memory->span.total_bytes, &memory->device, error);
        if (result != KILN_OK) {
            return result;
        }
    }
    return KILN_OK;
}

static void memory_destroy(struct run *run) {
    for (size_t i = 0; i < VF_BUFFER_MAX; i++) {
        kiln_buffer_destroy(&run->memory[i].device);
        free(run->memory[i].host);
        free(run->memory[i].first);
    }
}

static uint64_t range_limit(const struct run *run) {
    const uint64_t injected = run->limits.max_storage_buffer_range_bytes;

    return injected ? injected : run->device->info->limits.max_storage_buffer_range_bytes;
}

/* Larger than a range may be: the loader must split it into row windows. */
static bool needs_windows(const struct run *run, const struct binding_memory *memory) {
    return memory->buffer->row_bytes && memory->span.padded_bytes > range_limit(run);
}

/* Bytes to bind: with `wide` up to the end of the guard behind the payload. */
static uint64_t range_bytes(const struct run *run, const struct binding_memory *memory, bool wide) {
    const uint64_t whole = memory->span.total_bytes - memory->span.offset_bytes;

    if (wide && !needs_windows(run, memory) && whole <= range_limit(run)) {
        return whole;
    }
    return memory->span.payload_bytes ? memory->span.payload_bytes : memory->span.padded_bytes;
}

static enum kiln_result dispatch(struct run *run, bool wide, struct kiln_error *error) {
    struct kiln_range ranges[VF_BUFFER_MAX];
    struct kiln_dispatch d = {.pipeline = run->pipeline,
                              .ranges = ranges,
                              .range_count = run->problem->buffer_count,
                              .dims = run->kase->dims,
                              .dim_count = run->kase->dim_count - run->kase->data_dim_count,
                              .params = run->problem->params,
                              .param_count = run->problem->param_count,
                              .limits = &run->limits};

    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        const struct binding_memory *memory = &run->memory[i];
        ranges[i] = kiln_buffer_range(memory->buffer->binding, memory->device,
                                      memory->span.offset_bytes, range_bytes(run, memory, wide));
        if (needs_windows(run, memory)) {
            d.windowing = (struct kiln_windowing){.binding = memory->buffer->binding,
                                                  .dim = memory->buffer->row_dim,
                                                  .row_bytes = memory->buffer->row_bytes};
        }
    }
    return kiln_quick_run(&d, run->params->timeout_ms, NULL, error);
}

/* Uploads, runs and downloads; afterwards host copies hold what the device left. */
static enum kiln_result run_once(struct run *run, uint32_t pattern, bool wide,
                                 struct kiln_error *error) {
    enum kiln_result result = KILN_OK;

    for (size_t i = 0; i < run->problem->buffer_count && result == KILN_OK; i++) {
        struct binding_memory *memory = &run->memory[i];
        vf_guard_fill(memory->host, &memory->span, pattern, memory->buffer->bytes);
        result =
            kiln_buffer_upload(memory->device, 0, memory->host, memory->span.total_bytes, error);
    }
    if (result == KILN_OK) {
        result = vf_device_dirty(run->device, pattern, run->params->timeout_ms, error);
    }
    if (result == KILN_OK) {
        result = dispatch(run, wide, error);
    }
    for (size_t i = 0; i < run->problem->buffer_count && result == KILN_OK; i++) {
        struct binding_memory *memory = &run->memory[i];
        /* What the download does not write must not look like an intact buffer. */
        memset(memory->host, 0, (size_t)memory->span.total_bytes);
        result =
            kiln_buffer_download(memory->device, 0, memory->host, memory->span.total_bytes, error);
    }
    return result;
}

static bool guards_hold(struct run *run, uint32_t pattern, struct vf_outcome *out) {
    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        const struct binding_memory *memory = &run->memory[i];
        const void *unchanged = memory->buffer->expected ? NULL : memory->buffer->bytes;
        if (!vf_guard_check(memory->host, &memory->span, pattern, unchanged,
                            memory->buffer->binding, out->reason, sizeof out->reason)) {
            out->status = VF_STATUS_FAIL;
            return false;
        }
    }
    return true;
}

static void keep_outputs(struct run *run) {
    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        struct binding_memory *memory = &run->memory[i];
        if (memory->buffer->expected) {
            memcpy(memory->first, memory->host + memory->span.offset_bytes,
                   (size_t)memory->span.payload_bytes);
        }
    }
}

/* Bytes of an output that the kernel defines: without the rounding up to a whole word. */
static size_t defined_bytes(const struct binding_memory *memory) {
    const struct mf_dtype_info *info = mf_dtype_info(memory->dtype);
    const uint64_t bytes = memory->buffer->element_count / info->block_elements * info->block_bytes;

    return (size_t)bytes;
}

static void runs_agree(struct run *run, struct vf_outcome *out) {
    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        const struct binding_memory *memory = &run->memory[i];
        const uint8_t *second = memory->host + memory->span.offset_bytes;
        if (!memory->buffer->expected ||
            memcmp(memory->first, second, defined_bytes(memory)) == 0) {
            continue;
        }
        size_t at = 0;
        while (memory->first[at] == second[at]) {
            at++;
        }
        out->status = VF_STATUS_FAIL;
        snprintf(out->reason, sizeof out->reason,
                 "%s: the second run (other padding, guards and shared memory) differs from byte "
                 "%zu on: 0x%02x, first run 0x%02x",
                 memory->buffer->binding, at, second[at], memory->first[at]);
        return;
    }
}

/* Words of an output that still hold the poison: never written, whatever the values are. */
static uint64_t poisoned_words(const struct binding_memory *memory) {
    const uint64_t word_count = memory->span.payload_bytes / 4;
    uint64_t poisoned = 0;

    for (uint64_t i = 0; i < word_count; i++) {
        uint32_t word;
        memcpy(&word, memory->first + 4 * i, sizeof word);
        poisoned += word == VF_GUARD_PATTERN_FIRST;
    }
    return poisoned;
}

/* What to know about a passed case. */
static void remark(const struct run *run, uint64_t element_count, struct vf_outcome *out) {
    char text[VF_REASON_BYTES] = "";
    size_t used = 0;

    if (element_count == 0) {
        used += (size_t)snprintf(text, sizeof text, "empty problem: nothing written");
    }
    if (out->metrics.flushed_count) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%" PRIu64 " subnormal results came back as 0",
                                 out->metrics.flushed_count);
    }
    if (out->metrics.near_count) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s%" PRIu64 " of %" PRIu64 " elements differ as far as allowed",
                                 used ? "; " : "", out->metrics.near_count, element_count);
    }
    if (run->kase->group_limit) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%sgroup counts limited to %" PRIu32,
                             used ? "; " : "", run->kase->group_limit);
    }
    if (run->kase->window_count) {
        snprintf(text + used, sizeof text - used, "%sin at least %" PRIu32 " row windows",
                 used ? "; " : "", run->kase->window_count);
    }
    outcome_set(out, VF_STATUS_PASS, "", text);
}

static void compare_outputs(struct run *run, const struct mf_tolerance *gate,
                            struct vf_outcome *out) {
    uint64_t element_count = 0;

    out->metrics = vf_metrics_empty();
    out->status = VF_STATUS_PASS;
    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        const struct binding_memory *memory = &run->memory[i];
        const struct vf_buffer *buffer = memory->buffer;
        struct vf_metrics metrics;
        char reason[VF_REASON_BYTES - 160];

        if (!buffer->expected || buffer->element_count == 0) {
            continue;
        }
        element_count += buffer->element_count;
        const struct mf_tolerance own = vf_output_measure(buffer, memory->dtype, memory->first,
                                                          gate, run->device->info, &metrics);
        vf_metrics_merge(&out->metrics, &metrics);
        out->measured = true;
        if (vf_metrics_pass(&metrics, &own, reason, sizeof reason) ||
            out->status != VF_STATUS_PASS) {
            continue;
        }
        const uint64_t poisoned = poisoned_words(memory);
        if (poisoned) {
            out->status = VF_STATUS_FAIL;
            snprintf(out->reason, sizeof out->reason,
                     "%s: %" PRIu64 " of %" PRIu64 " words were never written; %s", buffer->binding,
                     poisoned, memory->span.payload_bytes / 4, reason);
        } else {
            outcome_set(out, VF_STATUS_FAIL, buffer->binding, reason);
        }
    }
    if (out->status == VF_STATUS_PASS) {
        remark(run, element_count, out);
    }
}

/* Flips an exponent bit of the first element of each output. */
static void corrupt_outputs(struct run *run) {
    for (size_t i = 0; i < run->problem->buffer_count; i++) {
        struct binding_memory *memory = &run->memory[i];
        if (memory->buffer->expected && memory->buffer->element_count) {
            memory->first[mf_dtype_info(memory->dtype)->block_bytes - 1] ^= 0x20;
        }
    }
}

static bool runnable(struct run *run, const struct mf_artifact *artifact, struct vf_outcome *out) {
    struct kiln_error error = {0};

    if (vf_limits_check(&run->device->info->limits, artifact, &error) != KILN_OK ||
        kiln_requirements_check(run->device->info, artifact, &error) != KILN_OK) {
        outcome_set(out, VF_STATUS_SKIP, "", error.message);
        return false;
    }
    return true;
}

void vf_run_case(struct vf_device *device, struct kiln_bundle *bundle,
                 const struct mf_artifact *artifact, const struct vf_family *family,
                 const struct vf_case *kase, const struct vf_problem *problem,
                 const struct vf_run_params *params, struct vf_outcome *out) {
    const struct mf_tolerance gate = vf_family_gate(family, artifact);
    struct run run = {.device = device, .kase = kase, .problem = problem, .params = params};
    struct kiln_error error = {0};

    *out = (struct vf_outcome){.metrics = vf_metrics_empty()};
    if (!runnable(&run, artifact, out)) {
        return;
    }
    run.limits = run_limits(kase, problem, params, &device->info->limits);
    if (kiln_pipeline_get(device->device, bundle, artifact, &run.pipeline, &error) != KILN_OK) {
        outcome_fail(out, &error, "pipeline");
        return;
    }
    memory_layout(&run, artifact);
    if (skip_for_size(&run, out)) {
        goto done;
    }
    if (memory_create(&run, &error) != KILN_OK) {
        outcome_fail(out, &error, "memory");
        goto done;
    }
    for (int turn = 0; turn < 2; turn++) {
        const uint32_t pattern = turn ? VF_GUARD_PATTERN_SECOND : VF_GUARD_PATTERN_FIRST;
        if (run_once(&run, pattern, turn == 1, &error) != KILN_OK) {
            outcome_fail(out, &error, "run");
            goto done;
        }
        if (!guards_hold(&run, pattern, out)) {
            goto done;
        }
        if (turn == 0) {
            keep_outputs(&run);
        }
    }
    if (params->corrupt) {
        corrupt_outputs(&run);
    }
    compare_outputs(&run, &gate, out);
    if (out->status == VF_STATUS_PASS) {
        runs_agree(&run, out);
    }
done:
    memory_destroy(&run);
}
