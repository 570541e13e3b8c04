/* SPDX-License-Identifier: MIT */
/*
 * kiln_bundle: a set of SPIR-V artifacts with the manifest that describes them.
 *
 * A bundle directory holds `manifest.json` and the files that it lists. Nothing else in the
 * directory is ever opened. Files are reached without following a symbolic link in any component
 * below the directory; the directory's own path belongs to the caller and is taken as it is.
 *
 * A pack is one file, or bytes in memory, that holds the same (FORMAT.md, "Pack"): kernels.kiln. It
 * opens faster, for its index is binary and its modules are expanded only when they are used. The
 * members `file` of its artifacts are labels.
 *
 * Hashes find corruption, not tampering: FORMAT.md says what protects against what.
 *
 * Thread safety: an open bundle is immutable; any number of threads may use it. Opening and closing
 * one bundle from two threads at once is not safe. Pipelines keep a reference of their own, so a
 * bundle may be closed while pipelines made from it live on.
 */
#ifndef KILN_BUNDLE_H
#define KILN_BUNDLE_H

#include "kiln_result.h"
#include "mf_manifest.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest manifest, module and pack that are read, in bytes. */
#define KILN_MANIFEST_LIMIT_BYTES ((uint64_t)64 * 1024 * 1024)
#define KILN_MODULE_LIMIT_BYTES ((uint64_t)16 * 1024 * 1024)
#define KILN_PACK_LIMIT_BYTES ((uint64_t)512 * 1024 * 1024)

struct kiln_bundle;

/*
 * Opens `path`, reads and checks its manifest.json; no module is read yet. *bundle is the caller's
 * and is closed with kiln_bundle_close; NULL on failure.
 *
 * KILN_ERR_NOT_FOUND: no such directory, or no manifest.json in it. KILN_ERR_VERSION: a format or
 * an abi newer than this library. KILN_ERR_FORMAT, _DUPLICATE, _PATH: the manifest is not sound;
 * the message names artifact and field. KILN_ERR_LIMIT: a manifest above its limit.
 */
enum kiln_result kiln_bundle_open_directory(const char *path, struct kiln_bundle **bundle,
                                            struct kiln_error *error);

/*
 * Opens a pack by its file, links followed, or in memory; checks its hash and its whole index. The
 * file is mapped: it may be replaced or removed while the bundle is open, but not be written in
 * place. The caller's bytes are borrowed, unchanged, until kiln_bundle_close; pipelines do not need
 * them. Modules are checked by kiln_bundle_module as those of a directory.
 *
 * KILN_ERR_NOT_FOUND: no such file. KILN_ERR_PATH: no regular file. KILN_ERR_VERSION: a format or
 * an abi newer than this library. KILN_ERR_HASH: the hash at its end is not that of its bytes.
 * KILN_ERR_FORMAT, _DUPLICATE: no pack, cut, or an index that is not sound; the message names
 * section and row. KILN_ERR_LIMIT: above KILN_PACK_LIMIT_BYTES. KILN_ERR_IO.
 */
enum kiln_result kiln_bundle_open_pack(const char *path, struct kiln_bundle **bundle,
                                       struct kiln_error *error);
enum kiln_result kiln_bundle_open_memory(const void *bytes, size_t size_bytes,
                                         struct kiln_bundle **bundle, struct kiln_error *error);

/* A directory or a pack, whichever `path` is. Errors as above. */
enum kiln_result kiln_bundle_open(const char *path, struct kiln_bundle **bundle,
                                  struct kiln_error *error);

/* Drops the caller's reference and sets *bundle to NULL. NULL and a pointer to NULL are fine. */
void kiln_bundle_close(struct kiln_bundle **bundle);

/* The manifest, owned by the bundle: valid until the bundle is closed. Never NULL. */
const struct mf_manifest *kiln_bundle_manifest(const struct kiln_bundle *bundle);

/* The artifacts in manifest order (by name): index 0 .. count-1; NULL beyond. Owned by the bundle.
 */
size_t kiln_bundle_artifact_count(const struct kiln_bundle *bundle);
const struct mf_artifact *kiln_bundle_artifact(const struct kiln_bundle *bundle, size_t index);

/* The artifact of that name, or NULL. Owned by the bundle. */
const struct mf_artifact *kiln_bundle_find(const struct kiln_bundle *bundle, const char *name);

/*
 * A module as a driver takes it: `word_count` 32-bit words in host order, aligned for uint32_t.
 * Released with kiln_module_release; a zeroed one may be released too.
 */
struct kiln_module {
    uint32_t *words;
    size_t word_count;
};

/*
 * Reads the module of an artifact of this bundle and checks it: the file's size is the manifest's,
 * XXH3-128 over exactly the bytes handed out is its content hash, and kiln_module_check accepts
 * them. *module is the caller's; all zero on failure.
 *
 * KILN_ERR_NOT_FOUND: `artifact` is not one of this bundle's, or its file is missing.
 * KILN_ERR_PATH: a symbolic link, or no regular file. KILN_ERR_HASH: size or content differ, or, in
 * a pack, the interface from its hash. KILN_ERR_FORMAT: it does not expand from its pack.
 * KILN_ERR_LIMIT: larger than KILN_MODULE_LIMIT_BYTES. KILN_ERR_SPIRV: refused by the check.
 * KILN_ERR_IO: the system's reason is in the message.
 */
enum kiln_result kiln_bundle_module(const struct kiln_bundle *bundle,
                                    const struct mf_artifact *artifact, struct kiln_module *module,
                                    struct kiln_error *error);
void kiln_module_release(struct kiln_module *module);

/*
 * The structural check before any driver sees a module (SPIR-V specification, sections 2.3 and
 * 3.1): at least a header, magic number in host order, version 1.0 to 1.6, schema 0, bound 1 to
 * 4194303, each instruction inside the module and nothing behind the last one, and exactly one
 * GLCompute entry point, named "main", whose string ends inside its instruction. KILN_ERR_SPIRV
 * names the word at fault. `label` stands for the module in the message.
 */
enum kiln_result kiln_module_check(const uint32_t *words, size_t word_count, const char *label,
                                   struct kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_BUNDLE_H */
