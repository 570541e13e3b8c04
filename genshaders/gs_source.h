/* SPDX-License-Identifier: MIT */
/*
 * gs_source: the GLSL files of a template tree, each read and hashed once per run.
 *
 * A tree has a root; files are named by their path relative to it, '/'-separated and normalised
 * ("include/decode/q4_k.glsl"). Nothing outside the root is ever opened: a name that climbs out of
 * it, is absolute or passes a symbolic link that leaves it is KILN_ERR_PATH.
 *
 * Thread safety: every function may be called from any thread. A file's pointers stay valid until
 * the tree is closed, and its content never changes during a run, so that all variants see one
 * state.
 */
#ifndef GS_SOURCE_H
#define GS_SOURCE_H

#include "mf_hash.h"

struct gs_source_tree; /* opaque */

struct gs_source_file {
    const char *path;  /* relative to the root */
    const char *label; /* root + "/" + path, for messages */
    const char *text;  /* 0-terminated; NULL when the file does not exist */
    size_t size_bytes;
    struct mf_hash hash; /* MF_HASH_FILE; all zero when the file does not exist */
};

/* *tree is NULL on failure (KILN_ERR_NOT_FOUND, KILN_ERR_MEMORY, KILN_ERR_SYSTEM). */
enum kiln_result gs_source_open(const char *root, struct gs_source_tree **tree,
                                struct kiln_error *error);
void gs_source_close(struct gs_source_tree **tree);
const char *gs_source_root(const struct gs_source_tree *tree);

/*
 * The file of that normalised relative path. A missing file is KILN_OK with text NULL (absence is
 * a fact that a build depends on, too); text that is not free of zero bytes is KILN_ERR_FORMAT.
 */
enum kiln_result gs_source_get(struct gs_source_tree *tree, const char *path,
                               const struct gs_source_file **file, struct kiln_error *error);

/*
 * Relative path of `name` as included from `includer` (a relative path, "" for the root itself),
 * with "." and ".." resolved, in `out` (`capacity` bytes). KILN_ERR_PATH when it leaves the tree.
 */
enum kiln_result gs_source_resolve(const char *includer, const char *name, char *out,
                                   size_t capacity, struct kiln_error *error);

#endif /* GS_SOURCE_H */
