/* SPDX-License-Identifier: MIT */
/*
 * vf_output: what an output of a problem is compared by, for whoever runs artifacts.
 */
#ifndef VF_OUTPUT_H
#define VF_OUTPUT_H

#include "vf_compare.h"
#include "vf_family.h"

#include <kiln/kiln_device.h>

/* The element type that the artifact gives this output. */
enum mf_dtype vf_output_dtype(const struct vf_buffer *buffer, const struct mf_artifact *artifact);

/*
 * The metrics of one output, `got` holding its elements of `dtype`: by the buffer's judge where it
 * has one, exactly for i32, else under `gate`. Returns the gate that is in force for it.
 */
struct mf_tolerance vf_output_measure(const struct vf_buffer *buffer, enum mf_dtype dtype,
                                      const void *got, const struct mf_tolerance *gate,
                                      const struct kiln_device_info *info, struct vf_metrics *out);

#endif /* VF_OUTPUT_H */
