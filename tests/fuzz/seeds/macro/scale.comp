// SPDX-License-Identifier: MIT
#version 450
#include "sum.glsl"

layout(local_size_x = K_WORKGROUP) in;
layout(set = 0, binding = 0, std430) readonly buffer X { float x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint count; float factor; };

void main()
{
    for (uint i = 0; i < K_ROWS; i++) {
        uint at = gl_GlobalInvocationID.x * K_ROWS + i;
        float value = at < count ? x[at] : 0.0;
        value = sum(value);
        if (at < count) {
            y[at] = value * factor;
        }
    }
}
