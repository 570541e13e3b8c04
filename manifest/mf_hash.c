/* SPDX-License-Identifier: MIT */
#include "mf_hash.h"

#include <string.h>
#include <xxhash.h>

#define QUOTE_EXPANDED(text) #text
#define QUOTE(text) QUOTE_EXPANDED(text)

static XXH64_hash_t domain_seed(enum mf_hash_domain domain) {
    switch (domain) {
    case MF_HASH_RECIPE:
        return UINT64_C(0x6b696c6e72637065); /* kilnrcpe */
    case MF_HASH_CONTENT:
        return UINT64_C(0x6b696c6e636f6e74); /* kilncont */
    case MF_HASH_INTERFACE:
        return UINT64_C(0x6b696c6e69666163); /* kilnifac */
    case MF_HASH_FILE:
        return UINT64_C(0x6b696c6e66696c65); /* kilnfile */
    case MF_HASH_PACK:
        return UINT64_C(0x6b696c6e7061636b); /* kilnpack */
    }
    return 0;
}

static struct mf_hash canonical(XXH128_hash_t digest) {
    XXH128_canonical_t text;
    struct mf_hash hash;
    XXH128_canonicalFromHash(&text, digest);
    _Static_assert(sizeof text.digest == sizeof hash.bytes, "XXH3-128 has 16 bytes");
    memcpy(hash.bytes, text.digest, sizeof hash.bytes);
    return hash;
}

struct mf_hash mf_hash_bytes(enum mf_hash_domain domain, const void *bytes, size_t size_bytes) {
    return canonical(XXH3_128bits_withSeed(bytes, size_bytes, domain_seed(domain)));
}

/* struct mf_hash_state is never defined: it is the library's state under another name. */
static XXH3_state_t *library_state(struct mf_hash_state *state) {
    return (XXH3_state_t *)(void *)state;
}

enum kiln_result mf_hash_begin(enum mf_hash_domain domain, struct mf_hash_state **state) {
    *state = NULL;
    XXH3_state_t *created = XXH3_createState();
    if (!created) {
        return KILN_ERR_MEMORY;
    }
    if (XXH3_128bits_reset_withSeed(created, domain_seed(domain)) != XXH_OK) {
        (void)XXH3_freeState(created);
        return KILN_ERR_MEMORY;
    }
    *state = (struct mf_hash_state *)(void *)created;
    return KILN_OK;
}

void mf_hash_add(struct mf_hash_state *state, const void *bytes, size_t size_bytes) {
    unsigned char prefix[8];
    for (unsigned i = 0; i < 8; i++) {
        prefix[i] = (unsigned char)((uint64_t)size_bytes >> (8 * i));
    }
    (void)XXH3_128bits_update(library_state(state), prefix, sizeof prefix);
    if (size_bytes > 0) {
        (void)XXH3_128bits_update(library_state(state), bytes, size_bytes);
    }
}

void mf_hash_add_string(struct mf_hash_state *state, const char *string) {
    mf_hash_add(state, string, strlen(string));
}

void mf_hash_add_u64(struct mf_hash_state *state, uint64_t value) {
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
    mf_hash_add(state, bytes, sizeof bytes);
}

struct mf_hash mf_hash_end(struct mf_hash_state **state) {
    if (!*state) {
        return (struct mf_hash){{0}};
    }
    struct mf_hash hash = canonical(XXH3_128bits_digest(library_state(*state)));
    (void)XXH3_freeState(library_state(*state));
    *state = NULL;
    return hash;
}

bool mf_hash_equal(const struct mf_hash *a, const struct mf_hash *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void mf_hash_format(const struct mf_hash *hash, char text[MF_HASH_TEXT_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < MF_HASH_BYTES; i++) {
        text[2 * i] = digits[hash->bytes[i] >> 4];
        text[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    text[MF_HASH_TEXT_BYTES - 1] = '\0';
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum kiln_result mf_hash_parse(const char *text, struct mf_hash *out) {
    *out = (struct mf_hash){{0}};
    struct mf_hash hash;
    for (size_t i = 0; i < MF_HASH_BYTES; i++) {
        int high = hex_digit(text[2 * i]);
        int low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);
        if (low < 0) {
            return KILN_ERR_FORMAT;
        }
        hash.bytes[i] = (uint8_t)(high * 16 + low);
    }
    if (text[MF_HASH_TEXT_BYTES - 1] != '\0') {
        return KILN_ERR_FORMAT;
    }
    *out = hash;
    return KILN_OK;
}

const char *mf_hash_library_version(void) {
    return QUOTE(XXH_VERSION_MAJOR) "." QUOTE(XXH_VERSION_MINOR) "." QUOTE(XXH_VERSION_RELEASE);
}
