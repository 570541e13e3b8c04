/* SPDX-License-Identifier: MIT */
#include "vf_split.h"

#include "vf_decode_block.h"
#include "vf_f16.h"
#include "vf_quantize_block.h"

#include <string.h>

enum { BLOCK_ELEMENTS = 32, BLOCK_BYTES = 36, BLOCK_HEADER_BYTES = 4, HEADER_BYTES = 16 };

static float sum_codes(const uint8_t *codes) {
    int32_t sum = 0;

    for (uint32_t e = 0; e < BLOCK_ELEMENTS / 2; e++) {
        sum += vf_load_i8(codes + e);
    }
    return (float)sum;
}

static void make_header(float d, const uint8_t *codes, float header[4]) {
    header[0] = d;
    header[1] = sum_codes(codes);
    header[2] = sum_codes(codes + BLOCK_ELEMENTS / 2);
    header[3] = header[1] + header[2];
}

void vf_split_from_blocks(const uint8_t *blocks, uint64_t count, uint8_t *split) {
    for (uint64_t b = 0; b < count / BLOCK_ELEMENTS; b++) {
        const uint8_t *block = blocks + b * BLOCK_BYTES;
        float header[4];

        make_header(vf_f16_decode(vf_load_u16(block)), block + BLOCK_HEADER_BYTES, header);
        memcpy(split + b * BLOCK_ELEMENTS, block + BLOCK_HEADER_BYTES, BLOCK_ELEMENTS);
        memcpy(split + count + b * HEADER_BYTES, header, HEADER_BYTES);
    }
}

uint64_t vf_split_to_blocks(const uint8_t *split, uint64_t count, uint8_t *blocks) {
    uint64_t wrong = 0;

    for (uint64_t b = 0; b < count / BLOCK_ELEMENTS; b++) {
        const uint8_t *codes = split + b * BLOCK_ELEMENTS;
        uint8_t *block = blocks + b * BLOCK_BYTES;
        float got[4];
        float header[4];

        memcpy(got, split + count + b * HEADER_BYTES, HEADER_BYTES);
        const uint16_t d = vf_f16_encode(got[0]);
        make_header(vf_f16_decode(d), codes, header);
        memcpy(block + BLOCK_HEADER_BYTES, codes, BLOCK_ELEMENTS);
        vf_store_u16(block, d);
        vf_store_u16(block + 2, vf_f16_encode(header[3] * header[0]));
        wrong += got[0] != header[0] || got[1] != header[1] || got[2] != header[2] ||
                 got[3] != header[3];
    }
    return wrong;
}
