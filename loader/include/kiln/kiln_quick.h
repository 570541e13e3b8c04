/* SPDX-License-Identifier: MIT */
/*
 * kiln_quick: buffers, submission and timing for programs that have no Vulkan code of their own.
 *
 * Thread safety: buffers and batches belong to one thread at a time; different ones may be used by
 * different threads, their submissions are serialised by the device.
 *
 * After a timeout (KILN_ERR_VULKAN whose message names VK_TIMEOUT) the work may still be running.
 * kiln_batch_wait can wait for it again. What is destroyed while it runs is left to the end of the
 * process instead. After KILN_ERR_DEVICE_LOST everything of the device can only be destroyed.
 */
#ifndef KILN_QUICK_H
#define KILN_QUICK_H

#include "kiln_dispatch.h"
#include "kiln_repack.h"
#include "kiln_select.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Instance, choice and device in one call. `name` as in kiln_instance_choose; when NULL, the
 * environment variable KILN_DEVICE takes its place if set and not empty. `params` may be NULL. This
 * is the only function that reads KILN_DEVICE. *device is the caller's; NULL on failure.
 */
enum kiln_result kiln_quick_open_device(const struct kiln_instance_params *params, const char *name,
                                        enum kiln_cpu_policy cpu_policy,
                                        struct kiln_device **device, struct kiln_error *error);

/* ---- buffers ---- */

struct kiln_buffer;

/*
 * A storage and transfer buffer of `size_bytes` (at least 1) rounded up to a multiple of 16, its
 * content undefined. On CPU and integrated devices its memory is mapped; on others it is device
 * memory and transfers go through a staging buffer of at most 16 MiB. *buffer is the caller's,
 * destroyed before the device; NULL on failure. KILN_ERR_LIMIT: larger than the device allows.
 * KILN_ERR_MEMORY: no memory of that size left.
 */
enum kiln_result kiln_buffer_create(struct kiln_device *device, uint64_t size_bytes,
                                    struct kiln_buffer **buffer, struct kiln_error *error);
void kiln_buffer_destroy(struct kiln_buffer **buffer); /* sets NULL; NULL is fine */

/* Copies between host memory and the buffer and returns when done. Ranges that leave size_bytes
 * rounded up to 16 are KILN_ERR_LIMIT. The buffer must not be in use by pending work. */
enum kiln_result kiln_buffer_upload(struct kiln_buffer *buffer, uint64_t offset_bytes,
                                    const void *bytes, uint64_t size_bytes,
                                    struct kiln_error *error);
enum kiln_result kiln_buffer_download(struct kiln_buffer *buffer, uint64_t offset_bytes,
                                      void *bytes, uint64_t size_bytes, struct kiln_error *error);

/*
 * Uploads `raw_bytes` bytes of raw rows as repacked ones (kiln_repack.h), by way of at most 16 MiB
 * of host memory. A part of a tensor's rows goes to offset row_first · mf_dtype_row_bytes(to, k).
 * Errors as kiln_repack_size, KILN_ERR_ARGUMENT (NULL), KILN_ERR_MEMORY, and as kiln_buffer_upload;
 * all but those of the transfer itself come before anything is uploaded.
 */
enum kiln_result kiln_buffer_upload_repacked(struct kiln_buffer *buffer, uint64_t offset_bytes,
                                             const struct kiln_repacking *repacking,
                                             const void *raw, uint64_t raw_bytes,
                                             struct kiln_error *error);

/* Repeats a 32-bit word over the range; offset and size are multiples of 4. */
enum kiln_result kiln_buffer_fill(struct kiln_buffer *buffer, uint64_t offset_bytes,
                                  uint64_t size_bytes, uint32_t word, struct kiln_error *error);

VkBuffer kiln_buffer_handle(const struct kiln_buffer *buffer);
uint64_t kiln_buffer_size(const struct kiln_buffer *buffer); /* bytes, after rounding up */

/* A range of it to bind; size_bytes 0 means up to its end. */
struct kiln_range kiln_buffer_range(const char *name, const struct kiln_buffer *buffer,
                                    uint64_t offset_bytes, uint64_t size_bytes);

/* ---- batches: recorded dispatches, submitted together ---- */

struct kiln_batch;

/*
 * A command buffer with room for `timer_capacity` timed dispatches (0 is fine: nothing is timed).
 * *batch is the caller's, destroyed before the device; NULL on failure. It starts out empty.
 */
enum kiln_result kiln_batch_create(struct kiln_device *device, uint32_t timer_capacity,
                                   struct kiln_batch **batch, struct kiln_error *error);
void kiln_batch_destroy(struct kiln_batch **batch); /* sets NULL; NULL is fine */

/*
 * Appends a dispatch, then a barrier, so that each dispatch sees the results of those before. The
 * first timer_capacity dispatches are timed, numbered from 0, one number a call. An append that
 * fails, this or kiln_batch_copy, leaves the batch empty: all that was appended is dropped.
 * KILN_ERR_BUSY: work of the last run is still pending.
 */
enum kiln_result kiln_batch_dispatch(struct kiln_batch *batch, const struct kiln_dispatch *dispatch,
                                     struct kiln_error *error);

/*
 * One timer around all that is appended between begin and end, barriers included: what a sequence
 * of dispatches costs without a timestamp behind each. It takes the next timer number; dispatches
 * inside are not timed of their own. Begin and end of the same batch, not nested.
 * KILN_ERR_BUSY as kiln_batch_dispatch; KILN_ERR_ARGUMENT: nested, or an end without a begin;
 * KILN_ERR_LIMIT: no timer left; KILN_ERR_UNSUPPORTED: the queue has no timestamps. On failure the
 * batch is empty.
 */
enum kiln_result kiln_batch_span_begin(struct kiln_batch *batch, struct kiln_error *error);
enum kiln_result kiln_batch_span_end(struct kiln_batch *batch, struct kiln_error *error);

/* Appends a copy between buffers of the device, ordered like a dispatch. Not timed. */
enum kiln_result kiln_batch_copy(struct kiln_batch *batch, const struct kiln_buffer *from,
                                 uint64_t from_offset_bytes, struct kiln_buffer *to,
                                 uint64_t to_offset_bytes, uint64_t size_bytes,
                                 struct kiln_error *error);

/*
 * Submits what was appended and waits until it is done, at most `timeout_ms` (0: no limit). Then
 * the batch is empty again and its times can be read until the next append.
 */
enum kiln_result kiln_batch_run(struct kiln_batch *batch, uint32_t timeout_ms,
                                struct kiln_error *error);

/* Waits again after a timeout; KILN_OK at once when nothing is pending. */
enum kiln_result kiln_batch_wait(struct kiln_batch *batch, uint32_t timeout_ms,
                                 struct kiln_error *error);

/*
 * Device time of timed dispatch or span `index` of the last run, in nanoseconds, from two
 * timestamps around it: ((end − begin) mod 2^timestampValidBits) · timestampPeriod.
 * KILN_ERR_UNSUPPORTED when the queue has no timestamps, KILN_ERR_NOT_FOUND when that dispatch was
 * not timed; *time_ns is 0 then.
 */
enum kiln_result kiln_batch_time(const struct kiln_batch *batch, uint32_t index, double *time_ns,
                                 struct kiln_error *error);

/*
 * One dispatch from start to end. `time_ns` may be NULL; where the device has no timestamps it is
 * set to 0 and the run succeeds.
 */
enum kiln_result kiln_quick_run(const struct kiln_dispatch *dispatch, uint32_t timeout_ms,
                                double *time_ns, struct kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_QUICK_H */
