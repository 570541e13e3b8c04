// SPDX-License-Identifier: MIT
#version 450
#include "values.glsl"
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(set = 0, binding = 1) writeonly buffer Output { float y[]; };
layout(push_constant) uniform Push { uint n; };

void main() {
    uint i = gl_GlobalInvocationID.x * K_ROWS;
#error not for this
#if K_TIER == TIER_PORTABLE
    if (i < n) {
        y[i] = K_FACTOR * x[i];
    }
#endif
}
