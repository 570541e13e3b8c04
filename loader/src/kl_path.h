/* SPDX-License-Identifier: MIT */
/*
 * kl_path: files of a bundle, reached without leaving its directory.
 *
 * A path is opened one component after the other, relative to the directory already open and
 * without following symbolic links, so that neither the text of the path nor a link put in place
 * while it is opened can lead elsewhere.
 *
 * Thread safety: all functions may be called from any thread.
 */
#ifndef KL_PATH_H
#define KL_PATH_H

#include "kiln_result.h"

#include <stdint.h>

/* Opens a directory by the caller's own path. *descriptor is -1 on failure. KILN_ERR_NOT_FOUND,
 * KILN_ERR_PATH (not a directory) or KILN_ERR_IO. */
enum kiln_result kl_path_open_directory(const char *path, int *descriptor,
                                        struct kiln_error *error);

/*
 * Opens the regular file `path` (mf_path_check) below `directory` for reading and gives its size.
 * *descriptor is the caller's to close; -1 on failure. `label` stands for the bundle in messages.
 * KILN_ERR_PATH: unsafe path, a symbolic link, or no regular file; KILN_ERR_NOT_FOUND; KILN_ERR_IO.
 */
enum kiln_result kl_path_open_file(int directory, const char *path, const char *label,
                                   int *descriptor, uint64_t *size_bytes, struct kiln_error *error);

/*
 * Reads exactly `size_bytes` and requires the end of the file behind them: KILN_ERR_HASH when the
 * file is shorter or longer by now, KILN_ERR_IO when reading fails.
 */
enum kiln_result kl_path_read_all(int descriptor, const char *path, void *bytes,
                                  uint64_t size_bytes, struct kiln_error *error);

#endif /* KL_PATH_H */
