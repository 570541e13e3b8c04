// SPDX-License-Identifier: MIT
//
// Scores of attention. Keys that a query does not see have the score SCORE_MASKED, the lowest f32
// number, and weigh exactly 0. Infinities, which a device need not keep, are not computed with.
#ifndef ATTENTION_SCORE_GLSL
#define ATTENTION_SCORE_GLSL

#define SCORE_MASKED (-3.4028234664e38) // -FLT_MAX
#define MASK_EXCLUDES 0xFF800000u       // bits of -infinity

float score_masked(float score, float mask) {
    return floatBitsToUint(mask) == MASK_EXCLUDES ? SCORE_MASKED : max(score + mask, SCORE_MASKED);
}

float score_weight(float score, float maximum) {
    return score == SCORE_MASKED ? 0.0 : exp(score - maximum);
}

#endif
