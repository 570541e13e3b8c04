/* SPDX-License-Identifier: MIT */
/*
 * mf_zstd: Zstandard frames (RFC 8878), alone or with a dictionary of raw content.
 *
 * Frames carry their content's size, no checksum and no dictionary id. What is written depends on
 * the library's version, what is read does not.
 *
 * Thread safety: a writer belongs to one thread at a time; a dictionary may be used by any number.
 */
#ifndef MF_ZSTD_H
#define MF_ZSTD_H

#include "mf_buffer.h"

#include <stdint.h>

/* Compresses at the level that packs use. `dictionary` is copied; its size may be 0. *writer is
 * NULL on failure (KILN_ERR_MEMORY). */
struct mf_zstd_writer;
enum kiln_result mf_zstd_writer_create(const void *dictionary, size_t size_bytes,
                                       struct mf_zstd_writer **writer);
void mf_zstd_writer_destroy(struct mf_zstd_writer **writer); /* NULL and pointer to NULL are fine */

/* Appends one frame. KILN_ERR_MEMORY when it cannot. */
enum kiln_result mf_zstd_compress(struct mf_zstd_writer *writer, const void *bytes,
                                  size_t size_bytes, struct mf_buffer *out);

/* A dictionary made ready for reading; the bytes are copied. *dictionary is NULL on failure. */
struct mf_zstd_dictionary;
enum kiln_result mf_zstd_dictionary_create(const void *bytes, size_t size_bytes,
                                           struct mf_zstd_dictionary **dictionary);
void mf_zstd_dictionary_destroy(struct mf_zstd_dictionary **dictionary);

/*
 * Fills exactly `size_bytes` of `out` from `packed_bytes` of frames. `dictionary` may be NULL.
 * KILN_ERR_FORMAT when the input is damaged or gives another number of bytes; nothing is written
 * outside of `out`, whatever the input. KILN_ERR_MEMORY.
 */
enum kiln_result mf_zstd_expand(const struct mf_zstd_dictionary *dictionary, const void *packed,
                                size_t packed_bytes, void *out, size_t size_bytes);

/* Version of the library at run time, e.g. "1.5.7". Static storage. */
const char *mf_zstd_library_version(void);

#endif /* MF_ZSTD_H */
