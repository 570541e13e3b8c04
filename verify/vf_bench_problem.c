/* SPDX-License-Identifier: MIT */
#include "vf_bench_problem.h"

#include "vf_output.h"

#include <stdlib.h>
#include <string.h>

enum { BANK_COUNT_MAX = 64 };

/* ---- the full problem from the reduced one ---- */

/* The families whose y[t][nout] is a product of tokens and rows. */
static bool is_product(const struct vf_family *family) {
    static const char *const names[] = {"matvec", "matvec_block", "matmul", "mmq"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(family->reference, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static uint64_t reduced_dim(const struct vf_bench_problem *problem, const struct mf_dim *dim) {
    uint64_t period = UINT64_MAX;

    if (is_product(problem->family)) {
        period = strcmp(dim->name, "nout") == 0 ? VF_BENCH_ROW_PERIOD
                 : strcmp(dim->name, "t") == 0  ? VF_BENCH_TOKEN_PERIOD
                                                : UINT64_MAX;
    }
    return dim->value < period ? dim->value : period;
}

/* y[i][r] = reduced y[i mod tokens][r mod rows]. */
static double *expand_results(struct vf_bench_problem *problem, const double *from, uint64_t t,
                              uint64_t nout) {
    double *to = mf_arena_alloc(&problem->arena, (size_t)t + 1, (size_t)nout * sizeof *to);
    const uint64_t rows = nout < VF_BENCH_ROW_PERIOD ? nout : VF_BENCH_ROW_PERIOD;

    for (uint64_t i = 0; to && i < t; i++) {
        const double *source = from + i % VF_BENCH_TOKEN_PERIOD * rows;
        for (uint64_t r = 0; r < nout; r += rows) {
            const uint64_t count = nout - r < rows ? nout - r : rows;
            memcpy(to + i * nout + r, source, (size_t)count * sizeof *to);
        }
    }
    return to;
}

static enum kiln_result expand(struct vf_bench_problem *problem) {
    const bool has_tokens = vf_case_dim(&problem->kase, "t") != 0;
    const uint64_t t = has_tokens ? vf_case_dim(&problem->kase, "t") : 1;
    const uint64_t nout = vf_case_dim(&problem->kase, "nout");

    memcpy(problem->buffers, problem->reduced.buffers, sizeof problem->buffers);
    memcpy(problem->params, problem->reduced.params, sizeof problem->params);
    if (!is_product(problem->family)) {
        return KILN_OK;
    }
    for (size_t i = 0; i < problem->reduced.buffer_count; i++) {
        struct vf_buffer *buffer = &problem->buffers[i];
        if (buffer->expected) {
            buffer->expected = expand_results(problem, buffer->expected, t, nout);
            buffer->element_count = t * nout;
            if (!buffer->expected) {
                return KILN_ERR_MEMORY;
            }
        } else if (buffer->row_bytes) {
            buffer->size_bytes = nout * buffer->row_bytes;
        } else if (t > VF_BENCH_TOKEN_PERIOD) { /* x */
            buffer->size_bytes = buffer->size_bytes / VF_BENCH_TOKEN_PERIOD * t;
        }
    }
    for (size_t i = 0; i < problem->reduced.param_count; i++) {
        if (strcmp(problem->params[i].name, "y_stride") == 0) {
            problem->params[i] = kiln_param_u64("y_stride", nout);
        }
    }
    return KILN_OK;
}

/* The cell as a case of the family: same names in the family's order. */
static enum kiln_result make_case(struct vf_bench_problem *problem,
                                  const struct vf_bench_cell *cell, struct kiln_error *error) {
    struct vf_case_list list = {.arena = &problem->arena};
    const enum kiln_result result = problem->family->list_cases(problem->dtypes, &list);

    if (result != KILN_OK || list.count == 0) {
        return kiln_error_set(error, result == KILN_OK ? KILN_ERR_NOT_FOUND : result,
                              "%s has no cases", problem->family->reference);
    }
    problem->kase = list.cases[0];
    problem->kase.group_limit = 0;
    problem->kase.window_count = 0;
    for (size_t i = 0; i < problem->kase.dim_count; i++) {
        struct mf_dim *dim = &problem->kase.dims[i];
        size_t at = 0;
        while (at < cell->dim_count && strcmp(cell->dims[at].name, dim->name) != 0) {
            at++;
        }
        if (at == cell->dim_count || cell->dim_count != problem->kase.dim_count) {
            return kiln_error_set(error, KILN_ERR_NOT_FOUND,
                                  "line %u: %s has %zu dimensions, one of them %s", cell->line,
                                  problem->family->reference, problem->kase.dim_count, dim->name);
        }
        dim->value = cell->dims[at].value;
    }
    return KILN_OK;
}

static void count_work(struct vf_bench_problem *problem) {
    const struct vf_case *kase = &problem->kase;
    const double nout = (double)vf_case_dim(kase, "nout");
    const double k = (double)vf_case_dim(kase, "k");
    const double pairs = (double)vf_case_dim(kase, "topk") * (double)vf_case_dim(kase, "t");
    const double experts = (double)vf_case_dim(kase, "experts");
    const double tokens = experts > 0 ? pairs : (double)vf_case_dim(kase, "t");

    for (size_t i = 0; i < problem->reduced.buffer_count; i++) {
        const struct vf_buffer *buffer = &problem->buffers[i];
        double bytes = buffer->expected
                           ? (double)vf_output_bytes(buffer->dtype, buffer->element_count)
                           : (double)buffer->size_bytes;
        if (i == problem->weights && pairs > 0 && pairs < experts) {
            bytes *= pairs / experts;
        }
        problem->bytes += bytes;
    }
    problem->flops = 2 * nout * k * (tokens > 0 ? tokens : 1);
    if (strcmp(problem->family->reference, "flash_attn") == 0) {
        problem->flops = 4 * (double)vf_case_dim(kase, "bh") * (double)vf_case_dim(kase, "lq") *
                         (double)vf_case_dim(kase, "lk") * (double)vf_case_dim(kase, "d") /
                         (vf_case_dim(kase, "causal") ? 2 : 1);
    }
}

/* ---- the device's side ---- */

/* The buffer's bytes, the reduced problem's over and over. */
static enum kiln_result upload(struct vf_bench_problem *problem, size_t index,
                               struct kiln_error *error) {
    const struct vf_buffer *full = &problem->buffers[index];
    const uint64_t period = problem->reduced.buffers[index].size_bytes;
    enum kiln_result result = KILN_OK;

    for (uint64_t at = 0; at < full->size_bytes && result == KILN_OK; at += period) {
        const uint64_t left = full->size_bytes - at;
        result = kiln_buffer_upload(problem->device[index], at, full->bytes,
                                    left < period ? left : period, error);
    }
    return result;
}

static uint64_t device_bytes(const struct vf_buffer *buffer) {
    /* The output's type may differ between artifacts; none is wider than f32. */
    const uint64_t bytes = buffer->expected && buffer->element_count * 4 > buffer->size_bytes
                               ? buffer->element_count * 4
                               : buffer->size_bytes;

    return bytes ? bytes : 16;
}

static enum kiln_result make_banks(struct vf_bench_problem *problem, struct vf_device *device,
                                   uint32_t timeout_ms, struct kiln_error *error) {
    const size_t at = problem->weights;
    const uint64_t bytes = at < VF_BUFFER_MAX ? device_bytes(&problem->buffers[at]) : 0;
    struct kiln_batch *batch = NULL;
    size_t wanted = 1;

    if (bytes && device->info->type != VK_PHYSICAL_DEVICE_TYPE_CPU) {
        wanted = (size_t)((VF_BENCH_BANK_BYTES + bytes - 1) / bytes);
        wanted = wanted > BANK_COUNT_MAX ? BANK_COUNT_MAX : wanted;
    }
    problem->banks = mf_arena_alloc(&problem->arena, wanted, sizeof(struct kiln_buffer *));
    if (!problem->banks) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    problem->bank_count = 1;
    problem->banks[0] = at < VF_BUFFER_MAX ? problem->device[at] : NULL;
    enum kiln_result result = KILN_OK;
    if (wanted > 1) {
        result = kiln_batch_create(device->device, 0, &batch, error);
    }
    for (size_t i = 1; i < wanted && result == KILN_OK; i++) {
        result = kiln_buffer_create(device->device, bytes, &problem->banks[i], error);
        if (result == KILN_OK) {
            problem->bank_count++;
            result = kiln_batch_copy(batch, problem->banks[0], 0, problem->banks[i], 0,
                                     kiln_buffer_size(problem->banks[0]), error);
        }
    }
    if (wanted > 1 && result == KILN_OK) {
        result = kiln_batch_run(batch, timeout_ms, error);
    }
    kiln_batch_destroy(&batch);
    return result;
}

static bool find_dtypes(const struct vf_family *family, const struct mf_artifact *artifact,
                        enum mf_dtype *dtypes) {
    for (size_t i = 0; i < family->shared_dtype_count; i++) {
        const struct mf_dtype_info *info =
            i < artifact->dtype_count ? mf_dtype_find(artifact->dtypes[i]) : NULL;
        if (!info) {
            return false;
        }
        dtypes[i] = info->dtype;
    }
    return true;
}

/* Cases and data of the reduced problem. */
static enum kiln_result prepare(struct vf_bench_problem *problem, uint64_t seed,
                                struct kiln_error *error) {
    struct vf_case reduced = problem->kase;

    for (size_t i = 0; i < reduced.dim_count; i++) {
        reduced.dims[i].value = reduced_dim(problem, &reduced.dims[i]);
    }
    enum kiln_result result =
        problem->family->prepare(&reduced, problem->dtypes, seed, &problem->reduced, error);
    if (result == KILN_OK) {
        result = expand(problem);
    }
    return result;
}

enum kiln_result vf_bench_problem_make(struct vf_device *device, const struct vf_bench_cell *cell,
                                       const struct mf_artifact *artifact, uint64_t seed,
                                       struct vf_bench_problem *out, struct kiln_error *error) {
    const uint32_t timeout_ms = 60000;

    *out = (struct vf_bench_problem){.family = vf_family_find(artifact->reference),
                                     .weights = VF_BUFFER_MAX};
    if (!out->family || !find_dtypes(out->family, artifact, out->dtypes)) {
        return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: unknown reference or dtype",
                              artifact->name);
    }
    enum kiln_result result = make_case(out, cell, error);
    if (result == KILN_OK) {
        result = prepare(out, seed, error);
    }
    for (size_t i = 0; i < out->reduced.buffer_count && result == KILN_OK; i++) {
        if (out->buffers[i].row_bytes) {
            out->weights = i;
        }
        result = kiln_buffer_create(device->device, device_bytes(&out->buffers[i]), &out->device[i],
                                    error);
        if (result == KILN_OK && !out->buffers[i].expected) {
            result = upload(out, i, error);
        }
    }
    if (result == KILN_OK) {
        result = make_banks(out, device, timeout_ms, error);
    }
    if (result == KILN_OK) {
        count_work(out);
    }
    return result;
}

void vf_bench_problem_release(struct vf_bench_problem *problem) {
    for (size_t i = 1; i < problem->bank_count; i++) {
        kiln_buffer_destroy(&problem->banks[i]);
    }
    for (size_t i = 0; i < VF_BUFFER_MAX; i++) {
        kiln_buffer_destroy(&problem->device[i]);
    }
    vf_problem_release(&problem->reduced);
    mf_arena_release(&problem->arena);
    *problem = (struct vf_bench_problem){0};
}

bool vf_bench_problem_serves(const struct vf_bench_problem *problem,
                             const struct mf_artifact *artifact) {
    const struct vf_family *family = vf_family_find(artifact->reference);
    enum mf_dtype dtypes[VF_BUFFER_MAX] = {0};

    return problem->family && family && family->prepare == problem->family->prepare &&
           find_dtypes(family, artifact, dtypes) &&
           memcmp(dtypes, problem->dtypes, family->shared_dtype_count * sizeof *dtypes) == 0;
}

enum kiln_result vf_bench_problem_poison(struct vf_bench_problem *problem,
                                         struct kiln_error *error) {
    enum kiln_result result = KILN_OK;

    for (size_t i = 0; i < problem->reduced.buffer_count && result == KILN_OK; i++) {
        const struct vf_buffer *buffer = &problem->buffers[i];
        if (buffer->expected && buffer->bytes) {
            result = upload(problem, i, error);
        } else if (buffer->expected) {
            result = kiln_buffer_fill(problem->device[i], 0, kiln_buffer_size(problem->device[i]),
                                      0xFFC12345u, error);
        }
    }
    return result;
}

enum kiln_result vf_bench_problem_append(struct vf_bench_problem *problem, struct kiln_batch *batch,
                                         struct kiln_pipeline *pipeline, size_t bank,
                                         struct kiln_error *error) {
    const struct kiln_limits *limits = &kiln_device_info(kiln_pipeline_device(pipeline))->limits;
    const struct mf_artifact *artifact = kiln_pipeline_artifact(pipeline);
    struct kiln_range ranges[VF_BUFFER_MAX];
    struct kiln_dispatch dispatch = {
        .pipeline = pipeline,
        .ranges = ranges,
        .range_count = problem->reduced.buffer_count,
        .dims = problem->kase.dims,
        .dim_count = problem->kase.dim_count - problem->kase.data_dim_count,
        .params = problem->params,
        .param_count = problem->reduced.param_count,
    };

    for (size_t i = 0; i < problem->reduced.buffer_count; i++) {
        const struct vf_buffer *buffer = &problem->buffers[i];
        const uint64_t bytes = buffer->expected ? vf_output_bytes(vf_output_dtype(buffer, artifact),
                                                                  buffer->element_count)
                                                : buffer->size_bytes;
        const struct kiln_buffer *memory =
            i == problem->weights ? problem->banks[bank] : problem->device[i];
        ranges[i] = kiln_buffer_range(buffer->binding, memory, 0, bytes);
        if (i == problem->weights && bytes > limits->max_storage_buffer_range_bytes) {
            dispatch.windowing = (struct kiln_windowing){
                .binding = buffer->binding, .dim = buffer->row_dim, .row_bytes = buffer->row_bytes};
        }
    }
    return kiln_batch_dispatch(batch, &dispatch, error);
}

enum kiln_result vf_bench_problem_check(struct vf_bench_problem *problem, struct vf_device *device,
                                        const struct mf_artifact *artifact,
                                        struct vf_metrics *metrics, char *reason, size_t size,
                                        struct kiln_error *error) {
    const struct mf_tolerance gate = vf_family_gate(problem->family, artifact);
    enum kiln_result result = KILN_OK;

    *metrics = vf_metrics_empty();
    for (size_t i = 0; i < problem->reduced.buffer_count && result == KILN_OK; i++) {
        const struct vf_buffer *buffer = &problem->buffers[i];
        if (!buffer->expected) {
            continue;
        }
        const enum mf_dtype dtype = vf_output_dtype(buffer, artifact);
        const uint64_t bytes = vf_output_bytes(dtype, buffer->element_count);
        void *got = malloc((size_t)bytes + 1);
        result =
            got ? kiln_buffer_download(problem->device[i], 0, got, bytes, error)
                : kiln_error_set(error, KILN_ERR_MEMORY, "no host memory for %s", buffer->binding);
        if (result == KILN_OK) {
            struct vf_metrics one;
            const struct mf_tolerance own =
                vf_output_measure(buffer, dtype, got, &gate, device->info, &one);
            vf_metrics_merge(metrics, &one);
            result = vf_metrics_pass(&one, &own, reason, size) ? KILN_OK : KILN_ERR_MISMATCH;
        }
        free(got);
    }
    return result;
}
