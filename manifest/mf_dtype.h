/* SPDX-License-Identifier: MIT */
/*
 * mf_dtype: the element types a kernel can read or write.
 *
 * Block shapes and ids are those of ggml (docs/block_layouts.md; ids as in GGUF files), but for the
 * repacked types: these hold the blocks of a GGML type in a layout of kiln's own
 * (docs/repacked_layouts.md, kiln_repack), are in no file, and their ids are the raw type's plus
 * 0x1000, far beyond ggml's. q8_1s, too, is no GGML type: activations as in q8_1, but the tensor's
 * codes first and then its scales and sums (docs/repacked_layouts.md); no blocks lie together, and
 * a "block" of it only counts bytes. Names are lower case and are what YAML axes, manifests and file names
 * use. The numeric values of this enum are also the DTYPE_* constants of
 * templates/include/params.glsl.
 */
#ifndef MF_DTYPE_H
#define MF_DTYPE_H

#include "kiln_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mf_dtype {
    MF_DTYPE_F32 = 0,
    MF_DTYPE_F16 = 1,
    MF_DTYPE_Q4_0 = 2,
    MF_DTYPE_Q4_1 = 3,
    MF_DTYPE_Q5_0 = 6,
    MF_DTYPE_Q5_1 = 7,
    MF_DTYPE_Q8_0 = 8,
    MF_DTYPE_Q8_1 = 9,
    MF_DTYPE_Q2_K = 10,
    MF_DTYPE_Q3_K = 11,
    MF_DTYPE_Q4_K = 12,
    MF_DTYPE_Q5_K = 13,
    MF_DTYPE_Q6_K = 14,
    MF_DTYPE_Q8_K = 15,
    MF_DTYPE_IQ2_XXS = 16,
    MF_DTYPE_IQ2_XS = 17,
    MF_DTYPE_IQ3_XXS = 18,
    MF_DTYPE_IQ1_S = 19,
    MF_DTYPE_IQ4_NL = 20,
    MF_DTYPE_IQ3_S = 21,
    MF_DTYPE_IQ2_S = 22,
    MF_DTYPE_IQ4_XS = 23,
    MF_DTYPE_I32 = 26,
    MF_DTYPE_IQ1_M = 29,
    MF_DTYPE_BF16 = 30,
    MF_DTYPE_TQ1_0 = 34,
    MF_DTYPE_TQ2_0 = 35,
    MF_DTYPE_MXFP4 = 39,
    MF_DTYPE_NVFP4 = 40,
    MF_DTYPE_Q1_0 = 41,
    MF_DTYPE_Q2_0 = 42,
    MF_DTYPE_Q8_0P = 0x1008,
    MF_DTYPE_Q8_1S = 0x1009,
    MF_DTYPE_Q3_KP = 0x100B,
    MF_DTYPE_Q6_KP = 0x100E
};

struct mf_dtype_info {
    enum mf_dtype dtype;
    const char *name;        /* "q4_k" */
    uint32_t block_elements; /* elements of one block; 1 for plain types */
    uint32_t block_bytes;    /* bytes of one block */
    bool weight; /* usable as a weight: f32, f16, bf16, 25 quantised types, the repacked ones */
    enum mf_dtype repack_of; /* of a repacked type its raw type, else the type itself */
};

/* All types, by ascending id. *count may not be NULL. Static storage. */
const struct mf_dtype_info *mf_dtype_table(size_t *count);

/* NULL when there is no such type. */
const struct mf_dtype_info *mf_dtype_info(enum mf_dtype dtype);
const struct mf_dtype_info *mf_dtype_find(const char *name);

/* False for raw types and for what is no type. */
bool mf_dtype_is_repacked(enum mf_dtype dtype);

/*
 * Bytes of a row of `element_count` elements. KILN_ERR_ARGUMENT when the type is unknown or the
 * count is no multiple of its block; KILN_ERR_LIMIT when the product overflows 64 bits.
 */
enum kiln_result mf_dtype_row_bytes(enum mf_dtype dtype, uint64_t element_count,
                                    uint64_t *size_bytes);

#ifdef __cplusplus
}
#endif

#endif /* MF_DTYPE_H */
