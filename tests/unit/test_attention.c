/* SPDX-License-Identifier: MIT */
/*
 * The attention reference against numbers computed in Python with math.fsum, and the problems that
 * the attention families make of it.
 */
#include "vf_attention.h"
#include "vf_compare.h"
#include "vf_family.h"

#include <float.h>
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

static double param_named(const struct vf_problem *problem, const char *name) {
    for (size_t i = 0; i < problem->param_count; i++) {
        const struct kiln_param *param = &problem->params[i];
        if (strcmp(param->name, name) == 0) {
            return param->kind == KILN_PARAM_REAL ? param->value.f : (double)param->value.u;
        }
    }
    fail_msg("no push constant %s", name);
    return 0;
}

static void near(double got, double expected) {
    if (!(fabs(got - expected) < 1e-13 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", got, expected);
    }
}

static void test_values(void **state) {
    static const float query[2] = {1, 2};
    static const float keys[4][3] = {{1, 0, NAN}, {0, 1, NAN}, {1, 1, NAN}, {-1, 2, NAN}};
    static const float values[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 9}};
    static const float mask[4] = {0, -INFINITY, 1, 0.25F};
    static const float nothing[4] = {-INFINITY, -INFINITY, -FLT_MAX, -INFINITY};
    static const struct {
        const float *mask;
        uint64_t key_first, key_end;
        double maximum, sum, vector[2];
    } rows[] = {
        {NULL, 0, 4, 1.5, 2.974410100884076, {14.187471420309343, 18.161881521193418}},
        {mask, 1, 4, 2.5, 1.4723665527410148, {8.3065658691871036, 10.251298974669133}},
        {NULL, 0, 2, 1, 1.6065306597126334, {3.6065306597126332, 5.2130613194252664}},
        {nothing, 0, 4, 0, 0, {0, 0}},
        {NULL, 3, 3, 0, 0, {0, 0}},
        {NULL, 4, 2, 0, 0, {0, 0}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        double scores[4];
        double maximum;
        double sum;
        double vector[2];
        const struct vf_attention attention = {.query = query,
                                               .keys = keys[0],
                                               .values = values[0],
                                               .key_stride = 3,
                                               .value_stride = 2,
                                               .mask = rows[i].mask,
                                               .key_first = rows[i].key_first,
                                               .key_end = rows[i].key_end,
                                               .d = 2,
                                               .scale = 0.5F,
                                               .scores = scores};

        vf_attention_partial(&attention, &maximum, &sum, vector);
        near(maximum, rows[i].maximum);
        near(sum, rows[i].sum);
        near(vector[0], rows[i].vector[0]);
        near(vector[1], rows[i].vector[1]);
        vf_attention_output(&attention, vector);
        near(vector[0], sum > 0 ? rows[i].vector[0] / rows[i].sum : 0);
        near(vector[1], sum > 0 ? rows[i].vector[1] / rows[i].sum : 0);
    }
}

static void test_keys_seen(void **state) {
    (void)state;
    assert_int_equal(vf_attention_keys_seen(false, 0, 9, 5), 5);
    assert_int_equal(vf_attention_keys_seen(true, 0, 1, 64), 64);
    assert_int_equal(vf_attention_keys_seen(true, 0, 16, 16), 1);
    assert_int_equal(vf_attention_keys_seen(true, 15, 16, 16), 16);
    assert_int_equal(vf_attention_keys_seen(true, 3, 9, 5), 0);
    assert_int_equal(vf_attention_keys_seen(true, 4, 9, 5), 1);
}

/* One row in five of the mask excludes every key, and its expected output is 0. */
static void test_flash_masked_rows(void **state) {
    const struct vf_family *family = vf_family_find("flash_attn");
    const struct vf_case kase = {
        .id = "test",
        .dims = {{"bh", 2}, {"lq", 4}, {"lk", 6}, {"d", 32}, {"causal", 0}, {"mask", 1}},
        .dim_count = 6};
    const enum mf_dtype dtype = MF_DTYPE_Q8_0;
    struct vf_problem problem = {0};

    (void)state;
    assert_int_equal(family->prepare(&kase, &dtype, 0, &problem, NULL), KILN_OK);
    const double *o = buffer_named(&problem, "o")->expected;
    assert_int_equal(buffer_named(&problem, "k")->size_bytes, 2 * 6 * 34);
    for (size_t row = 0; row < 8; row++) {
        bool zero = true;
        for (size_t i = 0; i < 32; i++) {
            zero = zero && o[row * 32 + i] == 0;
        }
        assert_int_equal(zero, row % 4 == 2);
    }
    vf_problem_release(&problem);
}

/* What lies between and behind the valid rows is NaN, for both layouts of the values. */
static void test_sdpa_poison(void **state) {
    static const enum mf_dtype dtypes[] = {MF_DTYPE_F32, MF_DTYPE_F16};
    const struct vf_family *family = vf_family_find("sdpa");

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        enum { KV = 2, LK = 5, D = 8 };
        const uint64_t capacity = i / 2 ? 16 : 7;
        const enum mf_dtype dtype = dtypes[i % 2];
        const struct vf_case kase = {.id = "test",
                                     .dims = {{"h", 4},
                                              {"kv", KV},
                                              {"lq", 2},
                                              {"lk", LK},
                                              {"d", D},
                                              {"causal", 1},
                                              {"capacity", capacity}},
                                     .dim_count = 7,
                                     .data_dim_count = 1};
        struct vf_problem problem = {0};
        size_t valid = 0;

        assert_int_equal(family->prepare(&kase, &dtype, 0, &problem, NULL), KILN_OK);
        const struct vf_buffer *v = buffer_named(&problem, "v");
        const uint64_t row_stride = (uint64_t)param_named(&problem, "v_row_stride");
        const uint64_t head_stride = (uint64_t)param_named(&problem, "v_head_stride");
        assert_int_equal(row_stride, capacity % 16 ? KV * D + 8 : D);
        for (uint64_t e = 0; e < KV * LK * D; e++) {
            const uint64_t at = e / D / LK * head_stride + e / D % LK * row_stride + e % D;
            assert_true(isfinite(vf_element_load(dtype, v->bytes, at)));
        }
        const uint64_t count = v->size_bytes / mf_dtype_info(dtype)->block_bytes;
        for (uint64_t e = 0; e < count; e++) {
            valid += isnan(vf_element_load(dtype, v->bytes, e)) ? 0 : 1;
        }
        assert_int_equal(valid, KV * LK * D);
        vf_problem_release(&problem);
    }
}

/* The parts that sdpa_split expects give, put together, what sdpa expects. */
static void test_sdpa_parts(void **state) {
    enum { ROWS = 4 * 9, SPLITS = 3, D = 16 };
    const struct vf_case whole = {
        .id = "test",
        .dims = {{"h", 4}, {"kv", 2}, {"lq", 9}, {"lk", 7}, {"d", D}, {"causal", 1}},
        .dim_count = 6};
    struct vf_case split = whole;
    const enum mf_dtype dtype = MF_DTYPE_F16;
    struct vf_problem whole_problem = {0};
    struct vf_problem split_problem = {0};

    (void)state;
    split.dims[split.dim_count++] = (struct mf_dim){"splits", SPLITS};
    assert_int_equal(vf_family_find("sdpa")->prepare(&whole, &dtype, 5, &whole_problem, NULL),
                     KILN_OK);
    assert_int_equal(vf_family_find("sdpa_split")->prepare(&split, &dtype, 5, &split_problem, NULL),
                     KILN_OK);
    const double *o = buffer_named(&whole_problem, "o")->expected;
    const double *maxima = buffer_named(&split_problem, "maxima")->expected;
    const double *sums = buffer_named(&split_problem, "sums")->expected;
    const double *vectors = buffer_named(&split_problem, "vectors")->expected;
    for (size_t i = 0; i < ROWS * D; i++) {
        const size_t row = i / D;
        double sum = 0;
        double total = 0;
        for (size_t part = row * SPLITS; part < (row + 1) * SPLITS; part++) {
            sum += exp(maxima[part]) * sums[part];
            total += exp(maxima[part]) * vectors[part * D + i % D];
        }
        near(sum > 0 ? total / sum : 0, o[i]);
    }
    vf_problem_release(&whole_problem);
    vf_problem_release(&split_problem);
}

/* The design's table, and that an artifact's dimensions come before those of the data. */
static void test_cases(void **state) {
    static const struct {
        const char *reference, *id;
    } wanted[] = {
        {"flash_attn", "8x16x16x128x0x0"},
        {"flash_attn", "8x16x16x128x1x0"},
        {"flash_attn", "8x1x64x128x1x0"},
        {"flash_attn", "4x7x13x64x0x0"},
        {"sdpa", "32x8x1x2048x128x0x2048"},
        {"sdpa", "32x8x1x2048x128x0x4096"},
        {"sdpa", "32x8x1x4096x128x0x4096"},
        {"sdpa", "32x8x128x128x128x1x128"},
        {"sdpa_split", "32x8x1x4096x128x0x16x4096"},
        {"sdpa_combine", "32x1x128x16x8x4096x0"},
    };
    const enum mf_dtype dtype = MF_DTYPE_F32;

    (void)state;
    for (size_t i = 0; i < COUNT(wanted); i++) {
        struct mf_arena arena = {0};
        struct vf_case_list list = {.arena = &arena};
        bool found = false;

        assert_int_equal(vf_family_find(wanted[i].reference)->list_cases(&dtype, &list), KILN_OK);
        for (size_t c = 0; c < list.count; c++) {
            const struct vf_case *kase = &list.cases[c];
            found = found || (strcmp(kase->id, wanted[i].id) == 0 &&
                              (kase->suites & VF_SUITE_SEEDS) && (kase->suites & VF_SUITE_FULL));
            for (size_t d = 0; d < kase->dim_count; d++) {
                const bool data = d >= kase->dim_count - kase->data_dim_count;
                assert_true(data || strcmp(kase->dims[d].name, "capacity") != 0);
            }
        }
        if (!found) {
            fail_msg("%s lacks the case %s", wanted[i].reference, wanted[i].id);
        }
        mf_arena_release(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_keys_seen),
        cmocka_unit_test(test_flash_masked_rows),
        cmocka_unit_test(test_sdpa_poison),
        cmocka_unit_test(test_sdpa_parts),
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
