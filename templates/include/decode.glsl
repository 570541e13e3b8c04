// SPDX-License-Identifier: MIT
//
// The one decoder of each weight type, chosen by K_DTYPE, for every kernel that reads weights.
//
// A row of weights is a sequence of blocks (BLOCK_ELEMENTS elements in BLOCK_BYTES bytes), and a
// block a sequence of runs of RUN_ELEMENTS = 8 consecutive elements. `block` is the byte offset of
// a block in the buffer `uint weights[]`, which the template declares before it includes this file;
// `run` is the run's number inside its block, 0 .. BLOCK_RUNS - 1.
//
//   void decode_run(uint block, uint run, out vec4 low, out vec4 high)
//       elements 0..3 and 4..7 of the run: computed exactly, rounded once to f32.
//   float dot_run(uint block, uint run, vec4 x_low, vec4 x_high)
//       the run's dot product with eight activations.
//   float decode_element(uint block, uint element)
//       one element of the block, as decode_run gives it.
//
// The quantised types (DECODE_HAS_CODES is defined) are all of the form
//
//   element = scale * code + offset,    code an integer of -128..127
//
// and their file in decode/ says only this:
//
//   uvec2 run_codes(uint block, uint run)     eight codes as packed signed bytes (packed.glsl)
//   float run_scale(uint block, uint run)     the same for SCALE_ELEMENTS consecutive elements
//   float run_offset(uint block, uint run)    only where DECODE_HAS_OFFSET is defined, else 0
//   vec2 run_scale_offset(uint block, uint run)   both, there
//
// They can also be read by slices of 32 elements, two halves of 16 with one scale each, made of bytes
// that lie together where the layout has such; slice 0 .. BLOCK_SLICES - 1:
//
//   uvec2 slice_elements(uint slice)          the first element of either half
//   void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high)
//                                             sixteen codes each as packed signed bytes, plus SLICE_BIAS
//   void slice_codes(...)                     the same less the bias
//
// Halves of a slice are SLICE_APART elements apart: 16, or 32 or 64, and then two consecutive slices,
// an even one first, have 32 consecutive elements in their low halves and in their high halves. A
// file that defines slices of its own says DECODE_HAS_SLICES; the others have their runs in order.
//
// Every product in there is exact in f32 (at most 24 significant bits), so contraction or another
// order of the factors changes nothing, and scale * code + offset rounds once.
// docs/decode.md has the reasons and says how to add a type.
#ifndef DECODE_GLSL
#define DECODE_GLSL

#include "params.glsl"
#include "bytes.glsl"
#include "floats.glsl"
#include "packed.glsl"

#define RUN_ELEMENTS 8

// Entry `index` of an iq2 or iq3 codebook, 16 bits: two a word (tables/generate.py).
#define CODEBOOK_ENTRY(table, index)                                                               \
    bitfieldExtract(table[(index) >> 1], int((index) & 1u) * 16, 16)

#if K_DTYPE == DTYPE_F32
#include "decode/f32.glsl"
#elif K_DTYPE == DTYPE_F16
#include "decode/f16.glsl"
#elif K_DTYPE == DTYPE_BF16
#include "decode/bf16.glsl"
#elif K_DTYPE == DTYPE_Q4_0
#include "decode/q4_0.glsl"
#elif K_DTYPE == DTYPE_Q4_1
#include "decode/q4_1.glsl"
#elif K_DTYPE == DTYPE_Q5_0
#include "decode/q5_0.glsl"
#elif K_DTYPE == DTYPE_Q5_1
#include "decode/q5_1.glsl"
#elif K_DTYPE == DTYPE_Q8_0
#include "decode/q8_0.glsl"
#elif K_DTYPE == DTYPE_Q2_K
#include "decode/q2_k.glsl"
#elif K_DTYPE == DTYPE_Q3_K
#include "decode/q3_k.glsl"
#elif K_DTYPE == DTYPE_Q4_K
#include "decode/q4_k.glsl"
#elif K_DTYPE == DTYPE_Q5_K
#include "decode/q5_k.glsl"
#elif K_DTYPE == DTYPE_Q6_K
#include "decode/q6_k.glsl"
#elif K_DTYPE == DTYPE_IQ1_S
#include "decode/iq1_s.glsl"
#elif K_DTYPE == DTYPE_IQ1_M
#include "decode/iq1_m.glsl"
#elif K_DTYPE == DTYPE_IQ2_XXS
#include "decode/iq2_xxs.glsl"
#elif K_DTYPE == DTYPE_IQ2_XS
#include "decode/iq2_xs.glsl"
#elif K_DTYPE == DTYPE_IQ2_S
#include "decode/iq2_s.glsl"
#elif K_DTYPE == DTYPE_IQ3_XXS
#include "decode/iq3_xxs.glsl"
#elif K_DTYPE == DTYPE_IQ3_S
#include "decode/iq3_s.glsl"
#elif K_DTYPE == DTYPE_IQ4_NL
#include "decode/iq4_nl.glsl"
#elif K_DTYPE == DTYPE_IQ4_XS
#include "decode/iq4_xs.glsl"
#elif K_DTYPE == DTYPE_TQ1_0
#include "decode/tq1_0.glsl"
#elif K_DTYPE == DTYPE_TQ2_0
#include "decode/tq2_0.glsl"
#elif K_DTYPE == DTYPE_MXFP4
#include "decode/mxfp4.glsl"
#elif K_DTYPE == DTYPE_NVFP4
#include "decode/nvfp4.glsl"
#elif K_DTYPE == DTYPE_Q1_0
#include "decode/q1_0.glsl"
#elif K_DTYPE == DTYPE_Q2_0
#include "decode/q2_0.glsl"
#elif K_DTYPE == DTYPE_Q8_0P
#include "decode/q8_0p.glsl"
#elif K_DTYPE == DTYPE_Q3_KP
#include "decode/q3_kp.glsl"
#elif K_DTYPE == DTYPE_Q6_KP
#include "decode/q6_kp.glsl"
#else
#error "K_DTYPE is not a weight type"
#endif

#define BLOCK_RUNS (BLOCK_ELEMENTS / RUN_ELEMENTS)
#define BLOCK_SLICES (BLOCK_ELEMENTS / 32)

#if defined(DECODE_HAS_OFFSET) && !defined(DECODE_HAS_PAIRS)
vec2 run_scale_offset(uint block, uint run) {
    return vec2(run_scale(block, run), run_offset(block, run));
}
#endif

#ifdef DECODE_HAS_CODES
#ifndef DECODE_HAS_SLICES
#define SLICE_APART 16
uvec2 slice_elements(uint slice) {
    return 32u * slice + uvec2(0u, 16u);
}

void slice_plain_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    low = uvec4(run_codes(block, 4u * slice), run_codes(block, 4u * slice + 1u));
    high = uvec4(run_codes(block, 4u * slice + 2u), run_codes(block, 4u * slice + 3u));
}
#endif
#ifndef SLICE_BIAS
#define SLICE_BIAS 0
#endif

void slice_codes(uint block, uint slice, out uvec4 low, out uvec4 high) {
    slice_plain_codes(block, slice, low, high);
#if SLICE_BIAS != 0
    low = packed_subtract(low, SLICE_BIAS);
    high = packed_subtract(high, SLICE_BIAS);
#endif
}
#endif

#if defined(DECODE_HAS_CODES) && !defined(DECODE_HAS_OWN_RUN)
void decode_run(uint block, uint run, out vec4 low, out vec4 high) {
    uvec2 codes = run_codes(block, run);
    float scale = run_scale(block, run);
    low = scale * packed_to_vec4(codes.x);
    high = scale * packed_to_vec4(codes.y);
#ifdef DECODE_HAS_OFFSET
    float offset = run_offset(block, run);
    low += offset;
    high += offset;
#endif
}
#endif

#if defined(DECODE_HAS_CODES) && !defined(DECODE_HAS_OWN_RUN)
float decode_element(uint block, uint element) {
    uint run = element / RUN_ELEMENTS;
    uvec2 codes = run_codes(block, run);
    uint word = (element & 4u) != 0u ? codes.y : codes.x;
    float code = float(bitfieldExtract(int(word), int(element & 3u) * 8, 8));
#ifdef DECODE_HAS_OFFSET
    vec2 factors = run_scale_offset(block, run);
    return factors.x * code + factors.y;
#else
    return run_scale(block, run) * code;
#endif
}
#else
float decode_element(uint block, uint element) {
    vec4 low;
    vec4 high;
    decode_run(block, element / RUN_ELEMENTS, low, high);
    return (element & 4u) != 0u ? high[element & 3u] : low[element & 3u];
}
#endif

#if defined(DECODE_HAS_CODES) && !defined(DECODE_HAS_OFFSET)
float dot_run(uint block, uint run, vec4 x_low, vec4 x_high) {
    uvec2 codes = run_codes(block, run);
    return run_scale(block, run) *
           (dot(packed_to_vec4(codes.x), x_low) + dot(packed_to_vec4(codes.y), x_high));
}
#else
// With an offset, scale * sum(code * x) and offset * sum(x) may be large and cancel: add first.
float dot_run(uint block, uint run, vec4 x_low, vec4 x_high) {
    vec4 low;
    vec4 high;
    decode_run(block, run, low, high);
    return dot(low, x_low) + dot(high, x_high);
}
#endif

#endif
