/* SPDX-License-Identifier: MIT */
/*
 * vf_plan: what to run, worked out from a manifest and the options alone.
 *
 * A job is one reference with one set of shared dtypes: its artifacts share cases, inputs and
 * expected outputs. Its entries are ordered by case, so that only one problem is in memory at a
 * time. The plan is the same in every process that makes it from the same bundle and options:
 * parent and workers name entries by number.
 *
 * Artifacts that cannot be planned (no such reference, an unknown dtype, no case) are entries
 * without a case; `why` says what is wrong and they count as failures.
 */
#ifndef VF_PLAN_H
#define VF_PLAN_H

#include "vf_family.h"
#include "vf_options.h"

struct vf_entry {
    const struct mf_artifact *artifact; /* owned by the manifest */
    const struct vf_case *problem;      /* NULL: cannot run */
    const char *why;                    /* NULL unless problem is */
};

#define VF_SHARED_DTYPE_MAX 4

struct vf_job {
    const char *label;              /* "matvec q4_k" */
    const struct vf_family *family; /* NULL for the job of artifacts that cannot be planned */
    enum mf_dtype dtypes[VF_SHARED_DTYPE_MAX]; /* family->shared_dtype_count of them */
    struct vf_case_list cases;
    struct vf_entry *entries;
    size_t entry_count;
    size_t entry_capacity;
};

struct vf_plan {
    struct mf_arena arena;
    struct vf_job *jobs;
    size_t job_count;
    size_t job_capacity;
    size_t entry_count; /* of all jobs */
};

/*
 * Makes the plan for the artifacts that the filters (or the replay line) choose. The manifest must
 * outlive it. KILN_ERR_NOT_FOUND when filters or replay line choose nothing. *out is to be released
 * also on failure.
 */
enum kiln_result vf_plan_make(const struct mf_manifest *manifest, const struct vf_options *options,
                              struct vf_plan *out, struct kiln_error *error);
void vf_plan_release(struct vf_plan *plan);

#endif /* VF_PLAN_H */
