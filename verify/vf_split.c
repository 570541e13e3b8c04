/* SPDX-License-Identifier: MIT */
#include "vf_split.h"

#include "vf_decode_block.h"
#include "vf_f16.h"
#include "vf_quantize_block.h"

#include <string.h>

enum { BLOCK_ELEMENTS = 32, BLOCK_BYTES = 36, HEADER_BYTES = 4 };

static int32_t sum_codes(const uint8_t *codes) {
    int32_t sum = 0;

    for (uint32_t e = 0; e < BLOCK_ELEMENTS; e++) {
        sum += vf_load_i8(codes + e);
    }
    return sum;
}

void vf_split_from_blocks(const uint8_t *blocks, uint64_t count, uint8_t *split) {
    for (uint64_t b = 0; b < count / BLOCK_ELEMENTS; b++) {
        const uint8_t *block = blocks + b * BLOCK_BYTES;
        uint8_t *header = split + count + b * HEADER_BYTES;

        memcpy(split + b * BLOCK_ELEMENTS, block + HEADER_BYTES, BLOCK_ELEMENTS);
        memcpy(header, block, 2);
        vf_store_u16(header + 2, (uint16_t)sum_codes(block + HEADER_BYTES));
    }
}

uint64_t vf_split_to_blocks(const uint8_t *split, uint64_t count, uint8_t *blocks) {
    uint64_t wrong = 0;

    for (uint64_t b = 0; b < count / BLOCK_ELEMENTS; b++) {
        const uint8_t *codes = split + b * BLOCK_ELEMENTS;
        const uint8_t *header = split + count + b * HEADER_BYTES;
        uint8_t *block = blocks + b * BLOCK_BYTES;
        const int32_t sum = sum_codes(codes);

        memcpy(block + HEADER_BYTES, codes, BLOCK_ELEMENTS);
        memcpy(block, header, 2);
        vf_store_u16(block + 2, vf_f16_encode((float)sum * vf_f16_decode(vf_load_u16(header))));
        wrong += vf_load_u16(header + 2) != (uint16_t)sum;
    }
    return wrong;
}
