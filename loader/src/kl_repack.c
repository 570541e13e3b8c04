/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_repack.h"

#include "kiln/kiln_quick.h"

#include <stdlib.h>
#include <string.h>

/* Host memory that an upload repacks into at a time: what staging takes at once. */
#define KL_REPACK_PART_BYTES ((uint64_t)16 * 1024 * 1024)

/* Bytes that move together. What no piece fills is zero. */
struct kl_piece {
    uint32_t from, to, size_bytes;
};

/* docs/repacked_layouts.md */
static const struct kl_layout {
    enum mf_dtype to;
    uint32_t piece_count;
    struct kl_piece pieces[2];
} kl_layouts[] = {
    {MF_DTYPE_Q8_0P, 2, {{0, 0, 2}, {2, 4, 32}}}, /* d, codes */
    {MF_DTYPE_Q3_KP, 1, {{0, 0, 110}}},
    {MF_DTYPE_Q6_KP, 1, {{0, 0, 210}}},
};

static const struct kl_layout *kl_layout_find(enum mf_dtype from, enum mf_dtype to) {
    const struct mf_dtype_info *info = mf_dtype_info(to);
    for (size_t i = 0; i < sizeof kl_layouts / sizeof kl_layouts[0]; i++) {
        if (kl_layouts[i].to == to && info && info->repack_of == from) {
            return &kl_layouts[i];
        }
    }
    return NULL;
}

enum kiln_result kiln_repack_find(enum mf_dtype from, enum mf_dtype *to) {
    *to = from;
    for (size_t i = 0; i < sizeof kl_layouts / sizeof kl_layouts[0]; i++) {
        if (kl_layout_find(from, kl_layouts[i].to)) {
            *to = kl_layouts[i].to;
            return KILN_OK;
        }
    }
    return KILN_ERR_NOT_FOUND;
}

static const char *kl_repack_name(enum mf_dtype dtype) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    return info ? info->name : "no type";
}

enum kiln_result kiln_repack_size(const struct kiln_repacking *repacking, uint64_t raw_bytes,
                                  uint64_t *repacked_bytes, struct kiln_error *error) {
    const char *from = kl_repack_name(repacking->from);
    const char *to = kl_repack_name(repacking->to);
    uint64_t raw_row = 0;
    *repacked_bytes = 0;
    if (!kl_layout_find(repacking->from, repacking->to)) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "%s cannot be repacked as %s", from, to);
    }
    const struct mf_dtype_info *raw = mf_dtype_info(repacking->from);
    const struct mf_dtype_info *repacked = mf_dtype_info(repacking->to);
    enum kiln_result result = mf_dtype_row_bytes(repacking->from, repacking->k, &raw_row);
    if (result == KILN_ERR_ARGUMENT) {
        return kiln_error_set(error, result, "%s to %s: rows of %llu elements, no multiple of %u",
                              from, to, (unsigned long long)repacking->k, raw->block_elements);
    }
    if (!result && (raw_row ? raw_bytes % raw_row : raw_bytes) != 0) {
        return kiln_error_set(
            error, KILN_ERR_ARGUMENT,
            "%s to %s: %llu bytes are %llu rows of %llu bytes and %llu bytes over", from, to,
            (unsigned long long)raw_bytes, (unsigned long long)(raw_row ? raw_bytes / raw_row : 0),
            (unsigned long long)raw_row,
            (unsigned long long)(raw_row ? raw_bytes % raw_row : raw_bytes));
    }
    const uint64_t block_count = raw_bytes / raw->block_bytes;
    if (result || block_count > UINT64_MAX / repacked->block_bytes) {
        return kiln_error_set(error, KILN_ERR_LIMIT,
                              "%s to %s: %llu bytes in rows of %llu elements exceed 64 bits", from,
                              to, (unsigned long long)raw_bytes, (unsigned long long)repacking->k);
    }
    *repacked_bytes = block_count * repacked->block_bytes;
    return KILN_OK;
}

static void kl_repack_blocks(const struct kiln_repacking *repacking, const uint8_t *raw,
                             uint8_t *repacked, uint64_t block_count) {
    const struct kl_layout *layout = kl_layout_find(repacking->from, repacking->to);
    const uint32_t raw_bytes = mf_dtype_info(repacking->from)->block_bytes;
    const uint32_t repacked_bytes = mf_dtype_info(repacking->to)->block_bytes;
    for (uint64_t b = 0; b < block_count; b++) {
        memset(repacked, 0, repacked_bytes);
        for (uint32_t i = 0; i < layout->piece_count; i++) {
            const struct kl_piece *piece = &layout->pieces[i];
            memcpy(repacked + piece->to, raw + piece->from, piece->size_bytes);
        }
        raw += raw_bytes;
        repacked += repacked_bytes;
    }
}

enum kiln_result kiln_repack(const struct kiln_repacking *repacking, const void *raw,
                             uint64_t raw_bytes, void *repacked, uint64_t repacked_bytes,
                             struct kiln_error *error) {
    uint64_t size_bytes = 0;
    enum kiln_result result = kiln_repack_size(repacking, raw_bytes, &size_bytes, error);
    if (result || raw_bytes == 0) {
        return result;
    }
    const char *from = kl_repack_name(repacking->from);
    const char *to = kl_repack_name(repacking->to);
    if (repacked_bytes < size_bytes) {
        return kiln_error_set(error, KILN_ERR_LIMIT, "%s to %s: room for %llu bytes, needed %llu",
                              from, to, (unsigned long long)repacked_bytes,
                              (unsigned long long)size_bytes);
    }
    if (!raw || !repacked) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "%s to %s: no memory given", from, to);
    }
    const uintptr_t raw_at = (uintptr_t)raw, repacked_at = (uintptr_t)repacked;
    if (raw_at < repacked_at ? repacked_at - raw_at < raw_bytes
                             : raw_at - repacked_at < size_bytes) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "%s to %s: the raw and the repacked bytes overlap", from, to);
    }
    kl_repack_blocks(repacking, raw, repacked,
                     size_bytes / mf_dtype_info(repacking->to)->block_bytes);
    return KILN_OK;
}

enum kiln_result kiln_buffer_upload_repacked(struct kiln_buffer *buffer, uint64_t offset_bytes,
                                             const struct kiln_repacking *repacking,
                                             const void *raw, uint64_t raw_bytes,
                                             struct kiln_error *error) {
    const uint64_t buffer_bytes = kiln_buffer_size(buffer);
    uint64_t size_bytes = 0;
    enum kiln_result result = kiln_repack_size(repacking, raw_bytes, &size_bytes, error);
    if (result) {
        return result;
    }
    if (offset_bytes > buffer_bytes || size_bytes > buffer_bytes - offset_bytes) {
        return kiln_error_set(error, KILN_ERR_LIMIT,
                              "%llu repacked bytes at %llu of a buffer of %llu bytes",
                              (unsigned long long)size_bytes, (unsigned long long)offset_bytes,
                              (unsigned long long)buffer_bytes);
    }
    if (size_bytes == 0) {
        return KILN_OK;
    }
    if (!raw) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "%s to %s: no memory given",
                              kl_repack_name(repacking->from), kl_repack_name(repacking->to));
    }
    const uint32_t raw_block = mf_dtype_info(repacking->from)->block_bytes;
    const uint32_t block = mf_dtype_info(repacking->to)->block_bytes;
    const uint64_t block_count = size_bytes / block;
    const uint64_t fitting = KL_REPACK_PART_BYTES / block;
    const uint64_t part_count = block_count < fitting ? block_count : fitting;
    uint8_t *part = malloc((size_t)(part_count * block));
    if (!part) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for %llu repacked bytes",
                              (unsigned long long)(part_count * block));
    }
    for (uint64_t done = 0; !result && done < block_count; done += part_count) {
        const uint64_t count = block_count - done < part_count ? block_count - done : part_count;
        kl_repack_blocks(repacking, (const uint8_t *)raw + done * raw_block, part, count);
        result =
            kiln_buffer_upload(buffer, offset_bytes + done * block, part, count * block, error);
    }
    free(part);
    return result;
}
