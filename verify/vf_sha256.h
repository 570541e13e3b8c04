/* SPDX-License-Identifier: MIT */
/*
 * vf_sha256: SHA-256 (FIPS 180-4), for the digests that golden vectors are listed with.
 *
 * A hasher is a plain value: begin, any number of adds, end. Nothing is allocated and nothing can
 * fail. After vf_sha256_end the value must be begun again. Messages are limited to 2^61 - 1 bytes
 * (the format's 64-bit bit count). Thread safety: one thread at a time per value.
 */
#ifndef VF_SHA256_H
#define VF_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define VF_SHA256_BYTES 32
#define VF_SHA256_TEXT_BYTES 65 /* 64 lower-case hex digits and the terminator */

struct vf_sha256 {
    uint32_t state[8];
    uint64_t size_bytes; /* bytes added so far */
    uint8_t pending[64]; /* the last size_bytes % 64 of them, not yet compressed */
};

void vf_sha256_begin(struct vf_sha256 *hasher);
void vf_sha256_add(struct vf_sha256 *hasher, const void *bytes, size_t size_bytes);
void vf_sha256_end(struct vf_sha256 *hasher, uint8_t digest[VF_SHA256_BYTES]);

/* The digest of a whole message as lower-case hex digits. `bytes` may be NULL for 0 bytes. */
void vf_sha256_text(const void *bytes, size_t size_bytes, char text[VF_SHA256_TEXT_BYTES]);

#endif /* VF_SHA256_H */
