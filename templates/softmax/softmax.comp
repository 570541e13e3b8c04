// SPDX-License-Identifier: MIT
#version 450
//
// y = exp(scale x) / sum(exp(scale x)) for each row of m elements. Numerator and denominator are
// divided by exp(scale c), c the row's largest element, so that no power overflows; the difference
// x - c comes first because it is nearly exact. Elements of minus infinity are masked: they become
// 0, and so does a row of nothing else. Schedule `block`: a workgroup a row, its invocations taking
// words in turn.

#include "params.glsl"
#define REDUCE_VALUES 1
#include "reduce_max.glsl"
#include "dispatch.glsl"
#include "words.glsl"

#define LEAST_F32 -3.4028234e38

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer X {
    WORD x[]; // rows x m
};
layout(set = 0, binding = 1, std430) writeonly buffer Y {
    WORD y[]; // rows x m
};

layout(push_constant) uniform Push {
    uint rows;
    uint m; // even for f16
    float scale; // above 0
};

VALUES power_at(uint word, float largest) {
    return exp(scale * (word_decode(x[word]) - largest));
}

void main() {
    uint row = dispatch_group_index();
    // A group past the end has no words to read, but takes part in the barriers.
    uint words = row < rows ? m / WORD_ELEMENTS : 0u;
    uint first = row * words;

    VALUES largest_values = VALUES(LEAST_F32); // finite: what is masked stays below it
    for (uint i = gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
        largest_values = max(largest_values, word_decode(x[first + i]));
    }
    float largest = reduce_max(values_max(largest_values));

    float powers[1] = float[1](0.0);
    for (uint i = gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
        powers[0] += values_sum(power_at(first + i, largest));
    }
    reduce_sum(powers);

    float factor = powers[0] > 0.0 ? 1.0 / powers[0] : 0.0;
    for (uint i = gl_LocalInvocationIndex; i < words; i += K_WORKGROUP) {
        y[first + i] = word_encode(power_at(first + i, largest) * factor);
    }
}
