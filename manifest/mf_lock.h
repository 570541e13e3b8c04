/* SPDX-License-Identifier: MIT */
/*
 * mf_lock: manifest/artifacts.lock, the committed list of what the tree produces.
 *
 *   # kiln artifacts.lock 1
 *   toolchain <signature>
 *   <name> <content hash> <interface hash> <size in bytes>
 *   ...
 *
 * One artifact a line, sorted by name, single spaces, every line ends with a newline. FORMAT.md has
 * the grammar. The lock is valid for the toolchain signature it names only.
 */
#ifndef MF_LOCK_H
#define MF_LOCK_H

#include "mf_manifest.h"

/* Appends the lock text of a manifest. */
enum kiln_result mf_lock_write(const struct mf_manifest *manifest, struct mf_buffer *out,
                               struct kiln_error *error);

/*
 * Compares a manifest with lock text. KILN_OK when they agree; KILN_ERR_VERSION when the lock names
 * another toolchain signature (nothing else is compared then); KILN_ERR_MISMATCH when artifacts
 * are missing, extra or different, with one line each appended to *report (`label:line: ...`);
 * KILN_ERR_FORMAT when the text is no lock, with label, line and what was expected in *error.
 */
enum kiln_result mf_lock_compare(const struct mf_manifest *manifest, const char *text,
                                 size_t size_bytes, const char *label, struct mf_buffer *report,
                                 struct kiln_error *error);

#endif /* MF_LOCK_H */
