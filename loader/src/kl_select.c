/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KL_GROUPS_ENOUGH 256.0 /* below it more groups are better: processors would idle */

/* Tiers from the plainest on; weight is the speed expected, portable = 1. */
static const struct kl_tier {
    const char *name;
    double weight;
    double weight_on_cpu;
    bool exact;
} tier_table[] = {
    {"portable", 1.0, 1.0, true},  {"subgroup", 2.0, 2.0, true},   {"dp4a", 3.0, 3.0, false},
    {"coopmat", 12.0, 0.5, false}, {"coopmat2", 16.0, 0.5, false}, {"imported", 1.0, 1.0, false},
};

static const struct kl_tier *kl_tier_find(const char *name) {
    for (size_t i = 0; i < sizeof(tier_table) / sizeof(tier_table[0]); i++) {
        if (strcmp(tier_table[i].name, name) == 0) {
            return &tier_table[i];
        }
    }
    return NULL;
}

enum kiln_result kiln_query_apply_environment(struct kiln_query *query, struct kiln_error *error) {
    const char *tier = getenv("KILN_TIER");
    if (query->tier || !tier || tier[0] == '\0') {
        return KILN_OK;
    }
    if (!kl_tier_find(tier)) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "KILN_TIER is \"%.64s\", expected portable, subgroup, dp4a, coopmat "
                              "or coopmat2",
                              tier);
    }
    query->tier = tier;
    return KILN_OK;
}

struct kl_candidate {
    const struct mf_artifact *artifact; /* NULL: none yet */
    double score;
    long step;          /* of the score, on a scale of eighths of an octave */
    double group_count; /* 0 when the query has no dims */
    double room;        /* how much larger the dimension nearest to its limit may be, as a factor */
};

static const struct mf_dim *kl_query_dim(const struct kiln_query *query, const char *name) {
    for (size_t i = 0; i < query->dim_count; i++) {
        if (strcmp(query->dims[i].name, name) == 0) {
            return &query->dims[i];
        }
    }
    return NULL;
}

/* The typed fields. Each reason is stored in *why with KILN_ERR_NO_VARIANT. */
static enum kiln_result kl_select_fields(const struct mf_artifact *artifact,
                                         const struct kiln_query *query, struct kiln_error *why) {
    bool same = query->dtype_count == 0 || query->dtype_count == artifact->dtype_count;
    for (size_t i = 0; same && i < query->dtype_count; i++) {
        same = strcmp(artifact->dtypes[i], query->dtypes[i]) == 0;
    }
    if (!same) {
        return kiln_error_set(why, KILN_ERR_NO_VARIANT, "other dtypes");
    }
    if (query->schedule && strcmp(artifact->schedule, query->schedule) != 0) {
        return kiln_error_set(why, KILN_ERR_NO_VARIANT, "schedule %s", artifact->schedule);
    }
    if (query->shape && strcmp(artifact->shape, query->shape) != 0) {
        return kiln_error_set(why, KILN_ERR_NO_VARIANT, "shape %s", artifact->shape);
    }
    const struct kl_tier *tier = kl_tier_find(artifact->tier);
    if (!tier) {
        return kiln_error_set(why, KILN_ERR_NO_VARIANT, "tier %s is not known to this loader",
                              artifact->tier);
    }
    if (query->tier && strcmp(artifact->tier, query->tier) != 0) {
        return kiln_error_set(why, KILN_ERR_NO_VARIANT, "tier %s, only %s is asked for",
                              artifact->tier, query->tier);
    }
    if (!query->tier && query->precision == KILN_PRECISION_EXACT && !tier->exact) {
        return kiln_error_set(why, KILN_ERR_NO_VARIANT, "tier %s is not exact", artifact->tier);
    }
    return KILN_OK;
}

/* Dimensions that the module has as constants: axis baked_<dim>. */
static enum kiln_result kl_select_baked(const struct mf_artifact *artifact,
                                        const struct kiln_query *query, struct kiln_error *why) {
    static const char prefix[] = "baked_";
    for (size_t i = 0; i < artifact->axis_count; i++) {
        const struct mf_axis *axis = &artifact->axes[i];
        if (strncmp(axis->name, prefix, sizeof(prefix) - 1) != 0) {
            continue;
        }
        const struct mf_dim *dim = kl_query_dim(query, axis->name + sizeof(prefix) - 1);
        if (!dim || dim->value != strtoull(axis->value, NULL, 10)) {
            return kiln_error_set(why, KILN_ERR_NO_VARIANT, "made for %s = %s only", axis->name,
                                  axis->value);
        }
    }
    return KILN_OK;
}

static bool kl_select_has_dim(const struct mf_artifact *artifact, const char *name) {
    for (size_t i = 0; i < artifact->dim_count; i++) {
        if (strcmp(artifact->dims[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static double kl_select_room(const struct mf_artifact *artifact, const struct kiln_query *query) {
    double room = INFINITY;
    for (size_t i = 0; i < artifact->limit_count; i++) {
        const struct mf_dim *dim = kl_query_dim(query, artifact->limits[i].dim);
        if (dim && dim->value > 0) {
            room = fmin(room, (double)artifact->limits[i].max / (double)dim->value);
        }
    }
    return room;
}

/* Dimensions and grid: how many groups, and how much of their work is padding. */
static enum kiln_result kl_select_grid(const struct mf_artifact *artifact,
                                       const struct kiln_device_info *info,
                                       const struct kiln_query *query,
                                       struct kl_candidate *candidate, struct kiln_error *why) {
    uint32_t groups[3];
    if (query->dim_count == 0) {
        return KILN_OK;
    }
    for (size_t i = 0; i < artifact->dim_count; i++) {
        if (!kl_query_dim(query, artifact->dims[i])) {
            return kiln_error_set(why, KILN_ERR_NO_VARIANT, "needs dimension %s",
                                  artifact->dims[i]);
        }
    }
    for (size_t i = 0; i < query->dim_count; i++) {
        if (!kl_select_has_dim(artifact, query->dims[i].name)) {
            return kiln_error_set(why, KILN_ERR_NO_VARIANT, "has no dimension %s",
                                  query->dims[i].name);
        }
    }
    enum kiln_result result = mf_artifact_check_dims(artifact, query->dims, query->dim_count, why);
    if (!result) {
        result = mf_grid_groups(&artifact->grid, query->dims, query->dim_count,
                                info->limits.max_group_count, groups, why);
    }
    if (result) {
        return result;
    }
    candidate->room = kl_select_room(artifact, query);
    candidate->group_count = (double)groups[0] * (double)groups[1] * (double)groups[2];
    for (size_t axis = 0; axis < 3; axis++) {
        for (size_t i = 0; i < artifact->grid.axes[axis].factor_count; i++) {
            const struct mf_grid_factor *factor = &artifact->grid.axes[axis].factors[i];
            const struct mf_dim *dim = kl_query_dim(query, factor->dim);
            uint64_t rest = dim ? dim->value % factor->tile : 0;
            if (rest > 0) {
                double padding = (double)(factor->tile - rest) / (double)dim->value;
                candidate->score /= 1.0 + padding;
            }
        }
    }
    return KILN_OK;
}

static double kl_select_weight(const struct mf_artifact *artifact,
                               const struct kiln_device_info *info) {
    const struct kl_tier *tier = kl_tier_find(artifact->tier);
    double weight = info->type == VK_PHYSICAL_DEVICE_TYPE_CPU ? tier->weight_on_cpu : tier->weight;
    return strcmp(tier->name, "dp4a") == 0 && !info->packed_dot_accelerated ? weight / 2 : weight;
}

static enum kiln_result kl_select_judge(const struct mf_artifact *artifact,
                                        const struct kiln_device_info *info,
                                        const struct kiln_query *query,
                                        struct kl_candidate *candidate, struct kiln_error *why) {
    *candidate = (struct kl_candidate){0};
    enum kiln_result result = kl_select_fields(artifact, query, why);
    if (!result) {
        result = kl_select_baked(artifact, query, why);
    }
    if (!result) {
        candidate->score = kl_select_weight(artifact, info);
        result = kl_select_grid(artifact, info, query, candidate, why);
    }
    if (!result) {
        result = kiln_requirements_check(info, artifact, why);
    }
    if (!result) {
        candidate->artifact = artifact;
        candidate->step = lround(8.0 * log2(candidate->score));
    }
    return result;
}

/* Candidates come in the order of their names: an equal one does not replace the first. */
static bool kl_select_better(const struct kl_candidate *a, const struct kl_candidate *b) {
    if (!b->artifact || a->step != b->step) {
        return !b->artifact || a->step > b->step;
    }
    if (a->group_count == b->group_count) {
        return a->room < b->room;
    }
    if (a->group_count < KL_GROUPS_ENOUGH || b->group_count < KL_GROUPS_ENOUGH) {
        return a->group_count > b->group_count;
    }
    return a->group_count < b->group_count;
}

static enum kiln_result kl_select_failed(const struct kiln_device_info *info,
                                         const struct kiln_query *query, size_t candidate_count,
                                         const char *first_reason, struct kiln_error *error) {
    if (candidate_count == 0) {
        return kiln_error_set(error, KILN_ERR_NO_VARIANT, "the bundle has no artifact of %s%s%s",
                              query->family, query->kernel ? ", kernel " : "",
                              query->kernel ? query->kernel : "");
    }
    return kiln_error_set(error, KILN_ERR_NO_VARIANT,
                          "none of %zu artifacts of %s fits %s; the closest: %s", candidate_count,
                          query->family, info->name, first_reason);
}

enum kiln_result kiln_select(const struct mf_manifest *manifest,
                             const struct kiln_device_info *info, const struct kiln_query *query,
                             const struct mf_artifact **artifact, struct mf_buffer *explanation,
                             struct kiln_error *error) {
    *artifact = NULL;
    if (!query || !query->family) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT, "kiln_select: the query has no family");
    }
    struct mf_buffer unused = {0};
    struct mf_buffer *lines = explanation ? explanation : &unused;
    struct kl_candidate best = {0};
    struct kiln_error closest = {0};
    size_t count = 0;
    for (size_t i = 0; i < manifest->artifact_count; i++) {
        const struct mf_artifact *each = &manifest->artifacts[i];
        struct kl_candidate candidate;
        struct kiln_error why = {0};
        if (strcmp(each->family, query->family) != 0 ||
            (query->kernel && strcmp(each->kernel, query->kernel) != 0)) {
            continue;
        }
        count++;
        enum kiln_result judged = kl_select_judge(each, info, query, &candidate, &why);
        if (judged) {
            mf_buffer_append_format(lines, "%s: rejected: %s\n", each->name, why.message);
            /* A lack of the device tells more than another dtype or tier. */
            if (closest.code == KILN_OK ||
                (closest.code == KILN_ERR_NO_VARIANT && judged != KILN_ERR_NO_VARIANT)) {
                closest = why;
            }
            continue;
        }
        mf_buffer_append_format(lines, "%s: score %.4g, %.0f groups\n", each->name, candidate.score,
                                candidate.group_count);
        if (kl_select_better(&candidate, &best)) {
            best = candidate;
        }
    }
    if (best.artifact) {
        mf_buffer_append_format(lines, "selected: %s\n", best.artifact->name);
    }
    enum kiln_result failed = lines->failed;
    mf_buffer_release(&unused);
    if (failed) {
        return kiln_error_set(error, failed, "kiln_select: no memory for the explanation");
    }
    if (!best.artifact) {
        return kl_select_failed(info, query, count, closest.message, error);
    }
    *artifact = best.artifact;
    return KILN_OK;
}
