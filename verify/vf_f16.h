/* SPDX-License-Identifier: MIT */
/*
 * vf_f16: the small floating-point formats of GGML blocks, to and from binary32.
 *
 * Everything here is integer arithmetic on bit patterns, so results depend neither on the
 * processor's f16 instructions nor on the rounding or flush-to-zero mode. Sources: IEEE 754-2019
 * (binary16, binary32), OCP Microscaling Formats 1.0 (E8M0, E2M1), docs/block_layouts.md (bf16,
 * UE4M3 with its reserved bytes, and the encoders' rounding). All functions are pure.
 */
#ifndef VF_F16_H
#define VF_F16_H

#include <stdint.h>

/* The bit pattern of a binary32 value, and back. */
uint32_t vf_f32_bits(float value);
float vf_f32_from_bits(uint32_t bits);

/*
 * binary16. Decoding is exact, subnormals, infinities and NaN payloads included. Encoding rounds to
 * nearest even, keeps subnormals, gives infinity from 65520 up; a NaN stays a (quiet) NaN with its
 * sign and top payload bits.
 */
float vf_f16_decode(uint16_t half);
uint16_t vf_f16_encode(float value);

/*
 * bf16: the upper half of a binary32. Encoding rounds to nearest even on the dropped 16 bits; a NaN
 * keeps its top bits and gets bit 6 set (quiet).
 */
float vf_bf16_decode(uint16_t bits);
uint16_t vf_bf16_encode(float value);

/*
 * E8M0: 2^(e-127), for every e of 0..255; 0 gives the subnormal 2^-127. OCP's NaN code 255 is not
 * special in GGML, but 2^128 is no binary32 value, so this gives infinity for it. vf_e8m0_half is
 * 2^(e-128), the factor that mxfp4 blocks use, and finite for every e.
 */
float vf_e8m0_decode(uint8_t exponent);
float vf_e8m0_half(uint8_t exponent);

/*
 * UE4M3: unsigned, 4 exponent bits (bias 7), 3 mantissa bits; bit 7 is ignored. The bytes 0x00 and
 * 0x7F decode to 0 (0xFF does not: it is 480). Encoding: not above 0 and NaN give 0, 448 and more
 * give 0x7E; ties round up, in subnormals too, but a subnormal never rounds up to the first normal.
 */
float vf_ue4m3_decode(uint8_t bits);
uint8_t vf_ue4m3_encode(float value);

#endif /* VF_F16_H */
