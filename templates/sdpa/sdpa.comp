// SPDX-License-Identifier: MIT
#version 450
//
// o = softmax(scale q k^T) v with grouped queries: head i of h reads the keys and values of head
// i * kv / h of kv, in place in a cache whose rows and heads are any number of elements apart.
// With `causal` query i sees the keys j <= i + lk - lq. A query that sees no key gives 0. What lies
// behind the lk valid keys is not read.
//
// A workgroup computes one query of one head (schedule `block`), or its share of one of `splits`
// equal parts of the keys (`split`): what sdpa_combine needs to put the parts together. See
// attention.glsl.

#define K_QUERIES 1
#include "attention.glsl"
#include "dispatch.glsl"

layout(local_size_x = K_WORKGROUP) in;

layout(set = 0, binding = 0, std430) readonly buffer Q {
    float q[]; // h x lq x d
};
// k, v: caches of raw blocks, below 4 GiB each. Declared by attention_keys.glsl.
#if K_SCHEDULE == SCHEDULE_SPLIT
layout(set = 0, binding = 3, std430) writeonly buffer Maxima {
    float maxima[]; // h x lq x splits: the largest score of the part, 0 without any key
};
layout(set = 0, binding = 4, std430) writeonly buffer Sums {
    float sums[]; // h x lq x splits: sum of exp(score - maximum)
};
layout(set = 0, binding = 5, std430) writeonly buffer Vectors {
    float vectors[]; // h x lq x splits x d: that sum, each term times the key's values
};
#else
layout(set = 0, binding = 3, std430) writeonly buffer O {
    float o[]; // h x lq x d
};
#endif

layout(push_constant) uniform Push {
    uint h; // a multiple of kv
    uint kv;
    uint lq;
    uint lk;
    uint d;      // at most K_HEAD; a multiple of 8
    uint causal; // 0 or 1
    // In elements, multiples of the block and of 8.
    uint k_row_stride;
    uint k_head_stride;
    uint v_row_stride;
    uint v_head_stride;
    float scale;
#if K_SCHEDULE == SCHEDULE_SPLIT
    uint splits;
#endif
};

uint kv_head; // of this workgroup

uint key_offset(uint key);
uint value_offset(uint key);

float score_of(uint query, uint key, float product) {
    return scale * product; // only keys that the query sees are asked for
}

#include "attention_keys.glsl"

uint key_offset(uint key) {
    return (kv_head * k_head_stride + key * k_row_stride) / BLOCK_ELEMENTS * BLOCK_BYTES;
}

uint value_offset(uint key) {
    return (kv_head * v_head_stride + key * v_row_stride) / BLOCK_ELEMENTS * BLOCK_BYTES;
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint group = dispatch_group_index();
#if K_SCHEDULE == SCHEDULE_SPLIT
    uint row = group / splits; // of q
#else
    uint row = group;
#endif
    uint head = row / lq;
    uint query = row % lq;
    kv_head = head * kv / h;

    // A surplus group has no keys, but takes part in the barriers.
    uint key_first = 0u;
    uint key_end = head < h ? lk : 0u;
    if (head < h && causal != 0u) {
        key_end = query + 1u + lk > lq ? query + 1u + lk - lq : 0u;
    }
#if K_SCHEDULE == SCHEDULE_SPLIT
    uint part = (lk + splits - 1u) / splits;
    key_first = group % splits * part;
    key_end = min(key_end, key_first + part);
#endif

    for (uint element = thread; element < d; element += K_WORKGROUP) {
        attention_query_set(0u, element, head < h ? q[row * d + element] : 0.0);
    }
    barrier();
    Attention a;
    attention_clear(a);
    attention_add(a, d, key_first, key_end);
    attention_finish(a);
    attention_share(a, 0u);

#if K_SCHEDULE == SCHEDULE_SPLIT
    if (thread == 0u && head < h) {
        maxima[group] = a.sum[0] == 0.0 ? 0.0 : a.maximum[0];
        sums[group] = a.sum[0];
    }
    for (uint element = thread; head < h && element < d; element += K_WORKGROUP) {
        vectors[group * d + element] = attention_vector(d, element);
    }
#else
    for (uint element = thread; head < h && element < d; element += K_WORKGROUP) {
        float total = attention_vector(d, element);
        o[row * d + element] = a.sum[0] == 0.0 ? 0.0 : total / a.sum[0];
    }
#endif
}
