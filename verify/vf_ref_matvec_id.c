/* SPDX-License-Identifier: MIT */
#include "vf_mixture.h"
#include "vf_operand.h"
#include "vf_ref.h"

#include <string.h>

/* Injected limits: small enough to fold the grid over three axes, and to split the experts. */
enum { FOLD_GROUP_LIMIT = 7, WINDOW_COUNT = 3 };

static enum kiln_result matvec_id_list_cases(const enum mf_dtype *dtypes,
                                             struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const struct {
        uint64_t experts, nout, k, t, topk, slots;
        unsigned suites;
        uint32_t group_limit, window_count;
    } rows[] = {
        {8, 256, 256, 2, 2, 1, QUICK | SEEDS | FULL, 0, 0},
        {5, 7, 2304, 3, 3, 3, QUICK | SEEDS | FULL, 0, 0},
        {8, 256, 256, 2, 2, 2, SEEDS | FULL, 0, 0},
        {16, 512, 256, 3, 4, 1, SEEDS | FULL, 0, 0},
        {16, 512, 256, 3, 4, 4, FULL, 0, 0},
        {4, 768, 512, 1, 2, 1, SEEDS | FULL, 0, 0},
        {4, 768, 512, 1, 2, 2, FULL, 0, 0},
        {128, 768, 2048, 1, 8, 1, SEEDS | FULL, 0, 0},
        {128, 2048, 768, 1, 8, 8, SEEDS | FULL, 0, 0},
        {8, 256, 256, 2, 2, 1, FULL, FOLD_GROUP_LIMIT, 0},
        {8, 64, 256, 5, 3, 3, FULL, 0, WINDOW_COUNT},
        {1, 33, 256, 3, 1, 1, FULL, 0, 0},
        {8, 256, 256, 0, 2, 1, FULL, 0, 0},
    };

    (void)dtypes;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct vf_case problem = {
            .dims = {{"experts", rows[i].experts},
                     {"nout", rows[i].nout},
                     {"k", rows[i].k},
                     {"t", rows[i].t},
                     {"topk", rows[i].topk},
                     {"slots", rows[i].slots}},
            .dim_count = 6,
            .suites = rows[i].suites,
            .group_limit = rows[i].group_limit,
            .window_count = rows[i].window_count,
        };
        const enum kiln_result result = vf_case_add(list, &problem);

        if (result != KILN_OK) {
            return result;
        }
    }
    return KILN_OK;
}

static enum kiln_result matvec_id_prepare(const struct vf_case *problem,
                                          const enum mf_dtype *dtypes, uint64_t seed,
                                          struct vf_problem *out, struct kiln_error *error) {
    struct vf_mixture m;
    enum kiln_result result = vf_mixture_make(problem, dtypes[0], dtypes[1], VF_SPREAD_EVEN, seed,
                                              &out->arena, &m, error);

    if (result != KILN_OK) {
        return result;
    }
    vf_mixture_weights(&m, out);
    vf_problem_input(out, "ids", m.ids, m.t * m.topk * sizeof *m.ids);
    result = vf_operand_activations(out, "x", dtypes[1], m.x, m.t * m.slots * m.k);
    vf_problem_output(out, "y", m.y, m.t * m.topk * m.nout);
    out->params[out->param_count++] = kiln_param_u64("expert_count", m.experts);
    return result == KILN_OK ? KILN_OK
                             : kiln_error_set(error, result, "matvec_id %s: %s", problem->id,
                                              kiln_result_string(result));
}

/* Gates of the design's table. */
static struct mf_tolerance matvec_id_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    if (strcmp(artifact->tier, "dp4a") == 0) {
        gate.scale = 1e-2;
    } else if (strncmp(artifact->schedule, "block", 5) == 0) {
        gate.scale = 1e-3;
    } else {
        gate.max_abs = 1e-3;
    }
    return gate;
}

const struct vf_family vf_ref_matvec_id = {
    .reference = "matvec_id",
    .shared_dtype_count = 2,
    .list_cases = matvec_id_list_cases,
    .prepare = matvec_id_prepare,
    .ceiling = matvec_id_ceiling,
};
