/* SPDX-License-Identifier: MIT */
#include "kl_bundle.h"

#include "kl_pack.h"
#include "kl_path.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KL_MANIFEST_NAME "manifest.json"

struct kiln_bundle {
    atomic_size_t reference_count;
    int directory; /* of the artifacts; stays open, so that a rename cannot mix two bundles; or -1
                    */
    char *label;   /* the caller's path, for messages */
    struct kl_pack *pack; /* NULL for a directory */
    void *mapped;         /* the pack's file; NULL for a pack in the caller's memory */
    size_t mapped_bytes;
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

/* An object that holds nothing yet, with a copy of the label. */
static enum kiln_result kl_bundle_create(const char *function, const char *label,
                                         struct kiln_bundle **bundle, struct kiln_error *error) {
    if (!bundle) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "%s: no bundle", function);
    }
    *bundle = NULL;
    if (!label) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "%s: no path", function);
    }
    struct kiln_bundle *created = calloc(1, sizeof(*created));
    char *copy = strdup(label);
    if (!created || !copy) {
        free(created);
        free(copy);
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: no memory", label);
    }
    created->label = copy;
    created->directory = -1;
    atomic_init(&created->reference_count, 1);
    *bundle = created;
    return KILN_OK;
}

enum kiln_result kiln_bundle_open_directory(const char *path, struct kiln_bundle **bundle,
                                            struct kiln_error *error) {
    enum kiln_result result = kl_bundle_create("kiln_bundle_open_directory", path, bundle, error);
    if (result) {
        return result;
    }
    result = kl_path_open_directory(path, &(*bundle)->directory, error);
    if (!result) {
        result = kl_bundle_read_manifest(*bundle, error);
    }
    if (result) {
        kiln_bundle_close(bundle);
    }
    return result;
}

enum kiln_result kiln_bundle_open_pack(const char *path, struct kiln_bundle **bundle,
                                       struct kiln_error *error) {
    enum kiln_result result = kl_bundle_create("kiln_bundle_open_pack", path, bundle, error);
    if (result) {
        return result;
    }
    struct kiln_bundle *opened = *bundle;
    result = kl_pack_map(path, &opened->mapped, &opened->mapped_bytes, error);
    if (!result) {
        result = kl_pack_open(opened->mapped, opened->mapped_bytes, opened->label,
                              &opened->manifest, &opened->pack, error);
    }
    if (result) {
        kiln_bundle_close(bundle);
    }
    return result;
}

enum kiln_result kiln_bundle_open_memory(const void *bytes, size_t size_bytes,
                                         struct kiln_bundle **bundle, struct kiln_error *error) {
    enum kiln_result result =
        kl_bundle_create("kiln_bundle_open_memory", "pack in memory", bundle, error);
    if (result) {
        return result;
    }
    if (!bytes && size_bytes > 0) {
        result = kiln_error_set(error, KILN_ERR_ARGUMENT, "kiln_bundle_open_memory: no bytes");
    } else {
        result = kl_pack_open(bytes, size_bytes, (*bundle)->label, &(*bundle)->manifest,
                              &(*bundle)->pack, error);
    }
    if (result) {
        kiln_bundle_close(bundle);
    }
    return result;
}

enum kiln_result kiln_bundle_open(const char *path, struct kiln_bundle **bundle,
                                  struct kiln_error *error) {
    struct stat status;
    if (path && stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        return kiln_bundle_open_pack(path, bundle, error);
    }
    return kiln_bundle_open_directory(path, bundle, error);
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
    kl_pack_close(&closing->pack);
    kl_pack_unmap(closing->mapped, closing->mapped_bytes);
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
    enum kiln_result result;
    if (bundle->pack) {
        uint32_t *words = NULL;
        size_t index = (size_t)(artifact - bundle->manifest.artifacts);
        result = kl_pack_module(bundle->pack, index, &words, error);
        bytes = words;
        size_bytes = artifact->size_bytes;
    } else {
        result = kl_bundle_read(bundle, artifact->file, KILN_MODULE_LIMIT_BYTES, &bytes,
                                &size_bytes, error);
    }
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
