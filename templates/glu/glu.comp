// SPDX-License-Identifier: MIT
#version 450
//
// y = f(gate) up, element by element. f is silu(g) = g sigmoid(g) in swiglu, and in geglu GELU by its
// tanh form, g/2 (1 + tanh(u)) = g sigmoid(2u) with u = sqrt(2/pi) (g + 0.044715 g^3).

#include "params.glsl"
#include "words.glsl"
#include "spans.glsl"

#define GATE_SILU 0
#define GATE_GELU 1

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer Gate {
    WORD gate[]; // count
};
layout(set = 0, binding = 1, std430) readonly buffer Up {
    WORD up[]; // count
};
layout(set = 0, binding = 2, std430) writeonly buffer Y {
    WORD y[]; // count
};

layout(push_constant) uniform Push {
    uint count; // even for f16
};

// 1 / (1 + exp(-v)), with a power that cannot overflow.
VALUES sigmoid(VALUES v) {
    VALUES power = exp(-abs(v));
    return mix(power, VALUES(1.0), step(VALUES(0.0), v)) / (1.0 + power);
}

VALUES activate(VALUES g) {
#if K_GATE == GATE_SILU
    return g * sigmoid(g);
#else
    return g * sigmoid(1.5957691216057308 * (g + 0.044715 * g * g * g)); // 2 sqrt(2/pi)
#endif
}

void main() {
    uint words = count / WORD_ELEMENTS;
    for (uint i = span_first(); i < span_end(words); i += K_WORKGROUP) {
        y[i] = word_encode(activate(word_decode(gate[i])) * word_decode(up[i]));
    }
}
