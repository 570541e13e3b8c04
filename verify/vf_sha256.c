/* SPDX-License-Identifier: MIT */
#include "vf_sha256.h"

#include <string.h>

/* FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u,
    0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu,
    0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu,
    0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu,
    0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u,
    0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u};

static uint32_t rotate_right(uint32_t value, unsigned count) {
    return value >> count | value << (32u - count);
}

static uint32_t load_big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store_big_endian(uint8_t *bytes, uint32_t value) {
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(value >> (24u - 8u * i));
    }
}

static void expand_message(uint32_t w[64], const uint8_t block[64]) {
    for (size_t t = 0; t < 16; t++) {
        w[t] = load_big_endian(block + 4 * t);
    }
    for (size_t t = 16; t < 64; t++) {
        uint32_t a = w[t - 15];
        uint32_t b = w[t - 2];
        uint32_t sigma0 = rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3;
        uint32_t sigma1 = rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10;
        w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
    }
}

static void compress(uint32_t state[8], const uint8_t block[64]) {
    uint32_t w[64];
    uint32_t v[8]; /* a..h of the standard */
    expand_message(w, block);
    memcpy(v, state, sizeof v);
    for (size_t t = 0; t < 64; t++) {
        uint32_t sum1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
        uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + sum1 + choose + round_constants[t] + w[t];
        uint32_t sum0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        v[7] = v[6];
        v[6] = v[5];
        v[5] = v[4];
        v[4] = v[3] + t1;
        v[3] = v[2];
        v[2] = v[1];
        v[1] = v[0];
        v[0] = t1 + sum0 + majority;
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

void vf_sha256_begin(struct vf_sha256 *hasher) {
    /* FIPS 180-4, 5.3.3: fractional parts of the square roots of the first 8 primes. */
    static const uint32_t initial[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                        0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    memcpy(hasher->state, initial, sizeof initial);
    hasher->size_bytes = 0;
}

void vf_sha256_add(struct vf_sha256 *hasher, const void *bytes, size_t size_bytes) {
    const uint8_t *from = bytes;
    size_t held = (size_t)(hasher->size_bytes % 64u);
    if (size_bytes == 0) {
        return; /* bytes may be NULL */
    }
    hasher->size_bytes += size_bytes;
    if (held > 0) {
        size_t take = 64 - held < size_bytes ? 64 - held : size_bytes;
        memcpy(hasher->pending + held, from, take);
        if (held + take < 64) {
            return;
        }
        compress(hasher->state, hasher->pending);
        from += take;
        size_bytes -= take;
    }
    for (; size_bytes >= 64; size_bytes -= 64, from += 64) {
        compress(hasher->state, from);
    }
    if (size_bytes > 0) {
        memcpy(hasher->pending, from, size_bytes);
    }
}

void vf_sha256_end(struct vf_sha256 *hasher, uint8_t digest[VF_SHA256_BYTES]) {
    static const uint8_t padding[64] = {0x80};
    uint64_t bit_count = hasher->size_bytes * 8u;
    size_t held = (size_t)(hasher->size_bytes % 64u);
    uint8_t length[8];
    store_big_endian(length, (uint32_t)(bit_count >> 32));
    store_big_endian(length + 4, (uint32_t)bit_count);
    vf_sha256_add(hasher, padding, held < 56 ? 56 - held : 120 - held);
    vf_sha256_add(hasher, length, sizeof length);
    for (size_t i = 0; i < 8; i++) {
        store_big_endian(digest + 4 * i, hasher->state[i]);
    }
}

void vf_sha256_text(const void *bytes, size_t size_bytes, char text[VF_SHA256_TEXT_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    struct vf_sha256 hasher;
    uint8_t digest[VF_SHA256_BYTES];
    vf_sha256_begin(&hasher);
    vf_sha256_add(&hasher, bytes, size_bytes);
    vf_sha256_end(&hasher, digest);
    for (size_t i = 0; i < VF_SHA256_BYTES; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15u];
    }
    text[2 * VF_SHA256_BYTES] = '\0';
}
