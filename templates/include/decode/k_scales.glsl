// SPDX-License-Identifier: MIT
// The twelve scale bytes S of Q4_K and Q5_K: eight 6-bit scales and eight 6-bit minimums.
//   j < 4   scale    S[j] bits 0..5
//           minimum  S[j + 4] bits 0..5
//   j >= 4  scale    S[j + 4] bits 0..3, above them S[j - 4] bits 6..7
//           minimum  S[j + 4] bits 4..7, above them S[j] bits 6..7
#ifndef DECODE_K_SCALES_GLSL
#define DECODE_K_SCALES_GLSL

// scales: S as three words. Returns (scale, minimum) number j, 0..7.
uvec2 k_scale(uvec3 scales, uint j) {
    uint shift = 8u * (j & 3u);
    uvec2 first = scales.xy >> shift; // S[j % 4], S[4 + j % 4]
    uint last = scales.z >> shift;    // S[8 + j % 4]
    if (j < 4u) {
        return first & 63u;
    }
    return (uvec2(last, last >> 4) & 15u) | ((first >> 2) & 48u);
}

#endif
