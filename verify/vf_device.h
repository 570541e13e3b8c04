/* SPDX-License-Identifier: MIT */
/*
 * vf_device: a device opened for verification, with the kernel that dirties its shared memory.
 *
 * Thread safety: one thread at a time.
 */
#ifndef VF_DEVICE_H
#define VF_DEVICE_H

#include <kiln/kiln_quick.h>

struct vf_device {
    struct kiln_device *device;
    const struct kiln_device_info *info;
    struct kiln_pipeline *dirty;    /* vf_dirty.comp */
    struct kiln_buffer *dirty_sink; /* one word a workgroup */
    uint32_t dirty_group_count;
};

/*
 * Opens device `index` of the instance and makes the dirtying kernel, which it also runs once and
 * checks. On failure *out is all zero.
 */
enum kiln_result vf_device_open(struct kiln_instance *instance, size_t index, uint32_t timeout_ms,
                                struct vf_device *out, struct kiln_error *error);
void vf_device_close(struct vf_device *device); /* an all zero one is fine */

/* Fills shared memory of every compute unit with the pattern. */
enum kiln_result vf_device_dirty(struct vf_device *device, uint32_t pattern, uint32_t timeout_ms,
                                 struct kiln_error *error);

/*
 * What the device's limits say about an artifact, from the manifest's numbers alone: local size,
 * invocations, workgroup memory, push constants, number of buffers. Drivers on processors run such
 * kernels without complaint. KILN_ERR_LIMIT with all numbers that are exceeded.
 */
enum kiln_result vf_limits_check(const struct kiln_limits *limits,
                                 const struct mf_artifact *artifact, struct kiln_error *error);

#endif /* VF_DEVICE_H */
