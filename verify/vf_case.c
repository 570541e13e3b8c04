/* SPDX-License-Identifier: MIT */
#include "vf_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum kiln_result case_format_id(struct vf_case *problem) {
    size_t used = 0;
    const size_t size = sizeof problem->id;

    problem->id[0] = '\0';
    for (size_t i = 0; i < problem->dim_count && used < size; i++) {
        used += (size_t)snprintf(problem->id + used, size - used, "%s%" PRIu64, i ? "x" : "",
                                 problem->dims[i].value);
    }
    if (problem->group_limit && used < size) {
        used += (size_t)snprintf(problem->id + used, size - used, "-groups%" PRIu32,
                                 problem->group_limit);
    }
    if (problem->window_count && used < size) {
        used += (size_t)snprintf(problem->id + used, size - used, "-windows%" PRIu32,
                                 problem->window_count);
    }
    return used < size ? KILN_OK : KILN_ERR_LIMIT;
}

enum kiln_result vf_case_add(struct vf_case_list *list, const struct vf_case *problem) {
    struct vf_case copy = *problem;
    enum kiln_result result = case_format_id(&copy);

    if (result != KILN_OK) {
        return result;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->cases[i].id, copy.id) == 0) {
            list->cases[i].suites |= copy.suites;
            return KILN_OK;
        }
    }
    if (list->count == list->capacity) {
        struct vf_case *grown =
            mf_arena_grow(list->arena, list->cases, list->count, &list->capacity, sizeof *grown);
        if (!grown) {
            return KILN_ERR_MEMORY;
        }
        list->cases = grown;
    }
    list->cases[list->count++] = copy;
    return KILN_OK;
}

enum kiln_result vf_case_add_rows(struct vf_case_list *list, const char *const *dim_names,
                                  size_t dim_count, const struct vf_case_row *rows,
                                  size_t row_count) {
    enum kiln_result result = dim_count <= VF_DIM_MAX ? KILN_OK : KILN_ERR_ARGUMENT;

    for (size_t i = 0; i < row_count && result == KILN_OK; i++) {
        struct vf_case problem = {
            .dim_count = dim_count,
            .suites = rows[i].suites,
            .group_limit = rows[i].group_limit,
            .window_count = rows[i].window_count,
        };
        for (size_t j = 0; j < dim_count; j++) {
            problem.dims[j] = (struct mf_dim){dim_names[j], rows[i].dims[j]};
        }
        result = vf_case_add(list, &problem);
    }
    return result;
}

bool vf_case_fits(const struct vf_case *problem, const struct mf_artifact *artifact) {
    bool windows = false;

    for (size_t i = 0; i < artifact->push_count; i++) {
        windows = windows || strcmp(artifact->push[i].name, "row_first") == 0;
    }
    return (!problem->group_limit || artifact->grid.fold) && (!problem->window_count || windows) &&
           mf_artifact_check_dims(artifact, problem->dims, problem->dim_count, NULL) == KILN_OK;
}

uint64_t vf_case_dim(const struct vf_case *problem, const char *name) {
    for (size_t i = 0; i < problem->dim_count; i++) {
        if (strcmp(problem->dims[i].name, name) == 0) {
            return problem->dims[i].value;
        }
    }
    return 0;
}

unsigned vf_suite_find(const char *name) {
    static const char *const names[] = {"quick", "seeds", "full"};

    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1U << i;
        }
    }
    return 0;
}
