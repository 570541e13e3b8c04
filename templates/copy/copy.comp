// SPDX-License-Identifier: MIT
#version 450
//
// Copies `count` elements from one type to another: an invocation moves pairs of elements, so that
// halves are read and written as whole words. Copies between equal types move bits.

#include "params.glsl"
#include "half_bits.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

#define PAIRS 4 // of an invocation

layout(set = 0, binding = 0, std430) readonly buffer Source {
    uint source[]; // f32 bits, or two f16 a word
};
layout(set = 0, binding = 1, std430) writeonly buffer Target {
    uint target[];
};

layout(push_constant) uniform Push {
    uint count;
};

// The two elements of a pair in the source's type; the second is 0 when there is none.
uvec2 load_pair(uint pair, bool whole) {
#if K_DTYPE == DTYPE_F16
    uint word = source[pair];
    return uvec2(word & 0xFFFFu, whole ? word >> 16 : 0u);
#else
    return uvec2(source[2u * pair], whole ? source[2u * pair + 1u] : 0u);
#endif
}

uvec2 convert(uvec2 elements) {
#if K_DTYPE == K_OUT_TYPE
    return elements;
#elif K_OUT_TYPE == OUT_TYPE_F16
    return uvec2(half_bits(elements.x), half_bits(elements.y));
#else
    return uvec2(single_bits(elements.x), single_bits(elements.y));
#endif
}

void store_pair(uint pair, uvec2 elements, bool whole) {
#if K_OUT_TYPE == OUT_TYPE_F16
    target[pair] = elements.x | (elements.y << 16);
#else
    target[2u * pair] = elements.x;
    if (whole) {
        target[2u * pair + 1u] = elements.y;
    }
#endif
}

void main() {
    uint first = dispatch_group_index() * (K_WORKGROUP * PAIRS) + gl_LocalInvocationIndex;
    uint pair_count = count / 2u + (count & 1u);
    for (uint i = 0u; i < PAIRS; i++) {
        uint pair = first + i * K_WORKGROUP;
        if (pair < pair_count) {
            bool whole = 2u * pair + 1u < count;
            store_pair(pair, convert(load_pair(pair, whole)), whole);
        }
    }
}
