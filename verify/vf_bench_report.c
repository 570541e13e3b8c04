/* SPDX-License-Identifier: MIT */
#include "vf_bench_report.h"

#include "mf_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PRODUCT_FLOPS_PER_BYTE 64

struct vf_bench_rate vf_bench_rate(const struct vf_bench_table *table,
                                   const struct vf_bench_result *result,
                                   const struct vf_bench_variant *variant) {
    struct vf_bench_rate rate = {0};

    if (!variant || variant->status != VF_BENCH_TIMED) {
        return rate;
    }
    rate.us = vf_bench_median(vf_bench_counting(result->cell, variant));
    if (rate.us <= 0) {
        return rate;
    }
    rate.gbps = result->bytes / rate.us / 1e3;
    rate.tflops = result->flops / rate.us / 1e6;
    rate.ratio = result->cell->peer_us / rate.us;
    if (result->flops > PRODUCT_FLOPS_PER_BYTE * result->bytes) {
        rate.share = table->tflops > 0 ? rate.tflops / table->tflops : 0;
    } else if (result->flops > 0) {
        rate.share = table->read_gbps > 0 ? rate.gbps / table->read_gbps : 0;
    } else {
        rate.share = table->copy_gbps > 0 ? rate.gbps / table->copy_gbps : 0;
    }
    return rate;
}

static void append_dims(const struct vf_bench_cell *cell, struct mf_buffer *out) {
    char text[128];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < cell->dim_count && used < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%" PRIu64, i ? " " : "",
                                 cell->dims[i].name, cell->dims[i].value);
    }
    mf_buffer_append_format(out, "%-10s %-8s %-34s", cell->ops[0], cell->dtype, text);
}

static void append_times(const struct vf_bench_times *times, struct mf_buffer *out) {
    if (times->count) {
        mf_buffer_append_format(out, " %8.2f (%.2f-%.2f)", vf_bench_median(times), times->us[0],
                                times->us[times->count - 1]);
    }
}

static void append_variant(const struct vf_bench_table *table, const struct vf_bench_result *result,
                           const struct vf_bench_variant *variant, struct mf_buffer *out) {
    static const char *const words[] = {"timed", "skipped", "FAILED"};

    mf_buffer_append_format(out, "    %-60s %s", variant->artifact->name, words[variant->status]);
    if (variant->status != VF_BENCH_TIMED) {
        mf_buffer_append_format(out, ": %.200s\n", variant->reason);
        return;
    }
    const struct vf_bench_rate rate = vf_bench_rate(table, result, variant);
    append_times(&variant->warm, out);
    append_times(&variant->cold, out);
    mf_buffer_append_format(out, " %.0f GB/s %.1f TFLOP/s %.0f %%\n", rate.gbps, rate.tflops,
                            100 * rate.share);
}

enum kiln_result vf_bench_report_text(const struct vf_bench_table *table,
                                      const struct vf_bench_result *result, bool variants,
                                      struct mf_buffer *out) {
    const struct vf_bench_variant *best = vf_bench_best(result);

    append_dims(result->cell, out);
    if (!best) {
        mf_buffer_append_format(out, " nothing to time: %zu candidates%s%.200s\n",
                                result->variant_count, result->variant_count ? ", the first: " : "",
                                result->variant_count ? result->variants[0].reason : "");
    } else {
        const struct vf_bench_rate rate = vf_bench_rate(table, result, best);
        append_times(vf_bench_counting(result->cell, best), out);
        mf_buffer_append_format(out, " us %7.0f GB/s %6.1f TFLOP/s %3.0f %%", rate.gbps,
                                rate.tflops, 100 * rate.share);
        if (rate.ratio > 0) {
            mf_buffer_append_format(out, " peer %.1f x%.2f", result->cell->peer_us, rate.ratio);
        }
        mf_buffer_append_format(out, "  %s\n", best->artifact->name);
    }
    for (size_t i = 0; i < result->variant_count; i++) {
        if (variants || result->variants[i].status == VF_BENCH_FAILED) {
            append_variant(table, result, &result->variants[i], out);
        }
    }
    return out->failed;
}

/* ---- JSON ---- */

static void put_times(struct mf_json_builder *builder, struct mf_json *object, const char *key,
                      const struct vf_bench_times *times) {
    struct mf_json *array = mf_json_put_array(builder, object, key);

    for (size_t i = 0; i < times->count; i++) {
        mf_json_put_real(builder, array, NULL, times->us[i]);
    }
}

static void put_variant(struct mf_json_builder *builder, struct mf_json *array,
                        const struct vf_bench_variant *variant) {
    static const char *const words[] = {"timed", "skip", "fail"};
    struct mf_json *object = mf_json_put_object(builder, array, NULL);

    mf_json_put_string(builder, object, "artifact", variant->artifact->name);
    mf_json_put_string(builder, object, "status", words[variant->status]);
    mf_json_put_string(builder, object, "reason", variant->reason);
    if (variant->status == VF_BENCH_TIMED) {
        mf_json_put_real(builder, object, "max_abs", variant->metrics.max_abs);
        mf_json_put_real(builder, object, "rel", variant->metrics.rel);
        mf_json_put_real(builder, object, "scale", variant->metrics.scale);
        put_times(builder, object, "warm_us", &variant->warm);
        put_times(builder, object, "cold_us", &variant->cold);
    }
}

static void put_number(struct mf_json_builder *builder, struct mf_json *object, const char *key,
                       double value) {
    if (value > 0) {
        mf_json_put_real(builder, object, key, value);
    } else {
        mf_json_put_null(builder, object, key);
    }
}

static void put_cell(struct mf_json_builder *builder, struct mf_json *cells,
                     const struct vf_bench_table *table, const struct vf_bench_result *result) {
    const struct vf_bench_cell *cell = result->cell;
    const struct vf_bench_variant *best = vf_bench_best(result);
    const struct vf_bench_rate rate = vf_bench_rate(table, result, best);
    struct mf_json *object = mf_json_put_object(builder, cells, NULL);
    bool failed = false;

    mf_json_put_string(builder, object, "op", cell->ops[0]);
    struct mf_json *dtypes = mf_json_put_array(builder, object, "dtypes");
    if (best) {
        for (size_t i = 0; i < best->artifact->dtype_count; i++) {
            mf_json_put_string(builder, dtypes, NULL, best->artifact->dtypes[i]);
        }
    } else {
        mf_json_put_string(builder, dtypes, NULL, cell->dtype);
    }
    struct mf_json *dims = mf_json_put_object(builder, object, "dims");
    for (size_t i = 0; i < cell->dim_count; i++) {
        mf_json_put_u64(builder, dims, cell->dims[i].name, cell->dims[i].value);
    }
    mf_json_put_string(builder, object, "weights", cell->cold ? "cold" : "warm");
    put_number(builder, object, "ours_us", rate.us);
    put_number(builder, object, "peer_us", cell->peer_us);
    put_number(builder, object, "gbps", rate.gbps);
    put_number(builder, object, "tflops", rate.tflops);
    put_number(builder, object, "share", rate.share);
    if (best) {
        mf_json_put_string(builder, object, "artifact", best->artifact->name);
    } else {
        mf_json_put_null(builder, object, "artifact");
    }
    struct mf_json *variants = mf_json_put_array(builder, object, "variants");
    for (size_t i = 0; i < result->variant_count; i++) {
        failed = failed || result->variants[i].status == VF_BENCH_FAILED;
        put_variant(builder, variants, &result->variants[i]);
    }
    mf_json_put_string(builder, object, "status", failed ? "fail" : best ? "pass" : "skip");
}

enum kiln_result vf_bench_report_json(const struct vf_bench_report *report, struct mf_buffer *out) {
    struct mf_json_builder builder = {KILN_OK};
    struct mf_json *root = mf_json_new_object(&builder);

    mf_json_put_u64(&builder, root, "format", 1);
    mf_json_put_string(&builder, root, "device", report->info->name);
    mf_json_put_string(&builder, root, "driver", report->info->driver_name);
    mf_json_put_string(&builder, root, "driver_info", report->info->driver_info);
    mf_json_put_string(&builder, root, "bundle", report->bundle_digest);
    mf_json_put_u64(&builder, root, "rounds", report->rounds);
    mf_json_put_u64(&builder, root, "seed", report->seed);
    put_number(&builder, root, "copy_gbps", report->copy_gbps);
    struct mf_json *ceilings = mf_json_put_object(&builder, root, "ceilings");
    put_number(&builder, ceilings, "read_gbps", report->table->read_gbps);
    put_number(&builder, ceilings, "copy_gbps", report->table->copy_gbps);
    put_number(&builder, ceilings, "tflops", report->table->tflops);
    struct mf_json *cells = mf_json_put_array(&builder, root, "cells");
    for (size_t i = 0; i < report->result_count; i++) {
        put_cell(&builder, cells, report->table, &report->results[i]);
    }
    enum kiln_result result = builder.failed;
    if (result == KILN_OK) {
        result = mf_json_dump(root, true, out);
    }
    mf_json_release(&root);
    return result;
}
