/* SPDX-License-Identifier: MIT */
/*
 * loader_rows: what the loader's tests on a device share: a bundle (loader_bundles.h), the device
 * that KILN_DEVICE or libkiln chooses, and problems for the kernel `rows` with their reference.
 * Anything that fails here fails the running test.
 */
#ifndef LOADER_ROWS_H
#define LOADER_ROWS_H

#include "kiln/kiln.h"
#include "loader_bundles.h"

#include <stdbool.h>

#define TIMEOUT_MS 60000u
#define POISON 0x7fc0dead /* a NaN, and no value that the kernels write */
#define GUARD_BYTES 256u  /* on either side of y; a multiple of every device's offset alignment */

struct loader_fixture {
    struct loader_bundle made;
    struct kiln_bundle *bundle;
    struct kiln_device *device;
    struct kiln_error error;
};

/* For cmocka: *state is a struct loader_fixture. */
int loader_set_up(void **state);
int loader_tear_down(void **state);

/* Without a device prints the TAP line that skips the program, or one that fails it, and returns
 * false. */
bool loader_has_device(void);

/* Any result but KILN_OK fails the test with the message. */
void must(const struct loader_fixture *fixture, enum kiln_result result);
/* Any other result, or a message without these words, fails the test. */
void must_fail(const struct loader_fixture *fixture, enum kiln_result result,
               enum kiln_result expected, const char *words);

/* The device's pipeline of the bundle's artifact. */
struct kiln_pipeline *pipeline_of(struct loader_fixture *fixture, const char *name);

/* A problem of `rows`: weights, poisoned outputs with a guard on either side, and a reference. */
struct rows_problem {
    uint32_t nout, k;
    struct kiln_buffer *weights, *y;
    float *expected;             /* nout of them, from sums of integers on the host */
    struct mf_dim dims[2];       /* k, nout */
    struct kiln_range ranges[2]; /* y, weights */
    struct kiln_param params[2]; /* scale; the second is free */
    struct kiln_dispatch dispatch;
};

void rows_begin(struct loader_fixture *fixture, struct rows_problem *problem, uint32_t nout,
                uint32_t k);
/* `written`: whether the outputs are the reference or still poisoned; guards always are. */
void rows_check(struct loader_fixture *fixture, const struct rows_problem *problem, bool written);
void rows_end(struct rows_problem *problem);

#endif /* LOADER_ROWS_H */
