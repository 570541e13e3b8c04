/* SPDX-License-Identifier: MIT */
/*
 * gs_cache: what earlier runs of the generator made, kept outside the bundle.
 *
 *   <cache>/objects/<key>.spv    a finished module, little-endian words
 *   <cache>/objects/<key>.json   its reflected interface, one line (mf_artifact_write)
 *   <cache>/stamps/<name>        which inputs led to which key
 *
 * The cache is never trusted: an entry that is missing, cut, damaged or in an older form counts as
 * absent, and modules are hashed when read. Files appear by rename, so a killed run leaves whole
 * entries or none, and two runs may share a cache. Thread safety: all functions from any thread.
 */
#ifndef GS_CACHE_H
#define GS_CACHE_H

#include "gs_module.h"
#include "gs_source.h"
#include "gs_spec.h"

/* Makes the directories. */
enum kiln_result gs_cache_prepare(const char *cache, struct kiln_error *error);

/*
 * A finished module as the cache keeps it. Of `artifact` only what compiling, reflection and
 * hashing found counts: size_bytes, recipe, content, requires_ (less the pinned subgroup size),
 * bindings, push, spec. The rest is that of the variant that happened to be built first.
 */
struct gs_object {
    struct mf_artifact artifact;
    struct mf_buffer bytes; /* the .spv file's content */
};

/* False when there is no whole entry. The artifact's memory is in `arena`; *object zero then. */
bool gs_cache_load(const char *cache, const struct mf_hash *key, struct mf_arena *arena,
                   struct gs_object *object);

/* Stores bytes first, interface last. */
enum kiln_result gs_cache_store(const char *cache, const struct mf_hash *key,
                                const struct gs_object *object, struct kiln_error *error);

/*
 * A stamp says: with these tools (`build`), this declaration (`variant`) and these files, the
 * preprocessed text leads to `key`. When all of it still holds, preprocessing can be skipped.
 */
struct gs_stamp {
    struct mf_hash build;
    struct mf_hash variant;
    struct mf_hash key;
    const struct gs_source_file *const *files; /* text NULL: the file must be absent */
    size_t file_count;
};

/* *key when a stamp of that artifact name exists and agrees with the tree as it is. */
bool gs_stamp_check(const char *cache, const char *name, const struct mf_hash *build,
                    const struct mf_hash *variant, struct gs_source_tree *tree,
                    struct mf_hash *key);

enum kiln_result gs_stamp_store(const char *cache, const char *name, const struct gs_stamp *stamp,
                                struct kiln_error *error);

#endif /* GS_CACHE_H */
