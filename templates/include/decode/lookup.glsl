// SPDX-License-Identifier: MIT
// A table of LOOKUP_ENTRIES values of LOOKUP_TYPE that the decoder computes, `lookup_make(index)`:
//
//   LOOKUP_TYPE lookup(uint index)
//
// Where the template defines LOOKUP_STAGED the workgroup keeps the values in shared memory: it calls
// lookup_fill() first, all invocations together. Worth it when it decodes many blocks: a
// constant table is slow to read at many places at once, and the values come finished.
#ifdef LOOKUP_STAGED
#define DECODE_HAS_FILL

shared LOOKUP_TYPE lookup_stage[LOOKUP_ENTRIES];

LOOKUP_TYPE lookup(uint index) {
    return lookup_stage[index];
}

void lookup_fill() {
    for (uint i = gl_LocalInvocationIndex; i < LOOKUP_ENTRIES; i += gl_WorkGroupSize.x) {
        lookup_stage[i] = lookup_make(i);
    }
    barrier();
}

#else

LOOKUP_TYPE lookup(uint index) {
    return lookup_make(index);
}

#endif
