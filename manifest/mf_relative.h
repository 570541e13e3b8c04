/* SPDX-License-Identifier: MIT */
/*
 * mf_relative: SPIR-V words with ids written as distances, which compress better.
 *
 * Modules of one family differ in a few constants near their beginning, and every id behind those
 * is another number. Distances to the last id that was defined are the same again. FORMAT.md,
 * "Relative words", states the transform and its table of opcodes. It is a bijection of sequences
 * of words, valid modules or not: lengths and opcodes stay, and they alone steer it.
 *
 * `words` are numbers in host order and are changed in place.
 */
#ifndef MF_RELATIVE_H
#define MF_RELATIVE_H

#include <stddef.h>
#include <stdint.h>

void mf_relative_encode(uint32_t *words, size_t word_count);
void mf_relative_decode(uint32_t *words, size_t word_count);

#endif /* MF_RELATIVE_H */
