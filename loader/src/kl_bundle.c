/* SPDX-License-Identifier: MIT */
#include "kl_bundle.h"

#include "kl_path.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KL_MANIFEST_NAME "manifest.json"

struct kiln_bundle {
    atomic_size_t reference_count;
    int directory; /* of the artifacts; stays open, so that a rename cannot mix two bundles */
    char *label;   /* the caller's path, for messages */
    struct mf_manifest manifest;
};

/* All bytes of a file of the bundle; `limit_bytes` is checked before anything is allocated. */
static enum kiln_result kl_bundle_read(const struct kiln_bundle *bundle, const char *path,
                                       uint64_t limit_bytes, void **bytes, uint64_t *size_bytes,
                                       struct kiln_error *error) {
    int descriptor = -1;
    *bytes = NULL;
    enum kiln_result result =
        kl_path_open_file(bundle->directory, path, bundle->label, &descriptor, size_bytes, error);
    if (result) {
        goto done;
    }
    if (*size_bytes > limit_bytes) {
        result = kiln_error_set(error, KILN_ERR_LIMIT, "%s: %s: %llu bytes, the limit is %llu",
                                bundle->label, path, (unsigned long long)*size_bytes,
                                (unsigned long long)limit_bytes);
        goto done;
    }
    *bytes = malloc(*size_bytes > 0 ? (size_t)*size_bytes : 1);
    if (!*bytes) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "%s: %s: no memory for %llu bytes",
                                bundle->label, path, (unsigned long long)*size_bytes);
        goto done;
    }
    result = kl_path_read_all(descriptor, path, *bytes, *size_bytes, error);
done:
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (result) {
        free(*bytes);
        *bytes = NULL;
        *size_bytes = 0;
    }
    return result;
}

static enum kiln_result kl_bundle_read_manifest(struct kiln_bundle *bundle,
                                                struct kiln_error *error) {
    void *json = NULL;
    uint64_t size_bytes = 0;
    char label[KILN_ERROR_MESSAGE_BYTES / 2];
    size_t length = strlen(bundle->label);
    /* A long path keeps its end, which tells more. */
    size_t room = sizeof(label) - sizeof("/" KL_MANIFEST_NAME);
    const char *tail = bundle->label + (length > room ? length - room : 0);
    length = strlen(tail);
    memcpy(label, tail, length);
    memcpy(label + length, "/" KL_MANIFEST_NAME, sizeof("/" KL_MANIFEST_NAME));

    enum kiln_result result = kl_bundle_read(bundle, KL_MANIFEST_NAME, KILN_MANIFEST_LIMIT_BYTES,
                                             &json, &size_bytes, error);
    if (!result) {
        result = mf_manifest_parse(json, (size_t)size_bytes, label, &bundle->manifest, error);
    }
    if (!result && bundle->manifest.abi > MF_MANIFEST_ABI) {
        result = kiln_error_set(error, KILN_ERR_VERSION, "%s: abi %u, this library knows up to %u",
                                label, bundle->manifest.abi, MF_MANIFEST_ABI);
    }
    free(json);
    return result;
}

enum kiln_result kiln_bundle_open_directory(const char *path, struct kiln_bundle **bundle,
                                            struct kiln_error *error) {
    if (!bundle) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "kiln_bundle_open_directory: no bundle");
    }
    *bundle = NULL;
    if (!path) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "kiln_bundle_open_directory: no path");
    }
    struct kiln_bundle *opened = calloc(1, sizeof(*opened));
    char *label = strdup(path);
    if (!opened || !label) {
        free(opened);
        free(label);
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: no memory", path);
    }
    opened->label = label;
    atomic_init(&opened->reference_count, 1);
    enum kiln_result result = kl_path_open_directory(path, &opened->directory, error);
    if (!result) {
        result = kl_bundle_read_manifest(opened, error);
    }
    if (result) {
        kiln_bundle_close(&opened);
        return result;
    }
    *bundle = opened;
    return KILN_OK;
}

struct kiln_bundle *kl_bundle_hold(struct kiln_bundle *bundle) {
    atomic_fetch_add_explicit(&bundle->reference_count, 1, memory_order_relaxed);
    return bundle;
}

void kiln_bundle_close(struct kiln_bundle **bundle) {
    if (!bundle || !*bundle) {
        return;
    }
    struct kiln_bundle *closing = *bundle;
    *bundle = NULL;
    if (atomic_fetch_sub_explicit(&closing->reference_count, 1, memory_order_acq_rel) != 1) {
        return;
    }
    mf_manifest_release(&closing->manifest);
    if (closing->directory >= 0) {
        close(closing->directory);
    }
    free(closing->label);
    free(closing);
}

const struct mf_manifest *kiln_bundle_manifest(const struct kiln_bundle *bundle) {
    return &bundle->manifest;
}

size_t kiln_bundle_artifact_count(const struct kiln_bundle *bundle) {
    return bundle->manifest.artifact_count;
}

const struct mf_artifact *kiln_bundle_artifact(const struct kiln_bundle *bundle, size_t index) {
    return index < bundle->manifest.artifact_count ? &bundle->manifest.artifacts[index] : NULL;
}

const struct mf_artifact *kiln_bundle_find(const struct kiln_bundle *bundle, const char *name) {
    return mf_manifest_find(&bundle->manifest, name);
}

/* The artifact's bytes are what its manifest entry says: size, then hash, then structure. */
static enum kiln_result kl_bundle_check_bytes(const struct mf_artifact *artifact, const void *bytes,
                                              uint64_t size_bytes, struct kiln_error *error) {
    if (size_bytes != artifact->size_bytes) {
        return kiln_error_set(error, KILN_ERR_HASH,
                              "%s: %s has %llu bytes, the manifest states %llu", artifact->name,
                              artifact->file, (unsigned long long)size_bytes,
                              (unsigned long long)artifact->size_bytes);
    }
    struct mf_hash found = mf_hash_bytes(MF_HASH_CONTENT, bytes, (size_t)size_bytes);
    if (!mf_hash_equal(&found, &artifact->content)) {
        char found_text[MF_HASH_TEXT_BYTES];
        char stated_text[MF_HASH_TEXT_BYTES];
        mf_hash_format(&found, found_text);
        mf_hash_format(&artifact->content, stated_text);
        return kiln_error_set(error, KILN_ERR_HASH,
                              "%s: %s has content hash %s, the manifest states %s", artifact->name,
                              artifact->file, found_text, stated_text);
    }
    if (size_bytes % sizeof(uint32_t) != 0) {
        return kiln_error_set(error, KILN_ERR_SPIRV, "%s: %llu bytes, expected a multiple of 4",
                              artifact->name, (unsigned long long)size_bytes);
    }
    return kiln_module_check(bytes, (size_t)size_bytes / sizeof(uint32_t), artifact->name, error);
}

enum kiln_result kiln_bundle_module(const struct kiln_bundle *bundle,
                                    const struct mf_artifact *artifact, struct kiln_module *module,
                                    struct kiln_error *error) {
    *module = (struct kiln_module){0};
    if (!artifact || mf_manifest_find(&bundle->manifest, artifact->name) != artifact) {
        return kiln_error_set(error, KILN_ERR_NOT_FOUND, "%s: not an artifact of this bundle (%s)",
                              artifact ? artifact->name : "(null)", bundle->label);
    }
    if (artifact->size_bytes > KILN_MODULE_LIMIT_BYTES) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "%s: %llu bytes, the limit is %llu",
                              artifact->name, (unsigned long long)artifact->size_bytes,
                              (unsigned long long)KILN_MODULE_LIMIT_BYTES);
    }
    void *bytes = NULL;
    uint64_t size_bytes = 0;
    enum kiln_result result =
        kl_bundle_read(bundle, artifact->file, KILN_MODULE_LIMIT_BYTES, &bytes, &size_bytes, error);
    if (!result) {
        result = kl_bundle_check_bytes(artifact, bytes, size_bytes, error);
    }
    if (result) {
        free(bytes);
        return result;
    }
    module->words = bytes;
    module->word_count = (size_t)size_bytes / sizeof(uint32_t);
    return KILN_OK;
}
