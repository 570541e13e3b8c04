/* SPDX-License-Identifier: MIT */
#include "vf_command.h"

#include "vf_choose.h"
#include "vf_golden.h"
#include "vf_message.h"
#include "vf_pool.h"

#include <string.h>
#include <sys/stat.h>

struct counts {
    size_t pass, fail, skip;
};

static void print_row(const char *type, const char *case_name, const char *check,
                      const char *status, const char *detail, struct counts *counts) {
    counts->pass += strcmp(status, "pass") == 0;
    counts->fail += strcmp(status, "fail") == 0;
    counts->skip += strcmp(status, "skip") == 0;
    printf("%-4s %-8s %-6s %-10s %s\n", status, type, case_name, check, detail);
}

static void cpu_row(void *user, const struct vf_golden_row *row) {
    print_row(row->type, row->case_name, row->check, row->passed ? "pass" : "fail", row->detail,
              user);
}

/* One device: its worker decodes the same vectors with the bundle's dequant artifacts. */
static void device_rows(const struct vf_options *options, const struct vf_device_row *device,
                        struct counts *counts) {
    struct vf_process process = {0};
    struct mf_buffer line = {0};
    struct kiln_error error = {0};
    char ending[128] = "";
    bool ended = false;

    printf("on %s:\n", device->label);
    if (vf_process_start(options, &process, &error) != KILN_OK) {
        print_row("all", "-", "device", "fail", error.message, counts);
        return;
    }
    vf_message_field(&line, "golden");
    vf_message_format(&line, "%zu", device->index);
    vf_message_field(&line, options->operands[0]);
    vf_message_end(&line);
    vf_message_write(process.input, &line);
    while (!ended && vf_process_wait_line(
                         &process, vf_clock_ms() + (int64_t)options->timeout_s * 1000, &line)) {
        char *fields[VF_FIELD_MAX];
        const size_t count = vf_message_split(line.data, fields);
        if (count == 6 && strcmp(fields[0], "row") == 0) {
            print_row(fields[1], fields[2], fields[3], fields[4], fields[5], counts);
        } else if (count == 3 && strcmp(fields[0], "end") == 0) {
            ended = true;
            if (strcmp(fields[1], "0") != 0) {
                print_row("all", "-", "device", "fail", fields[2], counts);
            }
        }
    }
    vf_process_end(&process, !ended, ending, sizeof ending);
    if (!ended) {
        print_row("all", "-", "device", "fail", ending, counts);
    }
    mf_buffer_release(&line);
}

/* KILN_OK also when there is no bundle at all, which is said; *usable tells. */
static enum kiln_result check_bundle(const struct vf_options *options, bool *usable,
                                     struct kiln_error *error) {
    struct kiln_bundle *bundle = NULL;
    struct stat status;
    enum kiln_result result = KILN_OK;
    char path[512];

    *usable = false;
    snprintf(path, sizeof path, "%s/manifest.json", options->bundle);
    if (stat(path, &status) != 0 &&
        (stat(options->bundle, &status) != 0 || S_ISDIR(status.st_mode))) {
        printf("No bundle at %s: the dequant artifacts were not run.\n", options->bundle);
        return KILN_OK;
    }
    result = kiln_bundle_open(options->bundle, &bundle, error);
    *usable = result == KILN_OK;
    kiln_bundle_close(&bundle);
    return result;
}

static int device_checks(const struct vf_options *options, struct counts *counts) {
    struct vf_choice choice;
    struct kiln_error error = {0};
    bool usable = false;
    int status = VF_EXIT_OK;

    if (check_bundle(options, &usable, &error) != KILN_OK) {
        fprintf(stderr, "verify: bundle refused: %s\n", error.message);
        return VF_EXIT_BUNDLE;
    }
    if (!usable && !options->require_device) {
        return VF_EXIT_OK;
    }
    vf_choose_devices(options, &choice);
    for (size_t i = 0; usable && i < choice.count; i++) {
        device_rows(options, &choice.rows[i], counts);
    }
    if (choice.result == KILN_ERR_ARGUMENT) {
        fprintf(stderr, "verify: %s\n", choice.error.message);
        status = VF_EXIT_USAGE;
    } else if (choice.result == KILN_ERR_SYSTEM) {
        print_row("all", "-", "device", "fail", choice.error.message, counts);
    } else if (choice.result != KILN_OK) {
        printf("No Vulkan device to run on (%s): the dequant artifacts were not run.\n",
               choice.error.message);
        status = options->require_device ? VF_EXIT_NO_DEVICE : VF_EXIT_OK;
    }
    vf_choice_release(&choice);
    return status;
}

int vf_command_golden(const struct vf_options *options) {
    struct counts counts = {0, 0, 0};
    const struct vf_golden_callbacks callbacks = {.user = &counts, .row = cpu_row};
    struct vf_golden_summary summary = {0};
    struct kiln_error error = {0};
    const enum kiln_result result =
        vf_golden_run(options->operands[0], &callbacks, &summary, &error);

    if (result != KILN_OK && result != KILN_ERR_MISMATCH) {
        fprintf(stderr, "verify golden: %s\n",
                error.message[0] ? error.message : kiln_result_string(result));
        return VF_EXIT_FAILURES;
    }
    fflush(stdout);
    const int status = device_checks(options, &counts);
    printf("%zu pass, %zu fail, %zu skip (%u types, %u cases)\n", counts.pass, counts.fail,
           counts.skip, summary.type_count, summary.case_count);
    if (status != VF_EXIT_OK) {
        return status;
    }
    return counts.fail ? VF_EXIT_FAILURES : VF_EXIT_OK;
}
