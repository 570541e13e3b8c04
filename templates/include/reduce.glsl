// SPDX-License-Identifier: MIT
//
// Sums over a workgroup of K_WORKGROUP invocations, REDUCE_VALUES of them at once (the template
// defines both before it includes this file, at its top: the subgroup tier switches extensions on).
//
//   void reduce_sum(inout float values[REDUCE_VALUES])
//       in: each invocation's terms; out: the totals, the same in every invocation.
//
// Called by all invocations of the workgroup together, any number of times. The order of the
// additions is fixed, so two runs on one device give the same bits.
//   portable  a tree in shared memory; K_WORKGROUP is a power of two
//   subgroup, dp4a
//             subgroupAdd, then over the subgroups through shared memory. Any subgroup size does:
//             the workgroup may be smaller than a subgroup, and the last subgroup partly filled.
#ifndef REDUCE_GLSL
#define REDUCE_GLSL

#include "params.glsl"

#if K_TIER == TIER_SUBGROUP || K_TIER == TIER_DP4A
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif

shared float reduce_partial[REDUCE_VALUES * K_WORKGROUP];

#if K_TIER == TIER_SUBGROUP || K_TIER == TIER_DP4A

void reduce_sum(inout float values[REDUCE_VALUES]) {
    barrier(); // an earlier call may still be reading
    for (uint i = 0u; i < REDUCE_VALUES; i++) {
        values[i] = subgroupAdd(values[i]);
        if (subgroupElect()) {
            reduce_partial[i * K_WORKGROUP + gl_SubgroupID] = values[i];
        }
    }
    barrier();
    for (uint i = 0u; i < REDUCE_VALUES; i++) {
        values[i] = reduce_partial[i * K_WORKGROUP];
        for (uint j = 1u; j < gl_NumSubgroups; j++) {
            values[i] += reduce_partial[i * K_WORKGROUP + j];
        }
    }
}

#else

void reduce_sum(inout float values[REDUCE_VALUES]) {
    uint thread = gl_LocalInvocationIndex;
    barrier(); // an earlier call may still be reading
    for (uint i = 0u; i < REDUCE_VALUES; i++) {
        reduce_partial[i * K_WORKGROUP + thread] = values[i];
    }
    barrier();
    for (uint width = K_WORKGROUP / 2u; width > 0u; width >>= 1) {
        if (thread < width) {
            for (uint i = 0u; i < REDUCE_VALUES; i++) {
                uint slot = i * K_WORKGROUP + thread;
                reduce_partial[slot] += reduce_partial[slot + width];
            }
        }
        barrier();
    }
    for (uint i = 0u; i < REDUCE_VALUES; i++) {
        values[i] = reduce_partial[i * K_WORKGROUP];
    }
}

#endif

#endif
