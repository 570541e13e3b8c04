/* SPDX-License-Identifier: MIT */
/*
 * Types without a minimum: value = d x (sub-scale) x level. The search, for one block:
 *  1. per sub-block, several inverse scales give candidate levels; the least-squares scale of the
 *     best candidate is the sub-block's wish;
 *  2. a few block scales d map the largest wish to an end of the sub-scale range; for each, every
 *     sub-block takes the integer sub-scale near its wish that has the least squared error;
 *  3. d is fitted to the levels found (least squares) and step 2 repeated while the error falls.
 */
#include "vf_quantize_block.h"

#include "vf_tables.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define BLOCK_MAX 256
#define SUB_MAX 16

/* Loops over a sub-block go in runs of this constant length, which compilers vectorise at -O2. */
#define LANES 16

/* What distinguishes the types of this file. Levels are integers, given by range or by table. */
struct scale_plan {
    uint32_t sub_count;
    uint32_t sub_size;
    float level_min;
    float level_max;
    bool table;      /* levels of vf_iq4_nl_values instead of every integer of the range */
    float scale_min; /* range of the integer sub-scales; both 1 when there are none */
    float scale_max;
    const float *targets; /* levels that the largest value of a sub-block is tried at */
    uint32_t target_count;
};

struct scale_trial {
    uint16_t d; /* binary16 */
    float scales[SUB_MAX];
    float levels[BLOCK_MAX];
    float error; /* sum of squares */
};

/* levels[i] = the level nearest to x[i] * inverse. */
static void find_levels(const struct scale_plan *plan, const float *restrict x, float inverse,
                        float *restrict levels) {
    float low = plan->level_min;
    float high = plan->level_max;
    for (uint32_t first = 0; first < plan->sub_size; first += LANES) {
        float v[LANES];
        for (uint32_t i = 0; i < LANES; i++) {
            v[i] = x[first + i] * inverse;
            v[i] = v[i] > low ? v[i] : low;
            v[i] = v[i] < high ? v[i] : high;
        }
        for (uint32_t i = 0; !plan->table && i < LANES; i++) {
            levels[first + i] = vf_round_even(v[i]);
        }
        for (uint32_t i = 0; plan->table && i < LANES; i++) {
            levels[first + i] = (float)vf_iq4_nl_nearest[(int32_t)(2.0f * v[i] + 256.0f)];
        }
    }
}

static float sum_lanes(const float lanes[LANES]) {
    float four[4];
    for (uint32_t i = 0; i < 4; i++) {
        four[i] = (lanes[i] + lanes[i + 4]) + (lanes[i + 8] + lanes[i + 12]);
    }
    return (four[0] + four[1]) + (four[2] + four[3]);
}

/* Sums of x*q and q*q. */
static void sum_products(const float *restrict x, const float *restrict q, uint32_t count,
                         float *xq, float *qq) {
    float a[LANES] = {0};
    float b[LANES] = {0};
    for (uint32_t first = 0; first < count; first += LANES) {
        for (uint32_t i = 0; i < LANES; i++) {
            a[i] += x[first + i] * q[first + i];
            b[i] += q[first + i] * q[first + i];
        }
    }
    *xq = sum_lanes(a);
    *qq = sum_lanes(b);
}

static float sum_errors(const float *restrict x, const float *restrict q, uint32_t count,
                        float scale) {
    float lanes[LANES] = {0};
    for (uint32_t first = 0; first < count; first += LANES) {
        for (uint32_t i = 0; i < LANES; i++) {
            float error = x[first + i] - scale * q[first + i];
            lanes[i] += error * error;
        }
    }
    return sum_lanes(lanes);
}

static float clamp(float value, float low, float high) {
    value = value > low ? value : low;
    return value < high ? value : high;
}

static uint16_t encode_scale(float value) {
    return vf_f16_encode(clamp(value, -65504.0f, 65504.0f));
}

/* Step 1. With levels q fixed, the best scale is xq/qq. */
static float fit_scale(const struct scale_plan *plan, const float *x) {
    float levels[BLOCK_MAX];
    float extreme = 0.0f;
    float scale = 0.0f;
    float best = INFINITY;
    for (uint32_t i = 0; i < plan->sub_size; i++) {
        extreme = fabsf(x[i]) > fabsf(extreme) ? x[i] : extreme;
    }
    if (fabsf(extreme) < 0x1p-60f) {
        return 0.0f; /* far below any scale that binary16 can hold */
    }
    for (uint32_t c = 0; c <= plan->target_count; c++) {
        float inverse = c < plan->target_count ? plan->targets[c] / extreme
                                               : (scale != 0.0f ? 1.0f / scale : 0.0f);
        float xq, qq;
        find_levels(plan, x, inverse, levels);
        sum_products(x, levels, plan->sub_size, &xq, &qq);
        float fitted = qq > 0.0f ? xq / qq : 0.0f;
        if (plan->sub_count == 1) {
            fitted = vf_f16_decode(encode_scale(fitted)); /* it is the block scale itself */
        }
        float error = sum_errors(x, levels, plan->sub_size, fitted);
        if (error < best) {
            best = error;
            scale = fitted;
        }
    }
    return scale;
}

/* Step 2 for one d. */
static void assign_scales(const struct scale_plan *plan, const float *x, const float *wishes,
                          struct scale_trial *trial) {
    float d = vf_f16_decode(trial->d);
    uint32_t size = plan->sub_size;
    trial->error = 0.0f;
    for (uint32_t g = 0; g < plan->sub_count; g++) {
        float levels[BLOCK_MAX];
        float best = INFINITY;
        float middle = d != 0.0f ? wishes[g] / d : 0.0f;
        middle = vf_round_even(clamp(middle, plan->scale_min, plan->scale_max));
        for (float step = -1.0f; step <= 1.0f; step += 1.0f) {
            float scale = middle + step;
            if (scale < plan->scale_min || scale > plan->scale_max) {
                continue;
            }
            float ds = d * scale;
            find_levels(plan, x + g * size, ds != 0.0f ? 1.0f / ds : 0.0f, levels);
            float error = sum_errors(x + g * size, levels, size, ds);
            if (error < best) {
                best = error;
                trial->scales[g] = scale;
                memcpy(trial->levels + g * size, levels, size * sizeof levels[0]);
            }
        }
        trial->error += best;
    }
}

/* Step 3: the d that suits the trial's levels and sub-scales best. */
static uint16_t refit_scale(const struct scale_plan *plan, const float *x,
                            const struct scale_trial *trial) {
    float numerator = 0.0f;
    float denominator = 0.0f;
    for (uint32_t g = 0; g < plan->sub_count; g++) {
        float xq, qq;
        uint32_t first = g * plan->sub_size;
        sum_products(x + first, trial->levels + first, plan->sub_size, &xq, &qq);
        numerator += trial->scales[g] * xq;
        denominator += trial->scales[g] * trial->scales[g] * qq;
    }
    return denominator > 0.0f ? encode_scale(numerator / denominator) : trial->d;
}

static void improve_trial(const struct scale_plan *plan, const float *x, const float *wishes,
                          struct scale_trial *best, uint16_t d) {
    struct scale_trial trial;
    for (uint32_t round = 0; round < 3; round++) {
        trial.d = d;
        assign_scales(plan, x, wishes, &trial);
        if (!(trial.error < best->error)) {
            return;
        }
        *best = trial;
        d = refit_scale(plan, x, best);
        if (d == best->d) {
            return;
        }
    }
}

static void search_scales(const struct scale_plan *plan, const float *x, struct scale_trial *best) {
    float wishes[SUB_MAX] = {0};
    float extreme = 0.0f;
    for (uint32_t g = 0; g < plan->sub_count; g++) {
        wishes[g] = fit_scale(plan, x + g * plan->sub_size);
        extreme = fabsf(wishes[g]) > fabsf(extreme) ? wishes[g] : extreme;
    }
    best->error = INFINITY; /* the first trial wins, all-zero blocks included */
    improve_trial(plan, x, wishes, best, encode_scale(extreme / plan->scale_min));
    if (plan->scale_min != plan->scale_max && extreme != 0.0f) {
        improve_trial(plan, x, wishes, best, encode_scale(extreme / plan->scale_max));
    }
}

/* Around both ends of -4..3: with few levels the end may be overshot to gain resolution. */
static const float targets_q3[] = {-4.9f, -4.5f, -4.2f, -3.9f, -3.6f, -3.3f,
                                   -3.0f, 2.6f,  2.8f,  3.0f,  3.2f,  3.5f};
static const float targets_q6[] = {-32.7f, -32.2f, -31.6f, -31.0f, -30.3f, 30.2f, 30.8f, 31.4f};
static const float targets_iq4[] = {-140.0f, -132.0f, -127.0f, -122.0f, -116.0f, -109.0f,
                                    98.0f,   104.0f,  109.0f,  113.0f,  118.0f,  125.0f};

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof(array)[0])

static const struct scale_plan plan_q3 = {
    16, 16, -4.0f, 3.0f, false, -32.0f, 31.0f, targets_q3, COUNT(targets_q3)};
static const struct scale_plan plan_q6 = {
    16, 16, -32.0f, 31.0f, false, -128.0f, 127.0f, targets_q6, COUNT(targets_q6)};
static const struct scale_plan plan_iq4_nl = {
    1, 32, -127.0f, 113.0f, true, 1.0f, 1.0f, targets_iq4, COUNT(targets_iq4)};
static const struct scale_plan plan_iq4_xs = {
    8, 32, -127.0f, 113.0f, true, -32.0f, 31.0f, targets_iq4, COUNT(targets_iq4)};

void vf_quantize_q3_k(const float *x, uint8_t *block) {
    struct scale_trial best;
    search_scales(&plan_q3, x, &best);
    memset(block, 0, 110);
    for (uint32_t e = 0; e < 256; e++) {
        uint32_t code = (uint32_t)(int32_t)(best.levels[e] + 4.0f);
        block[e % 32] |= (uint8_t)(code >> 2 << e / 32);
        block[32 + 32 * (e / 128) + e % 32] |= (uint8_t)((code & 3u) << 2 * (e % 128 / 32));
    }
    for (uint32_t g = 0; g < 16; g++) {
        uint32_t scale = (uint32_t)(int32_t)(best.scales[g] + 32.0f);
        block[96 + g % 8] |= (uint8_t)((scale & 15u) << (g < 8 ? 0 : 4));
        block[104 + g % 4] |= (uint8_t)(scale >> 4 << 2 * (g / 4));
    }
    vf_store_u16(block + 108, best.d);
}

void vf_quantize_q6_k(const float *x, uint8_t *block) {
    struct scale_trial best;
    search_scales(&plan_q6, x, &best);
    memset(block, 0, 192);
    for (uint32_t e = 0; e < 256; e++) {
        uint32_t code = (uint32_t)(int32_t)(best.levels[e] + 32.0f);
        uint32_t half = e / 128;
        uint32_t r = e % 128;
        block[64 * half + r % 64] |= (uint8_t)((code & 15u) << (r < 64 ? 0 : 4));
        block[128 + 32 * half + r % 32] |= (uint8_t)(code >> 4 << 2 * (r / 32));
    }
    for (uint32_t g = 0; g < 16; g++) {
        block[192 + g] = (uint8_t)(int32_t)best.scales[g];
    }
    vf_store_u16(block + 208, best.d);
}

/* 32 levels to nibbles, low nibbles first half. */
static void store_iq4(const float *levels, uint8_t *bytes) {
    uint8_t codes[32];
    for (uint32_t e = 0; e < 32; e++) {
        codes[e] = 0;
        for (uint32_t i = 1; i < 16; i++) {
            codes[e] = (uint8_t)(codes[e] + (levels[e] >= (float)vf_iq4_nl_values[i]));
        }
    }
    for (uint32_t j = 0; j < 16; j++) {
        bytes[j] = (uint8_t)(codes[j] | codes[j + 16] << 4);
    }
}

void vf_quantize_iq4_nl(const float *x, uint8_t *block) {
    struct scale_trial best;
    search_scales(&plan_iq4_nl, x, &best);
    vf_store_u16(block, best.d);
    store_iq4(best.levels, block + 2);
}

void vf_quantize_iq4_xs(const float *x, uint8_t *block) {
    struct scale_trial best;
    uint32_t scales_high = 0;
    search_scales(&plan_iq4_xs, x, &best);
    memset(block, 0, 8);
    vf_store_u16(block, best.d);
    for (uint32_t b = 0; b < 8; b++) {
        uint32_t scale = (uint32_t)(int32_t)(best.scales[b] + 32.0f);
        block[4 + b / 2] |= (uint8_t)((scale & 15u) << 4 * (b % 2));
        scales_high |= scale >> 4 << 2 * b;
        store_iq4(best.levels + 32 * b, block + 8 + 16 * b);
    }
    vf_store_u16(block + 2, (uint16_t)scales_high);
}
