// SPDX-License-Identifier: MIT
//
// The largest value of a workgroup, beside the sums of reduce.glsl and in the same shared memory.
//
//   float reduce_max(float value)    the same in every invocation
//
// Called by all invocations of the workgroup together.
#ifndef REDUCE_MAX_GLSL
#define REDUCE_MAX_GLSL

#include "reduce.glsl"

#if K_TIER == TIER_SUBGROUP

float reduce_max(float value) {
    barrier(); // an earlier reduction may still be reading
    value = subgroupMax(value);
    if (subgroupElect()) {
        reduce_partial[gl_SubgroupID] = value;
    }
    barrier();
    value = reduce_partial[0];
    for (uint j = 1u; j < gl_NumSubgroups; j++) {
        value = max(value, reduce_partial[j]);
    }
    return value;
}

#else

float reduce_max(float value) {
    uint thread = gl_LocalInvocationIndex;
    barrier(); // an earlier reduction may still be reading
    reduce_partial[thread] = value;
    barrier();
    for (uint width = K_WORKGROUP / 2u; width > 0u; width >>= 1) {
        if (thread < width) {
            reduce_partial[thread] = max(reduce_partial[thread], reduce_partial[thread + width]);
        }
        barrier();
    }
    return reduce_partial[0];
}

#endif

#endif
