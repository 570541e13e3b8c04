/* SPDX-License-Identifier: MIT */
#include "vf_f16.h"
#include "vf_pseudo.h"
#include "vf_ref.h"

#include <math.h>
#include <string.h>

enum { FOLD_GROUP_LIMIT = 3 };

static enum kiln_result copy_list_cases(const enum mf_dtype *dtypes, struct vf_case_list *list) {
    enum { QUICK = VF_SUITE_QUICK, SEEDS = VF_SUITE_SEEDS, FULL = VF_SUITE_FULL };
    static const char *const dims[] = {"count"};
    const struct vf_case_row rows[] = {
        {{4096}, QUICK | SEEDS | FULL, 0, 0},
        {{1021}, QUICK | SEEDS | FULL, 0, 0},
        {{1}, FULL, 0, 0},
        {{2}, FULL, 0, 0},
        {{(uint64_t)4096 * 256}, SEEDS | FULL, 0, 0},
        {{20001}, FULL, FOLD_GROUP_LIMIT, 0},
        {{0}, FULL, 0, 0},
    };

    (void)dtypes;
    return vf_case_add_rows(list, dims, sizeof dims / sizeof dims[0], rows,
                            sizeof rows / sizeof rows[0]);
}

/*
 * Every second element any half there is: subnormal, infinite, NaN. The others, of f32, have 24
 * significant bits and exponents around the ends of binary16.
 */
static float make_value(uint64_t i, uint64_t seed, bool half) {
    const uint64_t bits = vf_pseudo_bits(seed + i);

    if (half || i % 2 == 0) {
        return vf_f16_decode((uint16_t)(bits >> 48));
    }
    return ldexpf(vf_pseudo(seed + i), (int)(bits % 48) - 28);
}

static enum kiln_result copy_prepare(const struct vf_case *problem, const enum mf_dtype *dtypes,
                                     uint64_t seed, struct vf_problem *out,
                                     struct kiln_error *error) {
    const uint64_t count = vf_case_dim(problem, "count");
    const bool half = dtypes[0] == MF_DTYPE_F16;
    const size_t element_bytes = half ? 2 : 4;
    uint8_t *source = mf_arena_alloc(&out->arena, (size_t)count + 1, element_bytes);
    double *expected = mf_arena_alloc(&out->arena, (size_t)count + 1, sizeof *expected);

    if (!source || !expected) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "copy %s: out of memory", problem->id);
    }
    for (uint64_t i = 0; i < count; i++) {
        const float value = make_value(i, seed, half);
        const uint16_t bits = vf_f16_encode(value);
        memcpy(source + i * element_bytes, half ? (const void *)&bits : (const void *)&value,
               element_bytes);
        expected[i] = (double)value;
    }
    vf_problem_input(out, "source", source, count * element_bytes);
    struct vf_buffer *output = vf_problem_output(out, "target", expected, count);
    output->dtype_index = 1;
    output->non_finite = true;
    return KILN_OK;
}

static struct mf_tolerance copy_ceiling(const struct mf_artifact *artifact) {
    struct mf_tolerance gate = vf_tolerance_none();

    if (artifact->dtype_count > 1 && strcmp(artifact->dtypes[0], "f32") == 0 &&
        strcmp(artifact->dtypes[1], "f16") == 0) {
        gate.ulp_f16 = 1;
    } else {
        gate.exact = true;
    }
    return gate;
}

const struct vf_family vf_ref_copy = {
    .reference = "copy",
    .shared_dtype_count = 1,
    .list_cases = copy_list_cases,
    .prepare = copy_prepare,
    .ceiling = copy_ceiling,
};
