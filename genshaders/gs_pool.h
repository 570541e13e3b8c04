/* SPDX-License-Identifier: MIT */
/*
 * gs_pool: runs a job for every index of a range on several threads.
 *
 * Jobs are handed out in rising order; results belong into arrays indexed by job, so that output
 * order never depends on timing.
 */
#ifndef GS_POOL_H
#define GS_POOL_H

#include "kiln_result.h"

#include <stddef.h>

/* Called with 0 <= index < job_count, from any of the pool's threads, never twice for an index. */
typedef void (*gs_pool_job)(void *context, size_t index);

/*
 * Called on the calling thread, some times a second and once at the end, with the number of
 * finished jobs. May be NULL.
 */
typedef void (*gs_pool_watch)(void *context, size_t finished_count, size_t job_count);

/*
 * Returns when all jobs have run. thread_count 0: one per available processor. KILN_ERR_SYSTEM when
 * not a single thread could be started; with fewer threads than asked for the work is still done.
 */
enum kiln_result gs_pool_run(size_t thread_count, size_t job_count, gs_pool_job job, void *context,
                             gs_pool_watch watch, void *watch_context, struct kiln_error *error);

/* Processors this process may run on, at least 1. */
size_t gs_pool_processor_count(void);

#endif /* GS_POOL_H */
