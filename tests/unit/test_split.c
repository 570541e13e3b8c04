/* SPDX-License-Identifier: MIT */
/*
 * q8_1s against bytes written down by hand from docs/repacked_layouts.md, and its judge.
 */
#include "vf_split.h"

#include "vf_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 64, BYTES = COUNT / 32 * 36, SPLIT_BYTES = COUNT / 32 * 48 };

/* Two blocks: d = 1.5 and codes 1, 2, ... 32 (sum 528); d = -2 and codes of -3 (sum -96). */
static void make_blocks(uint8_t *blocks) {
    static const uint8_t headers[2][4] = {{0x00, 0x3E, 0x30, 0x62}, {0x00, 0xC0, 0x00, 0x5A}};

    for (int b = 0; b < 2; b++) {
        memcpy(blocks + b * 36, headers[b], 4);
        for (int e = 0; e < 32; e++) {
            blocks[b * 36 + 4 + e] = b == 0 ? (uint8_t)(e + 1) : 0xFD;
        }
    }
}

static void test_bytes(void **state) {
    static const float headers[2][4] = {{1.5F, 136, 392, 528}, {-2, -48, -48, -96}};
    uint8_t blocks[BYTES], split[SPLIT_BYTES], back[BYTES];

    (void)state;
    make_blocks(blocks);
    vf_split_from_blocks(blocks, COUNT, split);
    assert_memory_equal(split, blocks + 4, 32);
    assert_memory_equal(split + 32, blocks + 36 + 4, 32);
    assert_memory_equal(split + 64, headers, sizeof headers);
    assert_int_equal(vf_split_to_blocks(split, COUNT, back), 0);
    assert_memory_equal(back, blocks, BYTES); /* 1.5 * 528 and -2 * -96 are halves */
    for (int field = 0; field < 4; field++) {
        split[64 + 16 + 4 * field + 1] ^= 0x10; /* no longer a half; another sum */
        assert_int_equal(vf_split_to_blocks(split, COUNT, back), 1);
        split[64 + 16 + 4 * field + 1] ^= 0x10;
    }
}

static uint64_t mismatches(const struct vf_problem *problem, const uint8_t *got) {
    struct vf_metrics metrics;

    problem->buffers[0].judge(&problem->buffers[0], got, false, &metrics);
    return metrics.mismatch_count;
}

static void test_judge(void **state) {
    struct vf_problem problem = {0};
    float x[COUNT];
    uint8_t blocks[BYTES], split[SPLIT_BYTES];

    (void)state;
    for (int e = 0; e < COUNT; e++) {
        x[e] = (float)(e % 32 - 16) * (e < 32 ? 127.0F / 16 : 1.0F);
    }
    assert_int_equal(
        vf_expect_blocks(&problem, "blocks", MF_DTYPE_Q8_1S, x, 1, COUNT, NULL, 1, NULL), KILN_OK);
    assert_int_equal(problem.buffers[0].element_count, COUNT);
    /* Block 0: d = 1, codes 127 (e - 16) / 16 rounded half away, -127 to 119; sum -127. */
    for (int b = 0; b < 2; b++) {
        for (int e = 0; e < 32; e++) {
            static const int8_t codes[32] = {
                -127, -119, -111, -103, -95, -87, -79, -71, -64, -56, -48, -40, -32, -24, -16, -8,
                0,    8,    16,   24,   32,  40,  48,  56,  64,  71,  79,  87,  95,  103, 111, 119};
            blocks[b * 36 + 4 + e] = (uint8_t)codes[e];
        }
        blocks[b * 36] = 0;
        blocks[b * 36 + 1] = b == 0 ? 0x3C : 0x30;
    }
    blocks[36] = 0x08; /* 16 / 127 = 0.12598: the half 0x3008 */
    vf_split_from_blocks(blocks, COUNT, split);
    assert_int_equal(mismatches(&problem, split), 0);
    split[0] ^= 4; /* a code, and so its sum */
    assert_true(mismatches(&problem, split) > 0);
    split[0] ^= 4;
    split[COUNT + 4 + 2] ^= 1; /* a sum */
    assert_true(mismatches(&problem, split) > 0);
    split[COUNT + 4 + 2] ^= 1;
    split[COUNT + 16 + 2] ^= 1; /* a scale */
    assert_true(mismatches(&problem, split) > 0);
    vf_problem_release(&problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes), cmocka_unit_test(test_judge)};

    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
