/* SPDX-License-Identifier: MIT */
/* Buffers, batches, times and timeouts on a real device (lavapipe at least). Skips without one. */
#include "loader_rows.h"

#include "kl_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Transfers through the staging buffer, in several parts, give the same bytes. */
static void test_staging(void **state) {
    struct loader_fixture *fixture = *state;
    struct kiln_buffer *buffer = NULL;
    size_t size = (size_t)33 * 1024 * 1024 + 4;
    uint32_t *words = malloc(size);
    uint32_t *found = calloc(1, size + 12);
    fixture->device->always_staged = true;
    for (size_t i = 0; i < size / 4; i++) {
        words[i] = (uint32_t)(i * 2654435761u);
    }
    must(fixture, kiln_buffer_create(fixture->device, size, &buffer, &fixture->error));
    assert_int_equal(kiln_buffer_size(buffer), size + 12);
    must(fixture, kiln_buffer_upload(buffer, 0, words, size, &fixture->error));
    must(fixture, kiln_buffer_fill(buffer, 4096, 64, POISON, &fixture->error));
    must(fixture, kiln_buffer_upload(buffer, 8191, "odd", 3, &fixture->error));
    must(fixture, kiln_buffer_download(buffer, 0, found, size, &fixture->error));
    for (size_t i = 0; i < 16; i++) {
        words[1024 + i] = POISON;
    }
    memcpy((char *)words + 8191, "odd", 3);
    assert_memory_equal(words, found, size);
    must_fail(fixture, kiln_buffer_upload(buffer, size, words, 13, &fixture->error), KILN_ERR_LIMIT,
              "13 bytes at");
    must_fail(fixture, kiln_buffer_fill(buffer, 2, 4, 0, &fixture->error), KILN_ERR_ARGUMENT,
              "multiples of 4");
    kiln_buffer_destroy(&buffer);
    free(words);
    free(found);
    struct rows_problem problem;
    rows_begin(fixture, &problem, 100, 100);
    must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error));
    rows_check(fixture, &problem, true);
    rows_end(&problem);
}

/* Repacked uploads of more than one part, of a part of the rows, mapped and through staging. */
static void test_upload_repacked(void **state) {
    enum { K = 512, ROWS = 42000, RAW_ROW = 420, ROW = 424, RAW_BLOCK = 210, BLOCK = 212 };
    struct loader_fixture *fixture = *state;
    const struct kiln_repacking repacking = {MF_DTYPE_Q6_K, MF_DTYPE_Q6_KP, K};
    struct kiln_buffer *buffer = NULL;
    uint8_t *raw = malloc((size_t)ROWS * RAW_ROW);
    uint8_t *found = malloc((size_t)ROWS * ROW);
    assert_true(raw && found);
    for (size_t i = 0; i < (size_t)ROWS * RAW_ROW; i++) {
        raw[i] = (uint8_t)((i * 2654435761u) >> 13);
    }
    must(fixture,
         kiln_buffer_create(fixture->device, (size_t)ROWS * ROW, &buffer, &fixture->error));
    for (int staged = 0; staged < 2; staged++) {
        fixture->device->always_staged = staged == 1;
        must(fixture,
             kiln_buffer_fill(buffer, 0, kiln_buffer_size(buffer), POISON, &fixture->error));
        must(fixture, kiln_buffer_upload_repacked(buffer, 0, &repacking, raw,
                                                  (uint64_t)RAW_ROW * (ROWS - 7), &fixture->error));
        must(fixture, kiln_buffer_upload_repacked(buffer, (uint64_t)ROW * (ROWS - 7), &repacking,
                                                  raw + (size_t)RAW_ROW * (ROWS - 7), 7 * RAW_ROW,
                                                  &fixture->error));
        must(fixture, kiln_buffer_download(buffer, 0, found, (size_t)ROWS * ROW, &fixture->error));
        for (size_t b = 0; b < (size_t)ROWS * 2; b++) {
            assert_memory_equal(found + b * BLOCK, raw + b * RAW_BLOCK, RAW_BLOCK);
            assert_int_equal(found[b * BLOCK + 210] | found[b * BLOCK + 211], 0);
        }
    }
    /* Refused before anything is written. */
    must(fixture, kiln_buffer_fill(buffer, 0, kiln_buffer_size(buffer), POISON, &fixture->error));
    must_fail(fixture,
              kiln_buffer_upload_repacked(buffer, ROW, &repacking, raw, (uint64_t)ROWS * RAW_ROW,
                                          &fixture->error),
              KILN_ERR_LIMIT, "17808000 repacked bytes at 424 of a buffer of 17808000 bytes");
    must_fail(
        fixture,
        kiln_buffer_upload_repacked(buffer, 0, &repacking, raw, 3 * RAW_ROW + 210, &fixture->error),
        KILN_ERR_ARGUMENT, "3 rows of 420 bytes and 210 bytes over");
    must_fail(fixture,
              kiln_buffer_upload_repacked(buffer, 0, &repacking, NULL, RAW_ROW, &fixture->error),
              KILN_ERR_ARGUMENT, "no memory");
    must(fixture, kiln_buffer_upload_repacked(buffer, 0, &repacking, NULL, 0, &fixture->error));
    must(fixture, kiln_buffer_download(buffer, 0, found, (size_t)ROWS * ROW, &fixture->error));
    for (size_t i = 0; i < (size_t)ROWS * ROW; i += 4) {
        uint32_t word;
        memcpy(&word, found + i, sizeof word);
        assert_int_equal(word, POISON);
    }
    kiln_buffer_destroy(&buffer);
    free(raw);
    free(found);
}

static void test_buffer_limits(void **state) {
    struct loader_fixture *fixture = *state;
    struct kiln_buffer *buffer = (struct kiln_buffer *)8;
    must_fail(fixture, kiln_buffer_create(fixture->device, 0, &buffer, &fixture->error),
              KILN_ERR_ARGUMENT, "a buffer of 0 bytes");
    assert_null(buffer);
    must_fail(fixture, kiln_buffer_create(fixture->device, UINT64_MAX, &buffer, &fixture->error),
              KILN_ERR_LIMIT, "18446744073709551615");
    assert_null(buffer);
}

/* Dispatches and copies of a batch see each other's results in order; the first is timed. */
static void test_batch(void **state) {
    struct loader_fixture *fixture = *state;
    struct rows_problem problem;
    struct kiln_batch *batch = NULL;
    double time_ns = 0.0;
    rows_begin(fixture, &problem, 100, 10);
    uint64_t size = kiln_buffer_size(problem.y);
    struct kiln_buffer *copy = NULL;
    must(fixture, kiln_buffer_create(fixture->device, size, &copy, &fixture->error));
    must(fixture, kiln_batch_create(fixture->device, 1, &batch, &fixture->error));
    must_fail(fixture, kiln_batch_copy(batch, copy, 0, problem.y, 16, size, &fixture->error),
              KILN_ERR_LIMIT, "a copy of");
    for (int round = 0; round < 3; round++) {
        must(fixture, kiln_buffer_fill(problem.y, 0, size, POISON, &fixture->error));
        must(fixture, kiln_batch_dispatch(batch, &problem.dispatch, &fixture->error));
        must(fixture, kiln_batch_copy(batch, problem.y, 0, copy, 0, size, &fixture->error));
        problem.params[0] = kiln_param_f64("scale", -8);
        must(fixture, kiln_batch_dispatch(batch, &problem.dispatch, &fixture->error));
        problem.params[0] = kiln_param_f64("scale", 0.5);
        must(fixture, kiln_batch_run(batch, TIMEOUT_MS, &fixture->error));
        float first = 0.0f;
        must(fixture, kiln_buffer_download(problem.y, GUARD_BYTES, &first, 4, &fixture->error));
        assert_true(first == -16.0f * problem.expected[0]);
        struct kiln_buffer *y = problem.y;
        problem.y = copy;
        rows_check(fixture, &problem, true);
        problem.y = y;
        if (kiln_device_info(fixture->device)->limits.timestamp_valid_bits > 0) {
            must(fixture, kiln_batch_time(batch, 0, &time_ns, &fixture->error));
            assert_true(time_ns > 0.0 && time_ns < 60e9);
            must_fail(fixture, kiln_batch_time(batch, 1, &time_ns, &fixture->error),
                      KILN_ERR_NOT_FOUND, "was not timed");
            assert_true(time_ns == 0.0);
        }
    }
    kiln_batch_destroy(&batch);
    kiln_buffer_destroy(&copy);
    rows_end(&problem);
}

/* One invocation that adds 30 million words, several times: longer than a millisecond anywhere. */
/* One time around three dispatches, at least as long as any of them; misuse empties the batch. */
static void test_span(void **state) {
    struct loader_fixture *fixture = *state;
    const bool clock = kiln_device_info(fixture->device)->limits.timestamp_valid_bits != 0;
    struct rows_problem problem;
    struct kiln_batch *batch = NULL;
    double time_ns = -1;

    rows_begin(fixture, &problem, 100, 10);
    must(fixture, kiln_batch_create(fixture->device, 2, &batch, &fixture->error));
    must_fail(fixture, kiln_batch_span_end(batch, &fixture->error), KILN_ERR_ARGUMENT,
              "did not begin");
    if (clock) {
        must(fixture, kiln_batch_span_begin(batch, &fixture->error));
        must_fail(fixture, kiln_batch_span_begin(batch, &fixture->error), KILN_ERR_ARGUMENT,
                  "inside another");
        must(fixture, kiln_batch_span_begin(batch, &fixture->error));
        for (int i = 0; i < 3; i++) {
            must(fixture, kiln_batch_dispatch(batch, &problem.dispatch, &fixture->error));
        }
        must(fixture, kiln_batch_span_end(batch, &fixture->error));
        must(fixture, kiln_batch_dispatch(batch, &problem.dispatch, &fixture->error));
        must_fail(fixture, kiln_batch_span_begin(batch, &fixture->error), KILN_ERR_LIMIT,
                  "all 2 timers");
        must(fixture, kiln_batch_span_begin(batch, &fixture->error));
        must(fixture, kiln_batch_dispatch(batch, &problem.dispatch, &fixture->error));
        must(fixture, kiln_batch_span_end(batch, &fixture->error));
        must(fixture, kiln_batch_run(batch, TIMEOUT_MS, &fixture->error));
        must(fixture, kiln_batch_time(batch, 0, &time_ns, &fixture->error));
        assert_true(time_ns > 0);
        must_fail(fixture, kiln_batch_time(batch, 1, &time_ns, &fixture->error), KILN_ERR_NOT_FOUND,
                  "was not timed");
    }
    kiln_batch_destroy(&batch);
    rows_end(&problem);
}

static struct kiln_batch *slow_batch(struct loader_fixture *fixture, struct rows_problem *problem) {
    struct kiln_batch *batch = NULL;
    rows_begin(fixture, problem, 1, 30000000);
    must(fixture, kiln_batch_create(fixture->device, 0, &batch, &fixture->error));
    for (int i = 0; i < 4; i++) {
        must(fixture, kiln_batch_dispatch(batch, &problem->dispatch, &fixture->error));
    }
    must_fail(fixture, kiln_batch_run(batch, 1, &fixture->error), KILN_ERR_VULKAN,
              "VK_TIMEOUT after 1 ms");
    return batch;
}

static void test_timeout(void **state) {
    struct loader_fixture *fixture = *state;
    struct rows_problem problem;
    struct kiln_batch *batch = slow_batch(fixture, &problem);
    must_fail(fixture, kiln_batch_dispatch(batch, &problem.dispatch, &fixture->error),
              KILN_ERR_BUSY, "pending");
    must(fixture, kiln_batch_wait(batch, 0, &fixture->error));
    must(fixture, kiln_batch_wait(batch, 0, &fixture->error));
    rows_check(fixture, &problem, true);
    kiln_batch_destroy(&batch);
    rows_end(&problem);
}

/* Destroying what is still pending leaves it to the end of the process. In one of its own. */
static int abandon(void) {
    void *state = NULL;
    loader_set_up(&state);
    struct loader_fixture *fixture = state;
    struct rows_problem problem;
    struct kiln_batch *batch = slow_batch(fixture, &problem);
    kiln_batch_destroy(&batch);
    rows_end(&problem);
    bool counted = atomic_load(&fixture->device->stuck_count) == 1;
    kiln_device_close(&fixture->device);
    loader_bundle_remove(&fixture->made);
    _exit(counted && !fixture->device ? 0 : 1);
}

static void test_abandoned(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "test_loader_quick", "--abandon", (char *)NULL);
        _exit(126);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, loader_set_up, loader_tear_down)

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--abandon") == 0) {
        return abandon();
    }
    if (!loader_has_device()) {
        return 0;
    }
    const struct CMUnitTest tests[] = {
        ON_DEVICE(test_staging), ON_DEVICE(test_upload_repacked), ON_DEVICE(test_buffer_limits),
        ON_DEVICE(test_batch),   ON_DEVICE(test_span),            ON_DEVICE(test_timeout),
        cmocka_unit_test(test_abandoned),
    };
    return cmocka_run_group_tests_name("loader_quick", tests, NULL, NULL);
}
