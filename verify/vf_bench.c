/* SPDX-License-Identifier: MIT */
#include "vf_bench.h"

#include "vf_bench_problem.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A row of dispatches lasts about so long, and has at most so many. */
/* How long a device that has idled is kept busy before it is timed. */
enum { SETTLE_MS = 500, SETTLE_MS_MAX = 4000 };

enum { ROW_US = 2000, ROW_COUNT_MAX = 200, FIRST_COUNT = 4, COPY_BYTES = 1 << 30, COPY_COUNT = 8 };

struct runner {
    struct vf_device *device;
    struct kiln_bundle *bundle;
    const struct vf_bench_params *params;
    struct vf_bench_problem *problem;
    struct kiln_batch *batch;
};

/* One candidate of the problem at hand while it is timed. */
struct racer {
    size_t variant; /* index in the result */
    struct kiln_pipeline *pipeline;
    size_t dispatch_count;
};

/* ---- candidates ---- */

static bool is_candidate(const struct vf_bench_cell *cell, const struct mf_artifact *artifact,
                         const struct vf_bench_params *params) {
    bool op = false;
    bool chosen = params->filter_count == 0;

    for (size_t i = 0; i < cell->op_count; i++) {
        op = op || strcmp(artifact->family, cell->ops[i]) == 0;
    }
    for (size_t i = 0; i < params->filter_count; i++) {
        chosen = chosen || fnmatch(params->filters[i], artifact->name, 0) == 0;
    }
    return op && chosen && artifact->dtype_count && strcmp(artifact->dtypes[0], cell->dtype) == 0;
}

static enum kiln_result list_variants(const struct kiln_bundle *bundle,
                                      const struct vf_bench_params *params,
                                      struct vf_bench_result *out) {
    const size_t count = kiln_bundle_artifact_count(bundle);

    out->variants = mf_arena_alloc(&out->arena, count, sizeof *out->variants);
    if (!out->variants) {
        return KILN_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const struct mf_artifact *artifact = kiln_bundle_artifact(bundle, i);
        if (is_candidate(out->cell, artifact, params)) {
            out->variants[out->variant_count++] = (struct vf_bench_variant){
                .artifact = artifact, .status = VF_BENCH_SKIPPED, .metrics = vf_metrics_empty()};
        }
    }
    return KILN_OK;
}

static void refuse(struct vf_bench_variant *variant, enum vf_bench_status status,
                   const char *reason) {
    variant->status = status;
    snprintf(variant->reason, sizeof variant->reason, "%s", reason);
}

/* ---- timing ---- */

/* Microseconds a dispatch of `count` in a row; `first_bank` moves on so that cold stays cold. */
static enum kiln_result time_row(struct runner *runner, const struct racer *racer, size_t count,
                                 bool cold, double *us, struct kiln_error *error) {
    enum kiln_result result = kiln_batch_span_begin(runner->batch, error);

    *us = 0;
    for (size_t i = 0; i < count && result == KILN_OK; i++) {
        const size_t bank = cold ? i % runner->problem->bank_count : 0;
        result =
            vf_bench_problem_append(runner->problem, runner->batch, racer->pipeline, bank, error);
    }
    if (result == KILN_OK) {
        result = kiln_batch_span_end(runner->batch, error);
    }
    if (result == KILN_OK) {
        result = kiln_batch_run(runner->batch, runner->params->timeout_ms, error);
    }
    double span_ns = 0;
    if (result == KILN_OK) {
        result = kiln_batch_time(runner->batch, 0, &span_ns, error);
    }
    *us = span_ns / 1000 / (double)count;
    return result;
}

static bool is_lost(enum kiln_result result, const struct kiln_error *error) {
    return result == KILN_ERR_DEVICE_LOST ||
           (result == KILN_ERR_VULKAN && strstr(error->message, "VK_TIMEOUT"));
}

/* Runs the candidate once and compares. KILN_OK: it may be timed. Else it is refused. */
static enum kiln_result admit(struct runner *runner, struct vf_bench_variant *variant,
                              struct racer *racer, struct kiln_error *error) {
    const struct mf_artifact *artifact = variant->artifact;
    enum kiln_result result = vf_limits_check(&runner->device->info->limits, artifact, error);

    if (result == KILN_OK) {
        result = kiln_requirements_check(runner->device->info, artifact, error);
    }
    if (result != KILN_OK) {
        refuse(variant, VF_BENCH_SKIPPED, error->message);
        return result;
    }
    result = kiln_pipeline_get(runner->device->device, runner->bundle, artifact, &racer->pipeline,
                               error);
    if (result == KILN_OK) {
        result = vf_bench_problem_poison(runner->problem, error);
    }
    double us = 0;
    if (result == KILN_OK) {
        result = time_row(runner, racer, 1, false, &us, error);
    }
    char reason[VF_REASON_BYTES] = "";
    if (result == KILN_OK) {
        result = vf_bench_problem_check(runner->problem, runner->device, artifact,
                                        &variant->metrics, reason, sizeof reason, error);
    }
    if (result == KILN_OK) {
        result = time_row(runner, racer, us > ROW_US ? 1 : FIRST_COUNT, true, &us, error);
    }
    if (result != KILN_OK) {
        refuse(variant, result == KILN_ERR_UNSUPPORTED ? VF_BENCH_SKIPPED : VF_BENCH_FAILED,
               result == KILN_ERR_MISMATCH ? reason : error->message);
        return result;
    }
    const double wanted = us > 0 ? ROW_US / us : ROW_COUNT_MAX;
    racer->dispatch_count = wanted < 1               ? 1
                            : wanted > ROW_COUNT_MAX ? ROW_COUNT_MAX
                                                     : (size_t)wanted;
    variant->status = VF_BENCH_TIMED;
    return KILN_OK;
}

static int compare_us(const void *a, const void *b) {
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

static double now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/*
 * Keeps the device busy until it is at its working clocks: a GPU lowers them when it idles, as it
 * does while a problem is prepared, and takes a while to raise them. Ends when no time has been the
 * best by more than 1 % for SETTLE_MS.
 */
static enum kiln_result settle(struct runner *runner, const struct racer *racer,
                               struct kiln_error *error) {
    const double began = now_ms();
    double improved = began;
    const size_t wanted = 4 * racer->dispatch_count;
    const size_t count = wanted < ROW_COUNT_MAX ? wanted : ROW_COUNT_MAX;
    double best_us = 0;
    enum kiln_result result = KILN_OK;

    if (runner->device->info->type == VK_PHYSICAL_DEVICE_TYPE_CPU) {
        return KILN_OK;
    }
    while (result == KILN_OK && now_ms() - improved < SETTLE_MS &&
           now_ms() - began < SETTLE_MS_MAX) {
        double us = 0;
        result = time_row(runner, racer, count, false, &us, error);
        if (best_us == 0 || us < 0.99 * best_us) {
            best_us = us;
            improved = now_ms();
        }
    }
    return result;
}

/* All rounds of all racers, in turns. */
static enum kiln_result race(struct runner *runner, struct vf_bench_result *out,
                             const struct racer *racers, size_t racer_count,
                             struct kiln_error *error) {
    enum kiln_result result = KILN_OK;

    for (size_t round = 0; round < runner->params->rounds; round++) {
        for (size_t i = 0; i < 2 * racer_count && result == KILN_OK; i++) {
            const bool cold = i % 2 != 0;
            struct vf_bench_variant *variant = &out->variants[racers[i / 2].variant];
            struct vf_bench_times *times = cold ? &variant->cold : &variant->warm;
            result = time_row(runner, &racers[i / 2], racers[i / 2].dispatch_count, cold,
                              &times->us[times->count], error);
            times->count += result == KILN_OK;
        }
    }
    for (size_t i = 0; i < racer_count; i++) {
        struct vf_bench_variant *variant = &out->variants[racers[i].variant];
        qsort(variant->warm.us, variant->warm.count, sizeof(double), compare_us);
        qsort(variant->cold.us, variant->cold.count, sizeof(double), compare_us);
    }
    return result;
}

/* All variants from `first` on that share its data; `taken` marks those that are done. */
static enum kiln_result run_job(struct runner *runner, struct vf_bench_result *out, size_t first,
                                bool *taken, struct kiln_error *error) {
    struct racer *racers = mf_arena_alloc(&out->arena, out->variant_count, sizeof *racers);
    size_t racer_count = 0;
    enum kiln_result result =
        racers ? vf_bench_problem_make(runner->device, out->cell, out->variants[first].artifact,
                                       runner->params->seed, runner->problem, error)
               : KILN_ERR_MEMORY;

    if (result == KILN_ERR_NOT_FOUND || result == KILN_ERR_ARGUMENT || result == KILN_ERR_LIMIT) {
        refuse(&out->variants[first], VF_BENCH_SKIPPED, error->message);
        taken[first] = true;
        return KILN_OK;
    }
    out->bytes = runner->problem->bytes > out->bytes ? runner->problem->bytes : out->bytes;
    out->flops = runner->problem->flops;
    for (size_t i = first; i < out->variant_count && result == KILN_OK; i++) {
        struct vf_bench_variant *variant = &out->variants[i];
        if (taken[i] || !vf_bench_problem_serves(runner->problem, variant->artifact)) {
            continue;
        }
        taken[i] = true;
        racers[racer_count].variant = i;
        struct kiln_error why = {0};
        const enum kiln_result admitted = admit(runner, variant, &racers[racer_count], &why);
        if (is_lost(admitted, &why)) {
            *error = why;
            result = admitted;
        }
        racer_count += admitted == KILN_OK;
    }
    if (result == KILN_OK && racer_count) {
        result = settle(runner, &racers[0], error);
    }
    return result == KILN_OK ? race(runner, out, racers, racer_count, error) : result;
}

enum kiln_result vf_bench_cell_run(struct vf_device *device, struct kiln_bundle *bundle,
                                   const struct vf_bench_cell *cell,
                                   const struct vf_bench_params *params,
                                   struct vf_bench_result *out, struct kiln_error *error) {
    struct vf_bench_problem problem = {0};
    struct runner runner = {
        .device = device, .bundle = bundle, .params = params, .problem = &problem};

    *out = (struct vf_bench_result){.cell = cell};
    enum kiln_result result = list_variants(bundle, params, out);
    bool *taken = mf_arena_alloc(&out->arena, out->variant_count + 1, sizeof *taken);
    if (result == KILN_OK && !taken) {
        result = KILN_ERR_MEMORY;
    }
    if (result == KILN_OK) {
        result = kiln_batch_create(device->device, 1, &runner.batch, error);
    }
    for (size_t i = 0; i < out->variant_count && result == KILN_OK; i++) {
        if (!taken[i]) {
            result = run_job(&runner, out, i, taken, error);
            vf_bench_problem_release(&problem);
        }
    }
    kiln_batch_destroy(&runner.batch);
    return result;
}

void vf_bench_result_release(struct vf_bench_result *result) {
    mf_arena_release(&result->arena);
    *result = (struct vf_bench_result){0};
}

/* ---- reading results ---- */

double vf_bench_median(const struct vf_bench_times *times) {
    const size_t half = times->count / 2;

    if (times->count == 0) {
        return 0;
    }
    return times->count % 2 ? times->us[half] : (times->us[half - 1] + times->us[half]) / 2;
}

const struct vf_bench_times *vf_bench_counting(const struct vf_bench_cell *cell,
                                               const struct vf_bench_variant *variant) {
    return cell->cold ? &variant->cold : &variant->warm;
}

const struct vf_bench_variant *vf_bench_best(const struct vf_bench_result *result) {
    const struct vf_bench_variant *best = NULL;

    for (size_t i = 0; i < result->variant_count; i++) {
        const struct vf_bench_variant *variant = &result->variants[i];
        if (variant->status == VF_BENCH_TIMED &&
            (!best || vf_bench_median(vf_bench_counting(result->cell, variant)) <
                          vf_bench_median(vf_bench_counting(result->cell, best)))) {
            best = variant;
        }
    }
    return best;
}

enum kiln_result vf_bench_copy_rate(struct vf_device *device, uint32_t timeout_ms, double *gbps,
                                    struct kiln_error *error) {
    const uint64_t bytes =
        device->info->type == VK_PHYSICAL_DEVICE_TYPE_CPU ? COPY_BYTES / 16 : COPY_BYTES;
    struct kiln_buffer *buffers[2] = {NULL, NULL};
    struct kiln_batch *batch = NULL;
    double best_ns = 0;

    *gbps = 0;
    enum kiln_result result = kiln_buffer_create(device->device, bytes, &buffers[0], error);
    if (result == KILN_OK) {
        result = kiln_buffer_create(device->device, bytes, &buffers[1], error);
    }
    if (result == KILN_OK) {
        result = kiln_batch_create(device->device, 1, &batch, error);
    }
    for (int i = 0; i < COPY_COUNT && result == KILN_OK; i++) {
        double time_ns = 0;
        result = kiln_batch_span_begin(batch, error);
        if (result == KILN_OK) {
            result = kiln_batch_copy(batch, buffers[i % 2], 0, buffers[1 - i % 2], 0, bytes, error);
        }
        if (result == KILN_OK) {
            result = kiln_batch_span_end(batch, error);
        }
        if (result == KILN_OK) {
            result = kiln_batch_run(batch, timeout_ms, error);
        }
        if (result == KILN_OK) {
            result = kiln_batch_time(batch, 0, &time_ns, error);
        }
        best_ns = best_ns == 0 || time_ns < best_ns ? time_ns : best_ns;
    }
    if (result == KILN_OK && best_ns > 0) {
        *gbps = 2 * (double)bytes / best_ns;
    }
    kiln_batch_destroy(&batch);
    kiln_buffer_destroy(&buffers[0]);
    kiln_buffer_destroy(&buffers[1]);
    return result;
}
