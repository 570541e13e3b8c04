// SPDX-License-Identifier: MIT
// Q8_0P: Q8_0 in whole words.
//   0  d   half
//   2      two zero bytes
//   4  qs  32 signed bytes
#define BLOCK_BYTES 36
#include "q8_0.glsl"
