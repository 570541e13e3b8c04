// SPDX-License-Identifier: MIT
// Q6_KP: Q6_K in whole words.
//   0  as Q6_K
// 210  two zero bytes
#define BLOCK_BYTES 212
#include "q6_k.glsl"
