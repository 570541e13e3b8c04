/* SPDX-License-Identifier: MIT */
/*
 * References of the families over activation rows, against other forms of the same formulas worked
 * out here, and fused families against the chain of what they fuse.
 */
#include "vf_activation.h"
#include "vf_compare.h"
#include "vf_family.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const enum mf_dtype dtypes[] = {MF_DTYPE_F32, MF_DTYPE_F16};

static const struct vf_buffer *buffer_named(const struct vf_problem *problem, const char *name) {
    for (size_t i = 0; i < problem->buffer_count; i++) {
        if (strcmp(problem->buffers[i].binding, name) == 0) {
            return &problem->buffers[i];
        }
    }
    fail_msg("no buffer %s", name);
    return NULL;
}

static void prepare(const char *reference, const struct vf_case *kase, enum mf_dtype dtype,
                    struct vf_problem *out) {
    const struct vf_family *family = vf_family_find(reference);
    struct kiln_error error = {0};

    assert_non_null(family);
    assert_int_equal(family->prepare(kase, &dtype, 11, out, &error), KILN_OK);
}

static double param(const struct vf_problem *problem, const char *name) {
    for (size_t i = 0; i < problem->param_count; i++) {
        if (strcmp(problem->params[i].name, name) == 0) {
            return problem->params[i].value.f;
        }
    }
    fail_msg("no push constant %s", name);
    return 0;
}

/* Element i of an input of the activations' type, or of f32. */
static double in(const struct vf_problem *problem, const char *name, enum mf_dtype dtype,
                 uint64_t i) {
    return vf_element_load(dtype, buffer_named(problem, name)->bytes, i);
}

static void assert_near(double got, double expected, double bound) {
    if (!(fabs(got - expected) <= bound)) {
        fail_msg("got %.17g, expected %.17g", got, expected);
    }
}

/* w s / sqrt(mean s^2 + eps) of row `row`, element i, with s = x, or x + r where there is an r. */
static double normed(const struct vf_problem *problem, enum mf_dtype dtype, const char *second,
                     uint64_t m, uint64_t row, uint64_t i) {
    double mean = 0;
    double value = 0;

    for (uint64_t j = m; j-- > 0;) {
        double s = in(problem, "x", dtype, row * m + j);
        s += second ? in(problem, second, dtype, row * m + j) : 0;
        mean += s * s / (double)m;
        value = j == i ? s : value;
    }
    return in(problem, "w", MF_DTYPE_F32, i) * value * pow(mean + param(problem, "eps"), -0.5);
}

static void test_norms(void **state) {
    const struct vf_case kase = {.id = "t", .dims = {{"rows", 6}, {"m", 34}}, .dim_count = 2};

    (void)state;
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        struct vf_problem norm = {0};
        struct vf_problem fused = {0};
        prepare("rms_norm", &kase, dtypes[d], &norm);
        prepare("add_rms_norm", &kase, dtypes[d], &fused);
        const double *s = buffer_named(&fused, "s")->expected;
        assert_true(buffer_named(&fused, "s")->max_abs == 1e-5);
        for (uint64_t e = 0; e < 6 * 34; e++) {
            assert_near(buffer_named(&norm, "y")->expected[e],
                        normed(&norm, dtypes[d], NULL, 34, e / 34, e % 34), 1e-12);
            assert_near(s[e], in(&fused, "x", dtypes[d], e) + in(&fused, "r", dtypes[d], e), 0);
            assert_near(buffer_named(&fused, "y")->expected[e],
                        normed(&fused, dtypes[d], "r", 34, e / 34, e % 34), 1e-12);
        }
        vf_problem_release(&norm);
        vf_problem_release(&fused);
    }
}

/* The chain add, rms_norm with s stored as f32 between them is within the gate of the fused y. */
static void test_fused_norm_is_its_chain(void **state) {
    const struct vf_case kase = {.id = "t", .dims = {{"rows", 3}, {"m", 4096}}, .dim_count = 2};
    struct vf_problem fused = {0};
    double row[4096];

    (void)state;
    prepare("add_rms_norm", &kase, MF_DTYPE_F32, &fused);
    for (uint64_t r = 0; r < 3; r++) {
        for (uint64_t i = 0; i < 4096; i++) {
            const float *x = buffer_named(&fused, "x")->bytes;
            const float *second = buffer_named(&fused, "r")->bytes;
            row[i] = (double)(x[r * 4096 + i] + second[r * 4096 + i]);
        }
        vf_activation_norm(row, buffer_named(&fused, "w")->bytes, 4096, param(&fused, "eps"));
        for (uint64_t i = 0; i < 4096; i++) {
            assert_near(buffer_named(&fused, "y")->expected[r * 4096 + i], row[i], 1e-6);
        }
    }
    vf_problem_release(&fused);
}

/* A pair is a complex number, turned by one of modulus 1. */
static void check_turn(const struct vf_problem *problem, enum mf_dtype dtype, bool neox,
                       bool with_norm) {
    enum { H = 3, T = 7, D = 38, N = 20 };
    const double *y = buffer_named(problem, "y")->expected;
    const int32_t *positions = buffer_named(problem, "positions")->bytes;
    const uint64_t table_rows = buffer_named(problem, "table")->size_bytes / (N * 4);

    for (uint64_t row = 0; row < H * T; row++) {
        const int32_t position = positions[row % T];
        const bool known = position >= 0 && (uint64_t)position < table_rows;
        double n[D];
        for (uint64_t i = 0; i < D; i++) {
            n[i] = with_norm ? normed(problem, dtype, NULL, D, row, i)
                             : in(problem, "x", dtype, row * D + i);
        }
        for (uint64_t i = 0; i < N / 2; i++) {
            const uint64_t first = neox ? i : 2 * i;
            const uint64_t second = neox ? i + N / 2 : 2 * i + 1;
            const double angle = (double)position * exp(-log(10000.0) * (double)i / (N / 2));
            const double complex turned = (n[first] + I * n[second]) * cexp(I * angle);
            /* The table is rounded to f32. */
            assert_near(y[row * D + first], known ? creal(turned) : 0, 1e-6);
            assert_near(y[row * D + second], known ? cimag(turned) : 0, 1e-6);
        }
        for (uint64_t i = N; i < D; i++) {
            assert_near(y[row * D + i], known ? n[i] : 0, 1e-12);
        }
    }
    assert_int_equal(positions[T - 1], -1);
    assert_int_equal(positions[T - 2], table_rows);
}

static void test_rope(void **state) {
    const struct vf_case kase = {.id = "t",
                                 .dims = {{"b", 1}, {"h", 3}, {"t", 7}, {"d", 38}, {"n_rot", 20}},
                                 .dim_count = 5};

    (void)state;
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        struct vf_problem problems[3] = {{.buffer_count = 0}};
        prepare("rope_neox", &kase, dtypes[d], &problems[0]);
        prepare("rope_interleaved", &kase, dtypes[d], &problems[1]);
        prepare("rms_norm_rope", &kase, dtypes[d], &problems[2]);
        check_turn(&problems[0], dtypes[d], true, false);
        check_turn(&problems[1], dtypes[d], false, false);
        check_turn(&problems[2], dtypes[d], true, true);
        for (size_t i = 0; i < 3; i++) {
            vf_problem_release(&problems[i]);
        }
    }
}

static void test_softmax(void **state) {
    const struct vf_case kase = {.id = "t", .dims = {{"rows", 10}, {"m", 12}}, .dim_count = 2};

    (void)state;
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        struct vf_problem problem = {0};
        prepare("softmax", &kase, dtypes[d], &problem);
        const double *y = buffer_named(&problem, "y")->expected;
        const double scale = param(&problem, "scale");
        for (uint64_t e = 0; e < 120; e++) {
            const uint64_t row = e / 12;
            const double own = in(&problem, "x", dtypes[d], e);
            double inverse = 0; /* 1 / y = sum of exp(other - own) */
            for (uint64_t i = 0; i < 12; i++) {
                inverse += exp(scale * (in(&problem, "x", dtypes[d], row * 12 + i) - own));
            }
            assert_near(y[e], isinf(own) ? 0 : 1 / inverse, 1e-12);
            assert_int_equal(isinf(own) != 0, row % 5 == 4 || (row % 3 == 2 && e % 12 >= 9));
        }
        vf_problem_release(&problem);
    }
}

static void test_elementwise(void **state) {
    const struct vf_case kase = {.id = "t", .dims = {{"count", 320}}, .dim_count = 1};
    static const char *const names[] = {"swiglu", "geglu", "add", "mul", "scale"};
    struct vf_problem p[5] = {{.buffer_count = 0}};
    const double *y[5];

    (void)state;
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        for (size_t i = 0; i < COUNT(names); i++) {
            prepare(names[i], &kase, dtypes[d], &p[i]);
            y[i] = buffer_named(&p[i], "y")->expected;
        }
        for (uint64_t e = 0; e < 320; e++) {
            const double g = in(&p[0], "gate", dtypes[d], e);
            const double up = in(&p[0], "up", dtypes[d], e);
            const double a = in(&p[2], "a", dtypes[d], e);
            const double b = in(&p[2], "b", dtypes[d], e);
            const double u = 0.7978845608028654 * (g + 0.044715 * pow(g, 3));
            assert_near(y[0][e], up * g * 0.5 * (1 + tanh(g / 2)), 1e-12);
            assert_near(y[1][e], up * g * (1 - 1 / (1 + exp(2 * u))), 1e-12);
            assert_near(y[2][e], a + b, 0x1p-24);
            assert_near(y[3][e], a * b, 0x1p-25);
            assert_near(y[4][e], param(&p[4], "scale") * in(&p[4], "a", dtypes[d], e), 0x1p-25);
            for (size_t i = 2; i < 5; i++) { /* values of f32 */
                assert_true((double)(float)y[i][e] == y[i][e]);
            }
        }
        for (size_t i = 0; i < COUNT(names); i++) {
            vf_problem_release(&p[i]);
        }
    }
}

static void test_gates(void **state) {
    static const char *const f16[] = {"f16"};
    struct mf_artifact artifact = {
        .dtypes = f16, .dtype_count = 1, .tolerance = {false, -1, -1, -1, 0}};
    struct vf_buffer buffer = {.max_abs = 1e-5};

    (void)state;
    struct mf_tolerance gate = vf_family_gate(vf_family_find("add_rms_norm"), &artifact);
    assert_true(gate.max_abs == 1e-4 && gate.ulp_f16 == 1 && !gate.exact);
    assert_true(vf_buffer_gate(&buffer, &gate).max_abs == 1e-5);
    assert_true(vf_buffer_gate(&buffer, &gate).ulp_f16 == 1);
    buffer.max_abs = 1e-3; /* never looser */
    assert_true(vf_buffer_gate(&buffer, &gate).max_abs == 1e-4);
    buffer.max_abs = 0;
    assert_true(vf_buffer_gate(&buffer, &gate).max_abs == 1e-4);
    gate = vf_family_gate(vf_family_find("add"), &artifact);
    assert_true(gate.max_abs < 0 && gate.ulp_f16 == 1 && !gate.exact);
    buffer.max_abs = 1e-5;
    assert_true(vf_buffer_gate(&buffer, &gate).max_abs == 1e-5);
    artifact.dtype_count = 0;
    gate = vf_family_gate(vf_family_find("add"), &artifact);
    assert_true(gate.exact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norms),       cmocka_unit_test(test_fused_norm_is_its_chain),
        cmocka_unit_test(test_rope),        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_elementwise), cmocka_unit_test(test_gates),
    };
    return cmocka_run_group_tests_name("reference_rows", tests, NULL, NULL);
}
