/* SPDX-License-Identifier: MIT */
#include "vf_pseudo.h"

uint64_t vf_pseudo_bits(uint64_t index) {
    uint64_t z = index + 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

float vf_pseudo(uint64_t index) {
    /* Through int32: converting 64-bit unsigned integers to float is slow on x86-64. */
    return (float)(int32_t)(vf_pseudo_bits(index) >> 40) * 0x1p-23f - 1.0f;
}

void vf_pseudo_fill(float *out, size_t count, uint64_t tensor_number, uint64_t seed, float scale) {
    uint64_t first = tensor_number * 1000003u + seed;
    for (size_t i = 0; i < count; i++) {
        out[i] = vf_pseudo(first + i) * scale;
    }
}
