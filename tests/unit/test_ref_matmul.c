/* SPDX-License-Identifier: MIT */
/*
 * The reference of matmul against sums that were computed in Python with math.fsum, and against
 * plain sums over decoded weights for every type.
 */
#include "vf_family.h"

#include "vf_decode.h"
#include "vf_f16.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void prepare(uint64_t t, uint64_t nout, uint64_t k, enum mf_dtype weights, enum mf_dtype x,
                    struct vf_problem *problem) {
    const struct vf_family *family = vf_family_find("matmul");
    const struct vf_case kase = {
        .id = "test", .dims = {{"t", t}, {"nout", nout}, {"k", k}}, .dim_count = 3};
    const enum mf_dtype dtypes[] = {weights, x};
    struct kiln_error error = {0};

    assert_non_null(family);
    assert_int_equal(family->shared_dtype_count, 2);
    if (family->prepare(&kase, dtypes, 7, problem, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(problem->buffer_count, 3);
    assert_string_equal(problem->buffers[0].binding, "weights");
    assert_string_equal(problem->buffers[1].binding, "x");
    assert_string_equal(problem->buffers[2].binding, "y");
    assert_int_equal(problem->buffers[2].element_count, t * nout);
    assert_int_equal(problem->param_count, 1);
    assert_string_equal(problem->params[0].name, "y_stride");
    assert_int_equal(problem->params[0].value.u, nout);
}

/* Neither tokens nor rows are a multiple of the blocking. */
static void test_values(void **state) {
    static const struct {
        enum mf_dtype x;
        size_t token, row;
        double y;
    } rows[] = {
        {MF_DTYPE_F32, 0, 0, -0.7713882424033329}, {MF_DTYPE_F32, 3, 2, 0.16022422171189277},
        {MF_DTYPE_F32, 4, 5, 0.17678105264524646}, {MF_DTYPE_F16, 0, 0, -0.7717159950225039},
        {MF_DTYPE_F16, 3, 2, 0.16041214478900656}, {MF_DTYPE_F16, 4, 5, 0.17658510038290842},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct vf_problem problem = {0};

        prepare(5, 6, 40, MF_DTYPE_F32, rows[i].x, &problem);
        assert_int_equal(problem.buffers[1].size_bytes,
                         5 * 40 * (rows[i].x == MF_DTYPE_F16 ? 2 : 4));
        const double y = problem.buffers[2].expected[rows[i].token * 6 + rows[i].row];
        if (!(fabs(y - rows[i].y) < 1e-14)) {
            fail_msg("row %zu: %.17g, expected %.17g", i, y, rows[i].y);
        }
        vf_problem_release(&problem);
    }
}

static void test_every_dtype(void **state) {
    enum { T = 3, NOUT = 5, K = 512 };
    size_t count = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct vf_problem problem = {0};
        float values[K];

        if (!table[i].weight) {
            continue;
        }
        prepare(T, NOUT, K, table[i].dtype, MF_DTYPE_F16, &problem);
        const uint8_t *weights = problem.buffers[0].bytes;
        const uint16_t *x = problem.buffers[1].bytes;
        for (size_t row = 0; row < NOUT; row++) {
            assert_int_equal(
                vf_decode(table[i].dtype, weights + row * problem.buffers[0].row_bytes, K, values),
                KILN_OK);
            for (size_t token = 0; token < T; token++) {
                double sum = 0;
                for (size_t c = 0; c < K; c++) {
                    sum += (double)vf_f16_decode(x[token * K + c]) * (double)values[c];
                }
                assert_true(fabs(sum - problem.buffers[2].expected[token * NOUT + row]) < 1e-11);
            }
        }
        vf_problem_release(&problem);
    }
}

/* What a memo holds of other cases changes nothing: fewer tokens, other shapes, another seed. */
static void test_memo(void **state) {
    static const struct {
        uint64_t t, nout, seed;
    } rows[] = {{5, 6, 7}, {2, 6, 7}, {5, 6, 7}, {7, 6, 7}, {3, 4, 7}, {3, 4, 8}, {0, 4, 8}};
    const struct vf_family *family = vf_family_find("matmul");
    const enum mf_dtype dtypes[] = {MF_DTYPE_Q4_0, MF_DTYPE_F16};
    struct vf_memo memo = {0};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct vf_case kase = {.id = "test",
                                     .dims = {{"t", rows[i].t}, {"nout", rows[i].nout}, {"k", 64}},
                                     .dim_count = 3};
        struct vf_problem with = {.memo = &memo};
        struct vf_problem without = {0};

        assert_int_equal(family->prepare(&kase, dtypes, rows[i].seed, &with, NULL), KILN_OK);
        assert_int_equal(family->prepare(&kase, dtypes, rows[i].seed, &without, NULL), KILN_OK);
        for (size_t b = 0; b < 2; b++) {
            assert_int_equal(with.buffers[b].size_bytes, without.buffers[b].size_bytes);
            assert_memory_equal(with.buffers[b].bytes, without.buffers[b].bytes,
                                with.buffers[b].size_bytes);
        }
        assert_int_equal(with.buffers[2].element_count, rows[i].t * rows[i].nout);
        assert_memory_equal(with.buffers[2].expected, without.buffers[2].expected,
                            rows[i].t * rows[i].nout * sizeof(double));
        vf_problem_release(&with);
        vf_problem_release(&without);
    }
    vf_memo_release(&memo);
}

static void test_refused(void **state) {
    const struct vf_family *family = vf_family_find("matmul");
    static const struct vf_case kase = {
        .id = "test", .dims = {{"t", 1}, {"nout", 1}, {"k", 40}}, .dim_count = 3};
    static const enum mf_dtype dtypes[][2] = {{MF_DTYPE_Q4_0, MF_DTYPE_F32},
                                              {MF_DTYPE_F32, MF_DTYPE_Q8_0}};

    (void)state;
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        struct vf_problem problem = {0};
        assert_int_equal(family->prepare(&kase, dtypes[i], 0, &problem, NULL), KILN_ERR_ARGUMENT);
        vf_problem_release(&problem);
    }
}

static void test_gates(void **state) {
    const struct vf_family *family = vf_family_find("matmul");
    struct mf_artifact artifact = {.schedule = "column_w64t8r2", .tier = "portable"};

    (void)state;
    struct mf_tolerance gate = family->ceiling(&artifact);
    assert_true(gate.max_abs == 1e-3 && gate.rel < 0 && gate.scale < 0);
    artifact.schedule = "tile_64x64w256";
    gate = family->ceiling(&artifact);
    assert_true(gate.max_abs < 0 && gate.rel == 2e-3 && gate.scale < 0);
    artifact.tier = "coopmat";
    artifact.schedule = "mma_8x8x8w64";
    gate = family->ceiling(&artifact);
    assert_true(gate.max_abs < 0 && gate.rel < 0 && gate.scale == 1e-2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_every_dtype),
        cmocka_unit_test(test_memo),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_gates),
    };
    return cmocka_run_group_tests_name("ref_matmul", tests, NULL, NULL);
}
