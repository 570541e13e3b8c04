/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target of the pack's reader. Size and trailing hash are made right first, so that damage
 * gets behind them. What opens is used: every text is read, every module expanded. These
 * properties hold or the target traps:
 *   - a refusal has a code and a message, and leaves no bundle;
 *   - a manifest that opens is one that the JSON reader accepts, but for texts that are not UTF-8;
 *   - a module has the size and the content hash that the manifest states, or there is none.
 * Seed: tests/fixtures/pack/golden.kiln. tests/unit/test_pack.c includes this file.
 */
#include "kiln/kiln_bundle.h"
#include "mf_pack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void fuzz_require(bool holds) {
    if (!holds)
        abort();
}

static void fuzz_seal(uint8_t *bytes, size_t size_bytes) {
    if (size_bytes < MF_PACK_HEADER_BYTES + MF_HASH_BYTES)
        return;
    mf_pack_put_u64(bytes + MF_PACK_AT_SIZE, size_bytes);
    struct mf_hash hash = mf_pack_hash(bytes, size_bytes);
    memcpy(bytes + size_bytes - MF_HASH_BYTES, hash.bytes, MF_HASH_BYTES);
}

/* Interface hashes are looked at with the module, so they may be wrong here. */
static void fuzz_manifest(const struct mf_manifest *manifest) {
    struct mf_manifest copy = *manifest;
    struct mf_manifest back;
    struct mf_buffer json = {0};
    struct kiln_error error = {0};
    copy.artifacts = calloc(manifest->artifact_count + 1, sizeof *copy.artifacts);
    fuzz_require(copy.artifacts != NULL);
    for (size_t i = 0; i < manifest->artifact_count; i++) {
        copy.artifacts[i] = manifest->artifacts[i];
        fuzz_require(mf_artifact_interface_hash(&copy.artifacts[i], &copy.artifacts[i].iface) ==
                     KILN_OK);
    }
    enum kiln_result result = mf_manifest_write(&copy, &json, &error);
    fuzz_require(result == KILN_OK || result == KILN_ERR_FORMAT);
    if (result == KILN_OK) {
        fuzz_require(mf_manifest_parse(json.data, json.size_bytes, "pack", &back, &error) ==
                     KILN_OK);
        mf_manifest_release(&back);
    }
    mf_buffer_release(&json);
    free(copy.artifacts);
}

/* The number of modules that came out whole. */
static size_t fuzz_modules(const struct kiln_bundle *bundle) {
    size_t whole = 0;
    for (size_t i = 0; i < kiln_bundle_artifact_count(bundle); i++) {
        const struct mf_artifact *artifact = kiln_bundle_artifact(bundle, i);
        struct kiln_module module;
        struct kiln_error error = {0};
        fuzz_require(kiln_bundle_find(bundle, artifact->name) == artifact);
        if (kiln_bundle_module(bundle, artifact, &module, &error) == KILN_OK) {
            fuzz_require(4 * module.word_count == artifact->size_bytes);
            struct mf_hash hash =
                mf_hash_bytes(MF_HASH_CONTENT, module.words, 4 * module.word_count);
            fuzz_require(mf_hash_equal(&hash, &artifact->content));
            whole++;
        } else {
            fuzz_require(module.words == NULL && error.message[0] != 0);
        }
        kiln_module_release(&module);
    }
    return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error = {0};
    uint8_t *copy = malloc(size_bytes > 0 ? size_bytes : 1);
    fuzz_require(copy != NULL);
    if (size_bytes > 0)
        memcpy(copy, data, size_bytes);
    fuzz_seal(copy, size_bytes);
    enum kiln_result result = kiln_bundle_open_memory(copy, size_bytes, &bundle, &error);
    if (result != KILN_OK) {
        fuzz_require(bundle == NULL && error.code == result && error.message[0] != 0);
    } else {
        fuzz_manifest(kiln_bundle_manifest(bundle));
        (void)fuzz_modules(bundle);
    }
    kiln_bundle_close(&bundle);
    free(copy);
    return 0;
}
