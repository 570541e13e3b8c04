/* SPDX-License-Identifier: MIT */
/*
 * gs_variant: makes one artifact out of one variant; the middle of gs_build.
 */
#ifndef GS_VARIANT_H
#define GS_VARIANT_H

#include "gs_cache.h"

/* What all variants of a run share. Read-only while threads run, but for tree and diag. */
struct gs_variant_context {
    const char *cache;
    struct gs_source_tree *tree;
    struct gs_diag *diag;
    struct mf_hash build; /* gs_toolchain_build_hash */
    const char *toolchain_signature;
};

enum gs_variant_outcome { GS_VARIANT_FAILED, GS_VARIANT_COMPILED, GS_VARIANT_REUSED };

/*
 * On success `artifact` is complete, in `arena`, and `bytes` holds the .spv file's content.
 * On failure diagnostics were added. One per variant; the caller releases arena and bytes.
 */
struct gs_variant_result {
    enum gs_variant_outcome outcome;
    struct mf_arena arena;
    struct mf_artifact artifact;
    struct mf_buffer bytes;
};

/* Path of the variant's template relative to the tree's root. */
const char *gs_variant_template(const struct gs_variant *variant,
                                const struct gs_source_tree *tree);

/*
 * Appends preprocessed text as keys see it: without #line directives and blank lines. These say
 * where text stood, and reach a module only as debug information, which artifacts have none of:
 * without them an edited comment changes no key.
 */
enum kiln_result gs_variant_text(const char *text, struct mf_buffer *out);

void gs_variant_build(const struct gs_variant_context *context, const struct gs_variant *variant,
                      struct gs_variant_result *result);
void gs_variant_result_release(struct gs_variant_result *result);

#endif /* GS_VARIANT_H */
