// SPDX-License-Identifier: MIT
//
// The number of a workgroup in a folded grid. A problem with more than 65,535 groups is dispatched
// as x x y x z groups whose product may exceed what the problem needs: the kernel must ignore the
// groups past the end (without returning before a barrier).
#ifndef DISPATCH_GLSL
#define DISPATCH_GLSL

uint dispatch_group_index() {
    return gl_WorkGroupID.x +
           gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

#endif
