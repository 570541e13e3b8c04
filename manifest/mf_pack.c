/* SPDX-License-Identifier: MIT */
#include "mf_pack.h"

static const struct {
    const char *name;
    uint32_t words;
} sections[MF_PACK_SECTION_COUNT + 1] = {
    [0] = {"unknown", 0},
    [MF_PACK_TEXTS] = {"texts", 0},
    [MF_PACK_TEXT_LISTS] = {"text lists", 1},
    [MF_PACK_AXES] = {"axes", 2},         /* name, value */
    [MF_PACK_BINDINGS] = {"bindings", 6}, /* set, binding, name, access, element, stride */
    [MF_PACK_PUSH] = {"push", 4},         /* name, offset, size, type */
    [MF_PACK_SPEC] = {"spec", 5},         /* id, name, type, default */
    [MF_PACK_LIMITS] = {"limits", 3},     /* dim, max, multiple */
    [MF_PACK_FACTORS] = {"factors", 2},   /* dim, tile */
    [MF_PACK_GRIDS] = {"grids", 4},       /* x, y, z: lists of factors; fold */
    [MF_PACK_REQUIRES] = {"requires", MF_PACK_REQUIRES_WORDS},
    [MF_PACK_TOLERANCES] = {"tolerances", MF_PACK_TOLERANCE_WORDS},
    [MF_PACK_TOOLCHAIN] = {"toolchain", 5},
    [MF_PACK_ARTIFACTS] = {"artifacts", MF_PACK_ARTIFACT_WORDS},
    [MF_PACK_EXCLUDED] = {"excluded", 2}, /* name, reason */
    [MF_PACK_BLOBS] = {"blobs", MF_PACK_BLOB_WORDS},
    [MF_PACK_DICTIONARY] = {"dictionary", 0},
    [MF_PACK_DATA] = {"data", 0},
};

static size_t section_index(enum mf_pack_section section) {
    size_t index = (size_t)section;
    return index <= MF_PACK_SECTION_COUNT ? index : 0;
}

uint32_t mf_pack_section_words(enum mf_pack_section section) {
    return sections[section_index(section)].words;
}

const char *mf_pack_section_string(enum mf_pack_section section) {
    return sections[section_index(section)].name;
}

void mf_pack_put_u32(unsigned char *bytes, uint32_t value) {
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
}

void mf_pack_put_u64(unsigned char *bytes, uint64_t value) {
    mf_pack_put_u32(bytes, (uint32_t)value);
    mf_pack_put_u32(bytes + 4, (uint32_t)(value >> 32));
}

uint64_t mf_pack_align(uint64_t size_bytes) {
    uint64_t rest = size_bytes % MF_PACK_ALIGNMENT_BYTES;
    if (rest == 0) {
        return size_bytes;
    }
    return size_bytes > UINT64_MAX - MF_PACK_ALIGNMENT_BYTES
               ? UINT64_MAX
               : size_bytes + (MF_PACK_ALIGNMENT_BYTES - rest);
}

struct mf_hash mf_pack_hash(const void *bytes, size_t size_bytes) {
    return mf_hash_bytes(MF_HASH_PACK, bytes,
                         size_bytes < MF_HASH_BYTES ? 0 : size_bytes - MF_HASH_BYTES);
}
