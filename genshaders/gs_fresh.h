/* SPDX-License-Identifier: MIT */
/*
 * gs_fresh: is a bundle what a run would make again? The short way of a build in which nothing
 * changed; without it each variant is looked at by itself (gs_variant), with the same outcome.
 *
 * After a run that succeeded, `<cache>/runs/<hash of the bundle's path>` records the generator's
 * own hash, the hash of the whole template tree (every path and content, found by walking it) and
 * the hash of every file of the bundle. The bundle is fresh when all of it still holds, each file
 * of the bundle read and hashed again. A record that is missing or damaged, and a tree that holds
 * anything but files and directories, are simply not fresh.
 *
 * Thread safety: one call at a time per bundle (gs_publish_lock).
 */
#ifndef GS_FRESH_H
#define GS_FRESH_H

#include "gs_build.h"

struct gs_fresh {
    bool usable;           /* false: the tree cannot be recorded */
    struct mf_hash inputs; /* generator, tree and budgets */
    struct mf_arena arena;
    char *record_path;
};

/* Walks the tree. Never fails: what goes wrong makes *fresh unusable. Release it in any case. */
void gs_fresh_begin(const struct gs_build_options *options, const struct mf_hash *build,
                    struct gs_fresh *fresh);
void gs_fresh_release(struct gs_fresh *fresh);

/* True, with the recorded counts in *summary, when the bundle at options->out is fresh. */
bool gs_fresh_check(const struct gs_fresh *fresh, const struct gs_build_options *options,
                    struct gs_build_summary *summary);

/* Records the bundle just published; a failure costs the next run its short way, nothing more. */
void gs_fresh_store(const struct gs_fresh *fresh, const struct gs_build_options *options,
                    const struct mf_manifest *manifest, const struct gs_build_summary *summary);

#endif /* GS_FRESH_H */
