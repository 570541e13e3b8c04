/* SPDX-License-Identifier: MIT */
/*
 * kiln_repack: weights from GGML's blocks to the layouts of the repacked types.
 *
 * Blocks of q8_0 (34 bytes), q3_k (110) and q6_k (210) begin at any multiple of 2 bytes, so a
 * kernel reads two words for one and shifts. q8_0p, q3_kp and q6_kp hold the same blocks padded to
 * whole words (36, 112 and 212 bytes; docs/repacked_layouts.md) and decode to the same values. They
 * are data types of their own: the engine repacks a tensor when it uploads it and then asks
 * kiln_select for "q8_0p" where the file says "q8_0". No query for the one ever gets a kernel for
 * the other.
 *
 * Everything here runs on the CPU and works on whole rows. A row depends on itself alone: a tensor
 * may be repacked in pieces of any number of rows, by any number of threads, and the rows of a
 * window are those of mf_dtype_row_bytes(to, k). Sizes are 64-bit. Thread safety: no state.
 */
#ifndef KILN_REPACK_H
#define KILN_REPACK_H

#include "kiln_result.h"
#include "mf_dtype.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes what: rows of `k` elements, row after row, k a multiple of the block. */
struct kiln_repacking {
    enum mf_dtype from; /* raw: as in the file */
    enum mf_dtype to;   /* repacked */
    uint64_t k;
};

/* The repacked type of a raw one. KILN_ERR_NOT_FOUND, *to = from: there is none. */
enum kiln_result kiln_repack_find(enum mf_dtype from, enum mf_dtype *to);

/*
 * Bytes of the repacked rows that `raw_bytes` bytes of raw rows become; *repacked_bytes is 0 on
 * failure.
 *
 * KILN_ERR_ARGUMENT: `to` is no repacked type of `from`; k is no multiple of the block; raw_bytes
 * is no whole number of rows, the message has the number of rows and the bytes left over.
 * KILN_ERR_LIMIT: the size does not fit 64 bits.
 */
enum kiln_result kiln_repack_size(const struct kiln_repacking *repacking, uint64_t raw_bytes,
                                  uint64_t *repacked_bytes, struct kiln_error *error);

/*
 * Repacks `raw_bytes` bytes of whole rows at `raw` into `repacked`, which has room for
 * `repacked_bytes`, at least kiln_repack_size of them; that many are written, padding as zeros, and
 * none behind. Neither pointer needs an alignment; both may be NULL when raw_bytes is 0.
 *
 * Errors as kiln_repack_size, before anything is written, and KILN_ERR_LIMIT: no room, with both
 * numbers; KILN_ERR_ARGUMENT: NULL, or the ranges overlap (blocks grow, so nothing is repacked in
 * place).
 */
enum kiln_result kiln_repack(const struct kiln_repacking *repacking, const void *raw,
                             uint64_t raw_bytes, void *repacked, uint64_t repacked_bytes,
                             struct kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_REPACK_H */
