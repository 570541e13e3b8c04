/* SPDX-License-Identifier: MIT */
/*
 * mf_pack: a whole bundle in one file, spv/kernels.kiln. FORMAT.md, "Pack", is the specification.
 *
 *   header, table of contents, sections in the order of enum mf_pack_section, trailing hash
 *
 * All numbers are little-endian; each section begins at a multiple of 16 bytes, directly behind the
 * one before it, with zero bytes between. Texts, lists and rows that occur more than once are
 * stored once and referred to by number, so that a reader checks each of them once. Modules are
 * stored once a content, as relative words (mf_relative.h) in zstd frames that share one
 * dictionary.
 *
 * The file name of an artifact is not stored: in a pack `file` is a label, formed by
 * mf_artifact_file_name.
 */
#ifndef MF_PACK_H
#define MF_PACK_H

#include "mf_buffer.h"
#include "mf_manifest.h"

#include <stdint.h>

#define MF_PACK_FORMAT 1
#define MF_PACK_MAGIC "\x89KILN\r\n\x1a" /* 8 bytes; damaged by transfer as text */
#define MF_PACK_MAGIC_BYTES 8
#define MF_PACK_ALIGNMENT_BYTES 16
#define MF_PACK_HEADER_BYTES 32
#define MF_PACK_ENTRY_BYTES 24 /* of the table of contents */
#define MF_PACK_TEXT_MAX_BYTES 4096
#define MF_PACK_DICTIONARY_MAX_BYTES (512 * 1024)

/* Offsets in the header. */
enum {
    MF_PACK_AT_FORMAT = 8,    /* u32 */
    MF_PACK_AT_ABI = 12,      /* u32 */
    MF_PACK_AT_SIZE = 16,     /* u64, of the whole file */
    MF_PACK_AT_SECTIONS = 24, /* u32, their number; then u32 0 */
    MF_PACK_AT_ZERO = 28
};

/* Sections, in file order; numbers are those of the table of contents. */
enum mf_pack_section {
    MF_PACK_TEXTS = 1,  /* 0-terminated, ascending bytewise */
    MF_PACK_TEXT_LISTS, /* lists: the count, then so many elements */
    MF_PACK_AXES,
    MF_PACK_BINDINGS,
    MF_PACK_PUSH,
    MF_PACK_SPEC,
    MF_PACK_LIMITS,
    MF_PACK_FACTORS,
    MF_PACK_GRIDS, /* rows of a fixed number of words */
    MF_PACK_REQUIRES,
    MF_PACK_TOLERANCES,
    MF_PACK_TOOLCHAIN, /* one row */
    MF_PACK_ARTIFACTS,
    MF_PACK_EXCLUDED,
    MF_PACK_BLOBS,
    MF_PACK_DICTIONARY, /* one zstd frame */
    MF_PACK_DATA        /* the blobs, each at a multiple of 16 */
};
#define MF_PACK_SECTION_COUNT 17

/* 32-bit words of an element of a list, or of a row; 0 for sections of bytes. */
uint32_t mf_pack_section_words(enum mf_pack_section section);
const char *mf_pack_section_string(enum mf_pack_section section); /* "texts"; never NULL */

/* Words of a row. Hashes and 64-bit numbers take 4 and 2; a number refers into another section. */
enum mf_pack_artifact_word {
    MF_PACK_ARTIFACT_NAME, /* text */
    MF_PACK_ARTIFACT_FAMILY,
    MF_PACK_ARTIFACT_KERNEL,
    MF_PACK_ARTIFACT_SHAPE,
    MF_PACK_ARTIFACT_SCHEDULE,
    MF_PACK_ARTIFACT_TIER,
    MF_PACK_ARTIFACT_REFERENCE,
    MF_PACK_ARTIFACT_DTYPES, /* text list */
    MF_PACK_ARTIFACT_DIMS,
    MF_PACK_ARTIFACT_AXES,
    MF_PACK_ARTIFACT_BINDINGS,
    MF_PACK_ARTIFACT_PUSH,
    MF_PACK_ARTIFACT_SPEC,
    MF_PACK_ARTIFACT_LIMITS,
    MF_PACK_ARTIFACT_GRID,
    MF_PACK_ARTIFACT_REQUIRES,
    MF_PACK_ARTIFACT_TOLERANCE,
    MF_PACK_ARTIFACT_BLOB,
    MF_PACK_ARTIFACT_RECIPE,
    MF_PACK_ARTIFACT_IFACE = MF_PACK_ARTIFACT_RECIPE + 4,
    MF_PACK_ARTIFACT_WORDS = MF_PACK_ARTIFACT_IFACE + 4
};
enum mf_pack_requires_word {
    MF_PACK_REQUIRES_VULKAN, /* major, minor */
    MF_PACK_REQUIRES_SPIRV = 2,
    MF_PACK_REQUIRES_LOCAL_SIZE = 4, /* x, y, z */
    MF_PACK_REQUIRES_WORKGROUP_BYTES = 7,
    MF_PACK_REQUIRES_PUSH_BYTES,
    MF_PACK_REQUIRES_SUBGROUP_SIZE,
    MF_PACK_REQUIRES_LISTS, /* operations, features, extensions, capabilities: text lists */
    MF_PACK_REQUIRES_WORDS = MF_PACK_REQUIRES_LISTS + 4
};
enum mf_pack_tolerance_word {
    MF_PACK_TOLERANCE_EXACT, /* 0 or 1 */
    MF_PACK_TOLERANCE_ULP_F16,
    MF_PACK_TOLERANCE_MAX_ABS, /* binary64; -1: not gated */
    MF_PACK_TOLERANCE_REL = 4,
    MF_PACK_TOLERANCE_SCALE = 6,
    MF_PACK_TOLERANCE_WORDS = 8
};
enum mf_pack_blob_word {
    MF_PACK_BLOB_PACKED_BYTES,
    MF_PACK_BLOB_SIZE_BYTES, /* of the module */
    MF_PACK_BLOB_CONTENT,
    MF_PACK_BLOB_WORDS = MF_PACK_BLOB_CONTENT + 4
};

/* Little-endian numbers at any address. */
static inline uint32_t mf_pack_u32(const unsigned char *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}
static inline uint64_t mf_pack_u64(const unsigned char *bytes) {
    return mf_pack_u32(bytes) | (uint64_t)mf_pack_u32(bytes + 4) << 32;
}
void mf_pack_put_u32(unsigned char *bytes, uint32_t value);
void mf_pack_put_u64(unsigned char *bytes, uint64_t value);

/* The next multiple of 16; what does not fit 64 bits gives UINT64_MAX. */
uint64_t mf_pack_align(uint64_t size_bytes);

/* The trailing hash: of all bytes before it, which are the first size_bytes - 16. */
struct mf_hash mf_pack_hash(const void *bytes, size_t size_bytes);

/*
 * Appends the pack of a manifest. modules[i] holds the bytes of manifest->artifacts[i].
 * Deterministic: equal input gives equal bytes, with one version of the zstd library.
 *
 * KILN_ERR_ARGUMENT: artifacts or exclusions are not sorted. KILN_ERR_HASH: bytes differ in size
 * or content hash from what the manifest states. KILN_ERR_LIMIT: more than 2^32 - 1 of anything, or
 * a text above MF_PACK_TEXT_MAX_BYTES. KILN_ERR_MEMORY.
 */
enum kiln_result mf_pack_write(const struct mf_manifest *manifest,
                               const struct mf_buffer *const *modules, struct mf_buffer *out,
                               struct kiln_error *error);

#endif /* MF_PACK_H */
