#version 450
// SPDX-License-Identifier: MIT
// Fills the workgroup memory that later kernels are given with a pattern, so that a kernel which
// reads shared memory before writing it computes nonsense. The words of the compiled module are in
// vf_dirty_words.h.
layout(local_size_x = 64) in;

layout(push_constant) uniform Push {
    uint groups;
    uint pattern;
};

layout(set = 0, binding = 0, std430) writeonly buffer Sink {
    uint sink[];
};

const uint WORDS = 4096; // 16 KiB, what every device has

shared uint words[WORDS];

void main() {
    for (uint i = gl_LocalInvocationIndex; i < WORDS; i += 64) {
        words[i] = pattern;
    }
    barrier();
    if (gl_LocalInvocationIndex == 0 && gl_WorkGroupID.x < groups) {
        uint sum = 0;
        for (uint i = 0; i < WORDS; i++) {
            sum += words[i];
        }
        sink[gl_WorkGroupID.x] = sum;
    }
}
