/* SPDX-License-Identifier: MIT */
/*
 * vf_compare: results of a kernel against expected values, element by element, in f64.
 *
 * Metrics over the n elements of one output, error e = got - expected:
 *   max_abs = max |e|
 *   rel     = sqrt(sum e^2) / sqrt(sum expected^2)      (RMS over RMS)
 *   scale   = max |e| / max |expected|
 * A quotient with a zero denominator is 0 when its numerator is 0, else infinite. Non-finite
 * results count as failures whatever the gate, unless the output declares such values: then an
 * expected infinity must be met with its sign, an expected NaN by a NaN, and an expected value
 * above the largest binary16 by that value or infinity where the output is f16.
 *
 * All functions are pure.
 */
#ifndef VF_COMPARE_H
#define VF_COMPARE_H

#include "mf_manifest.h"

#include <stdbool.h>
#include <stdint.h>

/* VF_NO_INDEX: there is no such element. */
#define VF_NO_INDEX UINT64_MAX

struct vf_metrics {
    double max_abs, rel, scale;
    double ulp_f16; /* largest error in units of the expected value's last f16 place */
    double excess;  /* largest |e| beyond what storing as f16 may cost; max_abs where nothing may */
    uint64_t element_count;
    uint64_t mismatch_count; /* elements that by themselves break the gate */
    uint64_t near_count;     /* elements that differ as far as the family's judge allows */
    uint64_t flushed_count;  /* expected f32 subnormals that came back as 0: allowed */
    uint64_t non_finite_count;
    uint64_t worst_index; /* element with the largest |e|; non-finite ones first */
    double worst_got, worst_expected;
    uint64_t first_index; /* first element counted in mismatch_count */
    double first_got, first_expected;
};

/* The metrics of nothing: all zero, both indices VF_NO_INDEX. */
struct vf_metrics vf_metrics_empty(void);

/* Element `index` of an array of f32, f16, bf16 or i32 (any alignment), as f64. */
double vf_element_load(enum mf_dtype dtype, const void *elements, uint64_t index);

/* Bytes of an output of so many elements: the row's bytes rounded up to a multiple of 4. */
uint64_t vf_output_bytes(enum mf_dtype dtype, uint64_t element_count);

/*
 * Measures `count` elements of type dtype at `got` (any alignment) against `expected`.
 * `exact`: values must be equal; zeros of either sign are; an expected value that is subnormal in
 * f32 may be a zero instead. For f16 and bf16 outputs the expected value is rounded to nearest even
 * first. `ulp_f16` (for f16 outputs): |e| is at most so many units in the last place of the f16
 * binade that holds the expected value. `max_abs`: |e| below the bound. Both for an f16 output: the
 * arithmetic is off by less than max_abs, and storing its result by at most the ulps, so |e| less
 * the ulps is below max_abs; other outputs of that gate store without loss.
 */
void vf_compare(enum mf_dtype dtype, const void *got, const double *expected, uint64_t count,
                const struct mf_tolerance *gate, bool non_finite, struct vf_metrics *out);

/*
 * Whether the metrics pass all gates: bounds are strict (metric < bound). A gate that gates nothing
 * fails, and so does an output without elements. On failure `reason` (at most size bytes, always
 * terminated) says which bound was broken, by what, and shows the first mismatch and the worst
 * element.
 */
bool vf_metrics_pass(const struct vf_metrics *metrics, const struct mf_tolerance *gate,
                     char *reason, size_t size);

/* Takes the worse of both for each metric and adds the counts; indices are those of the worse. */
void vf_metrics_merge(struct vf_metrics *into, const struct vf_metrics *other);

#endif /* VF_COMPARE_H */
