/* SPDX-License-Identifier: MIT */
/*
 * mf_hash: XXH3-128 (xxHash library, https://xxhash.com) in separated domains.
 *
 * Hashes find corruption and identify content; they do not protect against tampering (FORMAT.md).
 * Each use has its own domain, so that equal bytes hash differently as recipe, content or
 * interface. A digest is kept in XXH3's canonical form: 16 bytes, most significant first; its text
 * form is 32 lower-case hex digits of those bytes.
 *
 * Fields added to a hash are length-prefixed (u64, little-endian), so that ("ab","c") and
 * ("a","bc") differ. Thread safety: a state belongs to one thread; the rest is safe anywhere.
 */
#ifndef MF_HASH_H
#define MF_HASH_H

#include "kiln_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MF_HASH_BYTES 16
#define MF_HASH_TEXT_BYTES 33 /* 32 hex digits and the terminator */

struct mf_hash {
    uint8_t bytes[MF_HASH_BYTES];
};

/* XXH3 seeds of the domains (FORMAT.md, "Hashes"): the ASCII of eight characters, big-endian. */
enum mf_hash_domain {
    MF_HASH_RECIPE,    /* "kilnrcpe": everything that can change an artifact's bytes */
    MF_HASH_CONTENT,   /* "kilncont": the final SPIR-V words as little-endian bytes */
    MF_HASH_INTERFACE, /* "kilnifac": bindings, push constants, local size, grid, requirements */
    MF_HASH_FILE,      /* "kilnfile": source files, for change detection only */
    MF_HASH_PACK       /* "kilnpack": a pack without its trailing hash */
};

/* One-shot: the XXH3-128 of the raw bytes with the domain's seed; no length prefix. */
struct mf_hash mf_hash_bytes(enum mf_hash_domain domain, const void *bytes, size_t size_bytes);

/* Streaming, of length-prefixed fields. *state is NULL on failure (KILN_ERR_MEMORY only). */
struct mf_hash_state;
enum kiln_result mf_hash_begin(enum mf_hash_domain domain, struct mf_hash_state **state);
void mf_hash_add(struct mf_hash_state *state, const void *bytes, size_t size_bytes);
void mf_hash_add_string(struct mf_hash_state *state, const char *string);
void mf_hash_add_u64(struct mf_hash_state *state, uint64_t value);
/* Gives the digest, frees the state and sets *state to NULL. */
struct mf_hash mf_hash_end(struct mf_hash_state **state);

bool mf_hash_equal(const struct mf_hash *a, const struct mf_hash *b);
void mf_hash_format(const struct mf_hash *hash, char text[MF_HASH_TEXT_BYTES]);
/* KILN_ERR_FORMAT unless `text` is exactly 32 lower-case hex digits. */
enum kiln_result mf_hash_parse(const char *text, struct mf_hash *out);

/* Version of the xxHash headers this was compiled with, e.g. "0.8.3"; XXH3 is stable from 0.8.0. */
const char *mf_hash_library_version(void);

#endif /* MF_HASH_H */
