/* SPDX-License-Identifier: MIT */
/*
 * gs_build: the whole run, from a template tree to a bundle on disk.
 *
 *   plan -> for each variant: stamp | preprocess, key, cache | compile, optimise, validate,
 *   normalise, reflect, compare, strip, hash -> publish
 *
 * Nothing of the bundle changes before every variant has succeeded. docs/pipeline.md tells the
 * steps and what each fails on.
 */
#ifndef GS_BUILD_H
#define GS_BUILD_H

#include "gs_diag.h"
#include "gs_pool.h"
#include "mf_manifest.h"

struct gs_build_options {
    const char *template_root;
    const char *out;            /* bundle directory; made when missing */
    const char *cache;          /* cache directory; made when missing */
    size_t thread_count;        /* 0: one per processor */
    size_t variant_budget;      /* 0: 2,000 artifacts */
    uint64_t size_budget_bytes; /* 0: 24 MiB of SPIR-V */
    gs_pool_watch watch;        /* progress, may be NULL */
    void *watch_context;
};

struct gs_build_summary {
    size_t planned_count; /* variants, the excluded ones included */
    size_t excluded_count;
    size_t compiled_count; /* went through the compiler in this run */
    size_t reused_count;   /* came from the cache */
    size_t failed_count;
    size_t written_count; /* files of the bundle that were written */
    size_t removed_count; /* stale files of the bundle that were removed */
    uint64_t size_bytes;  /* SPIR-V of the whole bundle */
};

/*
 * KILN_OK and an up-to-date bundle, or the code of the first diagnostic: then *diag tells all that
 * failed and the bundle is what it was before. *summary is filled as far as the run got.
 * Two runs on one `out` wait for each other.
 */
enum kiln_result gs_build_run(const struct gs_build_options *options,
                              struct gs_build_summary *summary, struct gs_diag *diag);

/* Versions and signature of the toolchain linked in, in `arena`. */
enum kiln_result gs_toolchain_fill(struct mf_arena *arena, struct mf_toolchain *toolchain);

/*
 * Hash of this very program, its static libraries included: the cache holds for it alone.
 */
enum kiln_result gs_toolchain_build_hash(struct mf_hash *build, struct kiln_error *error);

#endif /* GS_BUILD_H */
