// SPDX-License-Identifier: MIT
#version 450
//
// The topk greatest values of each row and their indices, greatest first, equal ones by ascending
// index, NaN last: a workgroup a row. Slots that the row has no value for get -infinity and index -1.
//
// A radix selection. A value's place in the order is a number of 64 bits, its key above its inverted
// index, so no two are equal. Digit by digit (8 bits) the bins of a histogram say which digit the last
// chosen number has, until a bin is taken as a whole. Then the chosen are collected and ranked. This
// reads the row at most nine times whatever topk is, and mostly three or four times.

#include "params.glsl"
#include "half_bits.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

#define BINS 256
#define DIGITS 8
#define TOPK_MAX 1024

layout(set = 0, binding = 0, std430) readonly buffer X {
    uint x[]; // rows x n: f32 bits, or two f16 a word
};
layout(set = 0, binding = 1, std430) writeonly buffer Values {
    uint values[]; // rows x topk, f32 bits
};
layout(set = 0, binding = 2, std430) writeonly buffer Ids {
    int ids[]; // rows x topk
};

layout(push_constant) uniform Push {
    uint rows;
    uint n;
    uint topk; // at most 1024
};

#include "order.glsl"

shared uint bins[BINS];
shared uint last_digit;  // of the last chosen number
shared uint above_count; // numbers in the bins above
shared uint digit_count; // numbers in its bin
shared uint chosen_count;
shared uint chosen_keys[TOPK_MAX];
shared uint chosen_indices[TOPK_MAX];

// A number of 64 bits: x the upper half.
uvec2 place_of(uint row, uint index) {
    return uvec2(order_key(load_bits(row * n + index)), ~index);
}

bool is_before(uvec2 a, uvec2 b) {
    return a.x > b.x || (a.x == b.x && a.y > b.y);
}

// Counts the digit of the numbers that agree with `prefix` in the digits above it.
void count_digits(uint row, uvec2 prefix, uvec2 mask, uint digit) {
    barrier(); // last round's bins may still be read
    for (uint i = gl_LocalInvocationIndex; i < BINS; i += K_WORKGROUP) {
        bins[i] = 0u;
    }
    barrier();
    int shift = int(24u - 8u * (digit & 3u));
    for (uint i = gl_LocalInvocationIndex; i < n; i += K_WORKGROUP) {
        uvec2 place = place_of(row, i);
        if ((place & mask) == prefix) {
            uint word = digit < 4u ? place.x : place.y;
            atomicAdd(bins[bitfieldExtract(word, shift, 8)], 1u);
        }
    }
    barrier();
}

// The bin in which the `wanted`-th number from above lies.
void find_last_digit(uint wanted) {
    for (uint i = gl_LocalInvocationIndex; i < BINS; i += K_WORKGROUP) {
        uint above = 0u;
        for (uint j = i + 1u; j < BINS; j++) {
            above += bins[j];
        }
        if (above < wanted && wanted <= above + bins[i]) {
            last_digit = i;
            above_count = above;
            digit_count = bins[i];
        }
    }
    barrier();
}

// Digits of the last chosen number, as many as decide: those in `mask`.
void find_last(uint row, uint count, out uvec2 prefix, out uvec2 mask) {
    uint wanted = count;
    bool decided = count == 0u;
    prefix = uvec2(0u);
    mask = uvec2(0u);
    for (uint digit = 0u; digit < DIGITS && !decided; digit++) {
        count_digits(row, prefix, mask, digit);
        find_last_digit(wanted);
        uint shift = 24u - 8u * (digit & 3u);
        uvec2 half_of = digit < 4u ? uvec2(1u, 0u) : uvec2(0u, 1u);
        prefix |= half_of * (last_digit << shift);
        mask |= half_of * (0xFFu << shift);
        wanted -= above_count;
        decided = wanted == digit_count;
    }
}

void store_slot(uint slot, uint bits, int index) {
#if K_DTYPE == DTYPE_F16
    values[slot] = single_bits(bits >> 16);
#else
    values[slot] = bits;
#endif
    ids[slot] = index;
}

void main() {
    uint group = dispatch_group_index();
    uint row = min(group, rows - 1u); // a group past the end repeats the last row and stores nothing
    uint count = min(min(topk, n), TOPK_MAX);
    uvec2 prefix;
    uvec2 mask;

    find_last(row, count, prefix, mask);
    if (gl_LocalInvocationIndex == 0u) {
        chosen_count = 0u;
    }
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < n && count > 0u; i += K_WORKGROUP) {
        uvec2 place = place_of(row, i);
        if (!is_before(prefix, place & mask)) {
            uint slot = atomicAdd(chosen_count, 1u);
            chosen_keys[slot] = place.x;
            chosen_indices[slot] = i;
        }
    }
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < count && group < rows; i += K_WORKGROUP) {
        uvec2 place = uvec2(chosen_keys[i], ~chosen_indices[i]);
        uint rank = 0u;
        for (uint j = 0u; j < count; j++) {
            rank += uint(is_before(uvec2(chosen_keys[j], ~chosen_indices[j]), place));
        }
        uint index = chosen_indices[i];
        store_slot(row * topk + rank, load_bits(row * n + index), int(index));
    }
    for (uint i = count + gl_LocalInvocationIndex; i < topk && group < rows; i += K_WORKGROUP) {
        store_slot(row * topk + i, ORDER_INFINITY | 0x80000000u, -1);
    }
}
