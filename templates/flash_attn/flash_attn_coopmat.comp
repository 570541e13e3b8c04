// SPDX-License-Identifier: MIT
#version 450
//
// flash_attn for prefill, schedule `mma`: both products by cooperative matrices of K_M queries x K_N
// keys (or elements of the head) x K_KK, halves multiplied, f32 added.
//
// A workgroup takes K_QUERIES queries over the keys in tiles of K_KEYS. A subgroup keeps one strip of
// K_M queries, scaled, and their outputs in registers. For each tile the workgroup stages the keys
// as halves, the subgroups multiply and leave the scores in shared memory; LANES invocations a query
// turn them into weights exp(score - base), halves again, while the values take the keys' place; the
// subgroups multiply weights and values and add them to their outputs. With fewer subgroups than
// strips, the workgroup goes over the keys again for the next ones; with more, the others only stage
// and weigh. So any subgroup size is right that the driver allows cooperative matrices in and that
// divides K_WORKGROUP.
//
// Online softmax (attention.glsl), but a query's `base` need not be its largest score so far: it is
// raised, and outputs and sums with it multiplied by exp(old - new), only when a score exceeds it by
// more than BASE_SLACK. Weights stay below exp(BASE_SLACK), sums are as exact, and after the first
// tiles outputs are hardly ever rescaled.

#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_control_flow_attributes : require

#include "params.glsl"

#define STRIPS (K_QUERIES / K_M)
#define LANES (K_WORKGROUP / K_QUERIES) // invocations that weigh the scores of one query
#define HEAD_RUNS (K_HEAD / 8)
#define HEAD_STEPS (K_HEAD / K_KK)
#define HEAD_PIECES (K_HEAD / K_N)
#define KEY_RUNS (K_KEYS / 8)
#define KEY_STEPS (K_KEYS / K_KK)
#define KEY_PIECES (K_KEYS / K_N)
#define BASE_SLACK 6.0

// Loops over pieces of the head are unrolled, so that the pieces are registers; but 8x8x8 has up to
// 32 of them, and then compilers take too long.
#if K_M > 8
#define HEAD_LOOP [[unroll]]
#else
#define HEAD_LOOP [[dont_unroll]]
#endif

// Rows in units of 16 bytes, so that every piece starts at a multiple of 16 bytes; the padding
// spreads rows over the banks.
#define STAGE_STRIDE (HEAD_RUNS + 1)
#define SCORE_STRIDE (K_KEYS / 4 + 2)
#define WEIGHT_STRIDE (KEY_RUNS + 1)

layout(local_size_x = K_WORKGROUP) in;

#include "flash_attn.glsl"

layout(set = 0, binding = 0, std430) readonly buffer Q {
    vec4 q[]; // bh x lq x d
};
layout(set = 0, binding = 4, std430) writeonly buffer O {
    float o[]; // bh x lq x d
};

uvec4 pack_halves(vec4 low, vec4 high) {
    return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy),
                 packHalf2x16(high.zw));
}

// k, v: bh x lk x d, rows of raw blocks; below 4 GiB each.
//
//   uvec4 key_halves(uint key, uint run)
//   uvec4 value_halves(uint key, uint run)     eight elements of the row as halves
#if K_DTYPE == DTYPE_F16

layout(set = 0, binding = 1, std430) readonly buffer Keys {
    uvec4 k[];
};
layout(set = 0, binding = 2, std430) readonly buffer Values {
    uvec4 v[];
};

uvec4 key_halves(uint key, uint run) {
    return k[(head * lk + key) * (d / 8u) + run];
}

uvec4 value_halves(uint key, uint run) {
    return v[(head * lk + key) * (d / 8u) + run];
}

#elif K_DTYPE == DTYPE_F32

layout(set = 0, binding = 1, std430) readonly buffer Keys {
    vec4 k[];
};
layout(set = 0, binding = 2, std430) readonly buffer Values {
    vec4 v[];
};

uvec4 key_halves(uint key, uint run) {
    uint first = (head * lk + key) * (d / 4u) + 2u * run;
    return pack_halves(k[first], k[first + 1u]);
}

uvec4 value_halves(uint key, uint run) {
    uint first = (head * lk + key) * (d / 4u) + 2u * run;
    return pack_halves(v[first], v[first + 1u]);
}

#else

uint key_offset(uint key);
uint value_offset(uint key);

#include "attention_cache.glsl"

uint key_offset(uint key) {
    return (head * lk + key) * (d / BLOCK_ELEMENTS * BLOCK_BYTES);
}

uint value_offset(uint key) {
    return key_offset(key);
}

uvec4 key_halves(uint key, uint run) {
    vec4 low;
    vec4 high;
    decode_key(key, run, low, high);
    return pack_halves(low, high);
}

uvec4 value_halves(uint key, uint run) {
    vec4 low;
    vec4 high;
    decode_value(key, run, low, high);
    return pack_halves(low, high);
}

#endif

#define QPiece coopmat<float16_t, gl_ScopeSubgroup, K_M, K_KK, gl_MatrixUseA>
#define KPiece coopmat<float16_t, gl_ScopeSubgroup, K_KK, K_N, gl_MatrixUseB>
#define WeightPiece coopmat<float16_t, gl_ScopeSubgroup, K_M, K_KK, gl_MatrixUseA>
#define VPiece coopmat<float16_t, gl_ScopeSubgroup, K_KK, K_N, gl_MatrixUseB>
#define Sum coopmat<float, gl_ScopeSubgroup, K_M, K_N, gl_MatrixUseAccumulator>

shared uvec4 stage[K_KEYS * STAGE_STRIDE];       // keys, values or queries
shared vec4 scores[K_QUERIES * SCORE_STRIDE];    // of a tile; later pieces of the output
shared uvec4 weights[K_QUERIES * WEIGHT_STRIDE]; // of a tile
shared uint shrink_times[STRIPS];                // the last tile at which the strip's outputs shrink
shared float factors[K_QUERIES];                 // of the finished outputs

// The strips of a pass: one for each subgroup that has one left.
struct Pass {
    uint first; // strip of subgroup 0
    uint count;
};

// One of the LANES shares of a query.
struct Lane {
    bool live;  // the query is of this pass
    uint query; // of the workgroup
    uint lane;
    uint seen; // keys that the query sees; 0 past the last query
    float base;
    float sum;
};

Lane lane_of(Pass pass) {
    uint row = gl_LocalInvocationIndex / LANES;
    uint query = pass.first * K_M + row;
    bool live = row < pass.count * K_M;
    bool real = live && head < bh && query_first + query < lq;
    return Lane(live, query, gl_LocalInvocationIndex % LANES,
                real ? keys_seen(query_first + query) : 0u, SCORE_MASKED, 0.0);
}

// Over the lanes of a query, which are consecutive invocations and so of one subgroup.
#if LANES > 1
float lanes_max(float value) {
    return subgroupClusteredMax(value, LANES);
}
float lanes_sum(float value) {
    return subgroupClusteredAdd(value, LANES);
}
#else
float lanes_max(float value) {
    return value;
}
float lanes_sum(float value) {
    return value;
}
#endif

// Runs of a row that are staged: up to a multiple of 16 elements, filled up with zeros, because a
// piece has at most 16 of them.
uint stage_runs() {
    return (d / 8u + 1u) / 2u * 2u;
}

void stage_keys(uint tile) {
    for (uint i = gl_LocalInvocationIndex; i < K_KEYS * HEAD_RUNS; i += K_WORKGROUP) {
        uint key = i / HEAD_RUNS;
        uint run = i % HEAD_RUNS;
        if (run < stage_runs()) {
            stage[key * STAGE_STRIDE + run] =
                tile + key < lk && run < d / 8u ? key_halves(tile + key, run) : uvec4(0u);
        }
    }
}

void stage_values(uint tile) {
    for (uint i = gl_LocalInvocationIndex; i < K_KEYS * HEAD_RUNS; i += K_WORKGROUP) {
        uint key = i / HEAD_RUNS;
        uint run = i % HEAD_RUNS;
        if (run < stage_runs()) {
            stage[key * STAGE_STRIDE + run] =
                tile + key < lk && run < d / 8u ? value_halves(tile + key, run) : uvec4(0u);
        }
    }
}

// Stages queries first .. first + K_KEYS - 1 of the workgroup.
void stage_queries(uint first) {
    for (uint i = gl_LocalInvocationIndex; i < K_KEYS * HEAD_RUNS; i += K_WORKGROUP) {
        uint query = query_first + first + i / HEAD_RUNS;
        uint run = i % HEAD_RUNS;
        if (run < stage_runs()) {
            uvec4 halves = uvec4(0u);
            if (head < bh && query < lq && run < d / 8u) {
                uint at = (head * lq + query) * (d / 4u) + 2u * run;
                halves = pack_halves(scale * q[at], scale * q[at + 1u]);
            }
            stage[i / HEAD_RUNS * STAGE_STRIDE + run] = halves;
        }
    }
}

// The scores of a strip with the staged keys.
void score(QPiece q_pieces[HEAD_STEPS], uint strip) {
    Sum sum[KEY_PIECES];
    [[unroll]] for (uint j = 0u; j < KEY_PIECES; j++) {
        sum[j] = Sum(0.0);
    }
    HEAD_LOOP for (uint step = 0u; step < HEAD_STEPS; step++) {
        if (step * K_KK < d) {
            [[unroll]] for (uint j = 0u; j < KEY_PIECES; j++) {
                KPiece k_piece;
                coopMatLoad(k_piece, stage, j * K_N * STAGE_STRIDE + step * (K_KK / 8),
                            STAGE_STRIDE, gl_CooperativeMatrixLayoutColumnMajor);
                sum[j] = coopMatMulAdd(q_pieces[step], k_piece, sum[j]);
            }
        }
    }
    [[unroll]] for (uint j = 0u; j < KEY_PIECES; j++) {
        coopMatStore(sum[j], scores, strip * K_M * SCORE_STRIDE + j * (K_N / 4), SCORE_STRIDE,
                     gl_CooperativeMatrixLayoutRowMajor);
    }
}

// Four scores of keys key .. key + 3 as the query sees them.
vec4 see(Lane lane, uint key, vec4 score) {
    for (uint i = 0u; i < 4u; i++) {
        if (key + i >= lane.seen) {
            score[i] = SCORE_MASKED;
        } else if (mask != 0u) {
            score[i] =
                score_masked(score[i], mask_values[(query_first + lane.query) * lk + key + i]);
        }
    }
    return score;
}

vec4 weigh(vec4 score, float base) {
    return vec4(score_weight(score.x, base), score_weight(score.y, base),
                score_weight(score.z, base), score_weight(score.w, base));
}

// The lane's i'th four scores of its query: runs of eight go to the lanes in turn.
uint quad_of(Lane lane, uint i) {
    return (i / 2u * LANES + lane.lane) * 2u + i % 2u;
}

// From the scores of a tile to its weights. `time` numbers the tiles from 1.
void weigh_tile(inout Lane lane, uint tile, uint time) {
    vec4 row[2 * KEY_RUNS / LANES];
    bool plain = mask == 0u && tile + K_KEYS <= lane.seen;
    float maximum = SCORE_MASKED;
    [[unroll]] for (uint i = 0u; i < 2 * KEY_RUNS / LANES; i++) {
        uint quad = quad_of(lane, i);
        row[i] = scores[lane.query * SCORE_STRIDE + quad];
        if (!plain) {
            row[i] = see(lane, tile + 4u * quad, row[i]);
        }
        maximum = max(maximum, max(max(row[i].x, row[i].y), max(row[i].z, row[i].w)));
    }
    maximum = lanes_max(maximum);
    float shrink = 1.0;
    if (maximum > lane.base + BASE_SLACK) {
        shrink = score_weight(lane.base, maximum);
        lane.base = maximum;
        shrink_times[lane.query / K_M] = time; // the same from all queries
    }
    // The first piece of the strip's scores becomes the factors of its outputs. A lane replaces only
    // scores that it has read itself.
    [[unroll]] for (uint i = 0u; i < 2 * KEY_RUNS / LANES; i++) {
        uint quad = quad_of(lane, i);
        if (quad < K_N / 4u) {
            scores[lane.query * SCORE_STRIDE + quad] = vec4(shrink);
        }
    }
    vec4 total = vec4(0.0);
    [[unroll]] for (uint i = 0u; i < KEY_RUNS / LANES; i++) {
        vec4 low = weigh(row[2u * i], lane.base);
        vec4 high = weigh(row[2u * i + 1u], lane.base);
        weights[lane.query * WEIGHT_STRIDE + i * LANES + lane.lane] = pack_halves(low, high);
        total += low + high;
    }
    lane.sum = lane.sum * shrink + dot(total, vec4(1.0));
}

// Adds the staged values, weighted, to a strip's outputs.
void add_values(inout Sum out_pieces[HEAD_PIECES], uint strip) {
    [[dont_unroll]] for (uint step = 0u; step < KEY_STEPS; step++) {
        WeightPiece weight_piece;
        coopMatLoad(weight_piece, weights, strip * K_M * WEIGHT_STRIDE + step * (K_KK / 8),
                    WEIGHT_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
        HEAD_LOOP for (uint j = 0u; j < HEAD_PIECES; j++) {
            if (j * K_N < d) {
                VPiece v_piece;
                coopMatLoad(v_piece, stage, step * K_KK * STAGE_STRIDE + j * (K_N / 8),
                            STAGE_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
                out_pieces[j] = coopMatMulAdd(weight_piece, v_piece, out_pieces[j]);
            }
        }
    }
}

// Writes outputs of the pass's strips, KEY_PIECES pieces at a time, through the place of the scores.
void store_outputs(Pass pass, Lane lane, Sum out_pieces[HEAD_PIECES]) {
    float sum = lanes_sum(lane.sum);
    if (lane.live && lane.lane == 0u) {
        factors[lane.query] = sum == 0.0 ? 0.0 : 1.0 / sum;
    }
    HEAD_LOOP for (uint first = 0u; first < HEAD_PIECES; first += KEY_PIECES) {
        barrier(); // others may still read the pieces before
        if (gl_SubgroupID < pass.count) {
            [[unroll]] for (uint j = 0u; j < KEY_PIECES; j++) {
                coopMatStore(out_pieces[first + j], scores,
                             (pass.first + gl_SubgroupID) * K_M * SCORE_STRIDE + j * (K_N / 4),
                             SCORE_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
            }
        }
        barrier();
        for (uint i = gl_LocalInvocationIndex; i < pass.count * K_M * K_KEYS; i += K_WORKGROUP) {
            uint query = pass.first * K_M + i / K_KEYS;
            uint element = first * K_N + i % K_KEYS;
            if (head < bh && query_first + query < lq && element < d) {
                float total = scores[query * SCORE_STRIDE + i % K_KEYS / 4u][i % 4u];
                o[(head * lq + query_first + query) * d + element] = factors[query] * total;
            }
        }
    }
}

void compute(Pass pass, uint key_end, inout uint time) {
    uint strip = pass.first + gl_SubgroupID;
    bool multiplies = gl_SubgroupID < pass.count;
    QPiece q_pieces[HEAD_STEPS];
    Sum out_pieces[HEAD_PIECES];
    Lane lane = lane_of(pass);

    HEAD_LOOP for (uint j = 0u; j < HEAD_PIECES; j++) {
        out_pieces[j] = Sum(0.0);
    }
    for (uint first = 0u; first < K_QUERIES; first += K_KEYS) {
        barrier(); // others may still read the stage before
        stage_queries(first);
        barrier();
        if (multiplies && strip * K_M / K_KEYS * K_KEYS == first) {
            HEAD_LOOP for (uint step = 0u; step < HEAD_STEPS; step++) {
                coopMatLoad(q_pieces[step], stage,
                            strip * K_M % K_KEYS * STAGE_STRIDE + step * (K_KK / 8), STAGE_STRIDE,
                            gl_CooperativeMatrixLayoutRowMajor);
            }
        }
    }
    for (uint tile = 0u; tile < key_end; tile += K_KEYS) {
        time++;
        barrier(); // others may still read the stage before
        stage_keys(tile);
        barrier();
        if (multiplies) {
            score(q_pieces, strip);
        }
        barrier();
        stage_values(tile);
        if (lane.live) {
            weigh_tile(lane, tile, time);
        }
        barrier();
        if (multiplies) {
            if (shrink_times[strip] == time) {
                Sum shrink;
                coopMatLoad(shrink, scores, strip * K_M * SCORE_STRIDE, SCORE_STRIDE,
                            gl_CooperativeMatrixLayoutRowMajor);
                HEAD_LOOP for (uint j = 0u; j < HEAD_PIECES; j++) {
                    out_pieces[j] *= shrink;
                }
            }
            add_values(out_pieces, strip);
        }
    }
    store_outputs(pass, lane, out_pieces);
}

void main() {
    uint groups_per_head = (lq + K_QUERIES - 1u) / K_QUERIES;
    uint group = dispatch_group_index();
    head = min(group / groups_per_head, bh);
    // With `causal` the last queries have the most keys: they begin first.
    query_first = (groups_per_head - 1u - group % groups_per_head) * K_QUERIES;
    uint query_end = min(query_first + K_QUERIES, lq);
    uint key_end = head < bh ? keys_seen(query_end - 1u) : 0u; // of a surplus group: none

    if (gl_LocalInvocationIndex < STRIPS) {
        shrink_times[gl_LocalInvocationIndex] = 0u;
    }
    uint time = 0u;
    uint strips_each = min(gl_NumSubgroups, STRIPS);
    for (uint first = 0u; first < STRIPS; first += strips_each) {
        compute(Pass(first, min(strips_each, STRIPS - first)), key_end, time);
    }
}
