// SPDX-License-Identifier: MIT
#version 450
//
// s = x + r and y = s / sqrt(mean(s^2) + eps) * w for each row of m elements: a residual addition
// and the norm behind it. Schedule `block`: a workgroup a row, its invocations taking words in turn.
// y is computed from the sum in f32, also where s is stored as f16.

#include "params.glsl"
#define REDUCE_VALUES 1
#include "reduce.glsl"
#include "dispatch.glsl"
#include "words.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer X {
    WORD x[]; // rows x m
};
layout(set = 0, binding = 1, std430) readonly buffer R {
    WORD r[]; // rows x m
};
layout(set = 0, binding = 2, std430) readonly buffer W {
    float w[]; // m
};
layout(set = 0, binding = 3, std430) writeonly buffer S {
    WORD s[]; // rows x m
};
layout(set = 0, binding = 4, std430) writeonly buffer Y {
    WORD y[]; // rows x m
};

layout(push_constant) uniform Push {
    uint rows;
    uint m; // even for f16
    float eps;
};

VALUES sum_at(uint word) {
    return word_decode(x[word]) + word_decode(r[word]);
}

void main() {
    uint row = dispatch_group_index();
    // A group past the end has no words to read, but takes part in the barriers.
    uint words = row < rows ? m / WORD_ELEMENTS : 0u;
    uint first = row * words;

    float squares[1] = float[1](0.0);
    for (uint i = gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
        VALUES sum = sum_at(first + i);
        squares[0] += dot(sum, sum);
    }
    reduce_sum(squares);

    float factor = inversesqrt(squares[0] / float(m) + eps);
    for (uint i = gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
        VALUES sum = sum_at(first + i);
        s[first + i] = word_encode(sum);
        y[first + i] = word_encode(sum * factor * VALUES_OF_F32(w, i));
    }
}
