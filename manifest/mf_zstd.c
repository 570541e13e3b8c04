/* SPDX-License-Identifier: MIT */
#include "mf_zstd.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define COMPRESSION_LEVEL 19

/* The opaque types are never defined: they are the library's own under other names. */
static ZSTD_CCtx *library_writer(struct mf_zstd_writer *writer) {
    return (ZSTD_CCtx *)(void *)writer;
}

enum kiln_result mf_zstd_writer_create(const void *dictionary, size_t size_bytes,
                                       struct mf_zstd_writer **writer) {
    *writer = NULL;
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context ||
        ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, COMPRESSION_LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0)) ||
        ZSTD_isError(ZSTD_CCtx_loadDictionary(context, dictionary, size_bytes))) {
        ZSTD_freeCCtx(context);
        return KILN_ERR_MEMORY;
    }
    *writer = (struct mf_zstd_writer *)(void *)context;
    return KILN_OK;
}

void mf_zstd_writer_destroy(struct mf_zstd_writer **writer) {
    if (writer && *writer) {
        ZSTD_freeCCtx(library_writer(*writer));
        *writer = NULL;
    }
}

enum kiln_result mf_zstd_compress(struct mf_zstd_writer *writer, const void *bytes,
                                  size_t size_bytes, struct mf_buffer *out) {
    size_t bound_bytes = ZSTD_compressBound(size_bytes);
    void *frame = ZSTD_isError(bound_bytes) ? NULL : malloc(bound_bytes);
    if (!frame) {
        return KILN_ERR_MEMORY;
    }
    size_t frame_bytes =
        ZSTD_compress2(library_writer(writer), frame, bound_bytes, bytes, size_bytes);
    enum kiln_result result =
        ZSTD_isError(frame_bytes) ? KILN_ERR_MEMORY : mf_buffer_append(out, frame, frame_bytes);
    free(frame);
    return result;
}

enum kiln_result mf_zstd_dictionary_create(const void *bytes, size_t size_bytes,
                                           struct mf_zstd_dictionary **dictionary) {
    *dictionary = (struct mf_zstd_dictionary *)(void *)ZSTD_createDDict(bytes, size_bytes);
    return *dictionary ? KILN_OK : KILN_ERR_MEMORY;
}

void mf_zstd_dictionary_destroy(struct mf_zstd_dictionary **dictionary) {
    if (dictionary && *dictionary) {
        ZSTD_freeDDict((ZSTD_DDict *)(void *)*dictionary);
        *dictionary = NULL;
    }
}

enum kiln_result mf_zstd_expand(const struct mf_zstd_dictionary *dictionary, const void *packed,
                                size_t packed_bytes, void *out, size_t size_bytes) {
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context) {
        return KILN_ERR_MEMORY;
    }
    size_t found_bytes = ZSTD_decompress_usingDDict(context, out, size_bytes, packed, packed_bytes,
                                                    (const ZSTD_DDict *)(const void *)dictionary);
    ZSTD_freeDCtx(context);
    return ZSTD_isError(found_bytes) || found_bytes != size_bytes ? KILN_ERR_FORMAT : KILN_OK;
}

const char *mf_zstd_library_version(void) {
    return ZSTD_versionString();
}
