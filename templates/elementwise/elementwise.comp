// SPDX-License-Identifier: MIT
#version 450
//
// y = a + b, y = a b, or y = scale a, element by element. One operation, rounded once to f32.

#include "params.glsl"
#include "words.glsl"
#include "spans.glsl"

#define OP_ADD 0
#define OP_MUL 1
#define OP_SCALE 2

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer A {
    WORD a[]; // count
};
#if K_OP == OP_SCALE
layout(set = 0, binding = 1, std430) writeonly buffer Y {
    WORD y[]; // count
};
#else
layout(set = 0, binding = 1, std430) readonly buffer B {
    WORD b[]; // count
};
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    WORD y[]; // count
};
#endif

layout(push_constant) uniform Push {
    uint count; // even for f16
#if K_OP == OP_SCALE
    float scale;
#endif
};

VALUES compute(uint word) {
#if K_OP == OP_ADD
    return word_decode(a[word]) + word_decode(b[word]);
#elif K_OP == OP_MUL
    return word_decode(a[word]) * word_decode(b[word]);
#else
    return scale * word_decode(a[word]);
#endif
}

void main() {
    uint words = count / WORD_ELEMENTS;
    for (uint i = span_first(); i < span_end(words); i += K_WORKGROUP) {
        y[i] = word_encode(compute(i));
    }
}
