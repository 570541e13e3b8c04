/* SPDX-License-Identifier: MIT */
#include "vf_mixture.h"
#include "vf_operand.h"
#include "vf_ref.h"

#include <string.h>

/* Injected limits: small enough to fold the grid over three axes, and to split the experts. */
enum { FOLD_GROUP_LIMIT = 7, WINDOW_COUNT = 3 };

static enum kiln_result matmul_id_list_cases(const enum mf_dtype *dtypes,
                                             struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    enum { EVEN = VF_SPREAD_EVEN, UNEVEN = VF_SPREAD_UNEVEN, ONE = VF_SPREAD_ONE };
    static const char *const dims[] = {"experts", "nout", "k", "t", "topk", "slots", "spread"};
    const struct mf_dtype_info *info = mf_dtype_info(dtypes[0]);
    /* The smallest k: the block, but at least 32, which every kernel may rely on. */
    const uint64_t unit = info && info->block_elements > 32 ? info->block_elements : 32;
    const struct vf_case_row rows[] = {
        /* More slots of one expert than tokens: every schedule has several tiles in one group. */
        {{2, 64, 256, 68, 2, 1, ONE}, QUICK | SEEDS | FULL, 0, 0},
        {{8, 67, 3 * unit, 5, 2, 2, EVEN}, QUICK | SEEDS | FULL, 0, 0},
        {{16, 768, 2048, 32, 8, 1, UNEVEN}, SEEDS | FULL, 0, 0},
        {{16, 2048, 768, 32, 8, 8, UNEVEN}, FULL, 0, 0},
        {{8, 323, 256, 5, 2, 1, UNEVEN}, SEEDS | FULL, 0, 0},
        {{4, 129, 5 * unit, 150, 3, 3, UNEVEN}, FULL, 0, 0},
        {{1, 1, unit, 1, 1, 1, EVEN}, FULL, 0, 0},
        {{1, 33, unit, 65, 1, 1, EVEN}, FULL, 0, 0},
        {{128, 64, 256, 64, 8, 1, EVEN}, FULL, 0, 0},
        {{1, 33, unit, 8, 2, 1, EVEN}, FULL, 0, 0}, /* more slots without an expert than groups */
        {{9, 130, 256, 70, 3, 1, EVEN}, FULL, FOLD_GROUP_LIMIT, 0},
        {{8, 512, 256, 5, 3, 3, EVEN}, FULL, 0, WINDOW_COUNT}, /* a third exceeds x and y */
        {{8, 64, 256, 0, 2, 1, EVEN}, FULL, 0, 0},
        {{8, 0, 256, 3, 2, 1, EVEN}, FULL, 0, 0},
    };

    const enum kiln_result result = vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                                                     sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < list->count; i++) {
        list->cases[i].data_dim_count = 1;
    }
    return result;
}

static enum kiln_result matmul_id_prepare(const struct vf_case *problem,
                                          const enum mf_dtype *dtypes, uint64_t seed,
                                          struct vf_problem *out, struct kiln_error *error) {
    const enum vf_mixture_spread spread = (enum vf_mixture_spread)vf_case_dim(problem, "spread");
    struct vf_mixture m;

    if (dtypes[1] != MF_DTYPE_F32 && dtypes[1] != MF_DTYPE_F16) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "matmul_id %s: x not f32 or f16",
                              problem->id);
    }
    enum kiln_result result =
        vf_mixture_make(problem, dtypes[0], dtypes[1], spread, seed, &out->arena, &m, error);
    if (result != KILN_OK) {
        return result;
    }
    const uint64_t slot_count = m.t * m.topk;
    int32_t *perm = mf_arena_alloc(&out->arena, (size_t)slot_count + 1, sizeof *perm);
    int32_t *offsets = mf_arena_alloc(&out->arena, (size_t)m.experts + 1, sizeof *offsets);
    result = perm && offsets ? KILN_OK : KILN_ERR_MEMORY;
    if (result == KILN_OK) {
        vf_mixture_group(m.ids, slot_count, m.experts, offsets, perm);
        vf_mixture_weights(&m, out);
        vf_problem_input(out, "perm", perm, slot_count * sizeof *perm);
        vf_problem_input(out, "offsets", offsets, (m.experts + 1) * sizeof *offsets);
        result = vf_operand_activations(out, "x", dtypes[1], m.x, m.t * m.slots * m.k);
    }
    vf_problem_output(out, "y", m.y, slot_count * m.nout);
    out->params[out->param_count++] = kiln_param_u64("expert_count", m.experts);
    return result == KILN_OK ? KILN_OK
                             : kiln_error_set(error, result, "matmul_id %s: %s", problem->id,
                                              kiln_result_string(result));
}

/* The design's gate, and a narrower one where all arithmetic is in f32. */
static struct mf_tolerance matmul_id_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    gate.scale = strncmp(artifact->tier, "coopmat", 7) == 0 ? 1e-2 : 1e-4;
    return gate;
}

const struct vf_family vf_ref_matmul_id = {
    .reference = "matmul_id",
    .shared_dtype_count = 2,
    .list_cases = matmul_id_list_cases,
    .prepare = matmul_id_prepare,
    .ceiling = matmul_id_ceiling,
};
