/* SPDX-License-Identifier: MIT */
/*
 * vf_bench: how fast the artifacts of a bundle solve given problems on a device, each timed only
 * after its result was found right in the same process.
 *
 * A cell is one problem: an operation (families that compute the same), dtypes and dimensions, with
 * the time that another implementation needs for it, if known. Its candidates are all artifacts of
 * these families with these dtypes. Each candidate
 *
 *   1. computes the problem once into poisoned outputs, which are compared with the family's
 *      reference under the family's gate, as the verifier does;
 *   2. is timed: `rounds` times a row of dispatches with a barrier behind each, between two device
 *      timestamps, divided by their number. Candidates take turns, so that a slow moment of the
 *      device does not fall on one of them. Before that a GPU is kept busy until it no longer gets
 *      faster: idle clocks may be a fifth of the working ones.
 *
 * `warm`: every dispatch reads the same weights. `cold`: the weights are one of several copies in
 * turn, together at least VF_BENCH_BANK_BYTES large, so that no cache still has them. Where the
 * weights alone exceed that, both are the same measurement.
 *
 * Large products have periodic operands: row r of the weights is row r mod 509, token i is token
 * i mod 61, so that the reference is cheap and still says what every element must be.
 */
#ifndef VF_BENCH_H
#define VF_BENCH_H

#include "vf_compare.h"
#include "vf_device.h"
#include "vf_family.h"
#include "vf_run.h"

#define VF_BENCH_OPS_MAX 4
#define VF_BENCH_ROUNDS_MAX 32
#define VF_BENCH_BANK_BYTES ((uint64_t)512 << 20)

/* Strings belong to the table's arena. */
struct vf_bench_cell {
    const char *ops[VF_BENCH_OPS_MAX]; /* families; the first one names the cell */
    size_t op_count;
    const char *dtype; /* the artifacts' first dtype */
    struct mf_dim dims[VF_DIM_MAX];
    size_t dim_count;
    double peer_us; /* 0: unknown */
    bool cold;      /* which times count: those with cold weights, or warm ones */
    unsigned line;  /* of the table */
};

/* What a table of cells holds. */
struct vf_bench_table {
    struct mf_arena arena;
    struct vf_bench_cell *cells;
    size_t cell_count, cell_capacity;
    double read_gbps, copy_gbps,
        tflops; /* the device's ceilings as the table states them; 0: none */
};

/*
 * Reads a table: lines of the fields OPS DTYPE DIMS WEIGHTS PEER_US between blanks, e.g.
 * "matmul,mmq q4_k t=512,nout=4096,k=14336 warm 366.5", WEIGHTS warm or cold, PEER_US "-" where
 * unknown; a line "ceiling KEY=NUMBER,..." with read_gbps, copy_gbps or tflops; # begins a comment.
 * KILN_ERR_FORMAT names file and line. On failure *out is all zero.
 */
enum kiln_result vf_bench_table_read(const char *path, struct vf_bench_table *out,
                                     struct kiln_error *error);
void vf_bench_table_release(struct vf_bench_table *table);

/* Times of one kind, microseconds a dispatch. */
struct vf_bench_times {
    double us[VF_BENCH_ROUNDS_MAX]; /* ascending after vf_bench_cell_run */
    size_t count;                   /* 0: not measured */
};
double vf_bench_median(const struct vf_bench_times *times); /* 0 when nothing was measured */

enum vf_bench_status { VF_BENCH_TIMED, VF_BENCH_SKIPPED, VF_BENCH_FAILED };

struct vf_bench_variant {
    const struct mf_artifact *artifact;
    enum vf_bench_status status;
    char reason[VF_REASON_BYTES]; /* why not timed */
    struct vf_metrics metrics;
    struct vf_bench_times warm, cold;
};

struct vf_bench_result {
    struct mf_arena arena;
    const struct vf_bench_cell *cell;
    struct vf_bench_variant *variants;
    size_t variant_count, variant_capacity;
    double bytes; /* that must move at least once: inputs that are used, and outputs */
    double flops; /* 0 where the operation is none of multiplying */
};

struct vf_bench_params {
    uint64_t seed;
    uint32_t timeout_ms;
    size_t rounds;              /* 1 .. VF_BENCH_ROUNDS_MAX */
    const char *const *filters; /* globs on artifact names; none: all */
    size_t filter_count;
};

/*
 * Runs a cell. A candidate that cannot run or is wrong is part of the result; an error is what
 * leaves nothing to report (memory, a lost device). The caller releases *out either way.
 */
enum kiln_result vf_bench_cell_run(struct vf_device *device, struct kiln_bundle *bundle,
                                   const struct vf_bench_cell *cell,
                                   const struct vf_bench_params *params,
                                   struct vf_bench_result *out, struct kiln_error *error);
void vf_bench_result_release(struct vf_bench_result *result);

/* The times of a variant that count in this cell, and the variant with the lowest median; NULL:
 * none was timed. */
const struct vf_bench_times *vf_bench_counting(const struct vf_bench_cell *cell,
                                               const struct vf_bench_variant *variant);
const struct vf_bench_variant *vf_bench_best(const struct vf_bench_result *result);

/* Bytes read and written a second, in GB/s, of a copy of 1 GiB between two buffers. */
enum kiln_result vf_bench_copy_rate(struct vf_device *device, uint32_t timeout_ms, double *gbps,
                                    struct kiln_error *error);

#endif /* VF_BENCH_H */
