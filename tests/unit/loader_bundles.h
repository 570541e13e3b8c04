/* SPDX-License-Identifier: MIT */
/*
 * loader_bundles: bundles made by hand for the loader's tests.
 *
 * Three artifacts of the modules in loader_modules.h: matvec__f32__any__rows__portable (rows.comp),
 * scale__i32__any__row__portable (spec.comp), softmax__f32__any__row__subgroup (subgroup.comp).
 * Anything that fails here fails the running test.
 */
#ifndef LOADER_BUNDLES_H
#define LOADER_BUNDLES_H

#include "mf_manifest.h"

#define LOADER_ROWS "matvec__f32__any__rows__portable"
#define LOADER_SPEC "scale__i32__any__row__portable"
#define LOADER_SUBGROUP "softmax__f32__any__row__subgroup"
#define LOADER_ARTIFACT_COUNT 3

struct loader_bundle {
    char directory[256];
    struct mf_artifact artifacts[LOADER_ARTIFACT_COUNT]; /* sorted by name; change, then write */
    const uint32_t *words[LOADER_ARTIFACT_COUNT];
    struct mf_manifest manifest; /* its artifacts are the array above */
};

/* Fills the struct and makes an empty directory below TMPDIR; nothing is written into it. */
void loader_bundle_begin(struct loader_bundle *bundle);

/* Fills in size, content and interface hash of each artifact. */
void loader_bundle_seal(struct loader_bundle *bundle);

/* Writes manifest.json, and the modules under their names. */
void loader_bundle_write_manifest(struct loader_bundle *bundle);
void loader_bundle_write_modules(const struct loader_bundle *bundle);

/* All four of the above. */
void loader_bundle_make(struct loader_bundle *bundle);

/* Removes the directory with all that is in it. */
void loader_bundle_remove(struct loader_bundle *bundle);

/* DIRECTORY/name in a static buffer of the caller: at least 512 bytes. */
const char *loader_bundle_path(const struct loader_bundle *bundle, const char *name,
                               char path[512]);

/* Writes a file in the bundle's directory, over what stands there. */
void loader_bundle_put(const struct loader_bundle *bundle, const char *name, const void *bytes,
                       size_t size_bytes);

#endif /* LOADER_BUNDLES_H */
