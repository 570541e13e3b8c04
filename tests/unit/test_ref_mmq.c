/* SPDX-License-Identifier: MIT */
/*
 * The reference of mmq against sums that were computed in Python with math.fsum over x quantised
 * there, and against plain sums over decoded blocks for every type.
 */
#include "vf_family.h"

#include "vf_decode.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void prepare(uint64_t t, uint64_t nout, uint64_t k, enum mf_dtype weights,
                    struct vf_problem *problem) {
    const struct vf_family *family = vf_family_find("mmq");
    const struct vf_case kase = {
        .id = "test", .dims = {{"t", t}, {"nout", nout}, {"k", k}}, .dim_count = 3};
    const enum mf_dtype dtypes[] = {weights, MF_DTYPE_Q8_1};
    struct kiln_error error = {0};

    assert_non_null(family);
    assert_int_equal(family->shared_dtype_count, 2);
    if (family->prepare(&kase, dtypes, 7, problem, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(problem->buffer_count, 3);
    assert_string_equal(problem->buffers[1].binding, "x");
    assert_int_equal(problem->buffers[1].size_bytes, t * k / 32 * 36);
    assert_string_equal(problem->buffers[2].binding, "y");
    assert_int_equal(problem->buffers[2].element_count, t * nout);
}

/* The sums over the f32 x differ in the third digit: -1.1801 0.7061 1.2328. */
static void test_values(void **state) {
    static const struct {
        size_t token, row;
        double y;
    } rows[] = {
        {0, 0, -1.1799240955283494}, {3, 2, 0.6983728484906351}, {4, 5, 1.2231364124245374}};
    struct vf_problem problem = {0};

    (void)state;
    prepare(5, 6, 64, MF_DTYPE_F32, &problem);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double y = problem.buffers[2].expected[rows[i].token * 6 + rows[i].row];
        if (!(fabs(y - rows[i].y) < 1e-14)) {
            fail_msg("row %zu: %.17g, expected %.17g", i, y, rows[i].y);
        }
    }
    vf_problem_release(&problem);
}

static void test_every_dtype(void **state) {
    enum { T = 3, NOUT = 5, K = 512 };
    size_t count = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct vf_problem problem = {0};
        float w[K], x[T * K];

        if (!table[i].weight) {
            continue;
        }
        prepare(T, NOUT, K, table[i].dtype, &problem);
        const uint8_t *weights = problem.buffers[0].bytes;
        assert_int_equal(vf_decode(MF_DTYPE_Q8_1, problem.buffers[1].bytes, T * K, x), KILN_OK);
        for (size_t row = 0; row < NOUT; row++) {
            assert_int_equal(
                vf_decode(table[i].dtype, weights + row * problem.buffers[0].row_bytes, K, w),
                KILN_OK);
            for (size_t token = 0; token < T; token++) {
                double sum = 0;
                for (size_t c = 0; c < K; c++) {
                    sum += (double)x[token * K + c] * (double)w[c];
                }
                assert_true(fabs(sum - problem.buffers[2].expected[token * NOUT + row]) < 1e-11);
            }
        }
        vf_problem_release(&problem);
    }
}

/* A problem of fewer tokens is the head of what the memo holds. */
static void test_memo(void **state) {
    static const uint64_t tokens[] = {5, 2, 7, 0};
    const struct vf_family *family = vf_family_find("mmq");
    const enum mf_dtype dtypes[] = {MF_DTYPE_Q4_0, MF_DTYPE_Q8_1};
    struct vf_memo memo = {0};

    (void)state;
    for (size_t i = 0; i < COUNT(tokens); i++) {
        const struct vf_case kase = {
            .id = "test", .dims = {{"t", tokens[i]}, {"nout", 6}, {"k", 64}}, .dim_count = 3};
        struct vf_problem with = {.memo = &memo};
        struct vf_problem without = {0};

        assert_int_equal(family->prepare(&kase, dtypes, 7, &with, NULL), KILN_OK);
        assert_int_equal(family->prepare(&kase, dtypes, 7, &without, NULL), KILN_OK);
        for (size_t b = 0; b < 2; b++) {
            assert_int_equal(with.buffers[b].size_bytes, without.buffers[b].size_bytes);
            assert_memory_equal(with.buffers[b].bytes, without.buffers[b].bytes,
                                with.buffers[b].size_bytes);
        }
        assert_memory_equal(with.buffers[2].expected, without.buffers[2].expected,
                            tokens[i] * 6 * sizeof(double));
        vf_problem_release(&with);
        vf_problem_release(&without);
    }
    vf_memo_release(&memo);
}

static void test_refused(void **state) {
    const struct vf_family *family = vf_family_find("mmq");
    static const struct {
        uint64_t k;
        enum mf_dtype dtypes[2];
    } rows[] = {{64, {MF_DTYPE_Q4_0, MF_DTYPE_F32}},
                {64, {MF_DTYPE_Q4_K, MF_DTYPE_Q8_1}},
                {40, {MF_DTYPE_F32, MF_DTYPE_Q8_1}}};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct vf_case kase = {
            .id = "test", .dims = {{"t", 1}, {"nout", 1}, {"k", rows[i].k}}, .dim_count = 3};
        struct vf_problem problem = {0};
        assert_int_equal(family->prepare(&kase, rows[i].dtypes, 0, &problem, NULL),
                         KILN_ERR_ARGUMENT);
        vf_problem_release(&problem);
    }
}

/* matmul's cases and the family's own; the largest for the types of all tiers only. */
static void test_cases(void **state) {
    static const enum mf_dtype dtypes[][2] = {{MF_DTYPE_Q6_K, MF_DTYPE_Q8_1},
                                              {MF_DTYPE_Q4_0, MF_DTYPE_Q8_1}};

    (void)state;
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        struct mf_arena arena = {0};
        struct vf_case_list list = {.arena = &arena};
        struct vf_case_list of_matmul = {.arena = &arena};
        const size_t own = i == 0 ? 2 : 1;

        assert_int_equal(vf_family_find("mmq")->list_cases(dtypes[i], &list), KILN_OK);
        assert_int_equal(vf_family_find("matmul")->list_cases(dtypes[i], &of_matmul), KILN_OK);
        assert_int_equal(list.count, of_matmul.count + own);
        assert_string_equal(list.cases[of_matmul.count].id, "32x2048x2048");
        if (own == 2) {
            assert_string_equal(list.cases[list.count - 1].id, "512x4096x4096");
            assert_int_equal(list.cases[list.count - 1].suites, VF_SUITE_FULL);
        }
        mf_arena_release(&arena);
    }
}

static void test_gates(void **state) {
    static const struct {
        const char *tier;
        double scale;
    } rows[] = {{"portable", 1.5e-2}, {"dp4a", 1.5e-2}, {"coopmat", 1e-2}};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct mf_artifact artifact = {.schedule = "tile_64x64w256", .tier = rows[i].tier};
        const struct mf_tolerance gate = vf_family_find("mmq")->ceiling(&artifact);
        assert_true(gate.max_abs < 0 && gate.rel < 0 && gate.scale == rows[i].scale);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_every_dtype),
        cmocka_unit_test(test_memo),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cases),  cmocka_unit_test(test_gates),
    };
    return cmocka_run_group_tests_name("ref_mmq", tests, NULL, NULL);
}
