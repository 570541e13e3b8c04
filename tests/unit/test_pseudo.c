/* SPDX-License-Identifier: MIT */
/* The test data generator against SplitMix64's published sequence and values worked out apart. */
#include "vf_pseudo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* First outputs of SplitMix64 from state 0: index 0, then one golden-ratio step further each. */
static void test_published_sequence(void **state) {
    (void)state;
    static const uint64_t outputs[] = {0xE220A8397B1DCDAFu, 0x6E789E6AA1B965F4u,
                                       0x06C45D188009454Fu, 0xF88BB8A8724C81ECu};
    for (uint64_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        assert_true(vf_pseudo_bits(i * 0x9E3779B97F4A7C15u) == outputs[i]);
    }
}

/* Made with Python's integers and floats from the formula. */
static void test_values(void **state) {
    (void)state;
    static const struct {
        uint64_t index;
        float value;
    } values[] = {
        {0u, 0x1.8882a00000000p-1f},
        {1u, 0x1.10a2d00000000p-3f},
        {2u, 0x1.7583500000000p-3f},
        {1000003u, -0x1.2ffd700000000p-2f},
        {123456789u, -0x1.770e300000000p-1f},
        {4294967296u, 0x1.10b1680000000p-1f},
        {9223372036854775808u, -0x1.bf0a000000000p-2f},
        {18446744073709551615u, 0x1.9365c40000000p-1f},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_true(vf_pseudo(values[i].index) == values[i].value);
    }
}

static void test_fill(void **state) {
    (void)state;
    enum { COUNT = 4096 };
    float *out = malloc(COUNT * sizeof *out);
    assert_non_null(out);
    out[COUNT - 1] = 7.0f;
    vf_pseudo_fill(out, COUNT - 1, 3, 42, 0.5f);
    for (uint64_t i = 0; i < COUNT - 1; i++) {
        assert_true(out[i] == vf_pseudo(i + 3u * 1000003u + 42u) * 0.5f);
    }
    assert_true(out[COUNT - 1] == 7.0f);
    vf_pseudo_fill(out, 2, UINT64_MAX, 1, 1.0f); /* the sum wraps */
    assert_true(out[0] == vf_pseudo(UINT64_MAX * 1000003u + 1u));
    free(out);
}

static void test_distribution(void **state) {
    (void)state;
    enum { COUNT = 1 << 20 };
    double sum = 0.0;
    double squares = 0.0;
    for (uint64_t i = 0; i < COUNT; i++) {
        double value = (double)vf_pseudo(i);
        assert_true(value >= -1.0 && value < 1.0);
        sum += value;
        squares += value * value;
    }
    /* Uniform in [-1, 1): mean 0, variance 1/3; 5 sigma of the estimates. */
    assert_true(sum / COUNT > -0.0029 && sum / COUNT < 0.0029);
    assert_true(squares / COUNT > 0.3318 && squares / COUNT < 0.3349);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_sequence),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_distribution),
    };
    return cmocka_run_group_tests_name("pseudo", tests, NULL, NULL);
}
