/* SPDX-License-Identifier: MIT */
/*
 * vf_worker: the process that touches Vulkan. It answers requests (vf_message.h) from its input
 * descriptor until that ends. A driver that crashes takes this process down and nothing else.
 *
 * Test hook: the environment variable KILN_VERIFY_INJECT=KIND:ARTIFACT makes that artifact
 * misbehave when its turn comes: `crash` (a segmentation fault), `hang` (sleeps for ever), `lost`
 * (reports a lost device), `wrong` (one flipped bit in its result).
 */
#ifndef VF_WORKER_H
#define VF_WORKER_H

#include "vf_options.h"

/* Returns the exit status of the process: 0 when the requests ended, 3 after a device was lost. */
int vf_worker_run(const struct vf_options *options);

#endif /* VF_WORKER_H */
