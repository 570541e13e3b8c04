/* SPDX-License-Identifier: MIT */
/*
 * For tests that run the project's own bundle, spv/, on the best device there is.
 */
#ifndef LOADER_SPV_H
#define LOADER_SPV_H

#include "vf_family.h"

#include <kiln/kiln_quick.h>

struct spv_fixture {
    struct kiln_device *device;
    struct kiln_bundle *bundle;
    struct kiln_error error;
};

/* Whether there is a device and a bundle; says why not, as a skip, when it returns false. */
bool spv_available(void);

/* cmocka's set-up and tear-down: *state is a struct spv_fixture. */
int spv_set_up(void **state);
int spv_tear_down(void **state);

/* Any result but KILN_OK fails the test with the message. */
void spv_must(const struct spv_fixture *fixture, enum kiln_result result);

/* The problem's buffer for that binding; the test fails when it has none. */
const struct vf_buffer *spv_buffer(const struct vf_problem *problem, const char *binding);

#endif /* LOADER_SPV_H */
