/* SPDX-License-Identifier: MIT */
/*
 * vf_case: the problems that the artifacts of a family are run on.
 *
 * A case is plain data: the problem's dimensions, the suites it belongs to and the device limits
 * that are injected to make a kernel fold its grid or split its weights into row windows. Its id is
 * printed from these ("512x256", "512x256-groups7") and is what --replay and the reports name; it
 * is compared as a whole and never parsed.
 *
 * Thread safety: a list belongs to one thread while it grows; after that it is read-only.
 */
#ifndef VF_CASE_H
#define VF_CASE_H

#include "mf_buffer.h"
#include "mf_manifest.h"

#include <stdbool.h>
#include <stdint.h>

#define VF_DIM_MAX 8
#define VF_CASE_ID_BYTES 96

/* Bits of vf_case.suites: design table's cases (seeds), the smallest ones (quick), all (full). */
enum { VF_SUITE_QUICK = 1, VF_SUITE_SEEDS = 2, VF_SUITE_FULL = 4 };

struct vf_case {
    char id[VF_CASE_ID_BYTES];      /* set by vf_case_add */
    struct mf_dim dims[VF_DIM_MAX]; /* names have static storage */
    size_t dim_count;
    size_t
        data_dim_count; /* the last dims: they shape the data, and the artifact has none of them */
    unsigned suites;    /* VF_SUITE_* bits */
    uint32_t group_limit;  /* injected limit on the groups of an axis; 0: the device's own */
    uint32_t window_count; /* weights are split into at least so many row windows; 0: as needed */
};

struct vf_case_list {
    struct mf_arena *arena; /* not owned */
    struct vf_case *cases;
    size_t count;
    size_t capacity;
};

/*
 * Appends a copy of *problem with its id filled in. A case that is there already (equal id) only
 * gains the suites. KILN_ERR_MEMORY; KILN_ERR_LIMIT when the id is longer than its array.
 */
enum kiln_result vf_case_add(struct vf_case_list *list, const struct vf_case *problem);

/* A line of a family's table of cases: the values of its dimensions in order, and as in vf_case. */
struct vf_case_row {
    uint64_t dims[VF_DIM_MAX];
    unsigned suites;
    uint32_t group_limit, window_count;
};

/*
 * Adds a table of cases whose dimensions have these names (static storage), at most VF_DIM_MAX.
 * Errors as vf_case_add; the lines before the one that failed stay added.
 */
enum kiln_result vf_case_add_rows(struct vf_case_list *list, const char *const *dim_names,
                                  size_t dim_count, const struct vf_case_row *rows,
                                  size_t row_count);

/*
 * Whether the case means anything for the artifact: injected group limits need a grid that folds,
 * injected windows a push constant "row_first", and dimensions have to be within its limits.
 */
bool vf_case_fits(const struct vf_case *problem, const struct mf_artifact *artifact);

/* The value of a dimension; 0 when the case has none of that name. */
uint64_t vf_case_dim(const struct vf_case *problem, const char *name);

/* The suite bit of "quick", "seeds" or "full"; 0 for other words. */
unsigned vf_suite_find(const char *name);

#endif /* VF_CASE_H */
