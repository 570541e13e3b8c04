// SPDX-License-Identifier: MIT
//
// Element-wise kernels: a workgroup takes SPAN_WORDS consecutive words, neighbouring invocations
// neighbouring words.
//
//   for (uint i = span_first(); i < span_end(words); i += K_WORKGROUP)
//
// A buffer has less than 2^30 words, and the surplus groups of a folded grid are fewer than 2^17 (two
// rows of 65,535), so no index here wraps.
#ifndef SPANS_GLSL
#define SPANS_GLSL

#include "dispatch.glsl"

#define SPAN_WORDS (4u * K_WORKGROUP)

uint span_first() {
    return dispatch_group_index() * SPAN_WORDS + gl_LocalInvocationIndex;
}

uint span_end(uint words) {
    return min(words, (dispatch_group_index() + 1u) * SPAN_WORDS);
}

#endif
