/* SPDX-License-Identifier: MIT */
#include "vf_mixture.h"
#include "vf_ref.h"

enum { FOLD_GROUP_LIMIT = 3 };

static enum kiln_result group_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    enum { EVEN = VF_SPREAD_EVEN, UNEVEN = VF_SPREAD_UNEVEN, ONE = VF_SPREAD_ONE };
    static const char *const dims[] = {"experts", "t", "topk", "spread"};
    const struct vf_case_row rows[] = {
        {{16, 32, 8, UNEVEN}, QUICK | SEEDS | FULL, 0, 0},
        {{5, 203, 3, EVEN}, QUICK | SEEDS | FULL, 0, 0},
        {{128, 512, 8, EVEN}, SEEDS | FULL, 0, 0},
        {{128, 512, 8, UNEVEN}, SEEDS | FULL, 0, 0},
        {{128, 512, 8, ONE}, FULL, 0, 0},
        {{257, 100, 6, UNEVEN}, FULL, 0, 0},
        {{1024, 64, 10, EVEN}, FULL, 0, 0},
        {{60, 16411, 4, UNEVEN}, FULL, 0, 0},
        {{8, 1, 2, EVEN}, FULL, 0, 0},
        {{8, 256, 1, EVEN}, FULL, 0, 0},
        {{1, 65, 1, EVEN}, FULL, 0, 0},
        {{1, 1, 1, EVEN}, FULL, 0, 0},
        {{37, 70, 4, UNEVEN}, FULL, FOLD_GROUP_LIMIT, 0},
        {{8, 0, 2, EVEN}, FULL, 0, 0},
    };

    (void)dtypes;
    const enum kiln_result result = vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                                                     sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < list->count; i++) {
        list->cases[i].data_dim_count = 1;
    }
    return result;
}

static double *widen(struct mf_arena *arena, const int32_t *values, uint64_t count) {
    double *wide = mf_arena_alloc(arena, (size_t)count + 1, sizeof *wide);

    for (uint64_t i = 0; wide && i < count; i++) {
        wide[i] = values[i];
    }
    return wide;
}

static enum kiln_result group_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                      uint64_t seed, struct vf_problem *out,
                                      struct kiln_error *error) {
    const uint64_t experts = vf_case_dim(problem, "experts");
    const uint64_t t = vf_case_dim(problem, "t");
    const uint64_t topk = vf_case_dim(problem, "topk");
    const uint64_t slot_count = t * topk;
    const enum vf_mixture_spread spread = (enum vf_mixture_spread)vf_case_dim(problem, "spread");
    int32_t *ids = mf_arena_alloc(&out->arena, (size_t)slot_count + 1, sizeof *ids);
    int32_t *perm = mf_arena_alloc(&out->arena, (size_t)slot_count + 1, sizeof *perm);
    int32_t *offsets = mf_arena_alloc(&out->arena, (size_t)experts + 1, sizeof *offsets);
    double *wide_perm = NULL;
    double *wide_offsets = NULL;

    (void)dtypes;
    if (ids && perm && offsets) {
        vf_mixture_ids(ids, experts, t, topk, spread, seed);
        vf_mixture_group(ids, slot_count, experts, offsets, perm);
        wide_perm = widen(&out->arena, perm, slot_count);
        wide_offsets = widen(&out->arena, offsets, experts + 1);
    }
    if (!wide_perm || !wide_offsets) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "moe_group %s: out of memory", problem->id);
    }
    vf_problem_input(out, "ids", ids, slot_count * sizeof *ids);
    vf_problem_output(out, "offsets", wide_offsets, experts + 1)->dtype = MF_DTYPE_I32;
    vf_problem_output(out, "perm", wide_perm, slot_count)->dtype = MF_DTYPE_I32;
    return KILN_OK;
}

static struct mf_tolerance group_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    (void)artifact;
    gate.exact = true;
    return gate;
}

const struct vf_family vf_ref_moe_group = {
    .reference = "moe_group",
    .shared_dtype_count = 1,
    .list_cases = group_list_cases,
    .prepare = group_prepare,
    .ceiling = group_ceiling,
};
