/* SPDX-License-Identifier: MIT */
#include "vf_order.h"

#include "vf_f16.h"
#include "vf_pseudo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    float value;
    int32_t index;
};

static int compare(const void *a, const void *b) {
    const struct entry *left = a;
    const struct entry *right = b;
    const bool left_nan = isnan(left->value);
    const bool right_nan = isnan(right->value);

    if (left_nan != right_nan) {
        return left_nan ? 1 : -1;
    }
    if (!left_nan && left->value != right->value) {
        return left->value > right->value ? -1 : 1;
    }
    return left->index < right->index ? -1 : 1;
}

enum kiln_result vf_order_select(const float *values, uint64_t n, uint64_t count,
                                 int32_t *indices) {
    struct entry *entries = calloc((size_t)n + 1, sizeof *entries);

    if (!entries) {
        return KILN_ERR_MEMORY;
    }
    for (uint64_t i = 0; i < n; i++) {
        entries[i] = (struct entry){values[i], (int32_t)i};
    }
    qsort(entries, (size_t)n, sizeof *entries, compare);
    for (uint64_t i = 0; i < count; i++) {
        indices[i] = i < n ? entries[i].index : -1;
    }
    free(entries);
    return KILN_OK;
}

/* Of both types; halves hold every one of them. */
static float special_value(uint64_t bits) {
    static const uint16_t halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x0002,
                                      0xFC00, 0xFBFF, 0x8400, 0x83FF};

    if (bits % 64 == 0) {
        return INFINITY;
    }
    return vf_f16_decode(halves[(bits >> 8) % (sizeof halves / sizeof halves[0])]);
}

static float make_value(uint64_t row, uint64_t bits, float even) {
    switch (row % 7) {
    case 1:
        return (float)(bits % 8) - 6.0F;
    case 2:
        return -1.5F;
    case 3:
        return bits % 4 == 0 ? vf_f32_from_bits(0x7FC00000U | (uint32_t)(bits >> 63) << 31) : even;
    case 4:
        return vf_f32_from_bits(0x7FC00000U | (uint32_t)(bits >> 63) << 31);
    case 5:
        return special_value(bits);
    case 6:
        return bits % 3 == 0 ? -0.0F : bits % 3 == 1 ? 0.0F : -even * even - 1.0F;
    default:
        return even * 8.0F;
    }
}

void vf_order_fill(enum mf_dtype dtype, uint64_t rows, uint64_t n, uint64_t seed, void *elements,
                   float *values) {
    uint8_t *bytes = elements;

    for (uint64_t i = 0; i < rows * n; i++) {
        const uint64_t at = i + seed;
        const float value = make_value(i / n, vf_pseudo_bits(~at), vf_pseudo(at));
        const uint16_t half = vf_f16_encode(value);
        const uint32_t word = vf_f32_bits(value);

        if (dtype == MF_DTYPE_F16) {
            memcpy(bytes + 2 * i, &half, sizeof half);
            values[i] = vf_f16_decode(half);
        } else {
            memcpy(bytes + 4 * i, &word, sizeof word);
            values[i] = value;
        }
    }
}
