// SPDX-License-Identifier: MIT
//
// The unit of work of an invocation in kernels that multiply rows of weights by a vector: part of a
// block that is decoded together. A unit's activations are loaded once and used for several rows.
//
//   BLOCK_UNITS                                     units of a block
//   UnitX load_unit(uint first, uint unit)          the activations that meet unit `unit` of a block
//                                                   whose first element meets activation `first`
//   float dot_unit(uint block, uint unit, UnitX a)  the unit's dot product with them
//
//   K_SCHEDULE  SCHEDULE_ROW    a unit is a run of 8 elements; in dp4a, of 2 or 4 runs of one scale
//               SCHEDULE_BLOCK  a unit is a slice of 32 elements
//               SCHEDULE_WIDE   as `row`, by 16-byte loads of the activations; in dp4a a unit is one or
//                               two slices that make up whole blocks of activations, which are
//                               q8_1s (docs/repacked_layouts.md) of x_elements elements
//   K_TIER      TIER_DP4A       activations are q8_1, and products of codes integers:
//                               sum element * x = d * (scale * sum code * a + offset * sum a)
//               others          activations are f32
//
// The template declares `float x[]` or, in dp4a, `uint x[]` (in wide schedules also `x16[]`, the same
// in vectors of 16 bytes), and includes decode.glsl before this
// file and dot.glsl at its top. q8_1: blocks of 32 elements in 9 words, the half d (and a half that
// is not needed here) and 32 codes a; element = d * a.
#ifndef UNITS_GLSL
#define UNITS_GLSL

#if K_SCHEDULE == SCHEDULE_WIDE
#elif K_TIER == TIER_DP4A

float q8_1_scale(uint element) {
    return f16_to_f32(x[element / 32u * 9u] & 0xFFFFu);
}

// The word with the code of an element, a multiple of 4.
uint q8_1_word(uint element) {
    return element / 32u * 9u + 1u + element % 32u / 4u;
}

#else

vec4 load_x4(uint first) {
    return vec4(x[first], x[first + 1u], x[first + 2u], x[first + 3u]);
}

#endif

#if K_SCHEDULE == SCHEDULE_ROW && K_TIER == TIER_DP4A

#if SCALE_ELEMENTS >= 32
#define UNIT_RUNS 4
#else
#define UNIT_RUNS 2
#endif
#define BLOCK_UNITS (BLOCK_RUNS / UNIT_RUNS)

struct UnitX {
    float scale;
    float code_sum;
    uvec2 codes[UNIT_RUNS];
};

UnitX load_unit(uint first, uint unit) {
    uint element = first + unit * (UNIT_RUNS * RUN_ELEMENTS);
    uint word = q8_1_word(element);
    UnitX a;
    a.scale = q8_1_scale(element);
    int code_sum = 0;
    for (uint i = 0u; i < UNIT_RUNS; i++) {
        a.codes[i] = uvec2(x[word + 2u * i], x[word + 2u * i + 1u]);
        code_sum += sum_codes(a.codes[i]);
    }
    a.code_sum = float(code_sum);
    return a;
}

float dot_unit(uint block, uint unit, UnitX a) {
    uint run = unit * UNIT_RUNS;
    int products = 0;
    for (uint i = 0u; i < UNIT_RUNS; i++) {
        products += dot_codes(run_codes(block, run + i), a.codes[i]);
    }
    float sum = run_scale(block, run) * float(products);
#ifdef DECODE_HAS_OFFSET
    sum += run_offset(block, run) * a.code_sum;
#endif
    return a.scale * sum;
}

#elif K_SCHEDULE == SCHEDULE_ROW

#define BLOCK_UNITS BLOCK_RUNS

struct UnitX {
    vec4 low;
    vec4 high;
};

UnitX load_unit(uint first, uint unit) {
    uint element = first + unit * RUN_ELEMENTS;
    return UnitX(load_x4(element), load_x4(element + 4u));
}

float dot_unit(uint block, uint unit, UnitX a) {
    return dot_run(block, unit, a.low, a.high);
}

#elif K_SCHEDULE == SCHEDULE_WIDE && K_TIER == TIER_DP4A

// A unit is one slice, or two whose low and high halves are 32 elements in a row each.
#if SLICE_APART == 16
#define UNIT_SLICES 1
#else
#define UNIT_SLICES 2
#endif
#define BLOCK_UNITS (BLOCK_SLICES / UNIT_SLICES)

// A block of activations.
struct BlockX {
    vec4 header; // d, the sums of the codes of either half and of all
    uvec4 low;   // codes 0..15
    uvec4 high;
};

struct UnitX {
    BlockX first;
#if UNIT_SLICES == 2
    BlockX second;
#endif
};

BlockX load_block_x(uint element) {
    uint at = element / 16u;
    return BlockX(uintBitsToFloat(x16[x_elements / 16u + element / 32u]), x16[at], x16[at + 1u]);
}

UnitX load_unit(uint first, uint unit) {
    uvec2 element = first + slice_elements(unit * UNIT_SLICES);
#if UNIT_SLICES == 2
    return UnitX(load_block_x(element.x), load_block_x(element.y));
#else
    return UnitX(load_block_x(element.x));
#endif
}

// The dot product of 32 codes, from element `element` of the block on, with a block of activations.
float dot_block_x(uint block, uint element, uvec4 low, uvec4 high, BlockX a) {
    uint run = element / RUN_ELEMENTS;
#if SCALE_ELEMENTS >= 32
    float products = small_to_float(dot_codes(low, a.low) + dot_codes(high, a.high));
    products -= float(SLICE_BIAS) * a.header.w;
#ifdef DECODE_HAS_OFFSET
    vec2 scale_offset = run_scale_offset(block, run);
    float total = scale_offset.x * products + scale_offset.y * a.header.w;
#else
    float total = run_scale(block, run) * products;
#endif
#else
    vec2 products = vec2(small_to_float(dot_codes(low, a.low)),
                         small_to_float(dot_codes(high, a.high)));
    products -= float(SLICE_BIAS) * a.header.yz;
#ifdef DECODE_HAS_OFFSET
    vec2 low_scale = run_scale_offset(block, run);
    vec2 high_scale = run_scale_offset(block, run + 2u);
    float total = low_scale.x * products.x + low_scale.y * a.header.y + high_scale.x * products.y +
                  high_scale.y * a.header.z;
#else
    float total = run_scale(block, run) * products.x + run_scale(block, run + 2u) * products.y;
#endif
#endif
    return a.header.x * total;
}

float dot_unit(uint block, uint unit, UnitX a) {
    uvec2 element = slice_elements(unit * UNIT_SLICES);
    uvec4 low;
    uvec4 high;
    slice_plain_codes(block, unit * UNIT_SLICES, low, high);
#if UNIT_SLICES == 1
    return dot_block_x(block, element.x, low, high, a.first);
#else
    uvec4 next_low;
    uvec4 next_high;
    slice_plain_codes(block, unit * UNIT_SLICES + 1u, next_low, next_high);
    return dot_block_x(block, element.x, low, next_low, a.first) +
           dot_block_x(block, element.y, high, next_high, a.second);
#endif
}

#elif K_SCHEDULE == SCHEDULE_WIDE

#define BLOCK_UNITS BLOCK_RUNS

struct UnitX {
    vec4 low;
    vec4 high;
};

UnitX load_unit(uint first, uint unit) {
    uint element = first + unit * RUN_ELEMENTS;
    return UnitX(x16[element / 4u], x16[element / 4u + 1u]);
}

float dot_unit(uint block, uint unit, UnitX a) {
    return dot_run(block, unit, a.low, a.high);
}

#elif K_SCHEDULE == SCHEDULE_BLOCK

#define BLOCK_UNITS BLOCK_SLICES

// Scales (or offsets) of both halves of a slice.
vec2 slice_scales(uint block, uint slice) {
    uvec2 run = slice_elements(slice) / RUN_ELEMENTS;
    return vec2(run_scale(block, run.x), run_scale(block, run.y));
}

#ifdef DECODE_HAS_OFFSET
vec2 slice_offsets(uint block, uint slice) {
    uvec2 run = slice_elements(slice) / RUN_ELEMENTS;
    return vec2(run_offset(block, run.x), run_offset(block, run.y));
}
#endif

// Components x and y: the low and the high half.
#if K_TIER == TIER_DP4A

struct UnitX {
    vec2 scales;
    vec2 sums; // scaled
    uvec4 low;
    uvec4 high;
};

uvec4 load_codes(uint element) {
    uint word = q8_1_word(element);
    return uvec4(x[word], x[word + 1u], x[word + 2u], x[word + 3u]);
}

UnitX load_unit(uint first, uint unit) {
    uvec2 element = first + slice_elements(unit);
    UnitX a;
    a.scales = vec2(q8_1_scale(element.x), q8_1_scale(element.y));
    a.low = load_codes(element.x);
    a.high = load_codes(element.y);
    a.sums = a.scales * vec2(sum_codes(a.low), sum_codes(a.high));
    return a;
}

float dot_unit(uint block, uint unit, UnitX a) {
    uvec4 low;
    uvec4 high;
    slice_codes(block, unit, low, high);
    vec2 products = a.scales * vec2(dot_codes(low, a.low), dot_codes(high, a.high));
    float sum = dot(slice_scales(block, unit), products);
#ifdef DECODE_HAS_OFFSET
    sum += dot(slice_offsets(block, unit), a.sums);
#endif
    return sum;
}

#else

struct UnitX {
    vec2 sums;
    vec4 low[4];
    vec4 high[4];
};

UnitX load_unit(uint first, uint unit) {
    uvec2 element = first + slice_elements(unit);
    UnitX a;
    vec4 low_sum = vec4(0.0);
    vec4 high_sum = vec4(0.0);
    for (uint i = 0u; i < 4u; i++) {
        a.low[i] = load_x4(element.x + 4u * i);
        a.high[i] = load_x4(element.y + 4u * i);
        low_sum += a.low[i];
        high_sum += a.high[i];
    }
    a.sums = vec2(dot(low_sum, vec4(1.0)), dot(high_sum, vec4(1.0)));
    return a;
}

float dot_codes(uvec4 codes, vec4 a[4]) {
    return dot(packed_to_vec4(codes.x), a[0]) + dot(packed_to_vec4(codes.y), a[1]) +
           dot(packed_to_vec4(codes.z), a[2]) + dot(packed_to_vec4(codes.w), a[3]);
}

float dot_unit(uint block, uint unit, UnitX a) {
    uvec4 low;
    uvec4 high;
    slice_codes(block, unit, low, high);
    vec2 products = vec2(dot_codes(low, a.low), dot_codes(high, a.high));
    float sum = dot(slice_scales(block, unit), products);
#ifdef DECODE_HAS_OFFSET
    sum += dot(slice_offsets(block, unit), a.sums);
#endif
    return sum;
}

#endif
#endif

#endif
