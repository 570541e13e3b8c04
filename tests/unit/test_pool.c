/* SPDX-License-Identifier: MIT */
/* The thread pool: every job once, progress that ends at the total, any number of threads. */
#include "gs_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct jobs {
    atomic_int *runs;
    atomic_size_t total;
};

static void job_count_up(void *context, size_t index) {
    struct jobs *jobs = context;
    atomic_fetch_add(&jobs->runs[index], 1);
    atomic_fetch_add(&jobs->total, 1);
}

struct watched {
    size_t calls, last, job_count;
};

static void watch_record(void *context, size_t finished_count, size_t job_count) {
    struct watched *watched = context;
    assert_true(finished_count >= watched->last);
    assert_true(finished_count <= job_count);
    watched->calls++;
    watched->last = finished_count;
    watched->job_count = job_count;
}

static void test_every_job_once(void **state) {
    (void)state;
    static const size_t thread_counts[] = {0, 1, 2, 7, 1000};
    static const size_t job_counts[] = {1, 2, 3, 257, 5000};
    for (size_t t = 0; t < 5; t++) {
        for (size_t j = 0; j < 5; j++) {
            size_t job_count = job_counts[j];
            struct jobs jobs = {.runs = calloc(job_count, sizeof(atomic_int))};
            struct watched watched = {0};
            assert_non_null(jobs.runs);
            assert_int_equal(gs_pool_run(thread_counts[t], job_count, job_count_up, &jobs,
                                         watch_record, &watched, NULL),
                             KILN_OK);
            assert_int_equal(atomic_load(&jobs.total), job_count);
            for (size_t i = 0; i < job_count; i++) {
                assert_int_equal(atomic_load(&jobs.runs[i]), 1);
            }
            assert_true(watched.calls == 0 || watched.job_count == job_count);
            free(jobs.runs);
        }
    }
}

static void test_nothing_to_do(void **state) {
    (void)state;
    assert_int_equal(gs_pool_run(4, 0, NULL, NULL, NULL, NULL, NULL), KILN_OK);
    assert_true(gs_pool_processor_count() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_job_once),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
