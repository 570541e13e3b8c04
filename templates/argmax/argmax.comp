// SPDX-License-Identifier: MIT
#version 450
//
// The index of each row's greatest value, the lowest one of equals: a workgroup a row. NaN is chosen only
// if all values are NaN.

#include "params.glsl"
#if K_TIER == TIER_SUBGROUP
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer X {
    uint x[]; // rows x n: f32 bits, or two f16 a word
};
layout(set = 0, binding = 1, std430) writeonly buffer Ids {
    int ids[]; // rows
};

layout(push_constant) uniform Push {
    uint rows;
    uint n;
};

#include "order.glsl"

#define NOTHING 0xFFFFFFFFu // an index behind all others

shared uint best_keys[K_WORKGROUP];
shared uint best_indices[K_WORKGROUP];

void keep_better(uint key, uint index, inout uint best_key, inout uint best_index) {
    if (key > best_key || (key == best_key && index < best_index)) {
        best_key = key;
        best_index = index;
    }
}

#if K_TIER == TIER_SUBGROUP

// The best of the workgroup, in every invocation.
void reduce_best(inout uint key, inout uint index) {
    uint best = subgroupMax(key);
    index = subgroupMin(key == best ? index : NOTHING);
    key = best;
    if (subgroupElect()) {
        best_keys[gl_SubgroupID] = key;
        best_indices[gl_SubgroupID] = index;
    }
    barrier();
    for (uint i = 0u; i < gl_NumSubgroups; i++) {
        keep_better(best_keys[i], best_indices[i], key, index);
    }
}

#else

void reduce_best(inout uint key, inout uint index) {
    uint thread = gl_LocalInvocationIndex;
    best_keys[thread] = key;
    best_indices[thread] = index;
    barrier();
    for (uint width = K_WORKGROUP / 2u; width > 0u; width >>= 1) {
        if (thread < width) {
            keep_better(best_keys[thread + width], best_indices[thread + width], key, index);
            best_keys[thread] = key;
            best_indices[thread] = index;
        }
        barrier();
    }
    key = best_keys[0];
    index = best_indices[0];
}

#endif

void main() {
    uint row = dispatch_group_index();
    uint count = row < rows ? n : 0u; // a group past the end takes part in the barriers
    uint key = 0u;
    uint index = NOTHING;
    for (uint i = gl_LocalInvocationIndex; i < count; i += K_WORKGROUP) {
        keep_better(order_key(load_bits(row * n + i)), i, key, index);
    }
    reduce_best(key, index);
    if (gl_LocalInvocationIndex == 0u && row < rows) {
        ids[row] = int(index);
    }
}
