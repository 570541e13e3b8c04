/* SPDX-License-Identifier: MIT */
#include "vf_command.h"

#include "mf_file.h"
#include "vf_choose.h"
#include "vf_pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool vf_output_write(const char *path, const struct mf_buffer *text) {
    struct kiln_error error = {0};
    struct stat status;

    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        FILE *file = fopen(path, "w");
        bool ok = file && fwrite(text->data, 1, text->size_bytes, file) == text->size_bytes;
        ok = (!file || fclose(file) == 0) && ok;
        if (!ok) {
            fprintf(stderr, "verify: %s: %s\n", path, strerror(errno));
        }
        return ok;
    }
    if (mf_file_write_atomic(path, text->data, text->size_bytes, NULL, &error) != KILN_OK) {
        fprintf(stderr, "verify: %s\n", error.message);
        return false;
    }
    return true;
}

/* Every module that will run must be whole: a damaged bundle is refused before anything runs. */
static enum kiln_result check_modules(const struct kiln_bundle *bundle, const struct vf_plan *plan,
                                      struct kiln_error *error) {
    const struct mf_artifact *last = NULL;

    for (size_t j = 0; j < plan->job_count; j++) {
        for (size_t e = 0; e < plan->jobs[j].entry_count; e++) {
            const struct mf_artifact *artifact = plan->jobs[j].entries[e].artifact;
            struct kiln_module module = {0};
            if (artifact == last) {
                continue;
            }
            const enum kiln_result result = kiln_bundle_module(bundle, artifact, &module, error);
            kiln_module_release(&module);
            if (result != KILN_OK) {
                return result;
            }
            last = artifact;
        }
    }
    return KILN_OK;
}

static void print_list(const struct vf_plan *plan) {
    for (size_t j = 0; j < plan->job_count; j++) {
        for (size_t e = 0; e < plan->jobs[j].entry_count; e++) {
            const struct vf_entry *entry = &plan->jobs[j].entries[e];
            printf("%s/%s%s%s\n", entry->artifact->name, entry->problem ? entry->problem->id : "-",
                   entry->why ? "  " : "", entry->why ? entry->why : "");
        }
    }
}

static bool write_reports(struct vf_report *report) {
    const struct vf_options *options = report->options;
    const struct {
        const char *path;
        enum kiln_result (*write)(struct vf_report *, struct mf_buffer *);
    } forms[] = {{options->json, vf_report_json},
                 {options->tap, vf_report_tap},
                 {options->junit, vf_report_junit}};
    bool ok = true;

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct mf_buffer text = {0};
        if (!forms[i].path) {
            continue;
        }
        const enum kiln_result result = forms[i].write(report, &text);
        if (result != KILN_OK) {
            fprintf(stderr, "verify: %s: %s\n", forms[i].path, kiln_result_string(result));
            ok = false;
        } else if (strcmp(forms[i].path, "-") == 0) {
            ok = fwrite(text.data, 1, text.size_bytes, stdout) == text.size_bytes && ok;
        } else {
            ok = vf_output_write(forms[i].path, &text) && ok;
        }
        mf_buffer_release(&text);
    }
    return ok;
}

static void print_summary(struct vf_report *report, FILE *to) {
    const struct vf_summary summary = vf_report_summary(report);
    struct mf_buffer table = {0};

    if (vf_report_table(report, &table) == KILN_OK && table.data) {
        fputs(table.data, to);
    }
    fprintf(to, "%zu pass, %zu fail, %zu skip (suite %s, seed %llu, bundle %.8s)\n", summary.pass,
            summary.fail, summary.skip, report->options->suite_name,
            (unsigned long long)report->options->seed, report->bundle_digest);
    mf_buffer_release(&table);
}

/* Fails everything that could have run: the devices could not even be listed. */
static void fail_all(struct vf_report *report, const char *reason) {
    for (size_t i = 0; i < report->record_count; i++) {
        vf_report_set(report, &report->records[i], VF_STATUS_FAIL, NAN, NAN, NAN, reason);
    }
}

static int finish(struct vf_report *report, const struct vf_choice *choice) {
    const bool tap_on_stdout = report->options->tap && strcmp(report->options->tap, "-") == 0;
    FILE *to = tap_on_stdout ? stderr : stdout;
    const struct vf_summary summary = vf_report_summary(report);
    const bool written = write_reports(report);

    print_summary(report, to);
    if (choice->result != KILN_OK && choice->result != KILN_ERR_SYSTEM) {
        fprintf(to, "No Vulkan device to run on (%s): nothing was run.\n", choice->error.message);
        if (report->options->require_device) {
            fprintf(stderr, "verify: --require-device was given and there is no device: %s\n",
                    choice->error.message);
            return VF_EXIT_NO_DEVICE;
        }
    }
    return summary.fail || !written ? VF_EXIT_FAILURES : VF_EXIT_OK;
}

/* Everything behind the plan: devices, workers, reports. */
static int run_plan(const struct vf_options *options, const struct kiln_bundle *bundle,
                    const struct vf_plan *plan) {
    struct vf_report report = {0};
    struct vf_choice choice = {0};
    struct kiln_error error = {0};
    int status = VF_EXIT_FAILURES;

    vf_choose_devices(options, &choice);
    if (choice.result == KILN_ERR_ARGUMENT) {
        fprintf(stderr, "verify: %s\n", choice.error.message);
        status = VF_EXIT_USAGE;
        goto done;
    }
    enum kiln_result result =
        vf_report_make(plan, options, choice.rows, choice.count, choice.error.message, &report);
    if (result == KILN_OK) {
        result = vf_bundle_digest(kiln_bundle_manifest(bundle), report.bundle_digest);
    }
    if (result == KILN_OK && choice.result == KILN_ERR_SYSTEM) {
        fail_all(&report, choice.error.message);
    } else if (result == KILN_OK && choice.count) {
        result = vf_pool_run(&report, stderr, &error);
    }
    if (result != KILN_OK) {
        fprintf(stderr, "verify: %s\n",
                error.message[0] ? error.message : kiln_result_string(result));
        goto done;
    }
    status = finish(&report, &choice);
done:
    vf_report_release(&report);
    vf_choice_release(&choice);
    return status;
}

int vf_command_run(const struct vf_options *options) {
    struct kiln_bundle *bundle = NULL;
    struct vf_plan plan = {0};
    struct kiln_error error = {0};
    int status = VF_EXIT_BUNDLE;
    enum kiln_result result = kiln_bundle_open(options->bundle, &bundle, &error);

    if (result == KILN_OK && kiln_bundle_artifact_count(bundle) == 0) {
        result = kiln_error_set(&error, KILN_ERR_NOT_FOUND, "it holds no artifact");
    }
    if (result != KILN_OK) {
        goto done;
    }
    result = vf_plan_make(kiln_bundle_manifest(bundle), options, &plan, &error);
    if (result != KILN_OK) {
        status = VF_EXIT_USAGE;
        goto done;
    }
    result = check_modules(bundle, &plan, &error);
    if (result != KILN_OK) {
        goto done;
    }
    if (options->list) {
        print_list(&plan);
        status = VF_EXIT_OK;
    } else {
        status = run_plan(options, bundle, &plan);
    }
done:
    if (result != KILN_OK) {
        fprintf(stderr, "verify: %s%s%s\n", status == VF_EXIT_BUNDLE ? "bundle refused: " : "",
                error.message, error.message[0] ? "" : kiln_result_string(result));
    }
    vf_plan_release(&plan);
    kiln_bundle_close(&bundle);
    return status;
}
