/* SPDX-License-Identifier: MIT */
#include "gs_build.h"
#include "gs_command.h"
#include "gs_progress.h"
#include "gs_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static void summary_print(const struct gs_build_summary *summary, double seconds, bool failed) {
    fprintf(stderr,
            "genshaders: %zu variants planned, %zu compiled, %zu up to date, %zu excluded, "
            "%zu failed; %" PRIu64 " bytes of SPIR-V; %.2f s%s\n",
            summary->planned_count, summary->compiled_count, summary->reused_count,
            summary->excluded_count, summary->failed_count, summary->size_bytes, seconds,
            failed ? "; the bundle was left as it was" : "");
}

static void summary_print_json(const struct gs_build_summary *summary, const struct gs_diag *diag,
                               double seconds, bool failed) {
    struct mf_buffer text = {0};
    if (gs_diag_format_json(diag, &text) != KILN_OK || text.data == NULL) {
        mf_buffer_clear(&text);
        mf_buffer_append_string(&text, "[]");
    }
    printf("{\"status\": \"%s\", \"planned\": %zu, \"compiled\": %zu, \"reused\": %zu, "
           "\"excluded\": %zu, \"failed\": %zu, \"written\": %zu, \"removed\": %zu, "
           "\"size_bytes\": %" PRIu64 ", \"seconds\": %.3f, \"diagnostics\": %s}\n",
           failed ? "failed" : "ok", summary->planned_count, summary->compiled_count,
           summary->reused_count, summary->excluded_count, summary->failed_count,
           summary->written_count, summary->removed_count, summary->size_bytes, seconds,
           text.data != NULL ? text.data : "[]");
    mf_buffer_release(&text);
}

static int build_run(struct gs_build_options *options, bool json, bool quiet) {
    struct gs_diag *diag = NULL;
    struct gs_build_summary summary = {0};
    struct gs_progress progress;
    if (gs_diag_create(&diag) != KILN_OK) {
        fprintf(stderr, "genshaders: out of memory\n");
        return GS_EXIT_FAILED;
    }
    gs_progress_begin(&progress, json || quiet ? NULL : stderr);
    options->watch = gs_progress_watch;
    options->watch_context = &progress;
    bool failed = gs_build_run(options, &summary, diag) != KILN_OK;
    double seconds = gs_progress_seconds(&progress);
    gs_progress_end(&progress);
    if (json) {
        summary_print_json(&summary, diag, seconds, failed);
    } else {
        gs_command_diagnostics(diag);
        if (failed || !quiet) {
            summary_print(&summary, seconds, failed);
        }
    }
    gs_diag_destroy(&diag);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "genshaders: cannot write the summary\n");
        failed = true;
    }
    return failed ? GS_EXIT_FAILED : GS_EXIT_OK;
}

int gs_command_build(int argc, char **argv) {
    const char *templates = "templates", *out = "spv", *cache = "build/cache", *jobs = "0";
    int json = 0, quiet = 0;
    const struct gs_option options[] = {
        {"--templates", &templates, NULL}, {"--out", &out, NULL},   {"--cache", &cache, NULL},
        {"--jobs", &jobs, NULL},           {"--json", NULL, &json}, {"--quiet", NULL, &quiet},
    };
    unsigned long thread_count = 0;
    if (gs_options_parse(argc, argv, options, 6, NULL, 0) < 0 ||
        !gs_options_number("build", "--jobs", jobs, 256, &thread_count)) {
        return GS_EXIT_USAGE;
    }
    struct gs_build_options build = {
        .template_root = templates, .out = out, .cache = cache, .thread_count = thread_count};
    return build_run(&build, json != 0, quiet != 0);
}

int gs_command_list(int argc, char **argv) {
    const char *templates = "templates";
    const struct gs_option options[] = {{"--templates", &templates, NULL}};
    struct gs_diag *diag = NULL;
    struct gs_plan plan = {0};
    if (gs_options_parse(argc, argv, options, 1, NULL, 0) < 0) {
        return GS_EXIT_USAGE;
    }
    if (gs_diag_create(&diag) != KILN_OK) {
        fprintf(stderr, "genshaders: out of memory\n");
        return GS_EXIT_FAILED;
    }
    struct gs_plan_options plan_options = {.template_root = templates};
    bool failed = gs_plan_make(&plan_options, &plan, diag) != KILN_OK;
    for (size_t i = 0; i < plan.variant_count; i++) {
        puts(plan.variants[i].promise.name);
    }
    gs_command_diagnostics(diag);
    gs_plan_release(&plan);
    gs_diag_destroy(&diag);
    failed = fflush(stdout) != 0 || ferror(stdout) || failed;
    return failed ? GS_EXIT_FAILED : GS_EXIT_OK;
}
