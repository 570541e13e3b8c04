/* SPDX-License-Identifier: MIT */
#include "vf_output.h"

#include <string.h>

enum mf_dtype vf_output_dtype(const struct vf_buffer *buffer, const struct mf_artifact *artifact) {
    const struct mf_dtype_info *info = NULL;

    if (buffer->dtype_index >= 0 && (size_t)buffer->dtype_index < artifact->dtype_count) {
        info = mf_dtype_find(artifact->dtypes[buffer->dtype_index]);
    }
    return info ? info->dtype : buffer->dtype;
}

/* Only lavapipe is known to round f32 division as the host does. */
static bool divides_exactly(const struct kiln_device_info *info) {
    return strstr(info->driver_name, "llvmpipe") != NULL;
}

struct mf_tolerance vf_output_measure(const struct vf_buffer *buffer, enum mf_dtype dtype,
                                      const void *got, const struct mf_tolerance *gate,
                                      const struct kiln_device_info *info, struct vf_metrics *out) {
    struct mf_tolerance own = vf_buffer_gate(buffer, gate);

    if (buffer->judge || dtype == MF_DTYPE_I32) {
        own = vf_tolerance_none();
        own.exact = true;
    }
    if (buffer->judge) {
        buffer->judge(buffer, got, divides_exactly(info), out);
    } else {
        vf_compare(dtype, got, buffer->expected, buffer->element_count, &own, buffer->non_finite,
                   out);
    }
    return own;
}
