/* SPDX-License-Identifier: MIT */
#include "vf_compare.h"

#include "vf_f16.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Smallest normal binary32. */
static const double f32_normal_min = 0x1p-126;
/* Largest finite binary16. */
static const double f16_max = 65504;

struct vf_metrics vf_metrics_empty(void) {
    return (struct vf_metrics){.worst_index = VF_NO_INDEX, .first_index = VF_NO_INDEX};
}

double vf_element_load(enum mf_dtype dtype, const void *elements, uint64_t index) {
    const uint8_t *bytes = elements;
    uint16_t half = 0;
    uint32_t word = 0;

    switch (dtype) {
    case MF_DTYPE_F16:
        memcpy(&half, bytes + 2 * index, sizeof half);
        return (double)vf_f16_decode(half);
    case MF_DTYPE_BF16:
        memcpy(&half, bytes + 2 * index, sizeof half);
        return (double)vf_bf16_decode(half);
    case MF_DTYPE_I32:
        memcpy(&word, bytes + 4 * index, sizeof word);
        return (double)(int32_t)word;
    case MF_DTYPE_F32:
        memcpy(&word, bytes + 4 * index, sizeof word);
        return (double)vf_f32_from_bits(word);
    default:
        return NAN;
    }
}

uint64_t vf_output_bytes(enum mf_dtype dtype, uint64_t element_count) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    const uint64_t block_bytes = info ? info->block_bytes : 4;
    const uint64_t block_elements = info ? info->block_elements : 1;

    return ((element_count + block_elements - 1) / block_elements * block_bytes + 3) / 4 * 4;
}

/* What an exact kernel may store for an expected value. */
static double round_expected(enum mf_dtype dtype, double expected) {
    switch (dtype) {
    case MF_DTYPE_F16:
        return (double)vf_f16_decode(vf_f16_encode((float)expected));
    case MF_DTYPE_BF16:
        return (double)vf_bf16_decode(vf_bf16_encode((float)expected));
    default:
        return expected;
    }
}

/* One unit in the last place of the f16 binade of `value`; subnormals share the smallest one. */
static double f16_ulp(double value) {
    int exponent = -14;

    if (isfinite(value) && fabs(value) >= 0x1p-14) {
        exponent = ilogb(value);
    }
    return ldexp(1.0, exponent - 10);
}

struct element {
    double got, expected, error; /* error: infinite where the values cannot be compared */
    bool finite;
    bool flushed;
};

static struct element element_compare(enum mf_dtype dtype, const void *got, uint64_t index,
                                      double expected, const struct mf_tolerance *gate,
                                      bool non_finite) {
    struct element e = {.got = vf_element_load(dtype, got, index), .expected = expected};

    if (gate->exact) {
        e.expected = round_expected(dtype, expected);
    }
    if (non_finite && dtype == MF_DTYPE_F16 && isfinite(expected) && fabs(expected) > f16_max) {
        /* Rounding may go either way beyond the last value: it or infinity. */
        e.finite = fabs(e.got) >= f16_max && signbit(e.got) == signbit(expected);
        e.error = e.finite ? 0 : INFINITY;
        return e;
    }
    if (!isfinite(e.got) || !isfinite(e.expected)) {
        const bool same = isnan(e.expected) ? isnan(e.got) : e.got == e.expected;
        e.finite = non_finite && same;
        e.error = e.finite ? 0 : INFINITY;
        return e;
    }
    e.finite = true;
    e.error = fabs(e.got - e.expected);
    if (e.got == 0 && e.expected != 0 && fabs(e.expected) < f32_normal_min) {
        e.flushed = true;
        e.error = gate->exact ? 0 : e.error;
    }
    return e;
}

/* What of an error the store as f16 does not explain, where the gate grants it ulps beside max_abs.
 */
static double error_excess(enum mf_dtype dtype, const struct element *e,
                           const struct mf_tolerance *gate) {
    const bool granted = dtype == MF_DTYPE_F16 && gate->ulp_f16 && gate->max_abs >= 0;

    if (!granted || !isfinite(e->error)) {
        return e->error;
    }
    return fmax(0, e->error - gate->ulp_f16 * f16_ulp(e->expected));
}

/* Whether the places of an f16 result are bounded by themselves. */
static bool gates_ulp(const struct mf_tolerance *gate) {
    return gate->ulp_f16 && gate->max_abs < 0;
}

void vf_compare(enum mf_dtype dtype, const void *got, const double *expected, uint64_t count,
                const struct mf_tolerance *gate, bool non_finite, struct vf_metrics *out) {
    struct vf_metrics m = vf_metrics_empty();
    double error_squares = 0;
    double expected_squares = 0;
    double expected_max = 0;

    m.element_count = count;
    for (uint64_t i = 0; i < count; i++) {
        const struct element e = element_compare(dtype, got, i, expected[i], gate, non_finite);
        const double ulp =
            dtype == MF_DTYPE_F16 && e.error > 0 ? e.error / f16_ulp(expected[i]) : 0;
        const double excess = error_excess(dtype, &e, gate);
        const bool mismatch = !e.finite || (gate->exact && e.error > 0) ||
                              (gates_ulp(gate) && ulp > gate->ulp_f16) ||
                              (gate->max_abs >= 0 && excess >= gate->max_abs);

        m.flushed_count += e.flushed;
        m.non_finite_count += !e.finite;
        m.ulp_f16 = ulp > m.ulp_f16 ? ulp : m.ulp_f16;
        m.excess = excess > m.excess ? excess : m.excess;
        if (mismatch && m.mismatch_count++ == 0) {
            m.first_index = i;
            m.first_got = e.got;
            m.first_expected = e.expected;
        }
        if (m.worst_index == VF_NO_INDEX || e.error > m.max_abs) {
            m.max_abs = e.error;
            m.worst_index = i;
            m.worst_got = e.got;
            m.worst_expected = e.expected;
        }
        if (isfinite(e.expected)) {
            error_squares += e.error * e.error;
            expected_squares += e.expected * e.expected;
            expected_max = fabs(e.expected) > expected_max ? fabs(e.expected) : expected_max;
        } else if (!e.finite) {
            error_squares = INFINITY;
        }
    }
    if (error_squares > 0) {
        m.rel = expected_squares > 0 ? sqrt(error_squares) / sqrt(expected_squares) : INFINITY;
    }
    if (m.max_abs > 0) {
        m.scale = expected_max > 0 ? m.max_abs / expected_max : INFINITY;
    }
    *out = m;
}

static size_t append(char *text, size_t used, size_t size, const char *format, double a, double b) {
    if (used < size) {
        const int length = snprintf(text + used, size - used, format, a, b);
        used += length > 0 ? (size_t)length : 0;
    }
    return used;
}

bool vf_metrics_pass(const struct vf_metrics *m, const struct mf_tolerance *gate, char *reason,
                     size_t size) {
    size_t used = 0;

    reason[0] = '\0';
    if (!gate->exact && !gate->ulp_f16 && gate->max_abs < 0 && gate->rel < 0 && gate->scale < 0) {
        snprintf(reason, size, "no gate: the tolerance bounds nothing");
        return false;
    }
    if (m->element_count == 0) {
        snprintf(reason, size, "no output element was compared");
        return false;
    }
    if (m->non_finite_count) {
        used = append(reason, used, size, "%.0f of %.0f elements are not finite; ",
                      (double)m->non_finite_count, (double)m->element_count);
    }
    if (gate->exact && m->mismatch_count) {
        used = append(reason, used, size, "%.0f of %.0f elements differ, equality asked; ",
                      (double)m->mismatch_count, (double)m->element_count);
    }
    if (gates_ulp(gate) && !(m->ulp_f16 <= gate->ulp_f16)) {
        used = append(reason, used, size, "%.6g f16 ulp, at most %.0f asked; ", m->ulp_f16,
                      (double)gate->ulp_f16);
    }
    if (gate->max_abs >= 0 && !(m->excess < gate->max_abs)) {
        used = append(reason, used, size, "max_abs %.6g, below %.6g asked; ", m->excess,
                      gate->max_abs);
    }
    if (gate->rel >= 0 && !(m->rel < gate->rel)) {
        used = append(reason, used, size, "rel %.6g, below %.6g asked; ", m->rel, gate->rel);
    }
    if (gate->scale >= 0 && !(m->scale < gate->scale)) {
        used = append(reason, used, size, "scale %.6g, below %.6g asked; ", m->scale, gate->scale);
    }
    if (used == 0) {
        return true;
    }
    if (m->first_index != VF_NO_INDEX && used < size) {
        used += (size_t)snprintf(reason + used, size - used,
                                 "first at %" PRIu64 ": got %.9g, expected %.9g; ", m->first_index,
                                 m->first_got, m->first_expected);
    }
    if (used < size) {
        snprintf(reason + used, size - used, "worst at %" PRIu64 ": got %.9g, expected %.9g",
                 m->worst_index, m->worst_got, m->worst_expected);
    }
    return false;
}

void vf_metrics_merge(struct vf_metrics *into, const struct vf_metrics *other) {
    if (into->worst_index == VF_NO_INDEX || other->max_abs > into->max_abs) {
        into->worst_index = other->worst_index;
        into->worst_got = other->worst_got;
        into->worst_expected = other->worst_expected;
    }
    if (into->first_index == VF_NO_INDEX) {
        into->first_index = other->first_index;
        into->first_got = other->first_got;
        into->first_expected = other->first_expected;
    }
    into->max_abs = fmax(into->max_abs, other->max_abs);
    into->rel = fmax(into->rel, other->rel);
    into->scale = fmax(into->scale, other->scale);
    into->ulp_f16 = fmax(into->ulp_f16, other->ulp_f16);
    into->excess = fmax(into->excess, other->excess);
    into->element_count += other->element_count;
    into->mismatch_count += other->mismatch_count;
    into->near_count += other->near_count;
    into->flushed_count += other->flushed_count;
    into->non_finite_count += other->non_finite_count;
}
