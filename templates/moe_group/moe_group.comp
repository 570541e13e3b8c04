// SPDX-License-Identifier: MIT
#version 450
//
// Groups the slots of a mixture of experts, token * topk + j, by their experts: perm lists them
// sorted by expert, ascending inside an expert; expert e's are perm[offsets[e]] up to
// perm[offsets[e + 1] - 1]. Slots whose id is outside 0 .. experts - 1 come last, from
// offsets[experts] on.
//
// A workgroup an expert, the last one also takes those without an expert: a counting sort of which
// each workgroup does its own bin. Its invocations count in ranges of the slots that follow one
// another, so the sums over the ranges before give every slot its place, without an atomic.

#include "params.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer Ids {
    int ids[]; // t x topk
};
layout(set = 0, binding = 1, std430) writeonly buffer Offsets {
    int offsets[]; // experts + 1
};
layout(set = 0, binding = 2, std430) writeonly buffer Perm {
    int perm[]; // t x topk
};

layout(push_constant) uniform Push {
    uint experts; // at least 1
    uint t;       // t * topk is below 2^31; without slots the offsets are 0
    uint topk;
};

shared uvec2 scan[K_WORKGROUP];

// The expert of a slot, or `experts` if it has none: a negative id becomes a large one.
uint bin_of(uint slot) {
    return min(uint(ids[slot]), experts);
}

// The sum over the invocations up to this one, and over all. All invocations take part.
uvec2 scan_sum(uvec2 value, out uvec2 total) {
    uint thread = gl_LocalInvocationIndex;
    for (uint width = 1u; width < K_WORKGROUP; width <<= 1) {
        barrier(); // others may still read the sums before
        scan[thread] = value;
        barrier();
        value += thread >= width ? scan[thread - width] : uvec2(0u);
    }
    barrier();
    scan[thread] = value;
    barrier();
    total = scan[K_WORKGROUP - 1];
    return value;
}

void group_bin(uint bin, bool live) {
    uint slot_count = t * topk;
    uint each = slot_count / K_WORKGROUP + 1u;
    uint first = min(gl_LocalInvocationIndex * each, slot_count);
    uint end = min(first + each, slot_count);

    uvec2 mine = uvec2(0u); // slots of lower bins, of this one
    for (uint slot = first; slot < end; slot++) {
        uint other = bin_of(slot);
        mine += uvec2(other < bin, other == bin);
    }
    uvec2 total;
    uvec2 up_to = scan_sum(mine, total);

    uint place = total.x + up_to.y - mine.y;
    for (uint slot = first; slot < end && live; slot++) {
        if (bin_of(slot) == bin) {
            perm[place] = int(slot);
            place++;
        }
    }
    if (gl_LocalInvocationIndex == 0u && live) {
        offsets[bin] = int(total.x);
    }
}

void main() {
    uint group = dispatch_group_index();
    uint bin = min(group, experts - 1u); // a group past the end stores nothing
    group_bin(bin, group < experts);
    if (bin == experts - 1u) {
        group_bin(experts, group < experts);
    }
}
