/* SPDX-License-Identifier: MIT */
/* The order of argmax, top_k and moe_route, and what moe_route's judge lets change places. */
#include "vf_order.h"

#include "vf_family.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_select(void **state) {
    const float values[] = {NAN, -INFINITY, 1.0F, -0.0F, 0.0F, 1.0F, -NAN, 1e-40F};
    static const int32_t order[] = {2, 5, 7, 3, 4, 1, 0, 6, -1, -1};
    int32_t got[10];

    (void)state;
    assert_int_equal(vf_order_select(values, 8, 10, got), KILN_OK);
    assert_memory_equal(got, order, sizeof order);
    assert_int_equal(vf_order_select(values, 0, 2, got), KILN_OK);
    assert_int_equal(got[0], -1);
}

/* Every kind of row is there, and halves and singles agree. */
static void test_fill(void **state) {
    enum { ROWS = 7, N = 500 };
    static uint16_t halves[ROWS * N];
    static float singles[ROWS * N], values[ROWS * N], half_values[ROWS * N];
    size_t nans[ROWS] = {0};

    (void)state;
    vf_order_fill(MF_DTYPE_F32, ROWS, N, 5, singles, values);
    vf_order_fill(MF_DTYPE_F16, ROWS, N, 5, halves, half_values);
    assert_memory_equal(singles, values, sizeof values);
    for (size_t i = 0; i < (size_t)ROWS * N; i++) {
        nans[i / N] += isnan(values[i]) != 0;
        assert_int_equal(isnan(values[i]) != 0, isnan(half_values[i]) != 0);
        if (isfinite(values[i])) {
            assert_true(fabsf(half_values[i] - values[i]) <= fabsf(values[i]) / 2048 + 0x1p-25F);
        }
    }
    assert_int_equal(nans[4], N);
    assert_true(nans[3] > 0 && nans[3] < N);
    assert_int_equal(nans[0] + nans[1] + nans[2] + nans[5] + nans[6], 0);
}

/* One token of four experts, two of them nearly equal and two exactly. */
static void test_route_ties(void **state) {
    const struct vf_family *family = vf_family_find("moe_route");
    const struct vf_case kase = {
        .id = "test",
        .dims = {{"tokens", 1}, {"experts", 4}, {"topk", 4}, {"normalise", 1}},
        .dim_count = 4};
    static const int32_t swaps[][4] = {{0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 3, 2},
                                       {0, 2, 1, 3}, {0, 0, 2, 3}, {0, 1, 2, 7}};
    static const uint64_t near_count[] = {0, 2, 0, 0, 0, 0};
    static const uint64_t wrong_count[] = {0, 0, 2, 2, 1, 1};
    static const double expected[] = {0, 1, 2, 3};
    struct vf_problem problem = {0};
    struct vf_metrics m;

    (void)state;
    assert_int_equal(
        family->prepare(&kase, (const enum mf_dtype[]){MF_DTYPE_F32}, 0, &problem, NULL), KILN_OK);
    float *logits = (float *)(uintptr_t)problem.buffers[0].bytes;
    struct vf_buffer *ids = &problem.buffers[2];
    logits[0] = 1.0F;
    logits[1] = 1.0F - 0x1p-23F;
    logits[2] = logits[3] = 0.5F;
    ids->expected = expected;
    for (size_t i = 0; i < sizeof swaps / sizeof swaps[0]; i++) {
        ids->judge(ids, swaps[i], false, &m);
        assert_int_equal(m.near_count, near_count[i]);
        assert_int_equal(m.mismatch_count, wrong_count[i]);
    }
    vf_problem_release(&problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_route_ties),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
