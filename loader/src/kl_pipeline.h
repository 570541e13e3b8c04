/* SPDX-License-Identifier: MIT */
/*
 * kl_pipeline: pipelines and the set of them that a device keeps.
 */
#ifndef KL_PIPELINE_H
#define KL_PIPELINE_H

#include "kiln/kiln_pipeline.h"
#include "kl_device.h"

#define KL_SET_CAPACITY 4 /* every Vulkan device binds at least four descriptor sets */

struct kiln_pipeline {
    struct kiln_device *device;
    struct kiln_bundle *bundle; /* a reference */
    const struct mf_artifact *artifact;
    VkDescriptorSetLayout sets[KL_SET_CAPACITY]; /* up to the highest used; gaps are empty sets */
    uint32_t set_count;
    VkPipelineLayout layout;
    VkPipeline handle;
};

/*
 * The pipelines that kiln_pipeline_get made. Locks for itself. Destroying it destroys them; nothing
 * may use them then.
 */
enum kiln_result kl_pipeline_cache_create(struct kl_pipeline_cache **cache,
                                          struct kiln_error *error);
void kl_pipeline_cache_destroy(struct kl_pipeline_cache **cache);

#endif /* KL_PIPELINE_H */
