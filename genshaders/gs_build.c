/* SPDX-License-Identifier: MIT */
#include "gs_build.h"

#include "gs_fresh.h"
#include "gs_glslang.h"
#include "gs_publish.h"
#include "gs_variant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_BUDGET_BYTES ((uint64_t)24 << 20)

struct build {
    const struct gs_build_options *options;
    struct gs_build_summary *summary;
    struct gs_diag *diag;
    struct gs_plan plan;
    struct gs_variant_context context;
    struct gs_variant_result *results; /* one per variant */
    struct mf_manifest manifest;
};

static void build_job(void *context, size_t index) {
    struct build *build = context;
    gs_variant_build(&build->context, &build->plan.variants[index], &build->results[index]);
}

static enum kiln_result build_report(struct build *build, enum kiln_result result,
                                     const struct kiln_error *error) {
    if (result != KILN_OK) {
        gs_diag_add(build->diag, result, NULL, 0, NULL, "%s",
                    error->message[0] != 0 ? error->message : kiln_result_string(result));
    }
    return result;
}

static void build_count(struct build *build) {
    struct gs_build_summary *summary = build->summary;
    for (size_t i = 0; i < build->plan.variant_count; i++) {
        const struct gs_variant_result *made = &build->results[i];
        summary->compiled_count += made->outcome == GS_VARIANT_COMPILED;
        summary->reused_count += made->outcome == GS_VARIANT_REUSED;
        summary->failed_count += made->outcome == GS_VARIANT_FAILED;
        summary->size_bytes += made->bytes.size_bytes;
    }
}

/* Over budget is an error that names the family with the most bytes. */
static enum kiln_result build_check_size(struct build *build) {
    uint64_t limit = build->options->size_budget_bytes;
    limit = limit != 0 ? limit : SIZE_BUDGET_BYTES;
    if (build->summary->size_bytes <= limit) {
        return KILN_OK;
    }
    const char *largest = "";
    uint64_t largest_bytes = 0;
    for (size_t i = 0; i < build->plan.variant_count; i++) {
        const char *family = build->plan.variants[i].promise.family;
        uint64_t family_bytes = 0;
        for (size_t j = 0; j < build->plan.variant_count; j++) {
            bool same = strcmp(build->plan.variants[j].promise.family, family) == 0;
            family_bytes += same ? build->results[j].bytes.size_bytes : 0;
        }
        if (family_bytes > largest_bytes) {
            largest_bytes = family_bytes;
            largest = family;
        }
    }
    return gs_diag_add(build->diag, KILN_ERR_LIMIT, NULL, 0, NULL,
                       "the bundle has %" PRIu64 " bytes of SPIR-V, expected at most %" PRIu64
                       "; the largest family is %s with %" PRIu64 " bytes",
                       build->summary->size_bytes, limit, largest, largest_bytes);
}

static enum kiln_result build_prepare(struct build *build) {
    struct kiln_error error = {KILN_OK, ""};
    const struct gs_build_options *options = build->options;
    struct gs_plan_options plan_options = {options->template_root, options->variant_budget};
    enum kiln_result result = gs_plan_make(&plan_options, &build->plan, build->diag);
    if (result != KILN_OK) {
        return result;
    }
    build->summary->planned_count = build->plan.variant_count + build->plan.exclusion_count;
    build->summary->excluded_count = build->plan.exclusion_count;
    build->results = calloc(build->plan.variant_count + 1, sizeof *build->results);
    build->manifest.format = MF_MANIFEST_FORMAT;
    build->manifest.abi = MF_MANIFEST_ABI;
    result = gs_toolchain_fill(&build->manifest.arena, &build->manifest.toolchain);
    if (result != KILN_OK || build->results == NULL) {
        return build_report(build, KILN_ERR_MEMORY, &error);
    }
    build->context.cache = options->cache;
    build->context.diag = build->diag;
    build->context.toolchain_signature = build->manifest.toolchain.signature;
    result = gs_cache_prepare(options->cache, &error);
    if (result == KILN_OK) {
        result = gs_source_open(options->template_root, &build->context.tree, &error);
    }
    return build_report(build, result, &error);
}

static enum kiln_result build_publish(struct build *build) {
    struct kiln_error error = {KILN_OK, ""};
    size_t count = build->plan.variant_count;
    struct mf_manifest *manifest = &build->manifest;
    const struct mf_buffer **bytes = mf_arena_alloc(&manifest->arena, count + 1, sizeof *bytes);
    manifest->artifacts = mf_arena_alloc(&manifest->arena, count + 1, sizeof *manifest->artifacts);
    if (bytes == NULL || manifest->artifacts == NULL) {
        return build_report(build, KILN_ERR_MEMORY, &error);
    }
    for (size_t i = 0; i < count; i++) {
        manifest->artifacts[i] = build->results[i].artifact;
        bytes[i] = &build->results[i].bytes;
    }
    manifest->artifact_count = count;
    manifest->excluded = build->plan.excluded;
    manifest->exclusion_count = build->plan.exclusion_count;
    struct gs_publish_counts counts = {0, 0};
    enum kiln_result result = gs_publish(build->options->out, manifest, bytes, &counts, &error);
    build->summary->written_count = counts.written_count;
    build->summary->removed_count = counts.removed_count;
    return build_report(build, result, &error);
}

/* Everything but the short way: under the lock, with the plan made. */
static enum kiln_result build_variants(struct build *build) {
    struct kiln_error error = {KILN_OK, ""};
    const struct gs_build_options *options = build->options;
    enum kiln_result result = gs_glslang_start(&error);
    if (result == KILN_OK) {
        result = gs_pool_run(options->thread_count, build->plan.variant_count, build_job, build,
                             options->watch, options->watch_context, &error);
        gs_glslang_stop();
        build_count(build);
    }
    if (build_report(build, result, &error) != KILN_OK ||
        (result = gs_diag_result(build->diag)) != KILN_OK ||
        (result = build_check_size(build)) != KILN_OK) {
        return result;
    }
    return build_publish(build);
}

enum kiln_result gs_build_run(const struct gs_build_options *options,
                              struct gs_build_summary *summary, struct gs_diag *diag) {
    struct build build = {.options = options, .summary = summary, .diag = diag};
    struct kiln_error error = {KILN_OK, ""};
    struct gs_fresh fresh = {0};
    int lock = -1;
    *summary = (struct gs_build_summary){0};
    enum kiln_result result = gs_toolchain_build_hash(&build.context.build, &error);
    if (result == KILN_OK) {
        result = gs_publish_lock(options->out, &lock, &error);
    }
    if (build_report(&build, result, &error) != KILN_OK) {
        goto done;
    }
    gs_fresh_begin(options, &build.context.build, &fresh);
    if (gs_fresh_check(&fresh, options, summary)) {
        goto done;
    }
    result = build_prepare(&build);
    if (result == KILN_OK) {
        result = build_variants(&build);
    }
    if (result == KILN_OK) {
        gs_fresh_store(&fresh, options, &build.manifest, summary);
    }

done:
    gs_publish_unlock(&lock);
    gs_fresh_release(&fresh);
    for (size_t i = 0; build.results != NULL && i < build.plan.variant_count; i++) {
        gs_variant_result_release(&build.results[i]);
    }
    free(build.results);
    gs_source_close(&build.context.tree);
    mf_manifest_release(&build.manifest);
    gs_plan_release(&build.plan);
    return result;
}
