/* SPDX-License-Identifier: MIT */
/*
 * vf_family: what the verifier knows about a kernel family: its cases, its data and its reference.
 *
 * A family is one file vf_ref_<reference>.c that defines one `struct vf_family`, and one line in
 * the table of vf_family.c; the manifest's field `reference` selects it. A family only describes:
 * guards, poison, dispatch, the second run and the comparison are the runner's (vf_run.h).
 *
 * Shapes, layouts and units of buffers are those of the family's bindings. Everything a problem
 * points to hangs off its arena, and dies with vf_problem_release, or off its memo.
 */
#ifndef VF_FAMILY_H
#define VF_FAMILY_H

#include "vf_case.h"
#include "vf_compare.h"

#include <kiln/kiln_dispatch.h>

#define VF_BUFFER_MAX 8
#define VF_PARAM_MAX 8

struct vf_buffer;

/*
 * Judges an output that values alone cannot judge: blocks, or choices between near-equals. Fills
 * *out as vf_compare does for an exact gate, but counts what is not equal and still allowed in
 * near_count. `strict`: the device rounds division as the host does, which allows less.
 */
typedef void vf_judge(const struct vf_buffer *buffer, const void *got, bool strict,
                      struct vf_metrics *out);

/* One storage buffer of a problem. */
struct vf_buffer {
    const char *binding; /* the manifest's name of the binding, e.g. "weights" */
    /* Inputs: the bytes (not padded). Outputs: NULL, or what the buffer holds before the run, as
     * large as the output; the kernel changes it to what is expected. */
    const void *bytes;
    uint64_t size_bytes;
    /* Inputs that may be split into row windows: the dimension that counts the rows, and the bytes
     * of one row. NULL and 0 otherwise. At most one buffer of a problem has them. */
    const char *row_dim;
    uint64_t row_bytes;
    /* Outputs: element_count expected values, in the order of the buffer. NULL for inputs. */
    const double *expected;
    uint64_t element_count;
    /* Outputs: the element type: dtype_index >= 0 names one of the artifact's dtypes, else dtype.
     */
    int dtype_index;
    enum mf_dtype dtype;
    bool non_finite; /* outputs: expected values may be infinite or NaN, and must be met */
    double max_abs;  /* outputs: a bound of its own where it is stricter than the gate's; 0: none */
    /* Outputs: NULL, or who judges them, exactly, in place of vf_compare and the artifact's gate.
     * Outputs of type i32 without a judge are compared exactly whatever the gate. */
    vf_judge *judge;
    const void *judge_data; /* for the judge; of the problem's arena */
};

/*
 * What a family keeps between the cases of one job, where they share data that is dear to make: one
 * value, whose memory is the memo's arena. The runner empties it between jobs; a family may do so
 * in prepare, when no problem points into it.
 */
struct vf_memo {
    struct mf_arena arena;
    const void *value; /* NULL: empty */
};

void vf_memo_release(struct vf_memo *memo);

struct vf_problem {
    struct mf_arena arena;
    struct vf_memo *memo; /* not owned; set before prepare, valid at least as long as the problem */
    struct vf_buffer buffers[VF_BUFFER_MAX];
    size_t buffer_count;
    struct kiln_param params[VF_PARAM_MAX]; /* push constants that are not dimensions */
    size_t param_count;
};

struct vf_family {
    const char *reference;
    /* Artifacts whose first `shared_dtype_count` dtypes agree share cases and data (one job). */
    size_t shared_dtype_count;
    /*
     * Appends all cases for artifacts with these dtypes (shared_dtype_count of them), each with its
     * suites. The order is the order of running.
     */
    enum kiln_result (*list_cases)(const enum mf_dtype *dtypes, struct vf_case_list *list);
    /*
     * Makes inputs and expected outputs in *out, of which only `memo` is set. Deterministic in
     * (problem, dtypes, seed), whatever the memo holds. On failure *out holds nothing but may have
     * a used arena; the caller releases it either way.
     */
    enum kiln_result (*prepare)(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                uint64_t seed, struct vf_problem *out, struct kiln_error *error);
    /*
     * The loosest gate that the family's semantics allow this artifact. A manifest may ask for
     * less error, never for more.
     */
    struct mf_tolerance (*ceiling)(const struct mf_artifact *artifact);
};

/* NULL when no family has that reference. */
const struct vf_family *vf_family_find(const char *reference);

/* The gate in force: for each metric the stricter of the manifest's and the family's bound. */
struct mf_tolerance vf_family_gate(const struct vf_family *family,
                                   const struct mf_artifact *artifact);

/* The gate of one output: `gate`, with the buffer's own max_abs where that is stricter. */
struct mf_tolerance vf_buffer_gate(const struct vf_buffer *buffer, const struct mf_tolerance *gate);

void vf_problem_release(struct vf_problem *problem);

/* Appends an input or an output to the problem and returns it; NULL when the table is full. */
struct vf_buffer *vf_problem_input(struct vf_problem *problem, const char *binding,
                                   const void *bytes, uint64_t size_bytes);
struct vf_buffer *vf_problem_output(struct vf_problem *problem, const char *binding,
                                    const double *expected, uint64_t element_count);

/* A tolerance that gates nothing: to be filled in by the families. */
struct mf_tolerance vf_tolerance_none(void);

#endif /* VF_FAMILY_H */
