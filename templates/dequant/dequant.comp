// SPDX-License-Identifier: MIT
#version 450
//
// Decodes `count` weights: an invocation decodes one run of eight elements.

#include "params.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

// count elements as raw blocks; a window that ends before 4 GiB.
layout(set = 0, binding = 0, std430) readonly buffer Weights {
    uint weights[];
};
#if K_OUT_TYPE == OUT_TYPE_F16
layout(set = 0, binding = 1, std430) writeonly buffer Values {
    uint values[]; // count / 2, the element of even number in the low half
};
#else
layout(set = 0, binding = 1, std430) writeonly buffer Values {
    float values[]; // count
};
#endif

layout(push_constant) uniform Push {
    uint count; // a multiple of the block, and of 8
};

#include "decode.glsl"

#if K_OUT_TYPE == OUT_TYPE_F16
uint pack_f16x2(vec2 pair) {
    return f32_to_f16(pair.x) | (f32_to_f16(pair.y) << 16);
}

void store_run(uint run, vec4 low, vec4 high) {
    uint first = run * (RUN_ELEMENTS / 2);
    values[first] = pack_f16x2(low.xy);
    values[first + 1u] = pack_f16x2(low.zw);
    values[first + 2u] = pack_f16x2(high.xy);
    values[first + 3u] = pack_f16x2(high.zw);
}
#else
void store_run(uint run, vec4 low, vec4 high) {
    uint first = run * RUN_ELEMENTS;
    for (uint i = 0u; i < 4u; i++) {
        values[first + i] = low[i];
        values[first + 4u + i] = high[i];
    }
}
#endif

void main() {
    uint run = dispatch_group_index() * K_WORKGROUP + gl_LocalInvocationIndex;
    if (run < count / RUN_ELEMENTS) {
        vec4 low;
        vec4 high;
        decode_run(run / BLOCK_RUNS * BLOCK_BYTES, run % BLOCK_RUNS, low, high);
        store_run(run, low, high);
    }
}
