/* SPDX-License-Identifier: MIT */
#include "vf_split.h"

#include "vf_decode_block.h"
#include "vf_f16.h"
#include "vf_quantize_block.h"

#include <string.h>

enum { BLOCK_ELEMENTS = 32, BLOCK_BYTES = 36, HEADER_BYTES = 4 };
enum { GROUP_ELEMENTS = 512, PIECE_ELEMENTS = 16 };

/* Where the 16 codes from element `element` on are. */
static uint64_t piece_offset(uint64_t element, uint64_t count) {
    const uint64_t group = element / GROUP_ELEMENTS * GROUP_ELEMENTS;
    const uint64_t piece = element % GROUP_ELEMENTS / PIECE_ELEMENTS;

    if (group + GROUP_ELEMENTS > count) {
        return element;
    }
    return group + (piece % 4 * 8 + piece / 4) * PIECE_ELEMENTS;
}

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

        for (uint64_t e = 0; e < BLOCK_ELEMENTS; e += PIECE_ELEMENTS) {
            memcpy(split + piece_offset(b * BLOCK_ELEMENTS + e, count), block + HEADER_BYTES + e,
                   PIECE_ELEMENTS);
        }
        memcpy(header, block, 2);
        vf_store_u16(header + 2, (uint16_t)sum_codes(block + HEADER_BYTES));
    }
}

uint64_t vf_split_to_blocks(const uint8_t *split, uint64_t count, uint8_t *blocks) {
    uint64_t wrong = 0;

    for (uint64_t b = 0; b < count / BLOCK_ELEMENTS; b++) {
        const uint8_t *header = split + count + b * HEADER_BYTES;
        uint8_t *block = blocks + b * BLOCK_BYTES;

        for (uint64_t e = 0; e < BLOCK_ELEMENTS; e += PIECE_ELEMENTS) {
            memcpy(block + HEADER_BYTES + e, split + piece_offset(b * BLOCK_ELEMENTS + e, count),
                   PIECE_ELEMENTS);
        }
        const int32_t sum = sum_codes(block + HEADER_BYTES);
        memcpy(block, header, 2);
        vf_store_u16(block + 2, vf_f16_encode((float)sum * vf_f16_decode(vf_load_u16(header))));
        wrong += vf_load_u16(header + 2) != (uint16_t)sum;
    }
    return wrong;
}
