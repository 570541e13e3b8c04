// SPDX-License-Identifier: MIT
// Q3_KP: Q3_K in whole words.
//   0  as Q3_K
// 110  two zero bytes
#define BLOCK_BYTES 112
#include "q3_k.glsl"
