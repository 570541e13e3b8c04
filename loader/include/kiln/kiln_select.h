/* SPDX-License-Identifier: MIT */
/*
 * kiln_select: which artifact of a bundle to run for a problem on a device.
 *
 * Everything here works on plain data (a manifest and a kiln_device_info), touches neither disk nor
 * device, keeps nothing, and may be called from any thread.
 */
#ifndef KILN_SELECT_H
#define KILN_SELECT_H

#include "kiln_device.h"
#include "mf_buffer.h"
#include "mf_manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Does the device offer what the artifact needs? Compares API and SPIR-V version, features,
 * extensions, SPIR-V capabilities, subgroup operations and pinned size, local size, workgroup
 * memory, push constant bytes, number of bindings, and for cooperative matrices the shape (axis
 * `tuple`, "MxNxK") and the types of their elements (axis `component`: "f16", also without the
 * axis, adds up in f32, "s8" in s32, "u8" in u32) with those the driver lists; in tier coopmat2,
 * whose matrices belong to the workgroup, with its granularities for that many invocations, the
 * largest dimension, and the workgroup memory that such matrices take.
 *
 * KILN_ERR_UNSUPPORTED lists all that is missing, each with the numbers or names compared. A
 * capability or feature that libkiln does not know counts as missing: some drivers end the process
 * on a module they do not support.
 */
enum kiln_result kiln_requirements_check(const struct kiln_device_info *info,
                                         const struct mf_artifact *artifact,
                                         struct kiln_error *error);

enum kiln_precision {
    /* f32 arithmetic on the dequantised weights: tiers portable and subgroup. */
    KILN_PRECISION_EXACT = 0,
    /* also tiers that round activations or accumulate in another order: dp4a, coopmat, coopmat2;
     * and imported modules, of whose arithmetic nothing is known */
    KILN_PRECISION_FAST = 1
};

/* What is wanted. Zero or NULL leaves a field open, except `family`. All memory is the caller's. */
struct kiln_query {
    const char *family;
    const char *kernel;
    const char *const *dtypes; /* all of the artifact's, in its order, or none */
    size_t dtype_count;
    const char *schedule;
    const char *shape;
    const char *tier; /* only this tier; the precision policy is not asked then */
    enum kiln_precision precision;
    const struct mf_dim *dims; /* all dimensions of the problem, or none */
    size_t dim_count;
};

/*
 * Fills query->tier from the environment variable KILN_TIER when the query has none and the
 * variable is set and not empty. The text belongs to the environment. KILN_ERR_ARGUMENT names an
 * unknown tier. kiln_select itself never reads the environment.
 */
enum kiln_result kiln_query_apply_environment(struct kiln_query *query, struct kiln_error *error);

/*
 * The best artifact, owned by the manifest; NULL on failure.
 *
 * A candidate has the query's family and kernel. It is rejected when another typed field differs,
 * when its tier is not allowed, when the names of the dimensions differ, when a baked dimension
 * (axis `baked_<dim>`) differs, when a dimension breaks the artifact's limits, when its grid
 * exceeds the device's group counts, or when kiln_requirements_check refuses. The rest is ordered
 * by weight(tier) / padding, higher first; padding is the product over the grid's factors of
 * ceil(dim/tile)·tile/dim, 1 without dims. Weights: portable 1, subgroup 2, dp4a 3 (1.5 where
 * packed dot products are not accelerated), coopmat 12, coopmat2 16; on CPU devices the last two
 * are 1/2; imported 1. Scores within an eighth of an octave (9 %) are equal: of those, more groups
 * as long as there are fewer than 256, then fewer; of equally many, the one whose dimensions are
 * nearest to their limits; then the name.
 *
 * `explanation` may be NULL. One line per candidate is appended, ending in a newline:
 * "NAME: rejected: reason" or "NAME: score S, G groups", and last "selected: NAME".
 *
 * KILN_ERR_NO_VARIANT: the message counts the candidates and gives the first reason.
 */
enum kiln_result kiln_select(const struct mf_manifest *manifest,
                             const struct kiln_device_info *info, const struct kiln_query *query,
                             const struct mf_artifact **artifact, struct mf_buffer *explanation,
                             struct kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_SELECT_H */
