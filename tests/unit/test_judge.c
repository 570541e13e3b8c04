/* SPDX-License-Identifier: MIT */
/* What judges of blocks let pass, and what not. */
#include "vf_judge.h"

#include "vf_ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 2, K = 64, BLOCK_BYTES = 36, BLOCKS = ROWS * K / 32 };

static struct vf_problem problem;
static uint8_t got[BLOCKS * BLOCK_BYTES];

static struct vf_metrics judge(bool strict) {
    const struct vf_buffer *buffer = &problem.buffers[0];
    struct vf_metrics m;

    buffer->judge(buffer, got, strict, &m);
    return m;
}

/* The output with `delta` added to a byte: what is near or wrong then, when not strict. */
static void expect_change(size_t at, int delta, uint64_t near_count, uint64_t mismatch_count) {
    const uint8_t before = got[at];

    got[at] = (uint8_t)(before + delta);
    const struct vf_metrics loose = judge(false);
    const struct vf_metrics strict = judge(true);
    if (loose.near_count != near_count || loose.mismatch_count != mismatch_count) {
        fail_msg("byte %zu %+d: %u near, %u wrong", at, delta, (unsigned)loose.near_count,
                 (unsigned)loose.mismatch_count);
    }
    assert_int_equal(strict.near_count, 0);
    assert_int_equal(strict.mismatch_count, 1);
    got[at] = before;
}

static void test_q8_1(void **state) {
    float x[ROWS * K];
    const struct vf_expected_blocks *data = NULL;

    (void)state;
    for (int i = 0; i < ROWS * K; i++) {
        x[i] = (float)(i % 32 - 15) / 16.0F;
    }
    problem = (struct vf_problem){0};
    assert_int_equal(
        vf_expect_blocks(&problem, "blocks", MF_DTYPE_Q8_1, x, ROWS, K, NULL, ROWS, NULL), KILN_OK);
    data = problem.buffers[0].judge_data;
    memcpy(got, data->blocks, sizeof got);
    assert_int_equal(judge(true).mismatch_count, 0);
    assert_true(judge(true).max_abs == 0);
    expect_change(BLOCK_BYTES, 1, 1, 0);      /* d by one half */
    expect_change(BLOCK_BYTES, 2, 0, 1);      /* d by two */
    expect_change(BLOCK_BYTES + 2, 1, 1, 0);  /* s by one half */
    expect_change(BLOCK_BYTES + 2, 2, 0, 1);  /* s by two */
    expect_change(BLOCK_BYTES + 20, 1, 1, 0); /* a code by 1 */
    expect_change(BLOCK_BYTES + 20, 2, 0, 1); /* a code by 2 */
    vf_problem_release(&problem);
}

/* Row 0 goes to row 1 of a cache of two; row 0 of the cache keeps its bits. */
static void test_untouched(void **state) {
    static const int32_t rows[] = {1, -1};
    uint8_t initial[BLOCKS * BLOCK_BYTES] = {0};
    float x[ROWS * K];
    const struct vf_expected_blocks *data = NULL;

    (void)state;
    vf_quantize_input(x, ROWS * K, 1);
    initial[1] = 0x20;
    problem = (struct vf_problem){0};
    assert_int_equal(
        vf_expect_blocks(&problem, "cache", MF_DTYPE_Q8_0, x, ROWS, K, rows, ROWS, initial),
        KILN_OK);
    data = problem.buffers[0].judge_data;
    assert_memory_equal(data->blocks, initial, 2 * 34);
    memcpy(got, data->blocks, 4 * 34);
    assert_int_equal(judge(true).mismatch_count, 0);
    got[0] ^= 1; /* d of a block that must not change */
    assert_int_equal(judge(false).mismatch_count, 1);
    got[0] ^= 1;
    got[2 * 34] ^= 1;
    assert_int_equal(judge(false).near_count, 1);
    vf_problem_release(&problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_q8_1),
        cmocka_unit_test(test_untouched),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
