/* SPDX-License-Identifier: MIT */
#include "loader_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void must(const struct loader_fixture *fixture, enum kiln_result result) {
    if (result) {
        fail_msg("%s: %s", kiln_result_string(result), fixture->error.message);
    }
}

void must_fail(const struct loader_fixture *fixture, enum kiln_result result,
               enum kiln_result expected, const char *words) {
    if (result != expected || !strstr(fixture->error.message, words)) {
        fail_msg("expected %s with \"%s\", found %s: %s", kiln_result_string(expected), words,
                 kiln_result_string(result), fixture->error.message);
    }
}

int loader_set_up(void **state) {
    struct loader_fixture *fixture = calloc(1, sizeof(*fixture));
    loader_bundle_make(&fixture->made);
    must(fixture,
         kiln_bundle_open_directory(fixture->made.directory, &fixture->bundle, &fixture->error));
    must(fixture, kiln_quick_open_device(NULL, NULL, KILN_CPU_LAST_RESORT, &fixture->device,
                                         &fixture->error));
    *state = fixture;
    return 0;
}

int loader_tear_down(void **state) {
    struct loader_fixture *fixture = *state;
    kiln_device_close(&fixture->device);
    kiln_bundle_close(&fixture->bundle);
    loader_bundle_remove(&fixture->made);
    free(fixture);
    return 0;
}

struct kiln_pipeline *pipeline_of(struct loader_fixture *fixture, const char *name) {
    struct kiln_pipeline *pipeline = NULL;
    must(fixture,
         kiln_pipeline_get(fixture->device, fixture->bundle,
                           kiln_bundle_find(fixture->bundle, name), &pipeline, &fixture->error));
    return pipeline;
}

void rows_begin(struct loader_fixture *fixture, struct rows_problem *problem, uint32_t nout,
                uint32_t k) {
    uint32_t *words = malloc((size_t)nout * k * 4 + 4);
    uint64_t weights_bytes = (uint64_t)nout * k * 4;
    *problem = (struct rows_problem){.nout = nout, .k = k};
    problem->expected = calloc(nout + 1, sizeof(float));
    for (uint32_t row = 0; row < nout; row++) {
        uint32_t sum = 0;
        for (uint32_t j = 0; j < k; j++) {
            words[(size_t)row * k + j] = (row * 31 + j * 7) % 101;
            sum += words[(size_t)row * k + j];
        }
        problem->expected[row] = 0.5f * (float)sum;
    }
    must(fixture,
         kiln_buffer_create(fixture->device, weights_bytes, &problem->weights, &fixture->error));
    must(fixture, kiln_buffer_upload(problem->weights, 0, words, weights_bytes, &fixture->error));
    free(words);
    must(fixture, kiln_buffer_create(fixture->device, 2 * GUARD_BYTES + 4 * (uint64_t)nout,
                                     &problem->y, &fixture->error));
    must(fixture,
         kiln_buffer_fill(problem->y, 0, kiln_buffer_size(problem->y), POISON, &fixture->error));
    problem->dims[0] = (struct mf_dim){"k", k};
    problem->dims[1] = (struct mf_dim){"nout", nout};
    problem->ranges[0] = kiln_buffer_range("y", problem->y, GUARD_BYTES, 4 * (uint64_t)nout);
    problem->ranges[1] = kiln_buffer_range("weights", problem->weights, 0, weights_bytes);
    problem->params[0] = kiln_param_f64("scale", 0.5);
    problem->dispatch = (struct kiln_dispatch){.pipeline = pipeline_of(fixture, LOADER_ROWS),
                                               .ranges = problem->ranges,
                                               .range_count = 2,
                                               .dims = problem->dims,
                                               .dim_count = 2,
                                               .params = problem->params,
                                               .param_count = 1};
}

void rows_check(struct loader_fixture *fixture, const struct rows_problem *problem, bool written) {
    size_t size = (size_t)kiln_buffer_size(problem->y);
    uint32_t *found = malloc(size);
    must(fixture, kiln_buffer_download(problem->y, 0, found, size, &fixture->error));
    for (size_t i = 0; i < size / 4; i++) {
        uint32_t expected = POISON;
        if (written && i >= GUARD_BYTES / 4 && i < GUARD_BYTES / 4 + problem->nout) {
            memcpy(&expected, &problem->expected[i - GUARD_BYTES / 4], 4);
        }
        if (found[i] != expected) {
            fail_msg("word %zu is 0x%08x, expected 0x%08x", i, found[i], expected);
        }
    }
    free(found);
}

void rows_end(struct rows_problem *problem) {
    kiln_buffer_destroy(&problem->weights);
    kiln_buffer_destroy(&problem->y);
    free(problem->expected);
}

bool loader_has_device(void) {
    struct kiln_device *device = NULL;
    struct kiln_error error = {0};
    if (kiln_quick_open_device(NULL, NULL, KILN_CPU_LAST_RESORT, &device, &error)) {
        bool absent = error.code == KILN_ERR_NO_LOADER || error.code == KILN_ERR_NO_DRIVER;
        printf("%s %s\n", absent ? "1..0 # SKIP" : "Bail out!", error.message);
        return false;
    }
    kiln_device_close(&device);
    return true;
}
