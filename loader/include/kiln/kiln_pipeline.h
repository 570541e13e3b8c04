/* SPDX-License-Identifier: MIT */
/*
 * kiln_pipeline: an artifact made runnable on a device.
 *
 * A pipeline has one descriptor set layout per descriptor set of the artifact (storage buffers
 * only), one push constant range from byte 0 and entry point "main". The requirements are checked
 * before the driver sees the module. A pinned subgroup size is asked for through
 * VK_EXT_subgroup_size_control; where the device has no such control but always uses that size,
 * nothing is asked.
 *
 * Thread safety: all functions may be called from any thread; destroying a pipeline in use is the
 * caller's error. Pipelines hold a reference to their bundle.
 */
#ifndef KILN_PIPELINE_H
#define KILN_PIPELINE_H

#include "kiln_bundle.h"
#include "kiln_device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kiln_pipeline;

/* A value for a specialisation constant: the low bits of `bits`, as wide as the constant's type. */
struct kiln_spec_value {
    uint32_t constant_id;
    uint64_t bits;
};

/*
 * A new pipeline with these specialisation values; constants not listed keep their defaults.
 * `values` may be NULL when value_count is 0. *pipeline is the caller's, destroyed before the
 * device with kiln_pipeline_destroy; NULL on failure.
 *
 * KILN_ERR_UNSUPPORTED as kiln_requirements_check; KILN_ERR_NOT_FOUND for a constant that the
 * artifact does not have; the errors of kiln_bundle_module; KILN_ERR_VULKAN from the driver.
 */
enum kiln_result kiln_pipeline_create(struct kiln_device *device, struct kiln_bundle *bundle,
                                      const struct mf_artifact *artifact,
                                      const struct kiln_spec_value *values, size_t value_count,
                                      struct kiln_pipeline **pipeline, struct kiln_error *error);

/* Sets *pipeline to NULL. NULL and pointer to NULL are fine. Only for kiln_pipeline_create's. */
void kiln_pipeline_destroy(struct kiln_pipeline **pipeline);

/*
 * The device's own pipeline of the artifact with default constants, made at the first call and
 * found by name, content and interface hash afterwards. Threads that ask for the same artifact at
 * once wait for the one that makes it; others go on. A failure is not remembered. *pipeline belongs
 * to the device; NULL on failure.
 */
enum kiln_result kiln_pipeline_get(struct kiln_device *device, struct kiln_bundle *bundle,
                                   const struct mf_artifact *artifact,
                                   struct kiln_pipeline **pipeline, struct kiln_error *error);

/* Owned by the pipeline. */
const struct mf_artifact *kiln_pipeline_artifact(const struct kiln_pipeline *pipeline);
struct kiln_device *kiln_pipeline_device(const struct kiln_pipeline *pipeline);
VkPipeline kiln_pipeline_handle(const struct kiln_pipeline *pipeline);
VkPipelineLayout kiln_pipeline_layout(const struct kiln_pipeline *pipeline);

#ifdef __cplusplus
}
#endif

#endif /* KILN_PIPELINE_H */
