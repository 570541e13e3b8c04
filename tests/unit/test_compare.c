/* SPDX-License-Identifier: MIT */
/* Metrics and gates against values worked out by hand. */
#include "vf_compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct mf_tolerance none(void) {
    return (struct mf_tolerance){.max_abs = -1, .rel = -1, .scale = -1};
}

static void assert_close(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected))) {
        fail_msg("got %.17g, expected %.17g", got, expected);
    }
}

/* 3-4-5: errors 0, 0.3, -0.4 over expected 3, 4, 12. */
static void test_metrics(void **state) {
    const float got[] = {3.0F, 4.5F, 11.0F};
    const double expected[] = {3.0, 4.0, 12.0};
    struct mf_tolerance gate = none();
    struct vf_metrics m;
    char reason[512];

    (void)state;
    gate.rel = 0.5;
    vf_compare(MF_DTYPE_F32, got, expected, 3, &gate, false, &m);
    assert_close(m.max_abs, 1.0);
    assert_close(m.rel, sqrt(1.25) / 13.0); /* 3^2 + 4^2 + 12^2 = 13^2 */
    assert_close(m.scale, 1.0 / 12.0);
    assert_int_equal(m.worst_index, 2);
    assert_int_equal(m.element_count, 3);
    assert_true(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    gate.rel = sqrt(1.25) / 13.0; /* bounds are strict */
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    assert_non_null(strstr(reason, "rel 0.0860"));
    gate = none();
    gate.scale = 1.0 / 12.0 + 1e-9;
    assert_true(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    gate.scale = 0.08;
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    gate = none();
    gate.max_abs = 0.6;
    vf_compare(MF_DTYPE_F32, got, expected, 3, &gate, false, &m);
    assert_int_equal(m.mismatch_count, 1);
    assert_int_equal(m.first_index, 2);
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    assert_non_null(strstr(reason, "got 11, expected 12"));
}

static void test_gate_that_gates_nothing(void **state) {
    const float got[] = {1.0F};
    const double expected[] = {1.0};
    const struct mf_tolerance gate = none();
    struct mf_tolerance exact = none();
    struct vf_metrics m;
    char reason[512];

    (void)state;
    vf_compare(MF_DTYPE_F32, got, expected, 1, &gate, false, &m);
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    exact.exact = true;
    vf_compare(MF_DTYPE_F32, got, expected, 0, &exact, false, &m);
    assert_false(vf_metrics_pass(&m, &exact, reason, sizeof reason));
    vf_compare(MF_DTYPE_F32, got, expected, 1, &exact, false, &m);
    assert_true(vf_metrics_pass(&m, &exact, reason, sizeof reason));
}

/* max_abs beside ulp_f16 bounds what the store of a half cannot explain; f32 is granted nothing. */
static void test_max_abs_beyond_f16_store(void **state) {
    static const struct {
        double expected;
        uint16_t got;
        bool pass;
        double excess;
    } rows[] = {
        {1.0, 0x3C00, true, 0},                      /* 1 */
        {1.0, 0x3C01, true, 0},                      /* one place above */
        {1.0, 0x3C02, false, 0x1p-10},               /* two places above */
        {1.0 + 0x1p-10 - 1e-6, 0x3C00, true, 0},     /* rounded down */
        {1.0 + 0x1p-10 + 5e-5, 0x3C00, true, 5e-5},  /* plus an error of f32 */
        {1.0 + 0x1p-10 + 2e-4, 0x3C00, false, 2e-4}, /* plus too large a one */
        {1e-6, 0x0000, true, 1e-6 - 0x1p-24},        /* many places, but tiny */
    };
    struct mf_tolerance gate = none();
    struct vf_metrics m;
    char reason[512];

    (void)state;
    gate.max_abs = 1e-4;
    gate.ulp_f16 = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        vf_compare(MF_DTYPE_F16, &rows[i].got, &rows[i].expected, 1, &gate, false, &m);
        assert_true(fabs(m.excess - rows[i].excess) < 1e-12);
        assert_int_equal(m.mismatch_count, !rows[i].pass);
        assert_int_equal(vf_metrics_pass(&m, &gate, reason, sizeof reason), rows[i].pass);
    }
    const float single = 1.0F + 0x1p-10F;
    vf_compare(MF_DTYPE_F32, &single, &rows[0].expected, 1, &gate, false, &m);
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    const uint16_t infinity = 0x7C00;
    vf_compare(MF_DTYPE_F16, &infinity, &rows[0].expected, 1, &gate, false, &m);
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
}

/* One wrong element among many must not hide behind an average. */
static void test_single_wrong_element(void **state) {
    enum { ELEMENTS = 1 << 16 };
    float *got = calloc(ELEMENTS, sizeof *got);
    double *expected = calloc(ELEMENTS, sizeof *expected);
    struct mf_tolerance gate = none();
    struct vf_metrics m;
    char reason[512];

    (void)state;
    for (int i = 0; i < ELEMENTS; i++) {
        expected[i] = i % 2 ? 1.0 : -1.0;
        got[i] = (float)expected[i];
    }
    got[40000] += 0.01F;
    gate.rel = 1e-3;
    vf_compare(MF_DTYPE_F32, got, expected, ELEMENTS, &gate, false, &m);
    assert_true(m.rel < 1e-4);
    gate.max_abs = 1e-3;
    vf_compare(MF_DTYPE_F32, got, expected, ELEMENTS, &gate, false, &m);
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    assert_int_equal(m.first_index, 40000);
    free(got);
    free(expected);
}

static void test_non_finite(void **state) {
    const float got[] = {NAN, INFINITY, -INFINITY, 1.0F};
    struct mf_tolerance gates[] = {none(), none(), none()};
    struct vf_metrics m;
    char reason[512];

    (void)state;
    gates[0].rel = gates[1].max_abs = 1e30;
    gates[2].exact = true;
    for (size_t g = 0; g < COUNT(gates); g++) {
        for (size_t i = 0; i < 3; i++) {
            const double finite = 1.0;
            const double same = (double)got[i];
            vf_compare(MF_DTYPE_F32, &got[i], &finite, 1, &gates[g], false, &m);
            assert_int_equal(m.non_finite_count, 1);
            assert_false(vf_metrics_pass(&m, &gates[g], reason, sizeof reason));
            /* Not even where the reference has it, unless the case says so. */
            vf_compare(MF_DTYPE_F32, &got[i], &same, 1, &gates[g], false, &m);
            assert_false(vf_metrics_pass(&m, &gates[g], reason, sizeof reason));
            vf_compare(MF_DTYPE_F32, &got[i], &same, 1, &gates[g], true, &m);
            assert_true(vf_metrics_pass(&m, &gates[g], reason, sizeof reason));
            const double other = i == 1 ? -INFINITY : INFINITY;
            vf_compare(MF_DTYPE_F32, &got[i], &other, 1, &gates[g], true, &m);
            assert_false(vf_metrics_pass(&m, &gates[g], reason, sizeof reason));
        }
        const double infinite = INFINITY;
        vf_compare(MF_DTYPE_F32, &got[3], &infinite, 1, &gates[g], true, &m);
        assert_false(vf_metrics_pass(&m, &gates[g], reason, sizeof reason));
    }
}

static void test_exact_zeros_and_subnormals(void **state) {
    const float got[] = {0.0F, -0.0F, 0.0F, -0.0F, 0x1p-126F, 0x1p-149F};
    const double expected[] = {-0.0, 0.0, 0x1p-127, -0x1p-149, 0x1p-126, 0x1p-149};
    const float flushed_normal = 0.0F;
    const double smallest_normal = 0x1p-126;
    const float wrong_subnormal = 0x1p-148F;
    struct mf_tolerance gate = none();
    struct vf_metrics m;
    char reason[512];

    (void)state;
    gate.exact = true;
    vf_compare(MF_DTYPE_F32, got, expected, COUNT(got), &gate, false, &m);
    assert_true(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    assert_int_equal(m.flushed_count, 2);
    vf_compare(MF_DTYPE_F32, &flushed_normal, &smallest_normal, 1, &gate, false, &m);
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    vf_compare(MF_DTYPE_F32, &wrong_subnormal, &expected[5], 1, &gate, false, &m);
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
    /* One bit of a normal value. */
    const float next = nextafterf(1.0F, 2.0F);
    const double one = 1.0;
    vf_compare(MF_DTYPE_F32, &next, &one, 1, &gate, false, &m);
    assert_false(vf_metrics_pass(&m, &gate, reason, sizeof reason));
}

/* binary16: 0x3C00 is 1, 0x3C01 the next, 0x3BFF the one before; 0x0001 is 2^-24, 0x7BFF 65504. */
static void test_f16_ulp(void **state) {
    const struct {
        uint16_t got;
        double expected;
        uint32_t ulp;
        bool pass;
    } rows[] = {
        {0x3C00, 1.0, 1, true},
        {0x3C01, 1.0, 1, true},
        {0x3C02, 1.0, 1, false},
        {0x3C02, 1.0, 2, true},
        {0x3C01, 1.0 + 0x1p-11, 1, true},
        {0x3C00, 1.0 + 0x1p-11, 1, true},
        {0x3C02, 1.0 + 0x1p-11, 1, false},
        {0x0001, 0x1p-25, 1, true},
        {0x0000, 0x1p-24, 1, true},
        {0x0000, 0x1p-23, 1, false},
        {0x8001, 0x1p-24, 1, false},
        {0x7BFF, 65504.0, 1, true},
        {0x7C00, 65504.0, 1, false},
        {0xBC00, 1.0, 1, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_tolerance gate = none();
        struct vf_metrics m;
        char reason[512];

        gate.ulp_f16 = rows[i].ulp;
        vf_compare(MF_DTYPE_F16, &rows[i].got, &rows[i].expected, 1, &gate, false, &m);
        if (vf_metrics_pass(&m, &gate, reason, sizeof reason) != rows[i].pass) {
            fail_msg("row %zu: %s", i, reason);
        }
    }
}

static void test_f16_beyond_range(void **state) {
    const uint16_t got[] = {0x7BFF, 0x7C00, 0xFC00, 0x3C00};
    const bool pass[] = {true, true, false, false};
    const double expected = 70000.0;
    struct mf_tolerance gate = none();
    struct vf_metrics m;
    char reason[512];

    (void)state;
    gate.ulp_f16 = 1;
    for (size_t i = 0; i < COUNT(got); i++) {
        vf_compare(MF_DTYPE_F16, &got[i], &expected, 1, &gate, true, &m);
        assert_int_equal(vf_metrics_pass(&m, &gate, reason, sizeof reason), pass[i]);
    }
}

static void test_elements_and_bytes(void **state) {
    const int32_t integers[] = {-1, 2147483647};
    const uint16_t bf16 = 0x3FC0; /* 1.5 */

    (void)state;
    assert_true(vf_element_load(MF_DTYPE_I32, integers, 0) == -1.0);
    assert_true(vf_element_load(MF_DTYPE_I32, integers, 1) == 2147483647.0);
    assert_true(vf_element_load(MF_DTYPE_BF16, &bf16, 0) == 1.5);
    assert_true(isnan(vf_element_load(MF_DTYPE_Q4_0, integers, 0)));
    assert_int_equal(vf_output_bytes(MF_DTYPE_F16, 3), 8);
    assert_int_equal(vf_output_bytes(MF_DTYPE_F32, 3), 12);
    assert_int_equal(vf_output_bytes(MF_DTYPE_Q8_1, 64), 72);
}

static void test_zero_reference(void **state) {
    const float got[] = {0.0F, 1e-6F};
    const double expected[] = {0.0, 0.0};
    struct mf_tolerance gate = none();
    struct vf_metrics m;

    (void)state;
    gate.rel = 1;
    vf_compare(MF_DTYPE_F32, got, expected, 1, &gate, false, &m);
    assert_true(m.rel == 0 && m.scale == 0);
    vf_compare(MF_DTYPE_F32, got, expected, 2, &gate, false, &m);
    assert_true(isinf(m.rel) && isinf(m.scale));
}

static void test_merge(void **state) {
    struct vf_metrics a = vf_metrics_empty();
    struct vf_metrics b = vf_metrics_empty();

    (void)state;
    a.max_abs = 1, a.rel = 2, a.element_count = 3, a.worst_index = 7;
    b.max_abs = 4, b.rel = 1, b.element_count = 5, b.worst_index = 9, b.worst_got = 8;
    vf_metrics_merge(&a, &b);
    assert_true(a.max_abs == 4 && a.rel == 2 && a.worst_got == 8);
    assert_int_equal(a.element_count, 8);
    assert_int_equal(a.worst_index, 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_gate_that_gates_nothing),
        cmocka_unit_test(test_max_abs_beyond_f16_store),
        cmocka_unit_test(test_single_wrong_element),
        cmocka_unit_test(test_non_finite),
        cmocka_unit_test(test_exact_zeros_and_subnormals),
        cmocka_unit_test(test_f16_ulp),
        cmocka_unit_test(test_f16_beyond_range),
        cmocka_unit_test(test_elements_and_bytes),
        cmocka_unit_test(test_zero_reference),
        cmocka_unit_test(test_merge),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
