/* SPDX-License-Identifier: MIT */
/* Quantisers against the golden blocks (bytes, or RMS error), and properties over other data. */
#include "vf_quantize.h"

#include "golden_files.h"
#include "vf_decode.h"
#include "vf_pseudo.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static double measure_rms(const float *a, const float *b, uint64_t count) {
    double sum = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return sqrt(sum / (double)count);
}

/* Quantises and decodes again. Everything returned is the caller's. */
static float *round_trip(const struct mf_dtype_info *info, const float *values, uint64_t count,
                         uint8_t **blocks) {
    *blocks = malloc(count / info->block_elements * info->block_bytes + 1);
    float *back = malloc(count * sizeof *back);
    assert_true(*blocks != NULL && back != NULL);
    assert_int_equal(vf_quantize(info->dtype, values, count, *blocks), KILN_OK);
    assert_int_equal(vf_decode(info->dtype, *blocks, count, back), KILN_OK);
    return back;
}

static void test_golden_bytes(void **state) {
    (void)state;
    size_t count;
    uint32_t checked = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct golden_files files;
        if (!vf_quantize_exact(table[i].dtype) || !golden_files_read(&table[i], "quant", &files)) {
            continue;
        }
        /* One byte off, poisoned: every byte must be written, and no byte behind. */
        uint8_t *found = malloc(files.blocks_bytes + 2);
        assert_non_null(found);
        memset(found, 0xA5, files.blocks_bytes + 2);
        assert_int_equal(vf_quantize(table[i].dtype, files.inputs, files.element_count, found + 1),
                         KILN_OK);
        if (memcmp(found + 1, files.blocks, files.blocks_bytes) != 0) {
            print_error("%s differs\n", table[i].name);
        }
        assert_memory_equal(found + 1, files.blocks, files.blocks_bytes);
        assert_int_equal(found[0], 0xA5);
        assert_int_equal(found[files.blocks_bytes + 1], 0xA5);
        checked++;
        free(found);
        golden_files_free(&files);
    }
    assert_int_equal(checked, 14); /* all of the stated encoders but f32 */
}

/* Per block of 256 as well as in total, so that small values count beside the outliers. */
static void check_search(const struct mf_dtype_info *info, const struct golden_files *files) {
    uint8_t *blocks;
    float *found = round_trip(info, files->inputs, files->element_count, &blocks);
    double own = measure_rms(found, files->inputs, files->element_count);
    double golden = measure_rms(files->values, files->inputs, files->element_count);
    print_message("# %-6s RMS error %.6f, golden %.6f, ratio %.4f; by slot:", info->name, own,
                  golden, own / golden);
    for (uint64_t slot = 0; slot < files->element_count / 256; slot++) {
        uint64_t at = 256 * slot;
        double a = measure_rms(found + at, files->inputs + at, 256);
        double b = measure_rms(files->values + at, files->inputs + at, 256);
        print_message(" %.3f", b > 0.0 ? a / b : 1.0);
        /* Slot 3 is zeros. Slot 4 is one constant: what is left is the rounding of d to binary16.
         */
        if (slot == 4) {
            assert_true(a <= 0x1p-11 * fabs((double)files->inputs[at]));
        } else {
            assert_true(a <= 1.05 * b);
        }
    }
    print_message("\n");
    assert_true(own <= 1.05 * golden);
    free(found);
    free(blocks);
}

static void test_golden_errors(void **state) {
    (void)state;
    size_t count;
    uint32_t checked = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct golden_files files;
        if (!vf_quantize_supported(table[i].dtype) || vf_quantize_exact(table[i].dtype) ||
            !golden_files_read(&table[i], "quant", &files)) {
            continue;
        }
        check_search(&table[i], &files);
        checked++;
        golden_files_free(&files);
    }
    assert_int_equal(checked, 7);
}

/* Roughly normal: sums of four uniform values. */
static float *make_values(uint64_t count, float sigma) {
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < count; i++) {
        float sum = 0.0f;
        for (uint64_t k = 0; k < 4; k++) {
            sum += vf_pseudo(4 * i + k);
        }
        values[i] = sum * sigma * 0.8660254f;
    }
    return values;
}

/*
 * Relative RMS error on normal data against known ones: a uniform quantiser with the same step and
 * ggml's own figures for normal data (golden slot 0) are within these bounds; a wrong code, scale
 * or sign is far outside. The order is that of the bits spent.
 */
static void test_error_bounds(void **state) {
    (void)state;
    enum { COUNT = 256 * 64 };
    static const struct {
        enum mf_dtype dtype;
        double low, high;
    } bounds[] = {
        {MF_DTYPE_F32, 0.0, 0.0},       {MF_DTYPE_F16, 1e-5, 3e-4},
        {MF_DTYPE_BF16, 1e-4, 2.4e-3},  {MF_DTYPE_Q8_0, 0.003, 0.008},
        {MF_DTYPE_Q8_1, 0.003, 0.008},  {MF_DTYPE_Q6_K, 0.01, 0.02},
        {MF_DTYPE_Q5_K, 0.025, 0.04},   {MF_DTYPE_Q5_1, 0.025, 0.045},
        {MF_DTYPE_Q5_0, 0.03, 0.05},    {MF_DTYPE_Q4_K, 0.05, 0.08},
        {MF_DTYPE_IQ4_NL, 0.05, 0.085}, {MF_DTYPE_IQ4_XS, 0.05, 0.085},
        {MF_DTYPE_Q4_1, 0.06, 0.09},    {MF_DTYPE_Q4_0, 0.06, 0.1},
        {MF_DTYPE_NVFP4, 0.06, 0.11},   {MF_DTYPE_MXFP4, 0.08, 0.13},
        {MF_DTYPE_Q3_K, 0.1, 0.17},     {MF_DTYPE_Q2_K, 0.2, 0.32},
        {MF_DTYPE_Q1_0, 0.5, 0.7},      {MF_DTYPE_Q2_0, 0.4, 1.0},
        {MF_DTYPE_TQ1_0, 0.4, 1.0},     {MF_DTYPE_TQ2_0, 0.4, 1.0},
    };
    float *values = make_values(COUNT, 0.7f);
    double rms = 0.0;
    for (uint64_t i = 0; i < COUNT; i++) {
        rms += (double)values[i] * (double)values[i];
    }
    rms = sqrt(rms / COUNT);
    assert_true(rms > 0.69 && rms < 0.71);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const struct mf_dtype_info *info = mf_dtype_info(bounds[i].dtype);
        uint8_t *blocks;
        float *back = round_trip(info, values, COUNT, &blocks);
        double relative = measure_rms(back, values, COUNT) / rms;
        print_message("# %-7s relative RMS error %.5f\n", info->name, relative);
        assert_true(relative >= bounds[i].low && relative <= bounds[i].high);
        free(back);
        free(blocks);
    }
    free(values);
}

/* What was decoded from such blocks quantises to the very same blocks again. */
static void test_idempotent(void **state) {
    (void)state;
    static const enum mf_dtype dtypes[] = {
        MF_DTYPE_F16,  MF_DTYPE_BF16, MF_DTYPE_Q4_0,  MF_DTYPE_Q5_0,  MF_DTYPE_Q8_0, MF_DTYPE_Q8_1,
        MF_DTYPE_Q1_0, MF_DTYPE_Q2_0, MF_DTYPE_TQ1_0, MF_DTYPE_TQ2_0, MF_DTYPE_MXFP4};
    enum { COUNT = 256 * 16 };
    float *values = make_values(COUNT, 0.3f);
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        const struct mf_dtype_info *info = mf_dtype_info(dtypes[i]);
        uint8_t *first, *second;
        float *once = round_trip(info, values, COUNT, &first);
        float *twice = round_trip(info, once, COUNT, &second);
        size_t codes_at = dtypes[i] == MF_DTYPE_Q8_1 ? 4 : 0; /* its sum was of unrounded d */
        for (size_t b = 0; b < COUNT / info->block_elements; b++) {
            size_t at = b * info->block_bytes;
            assert_memory_equal(first + at, second + at, codes_at > 0 ? 2 : info->block_bytes);
            assert_memory_equal(first + at + codes_at, second + at + codes_at,
                                info->block_bytes - codes_at);
        }
        assert_memory_equal(once, twice, COUNT * sizeof *once);
        free(once);
        free(twice);
        free(first);
        free(second);
    }
    free(values);
}

/* Every pattern of base-3 digits in every byte of tq1_0: -1, 0 and 1 come back as they are. */
static void test_ternary_patterns(void **state) {
    (void)state;
    float values[256], back[256];
    uint8_t block[54];
    for (uint32_t number = 0; number < 243; number++) {
        for (uint32_t e = 0; e < 256; e++) {
            uint32_t digit = e < 160 ? e / 32 : (e < 240 ? (e - 160) / 16 : (e - 240) / 4);
            uint32_t rest = number;
            for (uint32_t n = 0; n < digit; n++) {
                rest /= 3;
            }
            values[e] = (float)(rest % 3) - 1.0f;
        }
        assert_int_equal(vf_quantize(MF_DTYPE_TQ1_0, values, 256, block), KILN_OK);
        assert_int_equal(vf_decode(MF_DTYPE_TQ1_0, block, 256, back), KILN_OK);
        for (uint32_t e = 0; e < 256; e++) {
            assert_true(back[e] == values[e]);
        }
    }
}

/* Blocks of zeros, tiny and large values: finite, no larger than asked, zero where it must be. */
static void test_extreme_blocks(void **state) {
    (void)state;
    static const float magnitudes[] = {0.0f, 0x1p-149f, 0x1p-127f, 1e-20f, 1e-9f, 1e-7f, 65504.0f};
    size_t count;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    float values[256];
    for (size_t i = 0; i < count; i++) {
        for (size_t m = 0; m < sizeof magnitudes / sizeof magnitudes[0]; m++) {
            uint8_t *blocks;
            if (!vf_quantize_supported(table[i].dtype)) {
                continue;
            }
            for (uint32_t e = 0; e < 256; e++) {
                values[e] = magnitudes[m] * (e == 77 ? -1.0f : vf_pseudo(e));
            }
            float *back = round_trip(&table[i], values, 256, &blocks);
            for (uint32_t e = 0; e < 256; e++) {
                assert_true(isfinite(back[e]));
                assert_true(fabsf(back[e]) <= 1.34f * magnitudes[m] + 1e-7f);
            }
            free(back);
            free(blocks);
        }
    }
}

static void test_limits(void **state) {
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 0x1p127f};
    size_t count;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    float values[512] = {0};
    uint8_t blocks[2048];
    for (size_t i = 0; i < count; i++) {
        enum mf_dtype dtype = table[i].dtype;
        for (size_t v = 0; v < 4; v++) {
            bool plain = table[i].block_elements == 1;
            bool wide = v == 3 && (dtype == MF_DTYPE_MXFP4 || dtype == MF_DTYPE_NVFP4);
            values[300] = bad[v];
            memset(blocks, 0xA5, sizeof blocks);
            enum kiln_result result = vf_quantize(dtype, values, 512, blocks);
            if (!vf_quantize_supported(dtype)) {
                assert_int_equal(result, KILN_ERR_ARGUMENT);
            } else {
                assert_int_equal(result, plain || wide ? KILN_OK : KILN_ERR_LIMIT);
            }
            assert_true(result == KILN_OK || (blocks[0] == 0xA5 && blocks[1] == 0xA5));
        }
    }
    assert_int_equal(vf_quantize(MF_DTYPE_Q4_0, values, 31, blocks), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_quantize(MF_DTYPE_Q4_0, NULL, 32, blocks), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_quantize(MF_DTYPE_Q4_0, values, 32, NULL), KILN_ERR_ARGUMENT);
    assert_int_equal(vf_quantize(MF_DTYPE_Q4_0, NULL, 0, NULL), KILN_OK);
    /* The largest scale that still fits, and the first that does not. */
    memset(values, 0, sizeof values);
    values[0] = 65504.0f * 8.0f;
    assert_int_equal(vf_quantize(MF_DTYPE_Q4_0, values, 32, blocks), KILN_OK);
    values[0] = nextafterf(values[0], INFINITY);
    assert_int_equal(vf_quantize(MF_DTYPE_Q4_0, values, 32, blocks), KILN_ERR_LIMIT);
}

/* A block's bytes depend on its own values only. */
static void test_blocks_stand_alone(void **state) {
    (void)state;
    enum { COUNT = 256 * 8 };
    size_t count;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    float *values = make_values(COUNT, 1.0f);
    for (size_t i = 0; i < count; i++) {
        uint8_t *all;
        uint8_t one[256 * 4];
        if (!vf_quantize_supported(table[i].dtype)) {
            continue;
        }
        free(round_trip(&table[i], values, COUNT, &all));
        size_t part_bytes = 256 / table[i].block_elements * table[i].block_bytes;
        for (size_t part = 8; part-- > 0;) {
            assert_int_equal(vf_quantize(table[i].dtype, values + 256 * part, 256, one), KILN_OK);
            assert_memory_equal(one, all + part * part_bytes, part_bytes);
        }
        free(all);
    }
    free(values);
}

static void test_speed(void **state) {
    (void)state;
    enum { COUNT = 1 << 18 };
    size_t count;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    float *values = malloc(COUNT * sizeof *values);
    assert_non_null(values);
    vf_pseudo_fill(values, COUNT, 0, 0, 0.5f);
    for (size_t i = 0; i < count; i++) {
        struct timespec start, end;
        uint8_t *blocks = malloc(COUNT / table[i].block_elements * table[i].block_bytes);
        assert_non_null(blocks);
        if (vf_quantize_supported(table[i].dtype)) {
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
            assert_int_equal(vf_quantize(table[i].dtype, values, COUNT, blocks), KILN_OK);
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
            double seconds =
                (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
            print_message("# %-7s %.1f million elements a second\n", table[i].name,
                          COUNT / seconds * 1e-6);
        }
        free(blocks);
    }
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_bytes),
        cmocka_unit_test(test_golden_errors),
        cmocka_unit_test(test_error_bounds),
        cmocka_unit_test(test_idempotent),
        cmocka_unit_test(test_extreme_blocks),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_blocks_stand_alone),
        cmocka_unit_test(test_ternary_patterns),
        cmocka_unit_test(test_speed),
    };
    return cmocka_run_group_tests_name("quantize", tests, NULL, NULL);
}
