/* SPDX-License-Identifier: MIT */
/*
 * vf_pseudo: the test data of every case, a pure function of an index.
 *
 * The mixing is SplitMix64's output function (Steele, Lea, Flood 2014) applied to the index itself:
 * z = i + 0x9E3779B97F4A7C15, then two xor-shift-multiply rounds and a last xor-shift, modulo 2^64.
 * Values are multiples of 2^-23 in [-1, 1), all exact in binary32. Thread safety: pure functions.
 */
#ifndef VF_PSEUDO_H
#define VF_PSEUDO_H

#include <stddef.h>
#include <stdint.h>

/* The 64 mixed bits of an index. */
uint64_t vf_pseudo_bits(uint64_t index);

/* (bits >> 40) / 2^24 * 2 - 1. */
float vf_pseudo(uint64_t index);

/*
 * out[i] = vf_pseudo(i + tensor_number * 1000003 + seed) * scale for i in 0..count-1, the data of
 * tensor `tensor_number` of a case, i running row-major. The sum wraps modulo 2^64; the product is
 * rounded once to binary32 (exact when scale is a power of two).
 */
void vf_pseudo_fill(float *out, size_t count, uint64_t tensor_number, uint64_t seed, float scale);

#endif /* VF_PSEUDO_H */
