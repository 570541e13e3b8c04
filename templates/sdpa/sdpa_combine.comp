// SPDX-License-Identifier: MIT
#version 450
//
// Puts together what sdpa's schedule `split` made of `splits` parts of the keys. With the largest
// maximum M of the parts that have keys (whose sum is not 0),
//
//   o = sum_s exp(maximum_s - M) vector_s / sum_s exp(maximum_s - M) sum_s
//
// and 0 without any. A workgroup computes the output of one query of one head.

#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer Maxima {
    float maxima[]; // h x lq x splits
};
layout(set = 0, binding = 1, std430) readonly buffer Sums {
    float sums[]; // h x lq x splits
};
layout(set = 0, binding = 2, std430) readonly buffer Vectors {
    float vectors[]; // h x lq x splits x d
};
layout(set = 0, binding = 3, std430) writeonly buffer O {
    float o[]; // h x lq x d
};

layout(push_constant) uniform Push {
    uint h;
    uint lq;
    uint d;
    uint splits;
};

float part_weight(uint part, float maximum) {
    return sums[part] == 0.0 ? 0.0 : exp(maxima[part] - maximum);
}

void main() {
    uint row = dispatch_group_index();
    uint first = row * splits;
    uint end = row / lq < h ? first + splits : first; // no parts in a surplus group

    float maximum = -3.4028234664e38; // -FLT_MAX
    for (uint part = first; part < end; part++) {
        maximum = sums[part] == 0.0 ? maximum : max(maximum, maxima[part]);
    }
    float sum = 0.0;
    for (uint part = first; part < end; part++) {
        sum += part_weight(part, maximum) * sums[part];
    }
    for (uint element = gl_LocalInvocationIndex; first < end && element < d;
         element += K_WORKGROUP) {
        float total = 0.0;
        for (uint part = first; part < end; part++) {
            total += part_weight(part, maximum) * vectors[part * d + element];
        }
        o[row * d + element] = sum == 0.0 ? 0.0 : total / sum;
    }
}
