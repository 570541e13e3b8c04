// SPDX-License-Identifier: MIT
#version 450
//
// y = x W^T for many tokens with x in q8_1, schedule `mma`: cooperative matrices of K_M tokens x
// K_N rows x K_KK elements, signed bytes multiplied, 32-bit integers added. A group's products are
// added up in a matrix of integers, which then becomes f32 and is scaled, element by element, by
// matrices whose rows or columns are all the scales of the tokens or rows.
//
// A workgroup computes STRIPS x STRIP_PIECES of them. It stages STAGE_CHUNKS chunks of each token and
// row in shared memory; a subgroup then adds up one strip, which is K_M tokens times half the rows
// of the tile. With fewer subgroups than strips, the workgroup goes over its tile again for the next
// ones; with more, the others only stage. So any subgroup size is right that the driver allows
// cooperative matrices in and that divides K_WORKGROUP.

#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_control_flow_attributes : require

#include "params.glsl"

#define TILE_TOKENS 64
#define TILE_ROWS (4 * K_N)
#define STRIP_PIECES 2 // sum0, sum1
#define TOKEN_STRIPS (TILE_TOKENS / K_M)
#define STRIPS (2 * TOKEN_STRIPS)
#define STAGE_CHUNKS 2

layout(local_size_x = K_WORKGROUP) in;

#include "mmq.glsl"

// Staged codes lie in segments of 16 bytes, because cooperative loads begin at multiples of 16
// bytes: two runs, or where a matrix has one run only, that one and eight zeros.
#if K_KK >= 16
#define SEGMENT_RUNS 2
#else
#define SEGMENT_RUNS 1
#endif
#define CHUNK_SEGMENTS (CHUNK_RUNS / SEGMENT_RUNS)
#define STEP_SEGMENTS (K_KK / 8 / SEGMENT_RUNS)

// A step multiplies K_KK elements. A group is some steps, or half of one: then the other half is
// multiplied by zeros. A row's chunk is staged as codes, zeros, codes, so that from segment 0 on
// the first group is met by its own codes only, and from segment 1 on the second one.
#if K_KK > CHUNK_RUNS * 8
#error "a step is at most a chunk"
#elif K_KK > GROUP_RUNS * 8
#define GROUP_STEPS 1
#define X_GROUP_SEGMENTS 0
#define W_CHUNK_SEGMENTS 3
#else
#define GROUP_STEPS (GROUP_RUNS * 8 / K_KK)
#define X_GROUP_SEGMENTS (GROUP_RUNS / SEGMENT_RUNS)
#define W_CHUNK_SEGMENTS CHUNK_SEGMENTS
#endif
#define W_GROUP_SEGMENTS (GROUP_RUNS / SEGMENT_RUNS)

// Segments from a token or row to the next: odd, which spreads them over the banks.
#define X_STRIDE (STAGE_CHUNKS * CHUNK_SEGMENTS + 1)
#define W_STRIDE ((STAGE_CHUNKS * W_CHUNK_SEGMENTS) | 1)

shared uvec4 x_stage[TILE_TOKENS * X_STRIDE];
shared uvec4 w_stage[TILE_ROWS * W_STRIDE];
// Chunk-major and group-major.
shared float x_scales[STAGE_CHUNKS * TILE_TOKENS];
shared float w_scales[STAGE_CHUNKS * CHUNK_GROUPS * TILE_ROWS];
#ifdef DECODE_HAS_OFFSET
shared float x_sums[STAGE_CHUNKS * CHUNK_GROUPS * TILE_TOKENS];
shared float w_offsets[STAGE_CHUNKS * CHUNK_GROUPS * TILE_ROWS];
#endif
shared float y_stage[STRIPS * K_M * K_N]; // one piece of each strip

#define XPiece coopmat<int8_t, gl_ScopeSubgroup, K_M, K_KK, gl_MatrixUseA>
#define WPiece coopmat<int8_t, gl_ScopeSubgroup, K_KK, K_N, gl_MatrixUseB>
#define Products coopmat<int, gl_ScopeSubgroup, K_M, K_N, gl_MatrixUseAccumulator>
#define Sum coopmat<float, gl_ScopeSubgroup, K_M, K_N, gl_MatrixUseAccumulator>

uvec4 x_segment(uint token, uint run) {
#if SEGMENT_RUNS == 2
    return uvec4(load_x_codes(token, run), load_x_codes(token, run + 1u));
#else
    return uvec4(load_x_codes(token, run), 0u, 0u);
#endif
}

uvec4 w_segment(uint row, uint run) {
#if SEGMENT_RUNS == 2
    return uvec4(load_w_codes(row, run), load_w_codes(row, run + 1u));
#else
    return uvec4(load_w_codes(row, run), 0u, 0u);
#endif
}

// Neighbouring invocations stage what is adjacent in memory: an invocation a chunk of a token or a
// segment of a row. Chunks from chunk_count on are past the end.
void stage_x(Tile tile, uint run_first, uint chunk_count) {
    for (uint i = gl_LocalInvocationIndex; i < TILE_TOKENS * STAGE_CHUNKS; i += K_WORKGROUP) {
        uint lane = i / STAGE_CHUNKS;
        uint chunk = i % STAGE_CHUNKS;
        if (chunk < chunk_count) {
            uint token = clamp_index(tile.token, lane, t);
            uint run = run_first + chunk * CHUNK_RUNS;
            x_scales[chunk * TILE_TOKENS + lane] = load_x_scale(token, run);
            for (uint j = 0u; j < CHUNK_SEGMENTS; j++) {
                x_stage[lane * X_STRIDE + chunk * CHUNK_SEGMENTS + j] =
                    x_segment(token, run + j * SEGMENT_RUNS);
            }
#ifdef DECODE_HAS_OFFSET
            for (uint j = 0u; j < CHUNK_GROUPS; j++) {
                x_sums[(chunk * CHUNK_GROUPS + j) * TILE_TOKENS + lane] =
                    load_x_sum(token, run + j * GROUP_RUNS);
            }
#endif
        }
    }
}

void stage_w(Tile tile, uint run_first, uint chunk_count) {
    for (uint i = gl_LocalInvocationIndex; i < TILE_ROWS * STAGE_CHUNKS * CHUNK_SEGMENTS;
         i += K_WORKGROUP) {
        uint lane = i / (STAGE_CHUNKS * CHUNK_SEGMENTS);
        uint segment = i % (STAGE_CHUNKS * CHUNK_SEGMENTS);
        if (segment < chunk_count * CHUNK_SEGMENTS) {
            uint row = clamp_index(tile.row, lane, nout);
            uint run = run_first + segment * SEGMENT_RUNS;
            uint slot = lane * W_STRIDE + segment / CHUNK_SEGMENTS * W_CHUNK_SEGMENTS;
#if W_CHUNK_SEGMENTS == CHUNK_SEGMENTS
            w_stage[slot + segment % CHUNK_SEGMENTS] = w_segment(row, run);
#else
            w_stage[slot + segment % CHUNK_SEGMENTS * 2u] = w_segment(row, run);
            if (segment % CHUNK_SEGMENTS == 0u) {
                w_stage[slot + 1u] = uvec4(0u);
            }
#endif
            if (segment % W_GROUP_SEGMENTS == 0u) {
                uint group = segment / W_GROUP_SEGMENTS;
                w_scales[group * TILE_ROWS + lane] = load_w_scale(row, run);
#ifdef DECODE_HAS_OFFSET
                w_offsets[group * TILE_ROWS + lane] = load_w_offset(row, run);
#endif
            }
        }
    }
}

// Adds a step of a staged group to the products of a piece; w_first is its first segment of W.
void multiply(XPiece x_piece, uint w_first, inout Products products) {
    WPiece w_piece;
    coopMatLoad(w_piece, w_stage, w_first, W_STRIDE, gl_CooperativeMatrixLayoutColumnMajor);
    products = coopMatMulAdd(x_piece, w_piece, products);
}

// What scales the products of a group, for all pieces of a strip: the same in all columns.
struct GroupX {
    Sum scales;
#ifdef DECODE_HAS_OFFSET
    Sum sums;
#endif
};

// Adds the products of a group of the stage to the sum of a piece, whose first row is row_i of the
// tile. A stride of 0 loads the same row of scales again and again.
void add_scaled(GroupX a, uint group, uint row_i, Products products, inout Sum sum) {
    Sum factors;
    coopMatLoad(factors, w_scales, group * TILE_ROWS + row_i, 0,
                gl_CooperativeMatrixLayoutRowMajor);
    sum += a.scales * factors * Sum(products);
#ifdef DECODE_HAS_OFFSET
    coopMatLoad(factors, w_offsets, group * TILE_ROWS + row_i, 0,
                gl_CooperativeMatrixLayoutRowMajor);
    sum += a.sums * factors;
#endif
}

// The first token and row of a strip in its tile.
uint strip_token(uint strip) {
    return strip % TOKEN_STRIPS * K_M;
}

uint strip_row(uint strip) {
    return strip / TOKEN_STRIPS * (STRIP_PIECES * K_N);
}

// Adds a group of the stage to the sums of a strip.
void add_group(uint strip, uint group, inout Sum sum0, inout Sum sum1) {
    uint chunk = group / CHUNK_GROUPS;
    uint token_i = strip_token(strip);
    uint row_i = strip_row(strip);
    uint x_first = token_i * X_STRIDE + chunk * CHUNK_SEGMENTS +
                   group % CHUNK_GROUPS * X_GROUP_SEGMENTS;
    uint w_first = row_i * W_STRIDE + chunk * W_CHUNK_SEGMENTS +
                   group % CHUNK_GROUPS * W_GROUP_SEGMENTS;
    Products products0 = Products(0);
    Products products1 = Products(0);
    for (uint i = 0u; i < GROUP_STEPS * STEP_SEGMENTS; i += STEP_SEGMENTS) {
        XPiece x_piece;
        coopMatLoad(x_piece, x_stage, x_first + i, X_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
        multiply(x_piece, w_first + i, products0);
        multiply(x_piece, w_first + K_N * W_STRIDE + i, products1);
    }
    GroupX a;
    coopMatLoad(a.scales, x_scales, chunk * TILE_TOKENS + token_i, 0,
                gl_CooperativeMatrixLayoutColumnMajor);
#ifdef DECODE_HAS_OFFSET
    coopMatLoad(a.sums, x_sums, group * TILE_TOKENS + token_i, 0,
                gl_CooperativeMatrixLayoutColumnMajor);
#endif
    add_scaled(a, group, row_i, products0, sum0);
    add_scaled(a, group, row_i + K_N, products1, sum1);
}

// The strips of a pass: one for each subgroup that has one left.
struct Pass {
    uint first; // strip of subgroup 0
    uint count;
};

// Writes piece j of the pass's strips. They leave through shared memory, because y need not be
// aligned as a cooperative store wants it. All invocations take part.
void store_pieces(Tile tile, Pass pass, uint j, Sum sum) {
    barrier(); // others may still read the piece before
    if (gl_SubgroupID < pass.count) {
        coopMatStore(sum, y_stage, gl_SubgroupID * K_M * K_N, K_N,
                     gl_CooperativeMatrixLayoutRowMajor);
    }
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < pass.count * (K_M * K_N); i += K_WORKGROUP) {
        uint strip = pass.first + i / (K_M * K_N);
        store_y(tile, strip_token(strip) + i / K_N % K_M, strip_row(strip) + j * K_N + i % K_N,
                y_stage[i]);
    }
}

void compute(Tile tile, Pass pass) {
    Sum sum0 = Sum(0.0);
    Sum sum1 = Sum(0.0);
    for (uint run_first = 0u; run_first < tile.run_count; run_first += STAGE_CHUNKS * CHUNK_RUNS) {
        uint chunk_count = min(STAGE_CHUNKS, (tile.run_count - run_first) / CHUNK_RUNS);
        barrier(); // others may still read the stage before
        stage_x(tile, run_first, chunk_count);
        stage_w(tile, run_first, chunk_count);
        barrier();
        if (gl_SubgroupID < pass.count) {
            // A group's products are enough to overlap, and all groups unrolled compile slowly.
            [[dont_unroll]] for (uint group = 0u; group < chunk_count * CHUNK_GROUPS; group++) {
                add_group(pass.first + gl_SubgroupID, group, sum0, sum1);
            }
        }
    }
    store_pieces(tile, pass, 0u, sum0);
    store_pieces(tile, pass, 1u, sum1);
}

void main() {
    Tile tile = matmul_tile();
    uint strips_each = min(gl_NumSubgroups, STRIPS);
    for (uint first = 0u; first < STRIPS; first += strips_each) {
        compute(tile, Pass(first, min(strips_each, STRIPS - first)));
    }
}
