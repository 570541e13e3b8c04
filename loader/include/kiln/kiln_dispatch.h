/* SPDX-License-Identifier: MIT */
/*
 * kiln_dispatch: one kernel launch, by names, into a command buffer of the caller's.
 *
 * The caller gives buffers by binding name, push constants by name and the problem's dimensions;
 * group counts come from the artifact's grid, all in 64 bits. Every number is checked against the
 * device's limits before anything is recorded, so a refused dispatch leaves the command buffer as
 * it was. Only when descriptor memory runs out (KILN_ERR_MEMORY, KILN_ERR_VULKAN) may some windows
 * have been recorded.
 *
 * Row windows. A weights buffer larger than maxStorageBufferRange is dispatched in pieces of whole
 * rows: each piece binds the weights from its first row on, sets the row dimension to its own
 * number of rows and the push constant `row_first` to the index of its first row, which the kernel
 * adds to the row number when it writes its output. Outputs are bound whole.
 */
#ifndef KILN_DISPATCH_H
#define KILN_DISPATCH_H

#include "kiln_pipeline.h"
#include "mf_manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `size_bytes` of `buffer` from `offset_bytes` on, bound as `name`. The offset is a multiple of the
 * device's storage_offset_alignment_bytes. What is bound is size_bytes rounded up to a multiple of
 * 16 for bindings that the kernel only reads (the padding of weights) and of 4 for others; the
 * buffer must hold those bytes. The buffer has usage VK_BUFFER_USAGE_STORAGE_BUFFER_BIT.
 */
struct kiln_range {
    const char *name;
    VkBuffer buffer;
    uint64_t offset_bytes;
    uint64_t size_bytes;
};

/* A push constant by name; it is converted to the type that the artifact states, if it fits. */
enum kiln_param_kind { KILN_PARAM_UNSIGNED, KILN_PARAM_SIGNED, KILN_PARAM_REAL };
struct kiln_param {
    const char *name;
    enum kiln_param_kind kind;
    union {
        uint64_t u;
        int64_t i;
        double f;
    } value;
};
struct kiln_param kiln_param_u64(const char *name, uint64_t value);
struct kiln_param kiln_param_i64(const char *name, int64_t value);
struct kiln_param kiln_param_f64(const char *name, double value);

/* Limits to obey instead of the device's; 0 keeps the device's. Only lower ones make sense. */
struct kiln_limits_override {
    uint64_t max_storage_buffer_range_bytes;
    uint32_t max_group_count[3];
};

/* How to split. All zero: never split. */
struct kiln_windowing {
    const char *binding; /* the weights, e.g. "weights" */
    const char *dim;     /* the number of rows, e.g. "nout" */
    uint64_t row_bytes;  /* bytes of one row, at least 1 */
};

struct kiln_dispatch {
    struct kiln_pipeline *pipeline;
    const struct kiln_range *ranges; /* exactly the artifact's bindings, in any order */
    size_t range_count;
    const struct mf_dim *dims; /* exactly the artifact's dimensions, in any order */
    size_t dim_count;
    const struct kiln_param *params; /* push constants that are not dimensions */
    size_t param_count;
    struct kiln_windowing windowing;
    const struct kiln_limits_override *limits; /* NULL: the device's */
};

/*
 * Descriptor memory of recorded dispatches. A recorder belongs to one thread at a time. It may be
 * reset or destroyed once no command buffer that it recorded into is pending or will be submitted.
 */
struct kiln_recorder;
enum kiln_result kiln_recorder_create(struct kiln_device *device, struct kiln_recorder **recorder,
                                      struct kiln_error *error);
enum kiln_result kiln_recorder_reset(struct kiln_recorder *recorder, struct kiln_error *error);
void kiln_recorder_destroy(struct kiln_recorder **recorder); /* sets NULL; NULL is fine */

/*
 * Records the dispatch into `commands`, which is in the recording state, outside a render pass, of
 * the device's queue family. Binds pipeline, descriptor sets and push constants; adds no barrier.
 * A zero-sized problem records nothing and succeeds, whatever its ranges.
 *
 * Push constants: each member of the artifact's block takes the param of its name, else the
 * dimension of its name; `row_first` is 0 when not given.
 *
 * KILN_ERR_NOT_FOUND: a range, dimension or param missing or unknown. KILN_ERR_DUPLICATE: one given
 * twice. KILN_ERR_LIMIT: a range, offset, group count or value beyond its limit, with both numbers;
 * a dimension that the artifact's limits do not allow.
 * KILN_ERR_ARGUMENT: NULL handle or empty range.
 */
enum kiln_result kiln_dispatch_record(struct kiln_recorder *recorder, VkCommandBuffer commands,
                                      const struct kiln_dispatch *dispatch,
                                      struct kiln_error *error);

/* Makes writes of earlier dispatches and transfers visible to later ones, and to the host. */
void kiln_barrier_record(struct kiln_device *device, VkCommandBuffer commands);

/* ---- the pure parts, for callers that record themselves ---- */

/*
 * The push constant block of an artifact: `block_bytes` is its requires.push_bytes, the caller's
 * `block` holds at least as many. Errors as kiln_dispatch_record.
 */
enum kiln_result kiln_push_fill(const struct mf_artifact *artifact, const struct mf_dim *dims,
                                size_t dim_count, const struct kiln_param *params,
                                size_t param_count, void *block, size_t block_bytes,
                                struct kiln_error *error);

/* Rows row_first .. row_first + row_count - 1 at `offset_bytes` of the buffer. */
struct kiln_window {
    uint64_t row_first;
    uint64_t row_count;
    uint64_t offset_bytes; /* a multiple of the alignment */
    uint64_t size_bytes;   /* row_count · row_bytes */
};

/*
 * The window that begins at row `row_first` of `row_count` rows of `row_bytes` bytes whose first
 * row is at `offset_bytes`: as many rows as possible with size_bytes, rounded up to 16, at most
 * `max_range_bytes` and at most 2^32 - 16 (kernels address a window with 32-bit byte offsets), and
 * the next window's offset a multiple of `alignment_bytes` (a power of two). Start at 0 and add
 * row_count until row_first reaches the number of rows.
 *
 * KILN_ERR_LIMIT: offset_bytes is not aligned, or not even the smallest number of rows that keeps
 * the alignment, alignment / gcd(alignment, row_bytes), fits; the numbers are in the message.
 */
enum kiln_result kiln_window_next(uint64_t row_first, uint64_t row_count, uint64_t row_bytes,
                                  uint64_t offset_bytes, uint64_t max_range_bytes,
                                  uint64_t alignment_bytes, struct kiln_window *window,
                                  struct kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_DISPATCH_H */
