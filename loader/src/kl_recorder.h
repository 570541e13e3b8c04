/* SPDX-License-Identifier: MIT */
/*
 * kl_recorder: descriptor sets for recorded dispatches, from pools that are made as needed.
 *
 * Thread safety: one thread at a time.
 */
#ifndef KL_RECORDER_H
#define KL_RECORDER_H

#include "kiln/kiln_dispatch.h"
#include "kl_pipeline.h"

/* Sets for all layouts of the pipeline; they live until the recorder is reset. */
enum kiln_result kl_recorder_allocate(struct kiln_recorder *recorder,
                                      const struct kiln_pipeline *pipeline,
                                      VkDescriptorSet sets[KL_SET_CAPACITY],
                                      struct kiln_error *error);

struct kiln_device *kl_recorder_device(const struct kiln_recorder *recorder);

#endif /* KL_RECORDER_H */
