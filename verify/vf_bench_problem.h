/* SPDX-License-Identifier: MIT */
/*
 * vf_bench_problem: a cell's problem, with its buffers on the device.
 *
 * Thread safety: one thread at a time.
 */
#ifndef VF_BENCH_PROBLEM_H
#define VF_BENCH_PROBLEM_H

#include "vf_bench.h"

/* Whole rows and tokens of the reference's own problem, repeated; VF_BENCH_* primes. */
enum { VF_BENCH_ROW_PERIOD = 509, VF_BENCH_TOKEN_PERIOD = 61 };

struct vf_bench_problem {
    struct mf_arena arena;
    const struct vf_family *family;
    enum mf_dtype dtypes[VF_BUFFER_MAX];     /* family->shared_dtype_count of them */
    struct vf_case kase;                     /* of the full problem */
    struct vf_problem reduced;               /* of at most one period of rows and tokens */
    struct vf_buffer buffers[VF_BUFFER_MAX]; /* full; `bytes` are the reduced problem's */
    struct kiln_param params[VF_PARAM_MAX];
    struct kiln_buffer *device[VF_BUFFER_MAX];
    size_t weights;             /* index of the buffer with rows; VF_BUFFER_MAX: none */
    struct kiln_buffer **banks; /* copies of it; bank 0 is device[weights] */
    size_t bank_count;          /* at least 1 */
    double bytes, flops;        /* as in vf_bench_result */
};

/*
 * Makes the data of `cell` for the family and dtypes of `artifact`, uploads the inputs and makes
 * the banks. KILN_ERR_NOT_FOUND: the artifact's family has other dimensions than the cell, or
 * unknown dtypes. The caller releases *out either way.
 */
enum kiln_result vf_bench_problem_make(struct vf_device *device, const struct vf_bench_cell *cell,
                                       const struct mf_artifact *artifact, uint64_t seed,
                                       struct vf_bench_problem *out, struct kiln_error *error);
void vf_bench_problem_release(struct vf_bench_problem *problem);

/* Whether the data serves this artifact, too. */
bool vf_bench_problem_serves(const struct vf_bench_problem *problem,
                             const struct mf_artifact *artifact);

/* Makes every output's bytes what they must be before a run: poison, or the buffer's own. */
enum kiln_result vf_bench_problem_poison(struct vf_bench_problem *problem,
                                         struct kiln_error *error);

/* Appends one dispatch of the problem, reading the weights of `bank`. */
enum kiln_result vf_bench_problem_append(struct vf_bench_problem *problem, struct kiln_batch *batch,
                                         struct kiln_pipeline *pipeline, size_t bank,
                                         struct kiln_error *error);

/*
 * Downloads the outputs and measures them. KILN_ERR_MISMATCH: `reason` says how they are wrong.
 */
enum kiln_result vf_bench_problem_check(struct vf_bench_problem *problem, struct vf_device *device,
                                        const struct mf_artifact *artifact,
                                        struct vf_metrics *metrics, char *reason, size_t size,
                                        struct kiln_error *error);

#endif /* VF_BENCH_PROBLEM_H */
