// SPDX-License-Identifier: MIT
//
// Keys and values of attention as raw blocks, bindings 1 and 2. The template declares key_offset and
// value_offset, the byte offsets of rows (attention.glsl), before it includes this file.
#ifndef ATTENTION_CACHE_GLSL
#define ATTENTION_CACHE_GLSL

layout(set = 0, binding = 1, std430) readonly buffer Keys {
    uint k[];
};
layout(set = 0, binding = 2, std430) readonly buffer Values {
    uint v[];
};

// The one decoder reads both caches. Every call below sets a constant, so nothing is left of the
// choice once the functions are inlined.
bool decode_from_v = false;
uint cache_word(uint index) {
    if (decode_from_v) {
        return v[index];
    }
    return k[index];
}
#define WEIGHT_WORD(index) cache_word(index)
#include "decode.glsl"

uint row_run_offset(uint row, uint run) {
    return row + run / BLOCK_RUNS * BLOCK_BYTES;
}

void decode_key(uint key, uint run, out vec4 low, out vec4 high) {
    decode_from_v = false;
    decode_run(row_run_offset(key_offset(key), run), run % BLOCK_RUNS, low, high);
}

void decode_value(uint key, uint run, out vec4 low, out vec4 high) {
    decode_from_v = true;
    decode_run(row_run_offset(value_offset(key), run), run % BLOCK_RUNS, low, high);
}

#endif
