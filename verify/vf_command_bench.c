/* SPDX-License-Identifier: MIT */
#include "vf_command.h"

#include "vf_bench_report.h"

#include "vf_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "all", the default elsewhere, is the best device here. */
static const char *device_name(const struct vf_options *options) {
    return strcmp(options->device, "all") == 0 ? NULL : options->device;
}

static enum kiln_result open_device(const struct vf_options *options,
                                    struct kiln_instance **instance, struct vf_device *device,
                                    struct kiln_error *error) {
    const struct kiln_instance_params params = {.allow_unlisted_tuples =
                                                    options->allow_unlisted_tuples};
    size_t index = 0;
    enum kiln_result result = kiln_instance_create(&params, instance, error);

    if (result == KILN_OK) {
        result = kiln_instance_choose(*instance, device_name(options), KILN_CPU_LAST_RESORT, &index,
                                      error);
    }
    return result == KILN_OK
               ? vf_device_open(*instance, index, options->timeout_s * 1000, device, error)
               : result;
}

struct tally {
    size_t failed;  /* variants that were wrong */
    size_t untimed; /* cells */
};

/* After each cell, so that a run that is cut short leaves what it had. */
static bool write_json(const struct vf_options *options, const struct vf_bench_report *report) {
    struct mf_buffer text = {0};
    bool written = options->json == NULL;

    if (options->json) {
        written =
            vf_bench_report_json(report, &text) == KILN_OK && vf_output_write(options->json, &text);
    }
    mf_buffer_release(&text);
    return written;
}

static enum kiln_result run_cells(const struct vf_options *options,
                                  const struct vf_bench_table *table, struct vf_device *device,
                                  struct kiln_bundle *bundle, struct vf_bench_report *report,
                                  struct vf_bench_result *results, struct tally *tally,
                                  struct kiln_error *error) {
    const struct vf_bench_params params = {.seed = options->seed,
                                           .timeout_ms = options->timeout_s * 1000,
                                           .rounds = options->rounds,
                                           .filters = options->filters,
                                           .filter_count = options->filter_count};
    enum kiln_result result = KILN_OK;

    for (size_t i = 0; i < table->cell_count && result == KILN_OK; i++) {
        struct mf_buffer text = {0};
        result = vf_bench_cell_run(device, bundle, &table->cells[i], &params, &results[i], error);
        report->result_count = i + 1;
        for (size_t v = 0; v < results[i].variant_count; v++) {
            tally->failed += results[i].variants[v].status == VF_BENCH_FAILED;
        }
        tally->untimed += vf_bench_best(&results[i]) == NULL;
        if (result == KILN_OK) {
            result = vf_bench_report_text(table, &results[i], options->variants, &text);
        }
        if (result == KILN_OK) {
            fputs(text.data, stdout);
            fflush(stdout);
        }
        mf_buffer_release(&text);
        if (result == KILN_OK && !write_json(options, report)) {
            result = kiln_error_set(error, KILN_ERR_IO, "the report could not be written");
        }
    }
    return result;
}

static int bench(const struct vf_options *options, const struct vf_bench_table *table,
                 struct vf_device *device, struct kiln_bundle *bundle) {
    char digest[MF_HASH_TEXT_BYTES] = "";
    struct vf_bench_report report = {.table = table,
                                     .info = device->info,
                                     .bundle_digest = digest,
                                     .rounds = options->rounds,
                                     .seed = options->seed};
    struct vf_bench_result *results = calloc(table->cell_count, sizeof *results);
    struct kiln_error error = {0};
    struct tally tally = {0, 0};

    report.results = results;
    enum kiln_result result = results ? KILN_OK : KILN_ERR_MEMORY;
    if (result == KILN_OK) {
        result = vf_bundle_digest(kiln_bundle_manifest(bundle), digest);
    }
    if (result == KILN_OK) {
        result = vf_bench_copy_rate(device, options->timeout_s * 1000, &report.copy_gbps, &error);
        result = result == KILN_ERR_UNSUPPORTED ? KILN_OK : result;
    }
    printf("%s, %s %s; copy %.0f GB/s\n", device->info->name, device->info->driver_name,
           device->info->driver_info, report.copy_gbps);
    if (result == KILN_OK) {
        result = run_cells(options, table, device, bundle, &report, results, &tally, &error);
    }
    if (result != KILN_OK) {
        fprintf(stderr, "verify: %s\n",
                error.message[0] ? error.message : kiln_result_string(result));
    }
    printf("%zu cells, %zu without a time, %zu candidates failed\n", report.result_count,
           tally.untimed, tally.failed);
    for (size_t i = 0; results && i < table->cell_count; i++) {
        vf_bench_result_release(&results[i]);
    }
    free(results);
    return result == KILN_OK && tally.failed == 0 ? VF_EXIT_OK : VF_EXIT_FAILURES;
}

int vf_command_bench(const struct vf_options *options) {
    struct vf_bench_table table;
    struct kiln_bundle *bundle = NULL;
    struct kiln_instance *instance = NULL;
    struct vf_device device = {0};
    struct kiln_error error = {0};
    int status = VF_EXIT_USAGE;

    enum kiln_result result = vf_bench_table_read(options->operands[0], &table, &error);
    if (result == KILN_OK) {
        status = VF_EXIT_BUNDLE;
        result = kiln_bundle_open(options->bundle, &bundle, &error);
    }
    if (result == KILN_OK) {
        result = open_device(options, &instance, &device, &error);
        status = options->require_device ? VF_EXIT_NO_DEVICE : VF_EXIT_OK;
    }
    if (result == KILN_OK) {
        status = bench(options, &table, &device, bundle);
    } else {
        fprintf(stderr, "verify: %s\n",
                error.message[0] ? error.message : kiln_result_string(result));
    }
    vf_device_close(&device);
    kiln_instance_close(&instance);
    kiln_bundle_close(&bundle);
    vf_bench_table_release(&table);
    return status;
}
