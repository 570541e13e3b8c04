// SPDX-License-Identifier: MIT
#version 450
//
// Each row of d elements (a head of a token) is normalised, n = x / sqrt(mean(x^2) + eps) * w, and
// then the NeoX pairs (i, i + n_rot/2) of n's first n_rot elements turn by the token's angles
// (rotation.glsl), as query and key heads need it. Schedule `block`: a workgroup a row.

#include "params.glsl"
#define REDUCE_VALUES 1
#include "reduce.glsl"
#include "dispatch.glsl"
#include "words.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer X {
    WORD x[]; // b x h x t x d
};
layout(set = 0, binding = 1, std430) readonly buffer W {
    float w[]; // d
};
layout(set = 0, binding = 2, std430) readonly buffer Positions {
    int positions[]; // t
};
layout(set = 0, binding = 3, std430) readonly buffer Table {
    float table[]; // position_count x n_rot/2 x (cosine, sine)
};
layout(set = 0, binding = 4, std430) writeonly buffer Y {
    WORD y[]; // b x h x t x d
};

layout(push_constant) uniform Push {
    uint b;
    uint h;
    uint t;
    uint d;     // even for f16
    uint n_rot; // at most d; even, for f16 a multiple of 4
    uint position_count;
    float eps;
};

#include "rotation.glsl"

void main() {
    uint row = dispatch_group_index();
    bool inside = row < b * h * t;
    // A group past the end has no words to read, but takes part in the barriers.
    uint words = inside ? d / WORD_ELEMENTS : 0u;
    uint first = row * words;

    float squares[1] = float[1](0.0);
    for (uint i = gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
        VALUES value = word_decode(x[first + i]);
        squares[0] += dot(value, value);
    }
    reduce_sum(squares);
    float factor = inversesqrt(squares[0] / float(d) + eps);

    if (inside) {
        uint half_words = n_rot / 2u / WORD_ELEMENTS;
        Angles angles = angles_find(row % t, n_rot / 2u);
        factor = angles.known ? factor : 0.0;

        for (uint i = gl_LocalInvocationIndex; i < half_words; i += K_WORKGROUP) {
            uint j = i + half_words;
            VALUES a_norm = word_decode(x[first + i]) * factor * VALUES_OF_F32(w, i);
            VALUES b_norm = word_decode(x[first + j]) * factor * VALUES_OF_F32(w, j);
            rotate_words(angles, i, a_norm, b_norm);
            y[first + i] = word_encode(a_norm);
            y[first + j] = word_encode(b_norm);
        }
        for (uint i = 2u * half_words + gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
            y[first + i] = word_encode(word_decode(x[first + i]) * factor * VALUES_OF_F32(w, i));
        }
    }
}
