/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_quick.h"

#include <stdlib.h>

enum kiln_result kiln_quick_open_device(const struct kiln_instance_params *params, const char *name,
                                        enum kiln_cpu_policy cpu_policy,
                                        struct kiln_device **device, struct kiln_error *error) {
    struct kiln_instance *instance = NULL;
    size_t index = 0;
    *device = NULL;
    enum kiln_result result = kiln_instance_create(params, &instance, error);
    if (!result) {
        result = kiln_instance_choose(instance, name ? name : getenv("KILN_DEVICE"), cpu_policy,
                                      &index, error);
    }
    if (!result) {
        result = kiln_device_open(instance, index, device, error);
    }
    kiln_instance_close(&instance);
    return result;
}

enum kiln_result kiln_quick_run(const struct kiln_dispatch *dispatch, uint32_t timeout_ms,
                                double *time_ns, struct kiln_error *error) {
    struct kiln_batch *batch = NULL;
    double time = 0.0;
    if (time_ns) {
        *time_ns = 0.0;
    }
    enum kiln_result result =
        kiln_batch_create(kiln_pipeline_device(dispatch->pipeline), time_ns ? 1 : 0, &batch, error);
    if (!result) {
        result = kiln_batch_dispatch(batch, dispatch, error);
    }
    if (!result) {
        result = kiln_batch_run(batch, timeout_ms, error);
    }
    if (!result && time_ns && kiln_batch_time(batch, 0, &time, NULL) == KILN_OK) {
        *time_ns = time;
    }
    kiln_batch_destroy(&batch);
    return result;
}
