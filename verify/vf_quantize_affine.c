/* SPDX-License-Identifier: MIT */
/*
 * Types with a minimum: value = d x scale x code - dmin x minimum, scale and minimum small unsigned
 * integers of a sub-block. The search, for one block:
 *  1. per sub-block, several steps give candidate codes; the least-squares line through the best
 *     candidate, its minimum not above 0, is the sub-block's wish;
 *  2. d and dmin map the largest wishes to the largest integers; every sub-block takes the pair of
 *     integers near its wish that has the least squared error;
 *  3. d and dmin are fitted to the codes found (least squares) and step 2 repeated while the error
 *     falls.
 */
#include "vf_quantize_block.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SUB_MAX 16

/* Loops over a sub-block go in runs of this constant length, which compilers vectorise at -O2. */
#define LANES 16

struct affine_plan {
    uint32_t sub_count;
    uint32_t sub_size;
    float code_max;
    float scale_max;    /* largest integer scale and minimum */
    float first_target; /* codes that the largest value is tried at: from this one */
    float target_step;
    uint32_t target_count;
};

/* x is approximated by scale * code - minimum. */
struct line {
    float scale;
    float minimum;
};

struct affine_trial {
    uint16_t d;
    uint16_t dmin;
    float scales[SUB_MAX];
    float minimums[SUB_MAX];
    float codes[256];
    float error; /* sum of squares */
};

static float clamp(float value, float low, float high) {
    value = value > low ? value : low;
    return value < high ? value : high;
}

static uint16_t encode_scale(float value) {
    return vf_f16_encode(clamp(value, 0.0f, 65504.0f));
}

/* codes[i] = (x[i] - base) * inverse, rounded and clamped to 0..code_max. */
static void find_codes(const struct affine_plan *plan, const float *restrict x, float base,
                       float inverse, float *restrict codes) {
    float high = plan->code_max;
    for (uint32_t first = 0; first < plan->sub_size; first += LANES) {
        for (uint32_t i = 0; i < LANES; i++) {
            float v = (x[first + i] - base) * inverse;
            v = v > 0.0f ? v : 0.0f;
            v = v < high ? v : high;
            codes[first + i] = vf_round_even(v);
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

/* Sums over one sub-block; x is taken relative to base. */
struct sums {
    float x, q, qq, xq;
};

static struct sums sum_products(const float *restrict x, float base, const float *restrict q,
                                uint32_t count) {
    float sx[LANES] = {0}, sq[LANES] = {0}, sqq[LANES] = {0}, sxq[LANES] = {0};
    for (uint32_t first = 0; first < count; first += LANES) {
        for (uint32_t i = 0; i < LANES; i++) {
            float v = x[first + i] - base;
            float code = q[first + i];
            sx[i] += v;
            sq[i] += code;
            sqq[i] += code * code;
            sxq[i] += v * code;
        }
    }
    return (struct sums){sum_lanes(sx), sum_lanes(sq), sum_lanes(sqq), sum_lanes(sxq)};
}

static float sum_errors(const float *restrict x, const float *restrict q, uint32_t count,
                        struct line line) {
    float lanes[LANES] = {0};
    for (uint32_t first = 0; first < count; first += LANES) {
        for (uint32_t i = 0; i < LANES; i++) {
            float error = x[first + i] - (line.scale * q[first + i] - line.minimum);
            lanes[i] += error * error;
        }
    }
    return sum_lanes(lanes);
}

/* Least squares of x - base = scale * q - minimum', then minimum = minimum' - base, at least 0. */
static struct line fit_line(const float *x, float base, const float *q, uint32_t count) {
    struct sums s = sum_products(x, base, q, count);
    float n = (float)count;
    float determinant = n * s.qq - s.q * s.q;
    struct line line = {0.0f, -base - s.x / n}; /* all codes equal: a constant below 0 */
    if (determinant > 0.0f) {                   /* an exact integer */
        line.scale = (n * s.xq - s.x * s.q) / determinant;
        line.minimum = (s.q * s.xq - s.qq * s.x) / determinant - base;
    }
    if (line.minimum < 0.0f) {
        line.minimum = 0.0f;
        line.scale = s.qq > 0.0f ? (s.xq + base * s.q) / s.qq : 0.0f;
    }
    line.scale = line.scale > 0.0f ? line.scale : 0.0f;
    return line;
}

/* Step 1. */
static struct line find_line(const struct affine_plan *plan, const float *x) {
    float codes[32];
    float low = 0.0f;
    float high = x[0];
    for (uint32_t i = 0; i < plan->sub_size; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    struct line best = {0.0f, -low};
    if (high - low < 0x1p-60f) {
        return best; /* far below any step that binary16 can hold */
    }
    float best_error = INFINITY;
    for (uint32_t c = 0; c < plan->target_count + 2; c++) {
        float target = plan->first_target + plan->target_step * (float)c;
        float inverse = target / (high - low);
        float base = low;
        if (c >= plan->target_count) { /* last, the best line's own codes, twice */
            inverse = best.scale > 0.0f ? 1.0f / best.scale : 0.0f;
            base = -best.minimum;
        }
        find_codes(plan, x, base, inverse, codes);
        struct line line = fit_line(x, low, codes, plan->sub_size);
        float error = sum_errors(x, codes, plan->sub_size, line);
        if (error < best_error) {
            best_error = error;
            best = line;
        }
    }
    return best;
}

/*
 * Step 2 for one sub-block: tries the pair (scale, minimum) and its neighbours, the diagonal ones
 * only on request. Returns the least error.
 */
static float assign_line(const struct affine_plan *plan, const float *x, struct line middle,
                         bool diagonals, struct affine_trial *trial, uint32_t g) {
    float d = vf_f16_decode(trial->d);
    float dmin = vf_f16_decode(trial->dmin);
    float best = INFINITY;
    for (int32_t step = 0; step < 9; step++) {
        float codes[32];
        float scale = middle.scale + (float)(step / 3 - 1);
        float minimum = middle.minimum + (float)(step % 3 - 1);
        if (scale < 0.0f || scale > plan->scale_max || minimum < 0.0f ||
            minimum > plan->scale_max || (step % 2 == 0 && step != 4 && !diagonals)) {
            continue;
        }
        struct line line = {d * scale, dmin * minimum};
        float inverse = line.scale > 0.0f ? 1.0f / line.scale : 0.0f;
        find_codes(plan, x, -line.minimum, inverse, codes);
        float error = sum_errors(x, codes, plan->sub_size, line);
        if (error < best) {
            best = error;
            trial->scales[g] = scale;
            trial->minimums[g] = minimum;
            memcpy(trial->codes + g * plan->sub_size, codes, plan->sub_size * sizeof codes[0]);
        }
    }
    return best;
}

static void assign_lines(const struct affine_plan *plan, const float *x, const struct line *wishes,
                         bool diagonals, struct affine_trial *trial) {
    float d = vf_f16_decode(trial->d);
    float dmin = vf_f16_decode(trial->dmin);
    trial->error = 0.0f;
    for (uint32_t g = 0; g < plan->sub_count; g++) {
        struct line middle = {d > 0.0f ? wishes[g].scale / d : 0.0f,
                              dmin > 0.0f ? wishes[g].minimum / dmin : 0.0f};
        middle.scale = vf_round_even(clamp(middle.scale, 0.0f, plan->scale_max));
        middle.minimum = vf_round_even(clamp(middle.minimum, 0.0f, plan->scale_max));
        trial->error += assign_line(plan, x + g * plan->sub_size, middle, diagonals, trial, g);
    }
}

/*
 * Step 3. With w = scale * code and u = minimum, minimises sum (x - d w + dmin u)^2:
 * d ww - dmin wu = xw and d wu - dmin uu = xu.
 */
static void refit_trial(const struct affine_plan *plan, const float *x,
                        const struct affine_trial *trial, uint16_t *d, uint16_t *dmin) {
    double ww = 0, wu = 0, uu = 0, xw = 0, xu = 0;
    for (uint32_t g = 0; g < plan->sub_count; g++) {
        uint32_t first = g * plan->sub_size;
        struct sums s = sum_products(x + first, 0.0f, trial->codes + first, plan->sub_size);
        double scale = (double)trial->scales[g];
        double minimum = (double)trial->minimums[g];
        ww += scale * scale * (double)s.qq;
        wu += scale * minimum * (double)s.q;
        uu += minimum * minimum * (double)plan->sub_size;
        xw += scale * (double)s.xq;
        xu += minimum * (double)s.x;
    }
    double determinant = ww * uu - wu * wu;
    *d = trial->d;
    *dmin = trial->dmin;
    if (uu == 0.0 && ww > 0.0) {
        *d = encode_scale((float)(xw / ww));
    } else if (determinant > 1e-9 * ww * uu) {
        *d = encode_scale((float)((xw * uu - xu * wu) / determinant));
        *dmin = encode_scale((float)((xw * wu - xu * ww) / determinant));
    }
}

static void improve_trial(const struct affine_plan *plan, const float *x, const struct line *wishes,
                          struct affine_trial *best, float d, float dmin) {
    struct affine_trial trial;
    trial.d = encode_scale(d);
    trial.dmin = encode_scale(dmin);
    for (uint32_t round = 0; round < 3; round++) {
        assign_lines(plan, x, wishes, round == 0, &trial);
        if (!(trial.error < best->error)) {
            return;
        }
        *best = trial;
        refit_trial(plan, x, best, &trial.d, &trial.dmin);
        if (trial.d == best->d && trial.dmin == best->dmin) {
            return;
        }
    }
}

static void search_lines(const struct affine_plan *plan, const float *x,
                         struct affine_trial *best) {
    struct line wishes[SUB_MAX] = {{0}};
    struct line largest = {0.0f, 0.0f};
    for (uint32_t g = 0; g < plan->sub_count; g++) {
        wishes[g] = find_line(plan, x + g * plan->sub_size);
        largest.scale = fmaxf(largest.scale, wishes[g].scale);
        largest.minimum = fmaxf(largest.minimum, wishes[g].minimum);
    }
    best->error = INFINITY; /* the first trial wins, all-zero blocks included */
    float d = largest.scale / plan->scale_max;
    float dmin = largest.minimum / plan->scale_max;
    improve_trial(plan, x, wishes, best, d, dmin);
}

static const struct affine_plan plan_q2 = {16, 16, 3.0f, 15.0f, 2.4f, 0.125f, 11};
static const struct affine_plan plan_q4 = {8, 32, 15.0f, 63.0f, 13.8f, 0.3f, 8};
static const struct affine_plan plan_q5 = {8, 32, 31.0f, 63.0f, 30.0f, 0.4f, 6};

void vf_quantize_q2_k(const float *x, uint8_t *block) {
    struct affine_trial best;
    search_lines(&plan_q2, x, &best);
    memset(block, 0, 84);
    for (uint32_t g = 0; g < 16; g++) {
        block[g] = (uint8_t)((int32_t)best.scales[g] | (int32_t)best.minimums[g] << 4);
    }
    for (uint32_t e = 0; e < 256; e++) {
        int32_t code = (int32_t)best.codes[e];
        block[16 + 32 * (e / 128) + e % 32] |= (uint8_t)(code << 2 * (e % 128 / 32));
    }
    vf_store_u16(block + 80, best.d);
    vf_store_u16(block + 82, best.dmin);
}

void vf_pack_scale_min(uint8_t packed[12], const uint8_t scales[8], const uint8_t minimums[8]) {
    for (uint32_t j = 0; j < 4; j++) {
        packed[j] = (uint8_t)((scales[j] & 63) | scales[j + 4] >> 4 << 6);
        packed[j + 4] = (uint8_t)((minimums[j] & 63) | minimums[j + 4] >> 4 << 6);
        packed[j + 8] = (uint8_t)((scales[j + 4] & 15) | (minimums[j + 4] & 15) << 4);
    }
}

/* d, dmin, scales and the low nibbles at `nibbles`: what q4_k and q5_k share. */
static void store_affine(const struct affine_trial *trial, uint8_t *block, uint8_t *nibbles) {
    uint8_t scales[8];
    uint8_t minimums[8];
    for (uint32_t j = 0; j < 8; j++) {
        scales[j] = (uint8_t)(int32_t)trial->scales[j];
        minimums[j] = (uint8_t)(int32_t)trial->minimums[j];
    }
    vf_store_u16(block, trial->d);
    vf_store_u16(block + 2, trial->dmin);
    vf_pack_scale_min(block + 4, scales, minimums);
    memset(nibbles, 0, 128);
    for (uint32_t e = 0; e < 256; e++) {
        int32_t code = (int32_t)trial->codes[e];
        nibbles[32 * (e / 64) + e % 32] |= (uint8_t)((code & 15) << (e % 64 < 32 ? 0 : 4));
    }
}

void vf_quantize_q4_k(const float *x, uint8_t *block) {
    struct affine_trial best;
    search_lines(&plan_q4, x, &best);
    store_affine(&best, block, block + 16);
}

void vf_quantize_q5_k(const float *x, uint8_t *block) {
    struct affine_trial best;
    search_lines(&plan_q5, x, &best);
    store_affine(&best, block, block + 48);
    memset(block + 16, 0, 32);
    for (uint32_t e = 0; e < 256; e++) {
        int32_t code = (int32_t)best.codes[e];
        block[16 + e % 32] |= (uint8_t)(code >> 4 << e / 32);
    }
}
