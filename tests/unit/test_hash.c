/* SPDX-License-Identifier: MIT */
#include "mf_hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The library's code once more, compiled into this test: checks seeds and field encoding. */
#define XXH_INLINE_ALL
#include <xxhash.h>

static void hex_of(XXH128_hash_t digest, char text[MF_HASH_TEXT_BYTES]) {
    for (int i = 0; i < 16; i++) {
        text[i] = "0123456789abcdef"[digest.high64 >> (60 - 4 * i) & 15];
        text[16 + i] = "0123456789abcdef"[digest.low64 >> (60 - 4 * i) & 15];
    }
    text[32] = '\0';
}

/* Published vectors of XXH3-128 with seeds (.NET's XxHash128 tests, high half first). */
static void published_vectors_hold(void **state) {
    (void)state;
    static const struct {
        const char *input;
        uint64_t seed;
        const char *expected;
    } vectors[] = {
        {"", 0, "99aa06d3014798d86001c324468d497f"},
        {"", 0x13f0, "4a807558806f6b31eca8475b2cc08fee"},
        {"KdjE", 0x499, "f29da7d603a9409f90373b3f6da10e37"},
        {"EGM4yxHgk", 0x6d1, "a98564b5fb852a84def8b6b70a62024c"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        char text[MF_HASH_TEXT_BYTES];
        hex_of(XXH3_128bits_withSeed(vectors[i].input, strlen(vectors[i].input), vectors[i].seed),
               text);
        assert_string_equal(text, vectors[i].expected);
    }
}

static const uint64_t seeds[] = {
    [MF_HASH_RECIPE] = UINT64_C(0x6b696c6e72637065),
    [MF_HASH_CONTENT] = UINT64_C(0x6b696c6e636f6e74),
    [MF_HASH_INTERFACE] = UINT64_C(0x6b696c6e69666163),
    [MF_HASH_FILE] = UINT64_C(0x6b696c6e66696c65),
};

static void seeds_are_the_domain_names(void **state) {
    (void)state;
    static const char *const names[] = {"kilnrcpe", "kilncont", "kilnifac", "kilnfile"};
    for (size_t i = 0; i < 4; i++) {
        uint64_t seed = 0;
        for (size_t j = 0; j < 8; j++) {
            seed = seed << 8 | (unsigned char)names[i][j];
        }
        assert_true(seed == seeds[i]);
    }
}

/* From xxHash 0.8.1's shared library, called by another language with the seeds above. */
static void golden_digests_hold(void **state) {
    (void)state;
    static const char *const expected[4][3] = {
        [MF_HASH_RECIPE] = {"e4af8c75bdcf23625fb008431a2cef47", "ef74f61e40f8a5de3b764d57f824e260",
                            "99cceda960cba9c5b5ef635075c2c989"},
        [MF_HASH_CONTENT] = {"a47b65fb520126a1da1dab458bcef4c2", "2355cc78393ee4183a75f7ab779e4471",
                             "80d8ee816266cff170b60d8580511752"},
        [MF_HASH_INTERFACE] = {"1b1609a70a7f62d146c04f362e623d4a",
                               "7839576dc21ded8e9da0b82049caef11",
                               "90e289040fccf865796e757134ba5ec8"},
        [MF_HASH_FILE] = {"506b2541a70e2beb78b3bcb90a898ed3", "df2f03d23ddd03bbcb6dad84d1b4c207",
                          "fb2e7409234d77d99d220e013c66b702"},
    };
    unsigned char kilobyte[1024];
    for (size_t i = 0; i < sizeof kilobyte; i++) {
        kilobyte[i] = (unsigned char)i;
    }
    for (int i = 0; i < 4; i++) {
        enum mf_hash_domain domain = (enum mf_hash_domain)i;
        struct mf_hash hashes[3] = {mf_hash_bytes(domain, NULL, 0),
                                    mf_hash_bytes(domain, "kiln", 4),
                                    mf_hash_bytes(domain, kilobyte, sizeof kilobyte)};
        for (size_t j = 0; j < 3; j++) {
            char text[MF_HASH_TEXT_BYTES];
            mf_hash_format(&hashes[j], text);
            assert_string_equal(text, expected[i][j]);
        }
    }
}

static void one_shot_equals_the_library_at_every_size(void **state) {
    (void)state;
    unsigned char bytes[1200];
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(x >> 24);
    }
    for (size_t size = 0; size <= sizeof bytes; size++) {
        enum mf_hash_domain domain = (enum mf_hash_domain)(size % 4);
        char expected[MF_HASH_TEXT_BYTES];
        char found[MF_HASH_TEXT_BYTES];
        hex_of(XXH3_128bits_withSeed(bytes, size, seeds[domain]), expected);
        struct mf_hash hash = mf_hash_bytes(domain, bytes, size);
        mf_hash_format(&hash, found);
        assert_string_equal(found, expected);
    }
}

static void fields_are_length_prefixed(void **state) {
    (void)state;
    static const unsigned char stream[] = {2, 0, 0, 0,   0, 0, 0, 0, 'a', 'b', 1, 0, 0, 0, 0,
                                           0, 0, 0, 'c', 8, 0, 0, 0, 0,   0,   0, 0, 8, 7, 6,
                                           5, 4, 3, 2,   1, 0, 0, 0, 0,   0,   0, 0, 0};
    struct mf_hash_state *hasher = NULL;
    assert_int_equal(mf_hash_begin(MF_HASH_RECIPE, &hasher), KILN_OK);
    mf_hash_add(hasher, "ab", 2);
    mf_hash_add_string(hasher, "c");
    mf_hash_add_u64(hasher, UINT64_C(0x0102030405060708));
    mf_hash_add(hasher, NULL, 0);
    struct mf_hash hash = mf_hash_end(&hasher);
    assert_null(hasher);
    struct mf_hash expected = mf_hash_bytes(MF_HASH_RECIPE, stream, sizeof stream);
    assert_true(mf_hash_equal(&hash, &expected));
    char text[MF_HASH_TEXT_BYTES];
    mf_hash_format(&hash, text);
    assert_string_equal(text, "d8a0dd791c1025c6141dc55c785b3a18");
    assert_true(mf_hash_begin(MF_HASH_RECIPE, &hasher) == KILN_OK);
    mf_hash_add_string(hasher, "a");
    mf_hash_add_string(hasher, "bc");
    mf_hash_add_u64(hasher, UINT64_C(0x0102030405060708));
    mf_hash_add(hasher, NULL, 0);
    hash = mf_hash_end(&hasher);
    assert_false(mf_hash_equal(&hash, &expected));
    hash = mf_hash_end(&hasher);
    for (size_t i = 0; i < MF_HASH_BYTES; i++) {
        assert_int_equal(hash.bytes[i], 0);
    }
}

static void text_form_round_trips_and_is_strict(void **state) {
    (void)state;
    struct mf_hash hash;
    const char *text = "0123456789abcdeffedcba9876543210";
    assert_int_equal(mf_hash_parse(text, &hash), KILN_OK);
    assert_int_equal(hash.bytes[0], 0x01);
    assert_int_equal(hash.bytes[7], 0xef);
    assert_int_equal(hash.bytes[15], 0x10);
    char back[MF_HASH_TEXT_BYTES];
    mf_hash_format(&hash, back);
    assert_string_equal(back, text);
    static const char *const bad[] = {"",
                                      "0",
                                      "0123456789abcdeffedcba987654321",
                                      "0123456789abcdeffedcba98765432100",
                                      "0123456789ABCDEFfedcba9876543210",
                                      "g123456789abcdeffedcba9876543210",
                                      "0123456789abcdef fedcba987654321",
                                      "0x23456789abcdeffedcba9876543210"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(mf_hash_parse(bad[i], &hash), KILN_ERR_FORMAT);
        assert_int_equal(hash.bytes[0], 0);
    }
}

static void library_version_is_a_version(void **state) {
    (void)state;
    unsigned number = 0;
    unsigned part = 0;
    for (const char *c = mf_hash_library_version(); *c; c++) {
        if (*c == '.') {
            number = number * 100 + part;
            part = 0;
        } else {
            assert_in_range(*c, '0', '9');
            part = part * 10 + (unsigned)(*c - '0');
        }
    }
    assert_int_equal(number * 100 + part, XXH_VERSION_NUMBER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors_hold),
        cmocka_unit_test(seeds_are_the_domain_names),
        cmocka_unit_test(golden_digests_hold),
        cmocka_unit_test(one_shot_equals_the_library_at_every_size),
        cmocka_unit_test(fields_are_length_prefixed),
        cmocka_unit_test(text_form_round_trips_and_is_strict),
        cmocka_unit_test(library_version_is_a_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
