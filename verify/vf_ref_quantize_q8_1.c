/* SPDX-License-Identifier: MIT */
#include "vf_judge.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

enum { FOLD_GROUP_LIMIT = 3 };

static enum kiln_result quantize_list_cases(const enum mf_dtype *dtypes,
                                            struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const char *const dims[] = {"rows", "k"};
    const struct vf_case_row rows[] = {
        {{8, 2048}, QUICK | SEEDS | FULL, 0, 0},
        {{3, 544}, QUICK | SEEDS | FULL, 0, 0},
        {{1, 32}, FULL, 0, 0},
        {{1, 2048}, SEEDS | FULL, 0, 0},
        {{1, 4096}, SEEDS | FULL, 0, 0},
        {{200, 4096}, SEEDS | FULL, 0, 0},
        {{512, 2048}, FULL, 0, 0},
        {{4099, 32}, FULL, 0, 0},
        {{37, 96}, FULL, FOLD_GROUP_LIMIT, 0},
        {{0, 256}, FULL, 0, 0},
    };

    (void)dtypes;
    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

void vf_quantize_input(float *x, uint64_t count, uint64_t seed) {
    /* Every eighth block has its own magnitude, from 2^-12 to 2^12; one in 16 is all zero. */
    vf_pseudo_fill(x, (size_t)count, 0, seed, 1.0F);
    for (uint64_t b = 0; b < count / 32; b++) {
        const uint64_t bits = vf_pseudo_bits(~seed + b);
        float factor = 1.0F;
        if (b % 8 == 3) {
            factor = bits & 64 ? (float)(1 << bits % 13) : 1.0F / (float)(1 << bits % 13);
        } else if (b % 16 == 5) {
            factor = 0.0F;
        }
        for (uint64_t e = 0; e < 32; e++) {
            x[32 * b + e] *= factor;
        }
        if (b % 8 == 1) {
            /* Ties of magnitude with both signs, and codes on the edge between two. */
            x[32 * b + bits % 32] = -1.0F;
            x[32 * b + (bits >> 8) % 32] = 1.0F;
            x[32 * b + (bits >> 16) % 32] = 0.5F;
        }
    }
}

static enum kiln_result quantize_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                         uint64_t seed, struct vf_problem *out,
                                         struct kiln_error *error) {
    const uint64_t rows = vf_case_dim(problem, "rows");
    const uint64_t k = vf_case_dim(problem, "k");
    float *x = mf_arena_alloc(&out->arena, (size_t)(rows * k) + 1, sizeof *x);

    if (!x) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "quantize %s: out of memory", problem->id);
    }
    vf_quantize_input(x, rows * k, seed);
    vf_problem_input(out, "x", x, rows * k * sizeof *x);
    const enum kiln_result result =
        vf_expect_blocks(out, "blocks", dtypes[1], x, rows, k, NULL, rows, NULL);
    return result == KILN_OK ? KILN_OK
                             : kiln_error_set(error, result, "quantize %s: %s", problem->id,
                                              kiln_result_string(result));
}

static struct mf_tolerance quantize_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    (void)artifact;
    gate.exact = true;
    return gate;
}

const struct vf_family vf_ref_quantize_q8_1 = {
    .reference = "quantize_q8_1",
    .shared_dtype_count = 2,
    .list_cases = quantize_list_cases,
    .prepare = quantize_prepare,
    .ceiling = quantize_ceiling,
};
