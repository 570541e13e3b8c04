/* SPDX-License-Identifier: MIT */
/* SHA-256 against the vectors of FIPS 180-4's examples and the system's sha256sum. */
#include "vf_sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_published_vectors(void **state) {
    (void)state;
    static const struct {
        const char *message, *digest;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
         "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char text[VF_SHA256_TEXT_BYTES];
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        vf_sha256_text(vectors[i].message, strlen(vectors[i].message), text);
        assert_string_equal(text, vectors[i].digest);
    }
    vf_sha256_text(NULL, 0, text);
    assert_string_equal(text, vectors[0].digest);
}

static void test_million_letters_in_pieces(void **state) {
    (void)state;
    static const uint8_t expected[VF_SHA256_BYTES] = {
        0xcd, 0xc7, 0x6e, 0x5c, 0x99, 0x14, 0xfb, 0x92, 0x81, 0xa1, 0xc7,
        0xe2, 0x84, 0xd7, 0x3e, 0x67, 0xf1, 0x80, 0x9a, 0x48, 0xa4, 0x97,
        0x20, 0x0e, 0x04, 0x6d, 0x39, 0xcc, 0xc7, 0x11, 0x2c, 0xd0};
    uint8_t letters[200];
    uint8_t digest[VF_SHA256_BYTES];
    memset(letters, 'a', sizeof letters);
    for (size_t piece = 1; piece <= sizeof letters; piece += 7) {
        struct vf_sha256 hasher;
        vf_sha256_begin(&hasher);
        for (size_t left = 1000000; left > 0;) {
            size_t take = piece < left ? piece : left;
            vf_sha256_add(&hasher, letters, take);
            left -= take;
        }
        vf_sha256_end(&hasher, digest);
        assert_memory_equal(digest, expected, sizeof digest);
    }
}

/* All lengths around the padding's corner cases. */
static void test_against_sha256sum(void **state) {
    (void)state;
    uint8_t bytes[300];
    char path[256], command[512], text[VF_SHA256_TEXT_BYTES], line[128];
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/kiln-sha256-XXXXXX", directory != NULL ? directory : "/tmp");
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * i * 7u + i / 3u);
    }
    for (size_t size = 0; size < sizeof bytes; size += size < 50 || size > 135 ? 23 : 1) {
        assert_int_equal(ftruncate(handle, 0), 0);
        assert_int_equal(pwrite(handle, bytes, size, 0), (ssize_t)size);
        snprintf(command, sizeof command, "sha256sum < '%s'", path);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        assert_non_null(fgets(line, sizeof line, pipe));
        assert_int_equal(pclose(pipe), 0);
        line[64] = '\0';
        vf_sha256_text(bytes, size, text);
        assert_string_equal(text, line);
    }
    close(handle);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_vectors),
        cmocka_unit_test(test_million_letters_in_pieces),
        cmocka_unit_test(test_against_sha256sum),
    };
    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
