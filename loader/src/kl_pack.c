/* SPDX-License-Identifier: MIT */
#include "kl_pack.h"

#include "mf_pack.h"
#include "mf_relative.h"
#include "mf_zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct kl_pack {
    const unsigned char *bytes;
    const char *label;
    const struct mf_manifest *manifest;
    struct kl_pack_index index;
    pthread_mutex_t mutex; /* of `dictionary` */
    struct mf_zstd_dictionary *dictionary;
};

enum kiln_result kl_pack_map(const char *path, void **bytes, size_t *size_bytes,
                             struct kiln_error *error) {
    struct stat status;
    enum kiln_result result = KILN_OK;
    *bytes = NULL;
    *size_bytes = 0;
    /* O_NONBLOCK so that a named pipe cannot block the caller. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return kiln_error_set(error, errno == ENOENT ? KILN_ERR_NOT_FOUND : KILN_ERR_IO, "%s: %s",
                              path, strerror(errno));
    }
    if (fstat(file, &status) != 0) {
        result = kiln_error_set(error, KILN_ERR_IO, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        result = kiln_error_set(error, KILN_ERR_PATH, "%s: not a regular file", path);
    } else if ((uint64_t)status.st_size > KILN_PACK_LIMIT_BYTES) {
        result = kiln_error_set(error, KILN_ERR_LIMIT, "%s: %llu bytes, the limit is %llu", path,
                                (unsigned long long)status.st_size,
                                (unsigned long long)KILN_PACK_LIMIT_BYTES);
    } else if (status.st_size > 0) {
        void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped == MAP_FAILED) {
            result =
                kiln_error_set(error, KILN_ERR_IO, "%s: cannot map: %s", path, strerror(errno));
        } else {
            *bytes = mapped;
            *size_bytes = (size_t)status.st_size;
        }
    }
    close(file);
    return result;
}

void kl_pack_unmap(void *bytes, size_t size_bytes) {
    if (bytes) {
        munmap(bytes, size_bytes);
    }
}

enum kiln_result kl_pack_open(const void *bytes, size_t size_bytes, const char *label,
                              struct mf_manifest *manifest, struct kl_pack **pack,
                              struct kiln_error *error) {
    *pack = NULL;
    *manifest = (struct mf_manifest){0};
    struct kl_pack *opened = calloc(1, sizeof(*opened));
    if (!opened || pthread_mutex_init(&opened->mutex, NULL) != 0) {
        free(opened);
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: no memory", label);
    }
    opened->bytes = bytes;
    opened->label = label;
    opened->manifest = manifest;
    enum kiln_result result =
        kl_pack_index_read(bytes, size_bytes, label, manifest, &opened->index, error);
    if (result) {
        kl_pack_close(&opened);
    }
    *pack = opened;
    return result;
}

void kl_pack_close(struct kl_pack **pack) {
    if (pack && *pack) {
        mf_zstd_dictionary_destroy(&(*pack)->dictionary);
        pthread_mutex_destroy(&(*pack)->mutex);
        free(*pack);
        *pack = NULL;
    }
}

/* Expands the dictionary and makes it ready; the mutex is held. */
static enum kiln_result kl_pack_make_dictionary(struct kl_pack *pack, struct kiln_error *error) {
    const struct kl_pack_index *index = &pack->index;
    void *content = malloc(index->dictionary_bytes > 0 ? index->dictionary_bytes : 1);
    enum kiln_result result = content ? KILN_OK : KILN_ERR_MEMORY;
    if (!result) {
        result = mf_zstd_expand(NULL, index->dictionary, index->dictionary_packed_bytes, content,
                                index->dictionary_bytes);
    }
    if (!result) {
        result = mf_zstd_dictionary_create(content, index->dictionary_bytes, &pack->dictionary);
    }
    free(content);
    if (result) {
        return kiln_error_set(error, result, "%s: the dictionary: %s", pack->label,
                              result == KILN_ERR_FORMAT ? "damaged" : "no memory");
    }
    return KILN_OK;
}

enum kiln_result kl_pack_module(struct kl_pack *pack, size_t index, uint32_t **words,
                                struct kiln_error *error) {
    const struct mf_artifact *artifact = &pack->manifest->artifacts[index];
    const struct kl_blob *blob = &pack->index.blobs[pack->index.artifact_blobs[index]];
    struct mf_hash iface;
    *words = NULL;
    /* Opening leaves this to the few artifacts that are used. */
    enum kiln_result result = mf_artifact_interface_hash(artifact, &iface);
    if (!result && !mf_hash_equal(&iface, &artifact->iface)) {
        return kiln_error_set(error, KILN_ERR_HASH,
                              "%s: %s: its interface does not have the hash that the index states",
                              pack->label, artifact->name);
    }
    uint32_t *made = result ? NULL : malloc(blob->size_bytes);
    if (!made) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: %s: no memory", pack->label,
                              artifact->name);
    }
    pthread_mutex_lock(&pack->mutex);
    result = pack->dictionary ? KILN_OK : kl_pack_make_dictionary(pack, error);
    pthread_mutex_unlock(&pack->mutex);
    if (result) {
        free(made);
        return result;
    }
    result = mf_zstd_expand(pack->dictionary, pack->bytes + blob->offset_bytes, blob->packed_bytes,
                            made, blob->size_bytes);
    if (result) {
        free(made);
        return kiln_error_set(error, result, "%s: %s: %s", pack->label, artifact->name,
                              result == KILN_ERR_FORMAT ? "its module does not expand to its size"
                                                        : "no memory");
    }
    size_t word_count = blob->size_bytes / sizeof(uint32_t);
    for (size_t i = 0; i < word_count; i++) {
        made[i] = mf_pack_u32((const unsigned char *)&made[i]);
    }
    mf_relative_decode(made, word_count);
    *words = made;
    return KILN_OK;
}
