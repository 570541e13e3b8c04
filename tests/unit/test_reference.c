/* SPDX-License-Identifier: MIT */
/*
 * References against numbers of another implementation: the expected y of matvec were computed in
 * Python with math.fsum over weights quantised and decoded there from the formulas of
 * docs/block_layouts.md, with the pseudo data of tensors 0 and 1.
 */
#include "vf_family.h"

#include "vf_decode.h"
#include "vf_f16.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct vf_buffer *buffer_named(const struct vf_problem *problem, const char *name) {
    for (size_t i = 0; i < problem->buffer_count; i++) {
        if (strcmp(problem->buffers[i].binding, name) == 0) {
            return &problem->buffers[i];
        }
    }
    fail_msg("no buffer %s", name);
    return NULL;
}

static void test_matvec_values(void **state) {
    static const struct {
        enum mf_dtype dtype;
        uint64_t nout, k, seed;
        double y[7];
    } rows[] = {
        {MF_DTYPE_F32, 3, 512, 0, {1.7564905001323936, -4.315508374107267, 6.3866072173541895}},
        {MF_DTYPE_F32,
         7,
         256,
         12345,
         {1.552610171090791, -0.28322834607620706, -0.23053066617008966, 0.5414709846414354,
          -0.4480863970641735, 0.7074445713431601, -0.5126086555049554}},
        {MF_DTYPE_Q8_0, 3, 512, 0, {1.764689444305077, -4.3009363359815325, 6.38523522035257}},
        {MF_DTYPE_Q8_0,
         7,
         256,
         12345,
         {1.5573603429068044, -0.2708476316774977, -0.21302699834518535, 0.5415505553560251,
          -0.46897851874314256, 0.7199368866902205, -0.5177820262849764}},
        {MF_DTYPE_Q4_0, 3, 512, 0, {2.0733753720523964, -4.0684982598613715, 6.409478372246667}},
        {MF_DTYPE_Q4_0,
         7,
         256,
         12345,
         {1.5879828220677155, -0.3552303039614344, -0.19120042513895896, 0.42346857506709057,
          -0.2665233569678094, 0.9122794302202237, -0.30724181050391053}},
    };
    const struct vf_family *family = vf_family_find("matvec");

    (void)state;
    assert_non_null(family);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct vf_case kase = {
            .id = "test", .dims = {{"nout", rows[i].nout}, {"k", rows[i].k}}, .dim_count = 2};
        const enum mf_dtype dtypes[] = {rows[i].dtype, MF_DTYPE_F32};
        struct vf_problem problem = {0};
        struct kiln_error error = {0};

        assert_int_equal(family->prepare(&kase, dtypes, rows[i].seed, &problem, &error), KILN_OK);
        const struct vf_buffer *y = buffer_named(&problem, "y");
        assert_int_equal(y->element_count, rows[i].nout);
        for (size_t r = 0; r < rows[i].nout; r++) {
            if (!(fabs(y->expected[r] - rows[i].y[r]) < 1e-13)) {
                fail_msg("row %zu, y[%zu]: %.17g, expected %.17g", i, r, y->expected[r],
                         rows[i].y[r]);
            }
        }
        vf_problem_release(&problem);
    }
}

static void test_matvec_every_dtype(void **state) {
    size_t count = 0;
    size_t weights = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    const struct vf_family *family = vf_family_find("matvec");

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct vf_case kase = {
            .id = "test", .dims = {{"nout", 4}, {"k", 512}}, .dim_count = 2};
        struct vf_problem problem = {0};
        float values[512];
        uint64_t row_bytes = 0;

        if (!table[i].weight) {
            continue;
        }
        weights++;
        const enum mf_dtype dtypes[] = {table[i].dtype, MF_DTYPE_F32};
        assert_int_equal(family->prepare(&kase, dtypes, 3, &problem, NULL), KILN_OK);
        const struct vf_buffer *w = buffer_named(&problem, "weights");
        const struct vf_buffer *x = buffer_named(&problem, "x");
        const struct vf_buffer *y = buffer_named(&problem, "y");
        assert_int_equal(mf_dtype_row_bytes(table[i].dtype, 512, &row_bytes), KILN_OK);
        assert_int_equal(w->size_bytes, 4 * row_bytes);
        assert_int_equal(w->row_bytes, row_bytes);
        assert_int_equal(x->size_bytes, 512 * 4);
        /* Row 2, in plain order: differs from the blocked sum by rounding only. */
        double sum = 0;
        double squares = 0;
        vf_decode(table[i].dtype, (const uint8_t *)w->bytes + 2 * row_bytes, 512, values);
        for (size_t c = 0; c < 512; c++) {
            sum += (double)values[c] * (double)((const float *)x->bytes)[c];
            squares += (double)values[c] * (double)values[c];
        }
        assert_true(fabs(sum - y->expected[2]) < 1e-11);
        /* Weights near 0.5: neither all zero nor out of the gates' range. */
        assert_true(sqrt(squares / 512) > 0.1 && sqrt(squares / 512) < 1.0);
        vf_problem_release(&problem);
    }
    assert_int_equal(weights, 28 + 3);
}

/* q8_1 activations: the kernel gets blocks, the expected y stays that of the f32 x. */
static void test_matvec_q8_1(void **state) {
    static const enum mf_dtype plain[] = {MF_DTYPE_Q4_K, MF_DTYPE_F32};
    static const enum mf_dtype quantised[] = {MF_DTYPE_Q4_K, MF_DTYPE_Q8_1};
    const struct vf_case kase = {.id = "test", .dims = {{"nout", 16}, {"k", 512}}, .dim_count = 2};
    const struct vf_case few = {.id = "test", .dims = {{"nout", 1}, {"k", 512}}, .dim_count = 2};
    const struct vf_family *family = vf_family_find("matvec");
    struct vf_problem problems[2] = {{.buffer_count = 0}, {.buffer_count = 0}};
    float values[512];

    (void)state;
    assert_int_equal(family->prepare(&kase, plain, 3, &problems[0], NULL), KILN_OK);
    assert_int_equal(family->prepare(&kase, quantised, 3, &problems[1], NULL), KILN_OK);
    const float *x = buffer_named(&problems[0], "x")->bytes;
    const struct vf_buffer *blocks = buffer_named(&problems[1], "x");
    assert_int_equal(blocks->size_bytes, 512 / 32 * 36);
    assert_int_equal(vf_decode(MF_DTYPE_Q8_1, blocks->bytes, 512, values), KILN_OK);
    for (size_t i = 0; i < 512; i++) {
        assert_true(fabsf(values[i] - x[i]) < 1.0F / 200);
    }
    for (size_t row = 0; row < 16; row++) {
        assert_true(buffer_named(&problems[0], "y")->expected[row] ==
                    buffer_named(&problems[1], "y")->expected[row]);
    }
    vf_problem_release(&problems[0]);
    vf_problem_release(&problems[1]);

    /* With few rows the blocks hold x exactly: y follows from the bytes that the kernel gets. */
    float weights[512];
    double sum = 0;
    assert_int_equal(family->prepare(&few, quantised, 3, &problems[0], NULL), KILN_OK);
    vf_decode(MF_DTYPE_Q8_1, buffer_named(&problems[0], "x")->bytes, 512, values);
    vf_decode(MF_DTYPE_Q4_K, buffer_named(&problems[0], "weights")->bytes, 512, weights);
    for (size_t i = 0; i < 512; i++) {
        sum += (double)values[i] * (double)weights[i];
    }
    assert_true(fabs(sum - buffer_named(&problems[0], "y")->expected[0]) < 1e-12);
    vf_problem_release(&problems[0]);
}

/* Each pair in plain order over the bytes the kernel gets; ids out of range give zeros. */
static void test_matvec_id(void **state) {
    enum { EXPERTS = 5, NOUT = 7, K = 256, T = 3, TOPK = 2 };
    static const enum mf_dtype dtypes[] = {MF_DTYPE_Q4_0, MF_DTYPE_F32};
    const struct vf_family *family = vf_family_find("matvec_id");
    size_t out_of_range = 0;

    (void)state;
    for (uint64_t slots = 1; slots <= TOPK; slots++) {
        const struct vf_case kase = {.id = "test",
                                     .dims = {{"experts", EXPERTS},
                                              {"nout", NOUT},
                                              {"k", K},
                                              {"t", T},
                                              {"topk", TOPK},
                                              {"slots", slots}},
                                     .dim_count = 6};
        struct vf_problem problem = {0};
        float values[K];

        assert_int_equal(family->prepare(&kase, dtypes, 3, &problem, NULL), KILN_OK);
        const struct vf_buffer *w = buffer_named(&problem, "weights");
        const struct vf_buffer *x = buffer_named(&problem, "x");
        const int32_t *ids = buffer_named(&problem, "ids")->bytes;
        const double *y = buffer_named(&problem, "y")->expected;
        assert_int_equal(x->size_bytes, T * slots * K * 4);
        assert_int_equal(w->size_bytes, EXPERTS * w->row_bytes);
        assert_string_equal(w->row_dim, "experts");
        for (size_t i = 0; i < T * TOPK * NOUT; i++) {
            const size_t pair = i / NOUT;
            const size_t x_row = pair / TOPK * slots + (slots == 1 ? 0 : pair % TOPK);
            const bool exists = ids[pair] >= 0 && ids[pair] < EXPERTS;
            const size_t row = exists ? (size_t)ids[pair] * NOUT + i % NOUT : 0;
            double sum = 0;
            vf_decode(dtypes[0], (const uint8_t *)w->bytes + row * (w->row_bytes / NOUT), K,
                      values);
            for (size_t c = 0; c < K && exists; c++) {
                sum += (double)values[c] * (double)((const float *)x->bytes)[x_row * K + c];
            }
            out_of_range += !exists;
            assert_true(fabs(sum - y[i]) < 1e-12);
        }
        vf_problem_release(&problem);
    }
    assert_int_equal(out_of_range, 2 * 3 * NOUT);
}

static void test_dequant_blocks(void **state) {
    size_t count = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    const struct vf_family *family = vf_family_find("dequant");

    (void)state;
    for (size_t i = 0; i < count; i++) {
        enum { ELEMENTS = 64 * 256 };
        const struct vf_case kase = {.id = "test", .dims = {{"count", ELEMENTS}}, .dim_count = 1};
        struct vf_problem problem = {0};
        static float values[ELEMENTS];
        size_t nonzero = 0;
        size_t tiny = 0;

        if (!table[i].weight) {
            continue;
        }
        assert_int_equal(family->prepare(&kase, &table[i].dtype, 0, &problem, NULL), KILN_OK);
        const struct vf_buffer *w = buffer_named(&problem, "weights");
        const struct vf_buffer *v = buffer_named(&problem, "values");
        assert_int_equal(v->element_count, ELEMENTS);
        assert_int_equal(v->dtype_index, 1);
        assert_int_equal(vf_decode(table[i].dtype, w->bytes, ELEMENTS, values), KILN_OK);
        for (size_t e = 0; e < ELEMENTS; e++) {
            assert_true(isfinite(v->expected[e]));
            assert_true(fabs(v->expected[e]) <= 65504.0); /* f16 outputs must be finite */
            assert_true(v->expected[e] == (double)values[e]);
            nonzero += values[e] != 0;
            tiny += values[e] != 0 && fabs(v->expected[e]) < 1e-2;
        }
        /* Random codes of the 2-bit types are zero in a third of the elements, of no type in most.
         */
        assert_true(nonzero > ELEMENTS / 2);
        assert_true(tiny > 0);
        vf_problem_release(&problem);
    }
}

static void test_deterministic(void **state) {
    static const char *const names[] = {"matvec", "dequant"};
    static const struct vf_case cases[] = {
        {.id = "a", .dims = {{"nout", 5}, {"k", 256}}, .dim_count = 2},
        {.id = "b", .dims = {{"count", 1024}}, .dim_count = 1}};
    static const enum mf_dtype dtypes[][2] = {{MF_DTYPE_Q4_K, MF_DTYPE_F32},
                                              {MF_DTYPE_IQ2_XXS, MF_DTYPE_F32}};

    (void)state;
    for (size_t n = 0; n < 2; n++) {
        for (size_t d = 0; d < 2; d++) {
            struct vf_problem p[3] = {{.buffer_count = 0}};
            const struct vf_family *family = vf_family_find(names[n]);
            for (size_t i = 0; i < 3; i++) {
                assert_int_equal(family->prepare(&cases[n], dtypes[d], i == 2, &p[i], NULL),
                                 KILN_OK);
            }
            const struct vf_buffer *a = &p[0].buffers[0];
            assert_memory_equal(a->bytes, p[1].buffers[0].bytes, a->size_bytes);
            assert_memory_not_equal(a->bytes, p[2].buffers[0].bytes, a->size_bytes);
            for (size_t i = 0; i < 3; i++) {
                vf_problem_release(&p[i]);
            }
        }
    }
}

/* The gate in force is the stricter one, bound by bound. */
static void test_gate(void **state) {
    const struct vf_family *matvec = vf_family_find("matvec");
    const struct vf_family *dequant = vf_family_find("dequant");
    static const char *const f16[] = {"q4_0", "f16"};
    static const char *const f32[] = {"q4_0", "f32"};
    struct mf_artifact artifact = {
        .schedule = "row_w64r1", .tier = "portable", .tolerance = {false, 10.0, 1e-6, -1, 0}};

    (void)state;
    struct mf_tolerance gate = vf_family_gate(matvec, &artifact);
    assert_true(gate.max_abs == 1e-3 && gate.rel == 1e-6 && gate.scale < 0 && !gate.exact);
    artifact.tolerance = (struct mf_tolerance){false, -1, -1, -1, 0};
    gate = vf_family_gate(matvec, &artifact);
    assert_true(gate.max_abs == 1e-3 && gate.rel == 1e-3);
    artifact.tier = "dp4a";
    gate = vf_family_gate(matvec, &artifact);
    assert_true(gate.max_abs < 0 && gate.rel == 2e-2);
    artifact.schedule = "block_w64r1";
    gate = vf_family_gate(matvec, &artifact);
    assert_true(gate.rel < 0 && gate.scale == 1e-2);
    gate = vf_family_gate(vf_family_find("matvec_id"), &artifact);
    assert_true(gate.rel < 0 && gate.scale == 1e-2);
    artifact.tier = "portable";
    gate = vf_family_gate(matvec, &artifact);
    assert_true(gate.rel == 3e-3 && gate.max_abs < 0);
    gate = vf_family_gate(vf_family_find("matvec_id"), &artifact);
    assert_true(gate.scale == 1e-3 && gate.max_abs < 0);
    artifact.dtypes = f16;
    artifact.dtype_count = 2;
    artifact.tolerance.ulp_f16 = 9;
    gate = vf_family_gate(dequant, &artifact);
    assert_true(!gate.exact && gate.ulp_f16 == 1);
    artifact.dtypes = f32;
    gate = vf_family_gate(dequant, &artifact);
    assert_true(gate.exact);
    assert_null(vf_family_find("nonsense"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matvec_values),  cmocka_unit_test(test_matvec_every_dtype),
        cmocka_unit_test(test_matvec_q8_1),    cmocka_unit_test(test_matvec_id),
        cmocka_unit_test(test_dequant_blocks), cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_gate),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
