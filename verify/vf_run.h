/* SPDX-License-Identifier: MIT */
/*
 * vf_run: one artifact on one problem on one device.
 *
 * Every binding is a sub-range of a larger allocation between guard bands (vf_guard.h); outputs are
 * poisoned; shared memory is dirtied. The dispatch runs twice: the first time the ranges end with
 * their padding, the second time with another guard pattern and ranges that reach over the guard
 * behind them, so that drivers which clip accesses at the end of a range show stray writes too. All
 * of this must hold:
 *   - guards, paddings and inputs are bit for bit what they were,
 *   - both runs give the same bits,
 *   - the results pass the gate (vf_compare.h).
 */
#ifndef VF_RUN_H
#define VF_RUN_H

#include "vf_compare.h"
#include "vf_device.h"
#include "vf_family.h"

enum vf_status { VF_STATUS_NONE, VF_STATUS_PASS, VF_STATUS_FAIL, VF_STATUS_SKIP };

/* "pass", "fail", "skip"; "none" for VF_STATUS_NONE. */
const char *vf_status_string(enum vf_status status);

#define VF_REASON_BYTES 768

struct vf_outcome {
    enum vf_status status;
    char reason[VF_REASON_BYTES]; /* why it failed or was skipped; a remark or "" when it passed */
    bool measured;                /* metrics are meaningful */
    struct vf_metrics metrics;
    bool
        device_unusable; /* lost, or work still running after a timeout: open nothing on it again */
};

struct vf_run_params {
    struct kiln_limits_override limits; /* injected; those of the case are added */
    uint32_t timeout_ms;                /* of one dispatch */
    bool corrupt;                       /* falsifies the first result (test hook) */
};

/*
 * Runs and compares. Never fails itself: whatever happens is the outcome. `problem` was prepared
 * for `kase` by the family.
 */
void vf_run_case(struct vf_device *device, struct kiln_bundle *bundle,
                 const struct mf_artifact *artifact, const struct vf_family *family,
                 const struct vf_case *kase, const struct vf_problem *problem,
                 const struct vf_run_params *params, struct vf_outcome *out);

#endif /* VF_RUN_H */
