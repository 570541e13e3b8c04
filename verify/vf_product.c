/* SPDX-License-Identifier: MIT */
#include "vf_product.h"

#include "vf_decode.h"
#include "vf_f16.h"
#include "vf_operand.h"
#include "vf_pseudo.h"
#include "vf_quantize.h"

#include <string.h>

/* Injected limits: small enough to fold the groups over three axes, and to split the rows. */
enum { FOLD_GROUP_LIMIT = 7, WINDOW_COUNT = 3 };

/* Rows and tokens whose sums are kept in registers together. */
enum { SIDE = 4 };

/* One shape's data: the product of more tokens begins with the product of fewer. */
struct product {
    uint64_t t, nout, k;
    enum mf_dtype dtype, x_dtype;
    uint64_t seed, row_bytes, x_row_bytes;
    uint8_t *weights;    /* nout rows */
    const void *x_bytes; /* t rows of x_dtype */
    double *y;           /* [t][nout] */
};

static enum kiln_result add_case(struct vf_case_list *list, uint64_t t, uint64_t nout, uint64_t k,
                                 unsigned suites, uint32_t group_limit, uint32_t window_count) {
    const struct vf_case problem = {
        .dims = {{"t", t}, {"nout", nout}, {"k", k}},
        .dim_count = 3,
        .suites = suites,
        .group_limit = group_limit,
        .window_count = window_count,
    };

    return vf_case_add(list, &problem);
}

/*
 * Every number of tokens around the tiles' edges, with every shape. The most tokens come first: the
 * others of a shape are then the head of the same product.
 */
static enum kiln_result add_table(struct vf_case_list *list) {
    static const uint64_t tokens[] = {512, 200, 100, 65, 64, 17, 16, 8, 7, 5, 2, 1};
    static const uint64_t shapes[][2] = {
        {512, 256}, {320, 1024}, {256, 4096}, {2048, 2048}, {4096, 2048}};
    enum kiln_result result = KILN_OK;

    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (size_t i = 0; i < sizeof tokens / sizeof tokens[0] && result == KILN_OK; i++) {
            const uint64_t t = tokens[i];
            unsigned suites = VF_SUITE_FULL;
            if (s == 0 || (s == 1 && t <= 65) || (s > 1 && (t == 2 || t == 17))) {
                suites |= VF_SUITE_SEEDS;
            }
            result = add_case(list, t, shapes[s][0], shapes[s][1], suites, 0, 0);
        }
    }
    return result == KILN_OK ? add_case(list, 100, 4032, 4096, VF_SUITE_FULL, 0, 0) : result;
}

enum kiln_result vf_product_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    const struct mf_dtype_info *info = mf_dtype_info(dtypes[0]);
    /* The smallest k: the block, but at least 32, which every kernel may rely on. */
    const uint64_t unit = info && info->block_elements > 32 ? info->block_elements : 32;
    /* Types without blocks may end a row at any run of eight elements. */
    const uint64_t ragged = info && info->block_elements < 8 ? 104 : 3 * unit;
    const struct {
        uint64_t t, nout, k;
        unsigned suites;
        uint32_t group_limit, window_count;
    } rows[] = {
        {17, 512, 256, QUICK | SEEDS | FULL, 0, 0},
        {5, 323, ragged, QUICK | SEEDS | FULL, 0, 0},
        {1, 1, unit, SEEDS | FULL, 0, 0},
        {67, 129, 5 * unit, SEEDS | FULL, 0, 0},
        {9, 65, 8 * unit, FULL, 0, 0},
        {130, 512, 256, FULL, FOLD_GROUP_LIMIT, 0},
        {2, 4099, 256, FULL, 0, WINDOW_COUNT}, /* a third of the weights exceeds x and y */
        {0, 512, 256, FULL, 0, 0},
        {5, 0, 256, FULL, 0, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const enum kiln_result result =
            add_case(list, rows[i].t, rows[i].nout, rows[i].k, rows[i].suites, rows[i].group_limit,
                     rows[i].window_count);
        if (result != KILN_OK) {
            return result;
        }
    }
    return add_table(list);
}

/*
 * Element-major panels of SIDE rows: element c of row SIDE p + i is at (p count + c) SIDE + i. Rows
 * past the end are left 0.
 */
static void panels_fill(const float *rows, uint64_t row_count, uint64_t count, double *panels) {
    for (uint64_t row = 0; row < row_count; row++) {
        double *at = panels + row / SIDE * count * SIDE + row % SIDE;
        for (uint64_t c = 0; c < count; c++) {
            at[c * SIDE] = (double)rows[row * count + c];
        }
    }
}

/* sums[i][j] = sum over c of a[c][i] b[c][j], c ascending. */
static void panel_multiply(const double *restrict a, const double *restrict b, uint64_t count,
                           double sums[SIDE][SIDE]) {
    double s[SIDE][SIDE] = {{0}};

    for (uint64_t c = 0; c < count; c++) {
        for (unsigned i = 0; i < SIDE; i++) {
            for (unsigned j = 0; j < SIDE; j++) {
                s[i][j] += a[c * SIDE + i] * b[c * SIDE + j];
            }
        }
    }
    memcpy(sums, s, sizeof s);
}

/* What making one needs. */
struct scratch {
    float *rows;      /* SIDE decoded rows of weights */
    double *panel;    /* the same, as a panel */
    double *x_panels; /* all tokens */
};

static enum kiln_result multiply(const struct product *m, const struct scratch *scratch) {
    for (uint64_t first = 0; first < m->nout; first += SIDE) {
        const uint64_t row_count = m->nout - first < SIDE ? m->nout - first : SIDE;
        for (uint64_t i = 0; i < row_count; i++) {
            const enum kiln_result result =
                vf_operand_row(m->dtype, first + i, m->k, m->seed,
                               m->weights + (first + i) * m->row_bytes, scratch->rows + i * m->k);
            if (result != KILN_OK) {
                return result;
            }
        }
        panels_fill(scratch->rows, row_count, m->k, scratch->panel);
        for (uint64_t token = 0; token < m->t; token += SIDE) {
            double sums[SIDE][SIDE];
            panel_multiply(scratch->x_panels + token * m->k, scratch->panel, m->k, sums);
            for (uint64_t i = 0; i < SIDE && token + i < m->t; i++) {
                memcpy(m->y + (token + i) * m->nout + first, sums[i],
                       (size_t)row_count * sizeof sums[i][0]);
            }
        }
    }
    return KILN_OK;
}

/* Rounds x to what x_dtype holds and sets x_bytes; x itself where that is f32. */
static enum kiln_result product_round(struct product *m, float *x, struct mf_arena *arena) {
    const uint64_t count = m->t * m->k;

    if (m->x_dtype == MF_DTYPE_F32) {
        m->x_bytes = x;
        return KILN_OK;
    }
    if (m->x_dtype == MF_DTYPE_F16) {
        uint16_t *halves = mf_arena_alloc(arena, (size_t)count + 1, sizeof *halves);
        for (uint64_t i = 0; halves && i < count; i++) {
            halves[i] = vf_f16_encode(x[i]);
            x[i] = vf_f16_decode(halves[i]);
        }
        m->x_bytes = halves;
        return halves ? KILN_OK : KILN_ERR_MEMORY;
    }
    uint8_t *blocks = mf_arena_alloc(arena, (size_t)m->t + 1, (size_t)m->x_row_bytes);
    if (!blocks) {
        return KILN_ERR_MEMORY;
    }
    m->x_bytes = blocks;
    const enum kiln_result result = vf_quantize(m->x_dtype, x, count, blocks);
    return result == KILN_OK ? vf_decode(m->x_dtype, blocks, count, x) : result;
}

static enum kiln_result product_make(struct product *m, struct mf_arena *arena) {
    const size_t k = (size_t)m->k;
    const size_t padded_t = ((size_t)m->t + SIDE - 1) / SIDE * SIDE;
    float *x = mf_arena_alloc(arena, (size_t)m->t * k + 1, sizeof *x);
    const struct scratch scratch = {
        .rows = mf_arena_alloc(arena, SIDE * k, sizeof *scratch.rows),
        .panel = mf_arena_alloc(arena, SIDE * k, sizeof *scratch.panel),
        .x_panels = mf_arena_alloc(arena, padded_t * k + 1, sizeof *scratch.x_panels),
    };

    m->weights = mf_arena_alloc(arena, (size_t)m->nout + 1, (size_t)m->row_bytes);
    m->y = mf_arena_alloc(arena, (size_t)m->t * (size_t)m->nout + 1, sizeof *m->y);
    if (!x || !m->weights || !scratch.rows || !scratch.panel || !scratch.x_panels || !m->y) {
        return KILN_ERR_MEMORY;
    }
    vf_pseudo_fill(x, (size_t)m->t * k, 1, m->seed, 1.0F);
    const enum kiln_result result = product_round(m, x, arena);
    if (result != KILN_OK) {
        return result;
    }
    panels_fill(x, m->t, m->k, scratch.x_panels);
    return multiply(m, &scratch);
}

static bool product_has(const struct product *made, const struct product *asked) {
    return made->t >= asked->t && made->nout == asked->nout && made->k == asked->k &&
           made->dtype == asked->dtype && made->x_dtype == asked->x_dtype &&
           made->seed == asked->seed;
}

/* The product asked for, or one of more tokens: the memo's, which is made anew if need be. */
static enum kiln_result product_get(const struct product *asked, struct vf_problem *problem,
                                    const struct product **out) {
    struct vf_memo *memo = problem->memo;
    struct mf_arena *arena = memo ? &memo->arena : &problem->arena;

    if (memo && memo->value && product_has(memo->value, asked)) {
        *out = memo->value;
        return KILN_OK;
    }
    if (memo) {
        vf_memo_release(memo);
    }
    struct product *made = mf_arena_alloc(arena, 1, sizeof *made);
    if (!made) {
        return KILN_ERR_MEMORY;
    }
    *made = *asked;
    const enum kiln_result result = product_make(made, arena);
    if (result == KILN_OK) {
        *out = made;
        if (memo) {
            memo->value = made;
        }
    }
    return result;
}

enum kiln_result vf_product_prepare(const char *family, const struct vf_case *problem,
                                    const enum mf_dtype *dtypes, uint64_t seed,
                                    struct vf_problem *out, struct kiln_error *error) {
    struct product asked = {.t = vf_case_dim(problem, "t"),
                            .nout = vf_case_dim(problem, "nout"),
                            .k = vf_case_dim(problem, "k"),
                            .dtype = dtypes[0],
                            .x_dtype = dtypes[1],
                            .seed = seed};
    const struct product *m = NULL;
    enum kiln_result result = mf_dtype_row_bytes(asked.dtype, asked.k, &asked.row_bytes);

    if (result == KILN_OK) {
        result = mf_dtype_row_bytes(asked.x_dtype, asked.k, &asked.x_row_bytes);
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "%s %s: k is no multiple of a block", family,
                              problem->id);
    }
    result = product_get(&asked, out, &m);
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "%s %s: cannot make the data: %s", family, problem->id,
                              kiln_result_string(result));
    }
    struct vf_buffer *buffer =
        vf_problem_input(out, "weights", m->weights, asked.nout * asked.row_bytes);
    buffer->row_dim = "nout";
    buffer->row_bytes = asked.row_bytes;
    vf_problem_input(out, "x", m->x_bytes, asked.t * asked.x_row_bytes);
    vf_problem_output(out, "y", m->y, asked.t * asked.nout);
    out->params[out->param_count++] = kiln_param_u64("y_stride", asked.nout);
    return KILN_OK;
}
