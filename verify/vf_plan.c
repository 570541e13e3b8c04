/* SPDX-License-Identifier: MIT */
#include "vf_plan.h"

#include <fnmatch.h>
#include <string.h>

/* The artifact part and the case part of "ARTIFACT/CASE". */
static bool replay_matches_artifact(const char *replay, const char *name) {
    const size_t length = strcspn(replay, "/");

    return strlen(name) == length && strncmp(replay, name, length) == 0;
}

static bool artifact_chosen(const struct vf_options *options, const char *name) {
    if (options->replay && !replay_matches_artifact(options->replay, name)) {
        return false;
    }
    for (size_t i = 0; i < options->filter_count; i++) {
        if (fnmatch(options->filters[i], name, 0) == 0) {
            return true;
        }
    }
    return options->filter_count == 0;
}

static bool case_chosen(const struct vf_options *options, const struct vf_case *problem) {
    if (options->replay) {
        return strcmp(strchr(options->replay, '/') + 1, problem->id) == 0;
    }
    return (problem->suites & options->suite) != 0;
}

static struct vf_job *job_add(struct vf_plan *plan) {
    if (plan->job_count == plan->job_capacity) {
        struct vf_job *grown = mf_arena_grow(&plan->arena, plan->jobs, plan->job_count,
                                             &plan->job_capacity, sizeof *grown);
        if (!grown) {
            return NULL;
        }
        plan->jobs = grown;
    }
    struct vf_job *job = &plan->jobs[plan->job_count++];
    *job = (struct vf_job){.cases = {.arena = &plan->arena}};
    return job;
}

static enum kiln_result entry_add(struct vf_plan *plan, struct vf_job *job,
                                  const struct vf_entry *entry) {
    if (job->entry_count == job->entry_capacity) {
        struct vf_entry *grown = mf_arena_grow(&plan->arena, job->entries, job->entry_count,
                                               &job->entry_capacity, sizeof *grown);
        if (!grown) {
            return KILN_ERR_MEMORY;
        }
        job->entries = grown;
    }
    job->entries[job->entry_count++] = *entry;
    plan->entry_count++;
    return KILN_OK;
}

/* The family's shared dtypes of an artifact; NULL, or what is wrong with them. */
static const char *shared_dtypes(struct vf_plan *plan, const struct vf_family *family,
                                 const struct mf_artifact *artifact, enum mf_dtype *dtypes) {
    for (size_t i = 0; i < family->shared_dtype_count; i++) {
        const struct mf_dtype_info *info =
            i < artifact->dtype_count ? mf_dtype_find(artifact->dtypes[i]) : NULL;
        if (!info) {
            const char *why = mf_arena_format(
                &plan->arena, "reference '%s' needs %zu known dtypes, dtype %zu is '%s'",
                family->reference, family->shared_dtype_count, i,
                i < artifact->dtype_count ? artifact->dtypes[i] : "missing");
            return why ? why : "unknown dtype";
        }
        dtypes[i] = info->dtype;
    }
    return NULL;
}

static struct vf_job *job_find(struct vf_plan *plan, const struct vf_family *family,
                               const enum mf_dtype *dtypes) {
    for (size_t i = 0; i < plan->job_count; i++) {
        if (plan->jobs[i].family == family &&
            (!family || memcmp(plan->jobs[i].dtypes, dtypes,
                               family->shared_dtype_count * sizeof *dtypes) == 0)) {
            return &plan->jobs[i];
        }
    }
    return NULL;
}

static enum kiln_result job_get(struct vf_plan *plan, const struct vf_family *family,
                                const enum mf_dtype *dtypes, const struct mf_artifact *artifact,
                                struct vf_job **out) {
    struct vf_job *job = job_find(plan, family, dtypes);

    if (!job) {
        job = job_add(plan);
        if (!job) {
            return KILN_ERR_MEMORY;
        }
        job->family = family;
        job->label = "cannot run";
        if (family) {
            memcpy(job->dtypes, dtypes, family->shared_dtype_count * sizeof *dtypes);
            job->label = mf_arena_format(&plan->arena, "%s %s", family->reference,
                                         family->shared_dtype_count ? artifact->dtypes[0] : "");
            const enum kiln_result result = family->list_cases(dtypes, &job->cases);
            if (!job->label || result != KILN_OK) {
                return result == KILN_OK ? KILN_ERR_MEMORY : result;
            }
        }
    }
    *out = job;
    return KILN_OK;
}

static bool artifact_has_case(const struct vf_options *options, const struct vf_job *job,
                              const struct mf_artifact *artifact) {
    for (size_t c = 0; c < job->cases.count; c++) {
        if (case_chosen(options, &job->cases.cases[c]) &&
            vf_case_fits(&job->cases.cases[c], artifact)) {
            return true;
        }
    }
    return false;
}

/* Puts an artifact into its job as an entry without a case, which plan_cases expands. */
static enum kiln_result plan_artifact(struct vf_plan *plan, const struct vf_options *options,
                                      const struct mf_artifact *artifact) {
    const struct vf_family *family = vf_family_find(artifact->reference);
    enum mf_dtype dtypes[VF_SHARED_DTYPE_MAX] = {MF_DTYPE_F32};
    struct vf_entry entry = {.artifact = artifact};
    struct vf_job *job = NULL;
    enum kiln_result result;

    if (!family) {
        entry.why =
            mf_arena_format(&plan->arena, "there is no CPU reference '%s'", artifact->reference);
        if (!entry.why) {
            return KILN_ERR_MEMORY;
        }
    } else {
        entry.why = shared_dtypes(plan, family, artifact, dtypes);
    }
    if (!entry.why) {
        result = job_get(plan, family, dtypes, artifact, &job);
        if (result != KILN_OK) {
            return result;
        }
        if (!artifact_has_case(options, job, artifact)) {
            entry.why = options->replay
                            ? mf_arena_format(&plan->arena, "it has no case '%s'",
                                              strchr(options->replay, '/') + 1)
                            : mf_arena_format(&plan->arena, "suite %s has no case for it",
                                              options->suite_name);
        }
    }
    if (entry.why) {
        result = job_get(plan, NULL, dtypes, artifact, &job);
        if (result != KILN_OK) {
            return result;
        }
    }
    return entry_add(plan, job, &entry);
}

/* Replaces the artifacts of a job by its entries, case by case. */
static enum kiln_result expand_job(struct vf_plan *plan, struct vf_job *job,
                                   const struct vf_options *options) {
    struct vf_entry *artifacts = job->entries;
    const size_t artifact_count = job->entry_count;

    if (!job->family) {
        return KILN_OK;
    }
    plan->entry_count -= artifact_count;
    job->entries = NULL;
    job->entry_count = job->entry_capacity = 0;
    for (size_t c = 0; c < job->cases.count; c++) {
        const struct vf_case *problem = &job->cases.cases[c];
        for (size_t a = 0; a < artifact_count; a++) {
            if (!case_chosen(options, problem) || !vf_case_fits(problem, artifacts[a].artifact)) {
                continue;
            }
            const struct vf_entry entry = {artifacts[a].artifact, problem, NULL};
            const enum kiln_result result = entry_add(plan, job, &entry);
            if (result != KILN_OK) {
                return result;
            }
        }
    }
    return KILN_OK;
}

enum kiln_result vf_plan_make(const struct mf_manifest *manifest, const struct vf_options *options,
                              struct vf_plan *out, struct kiln_error *error) {
    enum kiln_result result = KILN_OK;
    size_t chosen = 0;

    *out = (struct vf_plan){0};
    for (size_t i = 0; i < manifest->artifact_count && result == KILN_OK; i++) {
        if (artifact_chosen(options, manifest->artifacts[i].name)) {
            chosen++;
            result = plan_artifact(out, options, &manifest->artifacts[i]);
        }
    }
    for (size_t i = 0; i < out->job_count && result == KILN_OK; i++) {
        result = expand_job(out, &out->jobs[i], options);
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "cannot plan the run: %s", kiln_result_string(result));
    }
    if (chosen == 0 && manifest->artifact_count > 0) {
        return kiln_error_set(error, KILN_ERR_NOT_FOUND, "no artifact of the bundle matches %s",
                              options->replay ? options->replay : "the filters");
    }
    return KILN_OK;
}

void vf_plan_release(struct vf_plan *plan) {
    mf_arena_release(&plan->arena);
    *plan = (struct vf_plan){0};
}
