/* SPDX-License-Identifier: MIT */
/*
 * vf_bench_report: results of cells as lines for people and as JSON.
 *
 * Rates: gbps is the bytes that must move at least once over the counting median, tflops the
 * operations of the product (a multiplication and an addition are two) over it. `share` is the rate
 * over the table's ceiling: tflops for products of more than 64 operations a byte, read_gbps for
 * the others, copy_gbps for what multiplies nothing; 0 where the table states no ceiling.
 */
#ifndef VF_BENCH_REPORT_H
#define VF_BENCH_REPORT_H

#include "vf_bench.h"

struct vf_bench_rate {
    double us; /* 0: nothing was timed */
    double gbps, tflops, share;
    double ratio; /* peer over ours; 0 where unknown */
};
struct vf_bench_rate vf_bench_rate(const struct vf_bench_table *table,
                                   const struct vf_bench_result *result,
                                   const struct vf_bench_variant *variant);

/* The cell's line; with `variants` also one a candidate. Each ends in a newline. */
enum kiln_result vf_bench_report_text(const struct vf_bench_table *table,
                                      const struct vf_bench_result *result, bool variants,
                                      struct mf_buffer *out);

/* The whole run: {format, device, driver, bundle, copy_gbps, ceilings, cells[]}. */
struct vf_bench_report {
    const struct vf_bench_table *table;
    const struct vf_bench_result *results; /* one a cell that was run, in the table's order */
    size_t result_count;
    const struct kiln_device_info *info;
    const char *bundle_digest;
    double copy_gbps; /* measured; 0: unknown */
    size_t rounds;
    uint64_t seed;
};
enum kiln_result vf_bench_report_json(const struct vf_bench_report *report, struct mf_buffer *out);

#endif /* VF_BENCH_REPORT_H */
