/* SPDX-License-Identifier: MIT */
#include "loader_spv.h"

#include "loader_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

bool spv_available(void) {
    if (!loader_has_device()) {
        return false;
    }
    if (access("spv/manifest.json", R_OK) != 0) {
        puts("1..0 # SKIP no bundle in spv/");
        return false;
    }
    return true;
}

void spv_must(const struct spv_fixture *fixture, enum kiln_result result) {
    if (result != KILN_OK) {
        fail_msg("%s: %s", kiln_result_string(result), fixture->error.message);
    }
}

const struct vf_buffer *spv_buffer(const struct vf_problem *problem, const char *binding) {
    for (size_t i = 0; i < problem->buffer_count; i++) {
        if (strcmp(problem->buffers[i].binding, binding) == 0) {
            return &problem->buffers[i];
        }
    }
    fail_msg("the problem has no buffer %s", binding);
    return NULL;
}

int spv_set_up(void **state) {
    struct spv_fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    spv_must(fixture, kiln_bundle_open_directory("spv", &fixture->bundle, &fixture->error));
    spv_must(fixture, kiln_quick_open_device(NULL, NULL, KILN_CPU_LAST_RESORT, &fixture->device,
                                             &fixture->error));
    *state = fixture;
    return 0;
}

int spv_tear_down(void **state) {
    struct spv_fixture *fixture = *state;

    kiln_device_close(&fixture->device);
    kiln_bundle_close(&fixture->bundle);
    free(fixture);
    return 0;
}
