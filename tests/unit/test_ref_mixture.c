/* SPDX-License-Identifier: MIT */
/*
 * The references of moe_group and matmul_id against groupings and sums that were computed in Python
 * (a stable sort, math.fsum).
 */
#include "vf_decode.h"
#include "vf_family.h"

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

static void test_groups(void **state) {
    static const struct {
        uint64_t experts, t, topk, spread;
        int32_t ids[14], offsets[6], perm[14];
    } rows[] = {
        {5,
         7,
         2,
         0,
         {5, 3, INT32_MIN, 0, 1, 2, 0, 3, 3, 0, 1, 0, 0, -1},
         {0, 5, 7, 8, 11, 11},
         {3, 6, 9, 11, 12, 4, 10, 5, 1, 7, 8, 0, 2, 13}},
        {5,
         7,
         2,
         1,
         {5, 2, INT32_MIN, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, -1},
         {0, 9, 9, 11, 11, 11},
         {3, 4, 5, 6, 7, 9, 10, 11, 12, 1, 8, 0, 2, 13}},
        {5,
         7,
         2,
         2,
         {5, 4, INT32_MIN, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, -1},
         {0, 0, 0, 0, 0, 11},
         {1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 2, 13}},
        {1, 1, 1, 0, {0}, {0, 1}, {0}},
        {4, 0, 2, 0, {0}, {0, 0, 0, 0, 0}, {0}},
    };
    const struct vf_family *family = vf_family_find("moe_group");
    const enum mf_dtype dtype = MF_DTYPE_I32;

    (void)state;
    assert_non_null(family);
    for (size_t r = 0; r < COUNT(rows); r++) {
        const uint64_t slot_count = rows[r].t * rows[r].topk;
        const struct vf_case kase = {.id = "test",
                                     .dims = {{"experts", rows[r].experts},
                                              {"t", rows[r].t},
                                              {"topk", rows[r].topk},
                                              {"spread", rows[r].spread}},
                                     .dim_count = 4,
                                     .data_dim_count = 1};
        struct vf_problem problem = {0};

        assert_int_equal(family->prepare(&kase, &dtype, 3, &problem, NULL), KILN_OK);
        const struct vf_buffer *ids = buffer_named(&problem, "ids");
        const struct vf_buffer *offsets = buffer_named(&problem, "offsets");
        const struct vf_buffer *perm = buffer_named(&problem, "perm");
        assert_int_equal(ids->size_bytes, slot_count * 4);
        assert_memory_equal(ids->bytes, rows[r].ids, slot_count * 4);
        assert_int_equal(offsets->dtype, MF_DTYPE_I32);
        assert_int_equal(perm->dtype, MF_DTYPE_I32);
        assert_int_equal(offsets->element_count, rows[r].experts + 1);
        assert_int_equal(perm->element_count, slot_count);
        for (size_t i = 0; i <= rows[r].experts; i++) {
            assert_int_equal((int32_t)offsets->expected[i], rows[r].offsets[i]);
        }
        for (size_t i = 0; i < slot_count; i++) {
            assert_int_equal((int32_t)perm->expected[i], rows[r].perm[i]);
        }
        vf_problem_release(&problem);
    }
}

static void prepare(uint64_t slots, const enum mf_dtype *dtypes, uint64_t k,
                    struct vf_problem *problem) {
    const struct vf_case kase = {.id = "test",
                                 .dims = {{"experts", 3},
                                          {"nout", 3},
                                          {"k", k},
                                          {"t", 4},
                                          {"topk", 2},
                                          {"slots", slots},
                                          {"spread", 0}},
                                 .dim_count = 7,
                                 .data_dim_count = 1};
    const struct vf_family *family = vf_family_find("matmul_id");
    struct kiln_error error = {0};

    assert_non_null(family);
    assert_int_equal(family->shared_dtype_count, 2);
    if (family->prepare(&kase, dtypes, 7, problem, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
}

/* Three experts, four tokens with two slots each, of which 0, 2 and 7 have no expert. */
static void test_values(void **state) {
    static const struct {
        uint64_t slots;
        enum mf_dtype x;
        double y[4]; /* of (slot, row) (1, 0), (3, 2), (5, 1), (6, 2) */
    } rows[] = {
        {1,
         MF_DTYPE_F32,
         {-0.200281864713709, -0.4727557976519279, -0.7654468426885188, 1.3487385601748016}},
        {1,
         MF_DTYPE_F16,
         {-0.20003163420409464, -0.47294041148370525, -0.7654686487803701, 1.3486922737797613}},
        {2,
         MF_DTYPE_F32,
         {-0.42817454412811884, 0.1929957158322253, 0.3557515747446729, -3.1047021488180846}},
        {2,
         MF_DTYPE_F16,
         {-0.4283810803040069, 0.1928220510758365, 0.35600515606756744, -3.104483431620068}},
    };
    static const size_t at[] = {1 * 3 + 0, 3 * 3 + 2, 5 * 3 + 1, 6 * 3 + 2};
    static const size_t none[] = {0, 2, 7};
    static const int32_t perm[] = {3, 5, 1, 4, 6, 0, 2, 7};
    static const int32_t offsets[] = {0, 0, 2, 5};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const enum mf_dtype dtypes[] = {MF_DTYPE_F32, rows[i].x};
        struct vf_problem problem = {0};

        prepare(rows[i].slots, dtypes, 40, &problem);
        const double *y = buffer_named(&problem, "y")->expected;
        assert_int_equal(buffer_named(&problem, "y")->element_count, 8 * 3);
        assert_int_equal(buffer_named(&problem, "x")->size_bytes,
                         4 * rows[i].slots * 40 * (rows[i].x == MF_DTYPE_F16 ? 2 : 4));
        assert_memory_equal(buffer_named(&problem, "perm")->bytes, perm, sizeof perm);
        assert_memory_equal(buffer_named(&problem, "offsets")->bytes, offsets, sizeof offsets);
        for (size_t j = 0; j < COUNT(at); j++) {
            if (!(fabs(y[at[j]] - rows[i].y[j]) < 1e-14)) {
                fail_msg("row %zu, %zu: %.17g, expected %.17g", i, j, y[at[j]], rows[i].y[j]);
            }
        }
        for (size_t j = 0; j < 3 * COUNT(none); j++) {
            assert_true(y[none[j / 3] * 3 + j % 3] == 0);
        }
        vf_problem_release(&problem);
    }
}

/* What no id names must not be read: expert 0 here. Windows are of whole experts. */
static void test_weights(void **state) {
    static const enum mf_dtype dtypes[] = {MF_DTYPE_Q8_0, MF_DTYPE_F32};
    struct vf_problem problem = {0};
    float values[64];

    (void)state;
    prepare(1, dtypes, 64, &problem);
    const struct vf_buffer *weights = buffer_named(&problem, "weights");
    assert_string_equal(weights->row_dim, "experts");
    assert_int_equal(weights->row_bytes, 3 * 64 / 32 * 34);
    assert_int_equal(weights->size_bytes, 3 * weights->row_bytes);
    for (size_t row = 0; row < 9; row++) {
        vf_decode(dtypes[0], (const uint8_t *)weights->bytes + row * 68, 64, values);
        for (size_t i = 0; i < 64; i++) {
            assert_true(row < 3 ? isnan(values[i]) : isfinite(values[i]));
        }
    }
    assert_int_equal(problem.param_count, 1);
    assert_string_equal(problem.params[0].name, "expert_count");
    assert_int_equal(problem.params[0].value.u, 3);
    vf_problem_release(&problem);
}

static void test_refused(void **state) {
    static const struct {
        enum mf_dtype dtypes[2];
        uint64_t k;
    } rows[] = {{{MF_DTYPE_Q4_0, MF_DTYPE_F32}, 40}, {{MF_DTYPE_F32, MF_DTYPE_Q8_0}, 64}};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct vf_case kase = {.id = "test",
                                     .dims = {{"experts", 1},
                                              {"nout", 1},
                                              {"k", rows[i].k},
                                              {"t", 1},
                                              {"topk", 1},
                                              {"slots", 1}},
                                     .dim_count = 6};
        struct vf_problem problem = {0};
        assert_int_equal(
            vf_family_find("matmul_id")->prepare(&kase, rows[i].dtypes, 0, &problem, NULL),
            KILN_ERR_ARGUMENT);
        vf_problem_release(&problem);
    }
}

static void test_gates(void **state) {
    struct mf_artifact artifact = {.schedule = "tile_32x64w256", .tier = "portable"};
    struct mf_tolerance gate = vf_family_find("matmul_id")->ceiling(&artifact);

    (void)state;
    assert_true(gate.scale == 1e-4 && gate.max_abs < 0 && gate.rel < 0);
    artifact.tier = "coopmat";
    gate = vf_family_find("matmul_id")->ceiling(&artifact);
    assert_true(gate.scale == 1e-2 && gate.max_abs < 0 && gate.rel < 0);
    assert_true(vf_family_find("moe_group")->ceiling(&artifact).exact);
}

/* The last dimension is the data's alone, in every case. */
static void test_cases(void **state) {
    static const struct {
        const char *reference;
        const char *seeds;
        size_t dim_count;
    } rows[] = {{"moe_group", "128x512x8x0", 4}, {"matmul_id", "16x768x2048x32x8x1x1", 7}};
    static const enum mf_dtype dtypes[] = {MF_DTYPE_Q6_K, MF_DTYPE_F32};

    (void)state;
    for (size_t r = 0; r < COUNT(rows); r++) {
        struct mf_arena arena = {0};
        struct vf_case_list list = {.arena = &arena};
        size_t quick = 0;
        size_t seeds = 0;

        assert_int_equal(vf_family_find(rows[r].reference)->list_cases(dtypes, &list), KILN_OK);
        for (size_t i = 0; i < list.count; i++) {
            assert_int_equal(list.cases[i].dim_count, rows[r].dim_count);
            assert_int_equal(list.cases[i].data_dim_count, 1);
            assert_true(list.cases[i].suites & VF_SUITE_FULL);
            quick += (list.cases[i].suites & VF_SUITE_QUICK) != 0;
            seeds += (list.cases[i].suites & VF_SUITE_SEEDS) &&
                     strcmp(list.cases[i].id, rows[r].seeds) == 0;
        }
        assert_int_equal(quick, 2);
        assert_int_equal(seeds, 1);
        mf_arena_release(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_weights), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_gates),   cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests_name("ref_mixture", tests, NULL, NULL);
}
