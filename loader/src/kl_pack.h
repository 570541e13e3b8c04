/* SPDX-License-Identifier: MIT */
/*
 * kl_pack: the reader of mf_pack.h.
 *
 * Opening looks at every byte but the modules' once, to hash them, and at the index; a module is
 * expanded when it is asked for. What comes out of the index is copied: afterwards only the
 * dictionary and the modules are read from the pack's bytes.
 *
 * Thread safety: an open pack may be used by any number of threads; the dictionary is made ready
 * by the first that needs it.
 */
#ifndef KL_PACK_H
#define KL_PACK_H

#include "kiln/kiln_bundle.h"

struct kl_pack;

/*
 * Reads the index of the pack in `bytes`, which are borrowed until kl_pack_close, into *manifest
 * (released by the caller with mf_manifest_release, after the pack). `label` stands for the pack in
 * messages and is borrowed, too. On failure *pack is NULL and *manifest all zero. Errors as
 * kiln_bundle_open_pack.
 */
enum kiln_result kl_pack_open(const void *bytes, size_t size_bytes, const char *label,
                              struct mf_manifest *manifest, struct kl_pack **pack,
                              struct kiln_error *error);
void kl_pack_close(struct kl_pack **pack); /* NULL and pointer to NULL are fine */

/*
 * The words of the module of artifact number `index`, as many bytes as the manifest states, from
 * malloc; NULL on failure. Their content hash is not looked at. KILN_ERR_FORMAT: they do not expand
 * to that size. KILN_ERR_HASH: the artifact's interface has another hash than the index states.
 */
enum kiln_result kl_pack_module(struct kl_pack *pack, size_t index, uint32_t **words,
                                struct kiln_error *error);

/*
 * Maps a regular file for reading; links are followed, for the path is the caller's. An empty file
 * gives NULL and 0. KILN_ERR_NOT_FOUND, KILN_ERR_PATH (no regular file), KILN_ERR_LIMIT (above
 * KILN_PACK_LIMIT_BYTES), KILN_ERR_IO. Unmapped with kl_pack_unmap.
 */
enum kiln_result kl_pack_map(const char *path, void **bytes, size_t *size_bytes,
                             struct kiln_error *error);
void kl_pack_unmap(void *bytes, size_t size_bytes); /* NULL is fine */

/* ---- between kl_pack.c and kl_pack_index.c ---- */

/* Where a module lies in the pack. */
struct kl_blob {
    size_t offset_bytes;
    uint32_t packed_bytes;
    uint32_t size_bytes;
};

/* What the index says beside the manifest. All in the manifest's arena but `dictionary`. */
struct kl_pack_index {
    const struct kl_blob *blobs;
    const uint32_t *artifact_blobs; /* one for each artifact */
    const unsigned char *dictionary;
    size_t dictionary_packed_bytes;
    uint32_t dictionary_bytes;
};

/* Checks and reads everything; *manifest is all zero on failure. */
enum kiln_result kl_pack_index_read(const unsigned char *bytes, size_t size_bytes,
                                    const char *label, struct mf_manifest *manifest,
                                    struct kl_pack_index *index, struct kiln_error *error);

#endif /* KL_PACK_H */
