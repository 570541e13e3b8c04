// SPDX-License-Identifier: MIT
#version 450
//
// One part of the keys of `splits` for all heads that share a cache's head, schedule `grouped`: keys and
// values are read once for up to K_HEADS heads. Problem, buffers and results are those of sdpa.comp,
// schedule `split`; sdpa_combine puts the parts together.
//
// Four invocations (lanes) have a key each K_WORKGROUP / 4 keys; lane c has runs c, c + 4, ... of
// it. They add up its scores and then their runs of its values, without waiting for others:
//
//   score = q . k    weight = exp(score - base)    sum += weight    vector += weight value
//
// `base` is any score near the largest one so far: when a score is more than BASE_SLACK above it,
// what was summed up is multiplied by exp(base - score). In the end the shares are brought to one
// base, the largest score, and summed.
//
// Halves that are subnormal may count as 0 on devices that flush them.

#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_EXT_control_flow_attributes : require

#include "params.glsl"
#include "dispatch.glsl"

#define HALVES_MAY_FLUSH
#define LANES 4
#define KEY_LANES (K_WORKGROUP / LANES)      // keys at once
#define LANE_RUNS (K_HEAD / (LANES * 8))     // runs of a lane, in the longest head
#define LANE_VALUES (K_HEADS * LANE_RUNS * 2) // vectors of four
#define MERGE_VALUES 8                       // of them at once
#define SCORE_MASKED (-3.4028234664e38)      // -FLT_MAX
#define BASE_SLACK 6.0

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer Q {
    float q[]; // h x lq x d
};
layout(set = 0, binding = 1, std430) readonly buffer Keys {
    uint k[];
};
layout(set = 0, binding = 1, std430) readonly buffer Keys16 {
    uvec4 k16[];
};
layout(set = 0, binding = 2, std430) readonly buffer Values {
    uint v[];
};
layout(set = 0, binding = 2, std430) readonly buffer Values16 {
    uvec4 v16[];
};
layout(set = 0, binding = 3, std430) writeonly buffer Maxima {
    float maxima[]; // h x lq x splits: the largest score of the part, 0 without any key
};
layout(set = 0, binding = 4, std430) writeonly buffer Sums {
    float sums[]; // h x lq x splits: sum of exp(score - maximum)
};
layout(set = 0, binding = 5, std430) writeonly buffer Vectors {
    float vectors[]; // h x lq x splits x d: that sum, each term times the key's values
};

layout(push_constant) uniform Push {
    uint h; // a multiple of kv
    uint kv;
    uint lq;
    uint lk;
    uint d;      // at most K_HEAD; a multiple of 8
    uint causal; // 0 or 1
    // In elements, multiples of 8.
    uint k_row_stride;
    uint k_head_stride;
    uint v_row_stride;
    uint v_head_stride;
    float scale;
    uint splits;
};

// The one decoder reads both caches; every call below sets a constant.
bool decode_from_v = false;
uint cache_word(uint index) {
    if (decode_from_v) {
        return v[index];
    }
    return k[index];
}
uvec4 cache_vector(uint index) {
    if (decode_from_v) {
        return v16[index];
    }
    return k16[index];
}
#define WEIGHT_WORD(index) cache_word(index)
#define WEIGHT_VECTOR(index) cache_vector(index)
#include "decode.glsl"

shared vec4 queries[K_HEADS * K_HEAD / 4]; // scaled
shared vec4 merge[MERGE_VALUES * K_WORKGROUP];
shared float merge_scalars[K_WORKGROUP];

// The largest value of the workgroup, or the sum, in all invocations; of a cluster's lane 0 alone.
float merge_max(float value) {
    barrier();
    merge_scalars[gl_LocalInvocationIndex] = value;
    barrier();
    float largest = merge_scalars[0];
    for (uint i = 1u; i < KEY_LANES; i++) {
        largest = max(largest, merge_scalars[i * LANES]);
    }
    return largest;
}

float merge_sum(float value) {
    barrier();
    merge_scalars[gl_LocalInvocationIndex] = value;
    barrier();
    float total = 0.0;
    for (uint i = 0u; i < KEY_LANES; i++) {
        total += merge_scalars[i * LANES];
    }
    return total;
}

// exp(a - b), 0 where a is masked.
float weight_of(float a, float b) {
    return a == SCORE_MASKED ? 0.0 : exp(a - b);
}

uint lane() {
    return gl_LocalInvocationIndex % LANES;
}

// Scores of a key with all heads, each lane its share.
void score_key(uint offset, out float scores[K_HEADS]) {
    [[unroll]] for (uint i = 0u; i < K_HEADS; i++) {
        scores[i] = 0.0;
    }
    decode_from_v = false;
    [[unroll]] for (uint j = 0u; j < LANE_RUNS; j++) {
        uint run = lane() + LANES * j;
        if (run < d / RUN_ELEMENTS) {
            vec4 low;
            vec4 high;
            decode_run(offset + run / BLOCK_RUNS * BLOCK_BYTES, run % BLOCK_RUNS, low, high);
            [[unroll]] for (uint i = 0u; i < K_HEADS; i++) {
                uint at = i * (K_HEAD / 4) + 2u * run;
                scores[i] += dot(queries[at], low) + dot(queries[at + 1u], high);
            }
        }
    }
}

// What a key adds to this lane's runs.
void add_key(uint offset, float weights[K_HEADS], inout vec4 values[LANE_VALUES]) {
    decode_from_v = true;
    [[unroll]] for (uint j = 0u; j < LANE_RUNS; j++) {
        uint run = lane() + LANES * j;
        if (run < d / RUN_ELEMENTS) {
            vec4 low;
            vec4 high;
            decode_run(offset + run / BLOCK_RUNS * BLOCK_BYTES, run % BLOCK_RUNS, low, high);
            [[unroll]] for (uint i = 0u; i < K_HEADS; i++) {
                values[(i * LANE_RUNS + j) * 2u] += weights[i] * low;
                values[(i * LANE_RUNS + j) * 2u + 1u] += weights[i] * high;
            }
        }
    }
}

// The vectors of all shares, MERGE_VALUES at a time, to where `first_row` is the part's row of head 0.
void merge_values(vec4 values[LANE_VALUES], uint head_count, uint first_row) {
    uint thread = gl_LocalInvocationIndex;
    [[unroll]] for (uint begin = 0u; begin < LANE_VALUES; begin += MERGE_VALUES) {
        barrier(); // others may still read
        [[unroll]] for (uint j = 0u; j < MERGE_VALUES; j++) {
            merge[j * K_WORKGROUP + thread] = values[begin + j];
        }
        barrier();
        // Four invocations a result: value j of lane c.
        uint c = thread / LANES % LANES;
        for (uint j = thread / (LANES * LANES); j < MERGE_VALUES; j += KEY_LANES / LANES) {
            vec4 total = vec4(0.0);
            for (uint i = thread % LANES; i < KEY_LANES; i += LANES) {
                total += merge[j * K_WORKGROUP + i * LANES + c];
            }
            total = subgroupClusteredAdd(total, LANES);
            uint value = begin + j;
            uint head = value / (2u * LANE_RUNS);
            uint element = (c + value / 2u % LANE_RUNS * LANES) * 8u + value % 2u * 4u;
            if (thread % LANES == 0u && head < head_count && element < d) {
                uint at = (first_row + head * lq * splits) * d + element;
                for (uint e = 0u; e < 4u; e++) {
                    vectors[at + e] = total[e];
                }
            }
        }
    }
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint group = dispatch_group_index();
    uint heads_each = h / kv;
    uint blocks = (heads_each + K_HEADS - 1u) / K_HEADS;
    uint part = group % splits;
    uint query = group / splits % lq;
    uint block = group / splits / lq % blocks;
    uint kv_head = group / splits / lq / blocks;
    // A surplus group has no heads and no keys, but takes part in the barriers.
    bool live = kv_head < kv;
    uint head_first = kv_head * heads_each + block * K_HEADS;
    uint head_count = live ? min(uint(K_HEADS), heads_each - block * K_HEADS) : 0u;
    uint first_row = (head_first * lq + query) * splits + part;

    uint seen = causal == 0u ? lk : (query + 1u + lk > lq ? query + 1u + lk - lq : 0u);
    uint part_keys = (lk + splits - 1u) / splits;
    uint key_first = part * part_keys;
    uint key_end = live ? min(seen, key_first + part_keys) : 0u;

    for (uint i = thread; i < K_HEADS * K_HEAD; i += K_WORKGROUP) {
        uint head = i / K_HEAD;
        uint element = i % K_HEAD;
        bool exists = head < head_count && element < d;
        uint at = ((head_first + head) * lq + query) * d + element;
        queries[i / 4u][i % 4u] = exists ? scale * q[at] : 0.0;
    }
    barrier();

    float largest[K_HEADS];
    float base[K_HEADS];
    float sum[K_HEADS];
    vec4 values[LANE_VALUES];
    [[unroll]] for (uint i = 0u; i < K_HEADS; i++) {
        largest[i] = SCORE_MASKED;
        base[i] = SCORE_MASKED;
        sum[i] = 0.0;
    }
    [[unroll]] for (uint i = 0u; i < LANE_VALUES; i++) {
        values[i] = vec4(0.0);
    }
    for (uint key = key_first + thread / LANES; key < key_end; key += KEY_LANES) {
        float scores[K_HEADS];
        float weights[K_HEADS];
        score_key((kv_head * k_head_stride + key * k_row_stride) / BLOCK_ELEMENTS * BLOCK_BYTES,
                  scores);
        [[unroll]] for (uint i = 0u; i < K_HEADS; i++) {
            float score = subgroupClusteredAdd(scores[i], LANES);
            largest[i] = max(largest[i], score);
            if (score > base[i] + BASE_SLACK) {
                float shrink = weight_of(base[i], score);
                base[i] = score;
                sum[i] *= shrink;
                [[unroll]] for (uint j = 0u; j < 2u * LANE_RUNS; j++) {
                    values[i * (2u * LANE_RUNS) + j] *= shrink;
                }
            }
            weights[i] = exp(score - base[i]);
            sum[i] += weights[i];
        }
        add_key((kv_head * v_head_stride + key * v_row_stride) / BLOCK_ELEMENTS * BLOCK_BYTES,
                weights, values);
    }

    [[unroll]] for (uint i = 0u; i < K_HEADS; i++) {
        float maximum = merge_max(largest[i]);
        float shrink = weight_of(base[i], maximum);
        float total = merge_sum(sum[i] * shrink);
        [[unroll]] for (uint j = 0u; j < 2u * LANE_RUNS; j++) {
            values[i * (2u * LANE_RUNS) + j] *= shrink;
        }
        if (thread == 0u && i < head_count) {
            maxima[first_row + i * lq * splits] = maximum == SCORE_MASKED ? 0.0 : maximum;
            sums[first_row + i * lq * splits] = total;
        }
    }
    merge_values(values, head_count, first_row);
}
