// SPDX-License-Identifier: MIT
//
// Blocks of 32 elements of K_DTYPE (Q8_1, Q8_1S, Q8_0 or Q4_0) from f32, as docs/block_layouts.md states:
//
//   q8_0, q8_1   d = max |x| / 127                  code = round(x * (1 / d)), half away from 0
//   q4_0         d = x of largest magnitude / -8    code = min(15, trunc(x * (1 / d) + 8.5))
//
// every operation rounded to nearest even, so the blocks are the same on every device. Magnitudes below
// 2^-126 count as 0, and those above binary16's largest number times 127 or 8 have no scale.
//
// Four invocations (lanes) make a block, each eight of its elements; a workgroup of K_WORKGROUP
// invocations makes GROUP_BLOCKS blocks and leaves them in shared memory as 16-bit fields
// (block_halves), because blocks of 34 and 18 bytes straddle the words they are stored in.
//
//   quantize_first(lane, i)            number of the lane's first element of quarter i = 0, 1
//   quantize_block(low, high)          all invocations together; then a barrier
//   quantize_word(word)                word of the group's blocks, after that barrier
//   quantize_sums(block)               Q8_1S: sums of its codes, likewise
//
// The template includes this at its top: the subgroup tier switches extensions on.
//   portable  maxima and sums of a block through shared memory
//   subgroup  clusters of four invocations, which every subgroup of at least four has; a subgroup is
//             consecutive invocations of the workgroup
#ifndef QUANTIZE_GLSL
#define QUANTIZE_GLSL

#include "params.glsl"
#include "floats.glsl"

#if K_TIER == TIER_SUBGROUP
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_clustered : require
#endif

#define BLOCK_ELEMENTS 32
#define BLOCK_LANES 4
#define GROUP_BLOCKS (K_WORKGROUP / BLOCK_LANES)

#if K_DTYPE == DTYPE_Q4_0
#define HEADER_HALVES 1 // d
#define BLOCK_HALVES 9
#elif K_DTYPE == DTYPE_Q8_0
#define HEADER_HALVES 1 // d
#define BLOCK_HALVES 17
#else
#define HEADER_HALVES 2 // d, s = d * sum of codes; in Q8_1S nothing
#define BLOCK_HALVES 18
#endif

#define GROUP_WORDS (GROUP_BLOCKS * BLOCK_HALVES / 2)

shared uint block_halves[GROUP_BLOCKS * BLOCK_HALVES];

#if K_TIER == TIER_SUBGROUP

uint block_max(uint value) {
    return subgroupClusteredMax(value, BLOCK_LANES);
}
uint block_min(uint value) {
    return subgroupClusteredMin(value, BLOCK_LANES);
}
int block_sum(int value) {
    return subgroupClusteredAdd(value, BLOCK_LANES);
}

#else

shared uint lane_values[K_WORKGROUP];

// The values of the four lanes of this invocation's block.
uvec4 block_gather(uint value) {
    uint first = gl_LocalInvocationIndex / BLOCK_LANES * BLOCK_LANES;
    barrier(); // an earlier call may still be reading
    lane_values[gl_LocalInvocationIndex] = value;
    barrier();
    return uvec4(lane_values[first], lane_values[first + 1u], lane_values[first + 2u],
                 lane_values[first + 3u]);
}
uint block_max(uint value) {
    uvec4 all_values = block_gather(value);
    return max(max(all_values.x, all_values.y), max(all_values.z, all_values.w));
}
uint block_min(uint value) {
    uvec4 all_values = block_gather(value);
    return min(min(all_values.x, all_values.y), min(all_values.z, all_values.w));
}
int block_sum(int value) {
    ivec4 all_values = ivec4(block_gather(uint(value)));
    return all_values.x + all_values.y + all_values.z + all_values.w;
}

#endif

// a / b, both positive and normal, rounded to nearest even. Devices may divide less exactly, and drivers
// multiply by an inverse; the device's quotient is corrected by the exact remainder, which
// is small enough to be right modulo 2^32. A quotient below the normal range is 0.
float divide_nearest(float a, float b) {
    uint a_bits = floatBitsToUint(a);
    uint b_bits = floatBitsToUint(b);
    uint dividend = (a_bits & 0x7FFFFFu) | 0x800000u;
    uint divisor = (b_bits & 0x7FFFFFu) | 0x800000u;
    uint shift = dividend < divisor ? 24u : 23u; // the quotient has 24 bits
    float estimate = float(dividend) / float(divisor);
    uint quotient = uint(ldexp(estimate, int(shift)));
    int remainder = int((dividend << shift) - quotient * divisor);
    for (uint i = 0u; i < 8u; i++) {
        int step = remainder < 0 ? -1 : (remainder >= int(divisor) ? 1 : 0);
        quotient += uint(step);
        remainder -= step * int(divisor);
    }
    int twice = 2 * remainder;
    if (twice > int(divisor) || (twice == int(divisor) && (quotient & 1u) != 0u)) {
        quotient++;
    }
    int exponent = int(a_bits >> 23) - int(b_bits >> 23) + 127 - int(shift - 23u);
    // A quotient of 2^24 carries into the exponent.
    return exponent > 0 ? uintBitsToFloat((uint(exponent - 1) << 23) + quotient) : 0.0;
}

// The inverse of a scale; 0 where that may overflow, since such a scale is 0 in binary16 anyway.
float inverse_scale(float d) {
    float magnitude = abs(d);
    if (magnitude < 1.17549435e-38) { // 2^-126
        return 0.0;
    }
    float inverse = divide_nearest(1.0, magnitude);
    return d < 0.0 ? -inverse : inverse;
}

// The binary16 nearest to value, ties to even, on every device.
uint half_nearest(float value) {
    uint bits = floatBitsToUint(value);
    uint magnitude = bits & 0x7FFFFFFFu;
    if (magnitude < (113u << 23) || magnitude >= (143u << 23)) {
        return f32_to_f16(value); // below 2^-14 or from 2^16 on: exact there
    }
    uint rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u) - (112u << 23);
    return ((bits >> 16) & 0x8000u) | (rounded >> 13);
}

// Magnitudes order like their bits.
uint quarter_max(vec4 x) {
    uvec4 bits = floatBitsToUint(abs(x));
    return max(max(bits.x, bits.y), max(bits.z, bits.w));
}

#if K_DTYPE == DTYPE_Q4_0

// The low and the high nibbles of the same four bytes.
uint quantize_first(uint lane, uint quarter) {
    return 16u * quarter + 4u * lane;
}

// Twice the number of the first element whose magnitude has these bits, plus 1 if it is negative.
uint find_first(vec4 x, uint magnitude, uint first) {
    uint found = 2u * BLOCK_ELEMENTS;
    for (uint i = 0u; i < 4u; i++) {
        uint bits = floatBitsToUint(x[i]);
        if ((bits & 0x7FFFFFFFu) == magnitude) {
            found = min(found, 2u * (first + i) + (bits >> 31));
        }
    }
    return found;
}

uvec4 codes_of(vec4 x, float inverse) {
    precise vec4 scaled = x * inverse;
    precise vec4 shifted = scaled + 8.5;
    return uvec4(min(ivec4(shifted), ivec4(15)));
}

void quantize_block(vec4 low, vec4 high) {
    uint lane = gl_LocalInvocationIndex % BLOCK_LANES;
    uint at = gl_LocalInvocationIndex / BLOCK_LANES * BLOCK_HALVES;
    uint magnitude = block_max(max(quarter_max(low), quarter_max(high)));
    uint extreme = block_min(min(find_first(low, magnitude, quantize_first(lane, 0u)),
                                 find_first(high, magnitude, quantize_first(lane, 1u))));
    float d = uintBitsToFloat(magnitude | (extreme << 31)) * -0.125;
    float inverse = inverse_scale(d);
    uvec4 bytes = codes_of(low, inverse) | (codes_of(high, inverse) << 4);

    block_halves[at + HEADER_HALVES + 2u * lane] = bytes.x | (bytes.y << 8);
    block_halves[at + HEADER_HALVES + 2u * lane + 1u] = bytes.z | (bytes.w << 8);
    if (lane == 0u) {
        block_halves[at] = half_nearest(d);
    }
}

#else

uint quantize_first(uint lane, uint quarter) {
    return 8u * lane + 4u * quarter;
}

ivec4 codes_of(vec4 x, float inverse) {
    precise vec4 scaled = x * inverse;
    ivec4 whole = ivec4(scaled);
    precise vec4 rest = scaled - vec4(whole); // exact
    return whole + ivec4(greaterThanEqual(rest, vec4(0.5))) -
           ivec4(lessThanEqual(rest, vec4(-0.5)));
}

void store_codes(uint at, ivec4 codes) {
    uvec4 bytes = uvec4(codes) & 0xFFu;
    block_halves[at] = bytes.x | (bytes.y << 8);
    block_halves[at + 1u] = bytes.z | (bytes.w << 8);
}

void quantize_block(vec4 low, vec4 high) {
    uint lane = gl_LocalInvocationIndex % BLOCK_LANES;
    uint at = gl_LocalInvocationIndex / BLOCK_LANES * BLOCK_HALVES;
    float magnitude = uintBitsToFloat(block_max(max(quarter_max(low), quarter_max(high))));
    float d = magnitude < 1.17549435e-38 ? 0.0 : divide_nearest(magnitude, 127.0);
    float inverse = inverse_scale(d);
    ivec4 codes_low = codes_of(low, inverse);
    ivec4 codes_high = codes_of(high, inverse);

    store_codes(at + HEADER_HALVES + 4u * lane, codes_low);
    store_codes(at + HEADER_HALVES + 4u * lane + 2u, codes_high);
    if (lane == 0u) {
        block_halves[at] = half_nearest(d);
    }
#if K_DTYPE == DTYPE_Q8_1
    ivec4 sums = codes_low + codes_high;
    int sum = block_sum(sums.x + sums.y + sums.z + sums.w);
    if (lane == 0u) {
        block_halves[at + 1u] = half_nearest(float(sum) * d);
    }
#endif
}

#endif

#if K_DTYPE == DTYPE_Q8_1S
// The sums of the first and the last sixteen codes of one of the group's blocks.
ivec2 quantize_sums(uint block) {
    ivec2 sums = ivec2(0);
    for (uint i = 0u; i < 8u; i++) {
        uint at = block * BLOCK_HALVES + HEADER_HALVES + i;
        int low = int(block_halves[at]);
        int high = int(block_halves[at + 8u]);
        sums += ivec2(bitfieldExtract(low, 0, 8) + bitfieldExtract(low, 8, 8),
                      bitfieldExtract(high, 0, 8) + bitfieldExtract(high, 8, 8));
    }
    return sums;
}
#endif

uint quantize_word(uint word) {
    return block_halves[2u * word] | (block_halves[2u * word + 1u] << 16);
}

#endif
