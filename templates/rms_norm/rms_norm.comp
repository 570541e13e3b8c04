// SPDX-License-Identifier: MIT
#version 450
//
// y = x / sqrt(mean(x^2) + eps) * w for each row of m elements, schedule `block`: a workgroup a row,
// its invocations taking words in turn. All accumulation in f32.

#include "params.glsl"
#define REDUCE_VALUES 1
#include "reduce.glsl"
#include "dispatch.glsl"
#include "words.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer X {
    WORD x[]; // rows x m
};
layout(set = 0, binding = 1, std430) readonly buffer W {
    float w[]; // m
};
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    WORD y[]; // rows x m
};

layout(push_constant) uniform Push {
    uint rows;
    uint m; // even for f16
    float eps;
};

void main() {
    uint row = dispatch_group_index();
    // A group past the end has no words to read, but takes part in the barriers.
    uint words = row < rows ? m / WORD_ELEMENTS : 0u;
    uint first = row * words;

    float squares[1] = float[1](0.0);
    for (uint i = gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
        VALUES value = word_decode(x[first + i]);
        squares[0] += dot(value, value);
    }
    reduce_sum(squares);

    float factor = inversesqrt(squares[0] / float(m) + eps);
    for (uint i = gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
        y[first + i] = word_encode(word_decode(x[first + i]) * factor * VALUES_OF_F32(w, i));
    }
}
