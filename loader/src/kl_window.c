/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_dispatch.h"

/* Kernels address a window with 32-bit byte offsets and may read 16 bytes of padding. */
#define KL_WINDOW_LIMIT_BYTES (((uint64_t)1 << 32) - 16)
#define KL_PADDING_BYTES 16u

static uint64_t kl_window_gcd(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

enum kiln_result kiln_window_next(uint64_t row_first, uint64_t row_count, uint64_t row_bytes,
                                  uint64_t offset_bytes, uint64_t max_range_bytes,
                                  uint64_t alignment_bytes, struct kiln_window *window,
                                  struct kiln_error *error) {
    *window = (struct kiln_window){0};
    if (row_bytes == 0 || alignment_bytes == 0 || row_first > row_count ||
        (row_count > 0 && row_bytes > (UINT64_MAX - offset_bytes) / row_count)) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "row windows: row %llu of %llu rows of %llu bytes at %llu",
                              (unsigned long long)row_first, (unsigned long long)row_count,
                              (unsigned long long)row_bytes, (unsigned long long)offset_bytes);
    }
    uint64_t first_offset = offset_bytes + row_first * row_bytes;
    if (first_offset % alignment_bytes != 0) {
        return kiln_error_set(error, KILN_ERR_LIMIT,
                              "row windows: row %llu is at offset %llu, no multiple of %llu",
                              (unsigned long long)row_first, (unsigned long long)first_offset,
                              (unsigned long long)alignment_bytes);
    }
    uint64_t limit =
        max_range_bytes < KL_WINDOW_LIMIT_BYTES ? max_range_bytes : KL_WINDOW_LIMIT_BYTES;
    limit -= limit % KL_PADDING_BYTES; /* so that a size below it can be rounded up */
    uint64_t rows = limit / row_bytes;
    uint64_t left = row_count - row_first;
    if (rows >= left) {
        rows = left;
    } else {
        uint64_t step = alignment_bytes / kl_window_gcd(alignment_bytes, row_bytes);
        rows -= rows % step;
        if (rows == 0) {
            return kiln_error_set(error, KILN_ERR_LIMIT,
                                  "row windows: %llu rows of %llu bytes keep the alignment of "
                                  "%llu, but exceed the range of %llu bytes",
                                  (unsigned long long)step, (unsigned long long)row_bytes,
                                  (unsigned long long)alignment_bytes, (unsigned long long)limit);
        }
    }
    *window = (struct kiln_window){.row_first = row_first,
                                   .row_count = rows,
                                   .offset_bytes = first_offset,
                                   .size_bytes = rows * row_bytes};
    return KILN_OK;
}
