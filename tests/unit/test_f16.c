/* SPDX-License-Identifier: MIT */
/* Small float formats against their definitions in binary64 arithmetic (ldexp, nearbyint). */
#include "vf_f16.h"

#include "vf_pseudo.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Value of a 16-bit float of the given exponent width, from the definition. */
static double define_float16(uint32_t bits, int exponent_bits) {
    int mantissa_bits = 15 - exponent_bits;
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> mantissa_bits & ((1u << exponent_bits) - 1u));
    double mantissa = (double)(bits & ((1u << mantissa_bits) - 1u));
    double magnitude;
    if (exponent == (1 << exponent_bits) - 1) {
        magnitude = mantissa == 0.0 ? (double)INFINITY : (double)NAN;
    } else if (exponent == 0) {
        magnitude = ldexp(mantissa, 1 - bias - mantissa_bits);
    } else {
        magnitude = ldexp(mantissa + ldexp(1.0, mantissa_bits), exponent - bias - mantissa_bits);
    }
    return (bits >> 15) != 0 ? -magnitude : magnitude;
}

/* x rounded to a float with `precision` bits, least exponent `least` and largest value `largest`.
 */
static double round_to(double x, int precision, int least, double largest) {
    if (x == 0.0 || !isfinite(x)) {
        return x;
    }
    int exponent = ilogb(x) > least ? ilogb(x) : least;
    double rounded = ldexp(nearbyint(ldexp(x, precision - 1 - exponent)), exponent - precision + 1);
    return fabs(rounded) > largest ? copysign((double)INFINITY, x) : rounded;
}

static void assert_same(float found, double expected) {
    if (isnan(expected)) {
        assert_true(isnan(found));
    } else {
        assert_true((double)found == expected);
        assert_true((signbit(found) != 0) == (signbit(expected) != 0));
    }
}

static void test_f16_decode_all(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        assert_same(vf_f16_decode((uint16_t)bits), define_float16(bits, 5));
    }
    /* A NaN keeps its payload in the top mantissa bits. */
    assert_int_equal(vf_f32_bits(vf_f16_decode(0xFE01)), 0xFFC02000u);
}

static void test_f16_encode_returns(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t back = vf_f16_encode(vf_f16_decode((uint16_t)bits));
        if ((bits & 0x7FFFu) > 0x7C00u) {
            assert_int_equal(back, bits | 0x200u); /* quiet, payload and sign kept */
        } else {
            assert_int_equal(back, bits);
        }
    }
}

/* Each midpoint of neighbours goes to the even one, and the floats beside it to their own side. */
static void test_f16_encode_midpoints(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x7C00; bits++) {
        double next = bits == 0x7BFF ? 65536.0 : define_float16(bits + 1, 5);
        float middle = (float)((define_float16(bits, 5) + next) / 2.0);
        uint32_t even = bits + (bits & 1u);
        assert_int_equal(vf_f16_encode(middle), even);
        assert_int_equal(vf_f16_encode(-middle), even | 0x8000u);
        assert_int_equal(vf_f16_encode(nextafterf(middle, 0.0f)), bits);
        assert_int_equal(vf_f16_encode(nextafterf(middle, INFINITY)), bits + 1);
    }
    assert_int_equal(vf_f16_encode(65520.0f), 0x7C00);
    assert_int_equal(vf_f16_encode(nextafterf(65520.0f, 0.0f)), 0x7BFF);
    assert_int_equal(vf_f16_encode(INFINITY), 0x7C00);
    assert_int_equal(vf_f16_encode(0x1p-149f), 0);
}

static void test_encode_random(void **state) {
    (void)state;
    assert_int_equal(fegetround(), FE_TONEAREST);
    for (uint64_t i = 0; i < 2000000; i++) {
        uint32_t bits = (uint32_t)(vf_pseudo_bits(i) >> 32);
        if (i % 2 == 0) { /* half of them in binary16's range: exponents 2^-26 to 2^17 */
            bits = (bits & 0x807FFFFFu) | (101u + bits % 44u) << 23;
        }
        float x = vf_f32_from_bits(bits);
        double half = round_to((double)x, 11, -14, 65504.0);
        double brain = round_to((double)x, 8, -126, 0x1.FEp127);
        assert_same(vf_f16_decode(vf_f16_encode(x)), half);
        assert_same(vf_bf16_decode(vf_bf16_encode(x)), brain);
    }
}

static void test_bf16_all(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float value = vf_bf16_decode((uint16_t)bits);
        assert_same(value, define_float16(bits, 8));
        assert_int_equal(vf_bf16_encode(value), isnan(value) ? bits | 0x40u : bits);
    }
    assert_int_equal(vf_bf16_encode(vf_f32_from_bits(0x3F808000u)), 0x3F80); /* ties to even */
    assert_int_equal(vf_bf16_encode(vf_f32_from_bits(0x3F818000u)), 0x3F82);
    assert_int_equal(vf_bf16_encode(vf_f32_from_bits(0x7F7FFFFFu)), 0x7F80);
    assert_int_equal(vf_bf16_encode(vf_f32_from_bits(0x7F800001u)), 0x7FC0); /* stays a NaN */
}

static void test_e8m0_all(void **state) {
    (void)state;
    for (int e = 0; e < 256; e++) {
        double expected = e == 255 ? (double)INFINITY : ldexp(1.0, e - 127);
        assert_same(vf_e8m0_decode((uint8_t)e), expected);
        assert_same(vf_e8m0_half((uint8_t)e), ldexp(1.0, e - 128));
    }
}

static double define_ue4m3(int bits) {
    int exponent = bits >> 3 & 15;
    int mantissa = bits & 7;
    if (bits == 0x7F) {
        return 0.0;
    }
    return exponent == 0 ? ldexp(mantissa, -9) : ldexp(8 + mantissa, exponent - 10);
}

static void test_ue4m3_all(void **state) {
    (void)state;
    for (int bits = 0; bits < 256; bits++) {
        assert_same(vf_ue4m3_decode((uint8_t)bits), define_ue4m3(bits));
    }
    for (int bits = 0; bits < 0x77; bits++) {
        double here = define_ue4m3(bits);
        double next = define_ue4m3(bits + 1);
        float middle = (float)((here + next) / 2.0);
        assert_int_equal(vf_ue4m3_encode((float)here), bits);
        /* Ties go up, but the largest subnormal is not left upwards. */
        assert_int_equal(vf_ue4m3_encode(middle), bits == 7 ? 7 : bits + 1);
        assert_int_equal(vf_ue4m3_encode(middle * 0.999999f), bits);
    }
    assert_int_equal(vf_ue4m3_encode(248.0f), 0x7E); /* would carry into exponent 15 */
    assert_int_equal(vf_ue4m3_encode(247.9f), 0x77);
    assert_int_equal(vf_ue4m3_encode(300.0f), 0x7E);
    assert_int_equal(vf_ue4m3_encode(448.0f), 0x7E);
    assert_int_equal(vf_ue4m3_encode(INFINITY), 0x7E);
    assert_int_equal(vf_ue4m3_encode(-1.0f), 0);
    assert_int_equal(vf_ue4m3_encode(NAN), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f16_decode_all),
        cmocka_unit_test(test_f16_encode_returns),
        cmocka_unit_test(test_f16_encode_midpoints),
        cmocka_unit_test(test_encode_random),
        cmocka_unit_test(test_bf16_all),
        cmocka_unit_test(test_e8m0_all),
        cmocka_unit_test(test_ue4m3_all),
    };
    return cmocka_run_group_tests_name("f16", tests, NULL, NULL);
}
