/* SPDX-License-Identifier: MIT */
#include "gs_spec.h"

#include "gs_kernel.h"
#include "mf_file.h"

#include <stdlib.h>
#include <string.h>

#define BUDGET_DEFAULT 2000
#define DUPLICATES_REPORTED_MAX 10

/* One combination of one kernel, built or excluded. */
struct item {
    const char *name;
    const struct gs_kernel *kernel;
    size_t combination;
    struct gs_variant variant;
    const char *why; /* NULL: built */
};

struct planner {
    struct gs_plan *plan;
    struct gs_diag *diag;
    const char *root;
    struct gs_kernel *kernels;
    size_t kernel_count;
    size_t kernel_capacity;
    size_t source_capacity;
    struct item *items;
    size_t item_count;
};

static enum kiln_result planner_memory(const struct planner *p) {
    return gs_diag_add(p->diag, KILN_ERR_MEMORY, NULL, 0, NULL, "out of memory");
}

static bool has_suffix(const char *text, const char *suffix) {
    size_t length = strlen(text);
    size_t suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(text + length - suffix_length, suffix) == 0;
}

static enum kiln_result read_file(struct planner *p, const char *directory, const char *name) {
    struct mf_arena *arena = &p->plan->arena;
    struct mf_buffer text = {0};
    struct kiln_error error;
    char *path = mf_path_join(arena, directory, name);
    char *stem = mf_arena_copy(arena, name, strlen(name) - strlen(".yaml"));
    void *kernels =
        mf_arena_grow(arena, p->kernels, p->kernel_count, &p->kernel_capacity, sizeof *p->kernels);
    void *sources = mf_arena_grow(arena, p->plan->sources, p->plan->source_count,
                                  &p->source_capacity, sizeof *p->plan->sources);
    if (path == NULL || stem == NULL || kernels == NULL || sources == NULL)
        return planner_memory(p);
    p->kernels = kernels;
    p->plan->sources = sources;
    enum kiln_result result = mf_file_read(path, GS_YAML_SIZE_MAX_BYTES, &text, &error);
    if (result != KILN_OK)
        return gs_diag_add(p->diag, result, NULL, 0, NULL, "%s", error.message);
    p->plan->sources[p->plan->source_count++] = (struct gs_source){
        .path = path, .hash = mf_hash_bytes(MF_HASH_FILE, text.data, text.size_bytes)};
    struct gs_kernel *kernel = &p->kernels[p->kernel_count++];
    *kernel =
        (struct gs_kernel){.path = path, .directory = directory, .arena = arena, .diag = p->diag};
    result = gs_kernel_parse(kernel, stem, text.data != NULL ? text.data : "", text.size_bytes);
    mf_buffer_release(&text);
    return result;
}

/* A file that would silently not be read is an error. */
static enum kiln_result check_ignored(struct planner *p, const char *directory, const char *name,
                                      bool top) {
    bool yaml = has_suffix(name, ".yaml");
    if (!has_suffix(name, ".yml") && !(top && yaml))
        return KILN_OK;
    char *path = mf_path_join(&p->plan->arena, directory, name);
    if (path == NULL)
        return planner_memory(p);
    return gs_diag_add(p->diag, KILN_ERR_FORMAT, path, 0, NULL,
                       "a YAML file that is not read; expected <family>/<kernel>.yaml below '%s'",
                       p->root);
}

static enum kiln_result read_directory(struct planner *p, const char *directory, bool top) {
    char **names = NULL;
    size_t count = 0;
    struct kiln_error error;
    enum kiln_result result =
        mf_file_list(directory, false, &p->plan->arena, &names, &count, &error);
    if (result != KILN_OK)
        return gs_diag_add(p->diag, result, NULL, 0, NULL, "%s", error.message);
    for (size_t i = 0; i < count; i++) {
        result = gs_first(result, check_ignored(p, directory, names[i], top));
        if (!top && has_suffix(names[i], ".yaml"))
            result = gs_first(result, read_file(p, directory, names[i]));
    }
    return result;
}

static int source_compare(const void *a, const void *b) {
    return strcmp(((const struct gs_source *)a)->path, ((const struct gs_source *)b)->path);
}

static enum kiln_result read_tree(struct planner *p) {
    char **names = NULL;
    size_t count = 0;
    struct kiln_error error;
    enum kiln_result result = mf_file_list(p->root, true, &p->plan->arena, &names, &count, &error);
    if (result != KILN_OK)
        return gs_diag_add(p->diag, result, NULL, 0, NULL, "%s", error.message);
    result = read_directory(p, p->root, true);
    for (size_t i = 0; i < count; i++) {
        char *directory = mf_path_join(&p->plan->arena, p->root, names[i]);
        if (directory == NULL)
            return planner_memory(p);
        result = gs_first(result, read_directory(p, directory, false));
    }
    if (result == KILN_OK && p->kernel_count == 0)
        result = gs_diag_add(p->diag, KILN_ERR_NOT_FOUND, p->root, 0, NULL,
                             "no <family>/<kernel>.yaml below this directory");
    /* Sorted directories do not make sorted paths: "a-b/" comes before "a/". */
    if (p->plan->source_count > 0)
        qsort(p->plan->sources, p->plan->source_count, sizeof *p->plan->sources, source_compare);
    return result;
}

static enum kiln_result check_kernel_names(const struct planner *p) {
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < p->kernel_count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct gs_kernel *a = &p->kernels[j];
            const struct gs_kernel *b = &p->kernels[i];
            if (a->name != NULL && b->name != NULL && strcmp(a->name, b->name) == 0)
                result =
                    gs_first(result, gs_diag_add(p->diag, KILN_ERR_DUPLICATE, b->path, b->line,
                                                 NULL, "the kernel '%s' exists twice; also %s:%u",
                                                 b->name, a->path, a->line));
        }
    }
    return result;
}

static enum kiln_result report_unmatched(const struct gs_kernel *kernel,
                                         const struct gs_rule *rules, size_t count,
                                         const char *what) {
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < count; i++) {
        if (rules[i].hit_count == 0)
            result = gs_first(result, gs_diag_add(kernel->diag, KILN_ERR_NOT_FOUND, kernel->path,
                                                  rules[i].line, NULL,
                                                  "this %s entry matches no variant", what));
    }
    return result;
}

/* Applies the rules to every combination without building anything yet. */
static enum kiln_result count_kernel(const struct planner *p, struct gs_kernel *kernel) {
    size_t *index = mf_arena_alloc(kernel->arena, kernel->axis_count + 1, sizeof *index);
    if (index == NULL)
        return planner_memory(p);
    for (size_t number = 0; number < kernel->combination_count; number++) {
        bool excluded = false;
        gs_kernel_combination(kernel, number, index);
        for (size_t i = 0; i < kernel->exclusion_count; i++) {
            if (gs_rule_matches(kernel, &kernel->exclusions[i], index)) {
                kernel->exclusions[i].hit_count++;
                excluded = true;
            }
        }
        for (size_t i = 0; i < kernel->override_count; i++) {
            if (gs_rule_matches(kernel, &kernel->overrides[i], index) && !excluded)
                kernel->overrides[i].hit_count++;
        }
        kernel->built_count += excluded ? 0 : 1;
    }
    if (kernel->built_count == 0)
        return gs_diag_add(p->diag, KILN_ERR_FORMAT, kernel->path, kernel->lines[GS_KEY_EXCLUDE],
                           NULL, "every variant of the kernel '%s' is excluded", kernel->name);
    enum kiln_result result =
        report_unmatched(kernel, kernel->exclusions, kernel->exclusion_count, "exclude");
    return gs_first(
        result, report_unmatched(kernel, kernel->overrides, kernel->override_count, "overrides"));
}

static size_t family_count(const struct planner *p, const char *family) {
    size_t count = 0;
    for (size_t i = 0; i < p->kernel_count; i++) {
        if (p->kernels[i].valid && strcmp(p->kernels[i].family, family) == 0)
            count += p->kernels[i].built_count;
    }
    return count;
}

/* Counts cannot overflow: each kernel has at most GS_COMBINATION_COUNT_MAX. */
static enum kiln_result check_budget(const struct planner *p, size_t budget) {
    const struct gs_kernel *worst = NULL;
    size_t total = 0;
    size_t largest = 0;
    for (size_t i = 0; i < p->kernel_count; i++) {
        const struct gs_kernel *kernel = &p->kernels[i];
        if (!kernel->valid || kernel->built_count == 0)
            continue;
        total += kernel->built_count;
        size_t count = family_count(p, kernel->family);
        if (count > largest || (count == largest && kernel->built_count > worst->built_count)) {
            largest = count;
            worst = kernel;
        }
    }
    if (total <= budget)
        return KILN_OK;
    return gs_diag_add(p->diag, KILN_ERR_LIMIT, worst->path, worst->lines[GS_KEY_AXES], NULL,
                       "%zu variants are planned, the budget is %zu; the largest family is '%s' "
                       "with %zu",
                       total, budget, worst->family, largest);
}

static enum kiln_result expand_item(struct item *item, struct gs_scope *scope) {
    const struct gs_kernel *kernel = item->kernel;
    struct mf_artifact *promise = &item->variant.promise;
    enum kiln_result result = gs_expand_name(scope, promise);
    item->name = promise->name;
    const struct gs_rule *exclusion = gs_kernel_excluded(kernel, scope->value_index);
    if (exclusion == NULL)
        return gs_first(result, gs_expand_variant(scope, &item->variant));
    struct gs_value why = {.text = ""};
    result = gs_first(result, gs_scope_text(scope, exclusion->why, "why", &why));
    item->why = why.text;
    return result;
}

static enum kiln_result expand_kernel(struct planner *p, const struct gs_kernel *kernel) {
    size_t *index = mf_arena_alloc(kernel->arena, kernel->axis_count + 1, sizeof *index);
    enum kiln_result result = KILN_OK;
    if (index == NULL)
        return planner_memory(p);
    for (size_t number = 0; number < kernel->combination_count; number++) {
        struct gs_scope scope = {.kernel = kernel, .value_index = index};
        struct item *item = &p->items[p->item_count];
        *item = (struct item){.kernel = kernel, .combination = number};
        gs_kernel_combination(kernel, number, index);
        result = gs_first(result, expand_item(item, &scope));
        if (item->name != NULL)
            p->item_count++;
    }
    return result;
}

static enum kiln_result expand_all(struct planner *p) {
    enum kiln_result result = KILN_OK;
    size_t total = 0;
    for (size_t i = 0; i < p->kernel_count; i++)
        total += p->kernels[i].valid ? p->kernels[i].combination_count : 0;
    p->items = calloc(total + 1, sizeof *p->items);
    if (p->items == NULL)
        return planner_memory(p);
    for (size_t i = 0; i < p->kernel_count; i++) {
        if (p->kernels[i].valid)
            result = gs_first(result, expand_kernel(p, &p->kernels[i]));
    }
    return result;
}

/* By name; equal names by place, so that messages do not depend on the sort. */
static int item_compare(const void *a, const void *b) {
    const struct item *x = a;
    const struct item *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = strcmp(x->kernel->path, y->kernel->path);
    if (order == 0)
        order = x->combination < y->combination ? -1 : x->combination > y->combination;
    return order;
}

/* Appends "rows=1 and rows=2": where two combinations of one kernel differ. */
static void append_difference(struct mf_buffer *out, const struct item *a, const struct item *b) {
    const struct gs_kernel *kernel = a->kernel;
    for (int side = 0; side < 2; side++) {
        size_t a_number = a->combination;
        size_t b_number = b->combination;
        size_t shown = 0;
        for (size_t axis = kernel->axis_count; axis-- > 0;) {
            size_t a_index = a_number % kernel->axes[axis].value_count;
            size_t b_index = b_number % kernel->axes[axis].value_count;
            a_number /= kernel->axes[axis].value_count;
            b_number /= kernel->axes[axis].value_count;
            for (size_t i = 0; i < kernel->parameter_count && a_index != b_index; i++) {
                const struct gs_parameter *parameter = &kernel->parameters[i];
                if (parameter->axis != axis)
                    continue;
                mf_buffer_append_format(out, "%s%s=%s", shown++ > 0 ? " " : "", parameter->name,
                                        parameter->values[side == 0 ? a_index : b_index].text);
            }
        }
        mf_buffer_append_string(out, side == 0 ? " and " : "");
    }
}

static enum kiln_result report_duplicate(const struct planner *p, const struct item *a,
                                         const struct item *b) {
    const struct gs_kernel *kernel = b->kernel;
    if (a->kernel != kernel)
        return gs_diag_add(p->diag, KILN_ERR_DUPLICATE, kernel->path, kernel->line, NULL,
                           "the name %s is also made by %s:%u", b->name, a->kernel->path,
                           a->kernel->line);
    struct mf_buffer difference = {0};
    append_difference(&difference, a, b);
    enum kiln_result result =
        gs_diag_add(p->diag, KILN_ERR_DUPLICATE, kernel->path, kernel->lines[GS_KEY_SCHEDULE], NULL,
                    "the name %s is made twice, by %s; expected what differs in dtypes, shape, "
                    "schedule or tier",
                    b->name, difference.data != NULL ? difference.data : "two combinations");
    mf_buffer_release(&difference);
    return result;
}

static enum kiln_result sort_items(struct planner *p) {
    enum kiln_result result = KILN_OK;
    size_t count = 0;
    qsort(p->items, p->item_count, sizeof *p->items, item_compare);
    for (size_t i = 1; i < p->item_count; i++) {
        if (strcmp(p->items[i - 1].name, p->items[i].name) != 0)
            continue;
        if (count++ < DUPLICATES_REPORTED_MAX)
            result = gs_first(result, report_duplicate(p, &p->items[i - 1], &p->items[i]));
    }
    if (count > DUPLICATES_REPORTED_MAX)
        gs_diag_add(p->diag, KILN_ERR_DUPLICATE, p->root, 0, NULL,
                    "%zu names are made twice, of which %d are listed", count,
                    DUPLICATES_REPORTED_MAX);
    return result;
}

static enum kiln_result fill_plan(struct planner *p) {
    struct gs_plan *plan = p->plan;
    plan->variants = mf_arena_alloc(&plan->arena, p->item_count + 1, sizeof *plan->variants);
    plan->excluded = mf_arena_alloc(&plan->arena, p->item_count + 1, sizeof *plan->excluded);
    if (plan->variants == NULL || plan->excluded == NULL)
        return planner_memory(p);
    for (size_t i = 0; i < p->item_count; i++) {
        const struct item *item = &p->items[i];
        if (item->why == NULL)
            plan->variants[plan->variant_count++] = item->variant;
        else
            plan->excluded[plan->exclusion_count++] =
                (struct mf_exclusion){.name = item->name, .reason = item->why};
    }
    return KILN_OK;
}

static enum kiln_result make(struct planner *p, size_t budget) {
    enum kiln_result result = read_tree(p);
    result = gs_first(result, check_kernel_names(p));
    for (size_t i = 0; i < p->kernel_count; i++) {
        if (p->kernels[i].valid)
            result = gs_first(result, count_kernel(p, &p->kernels[i]));
    }
    enum kiln_result over = check_budget(p, budget);
    if (over != KILN_OK)
        return gs_first(result, over);
    result = gs_first(result, expand_all(p));
    if (p->items == NULL)
        return result;
    result = gs_first(result, sort_items(p));
    return result != KILN_OK ? result : fill_plan(p);
}

enum kiln_result gs_plan_make(const struct gs_plan_options *options, struct gs_plan *plan,
                              struct gs_diag *diag) {
    *plan = (struct gs_plan){0};
    size_t length = strlen(options->template_root);
    while (length > 1 && options->template_root[length - 1] == '/')
        length--;
    struct planner p = {.plan = plan, .diag = diag};
    p.root = mf_arena_copy(&plan->arena, options->template_root, length);
    enum kiln_result result = p.root == NULL ? planner_memory(&p) : KILN_OK;
    if (result == KILN_OK)
        result = make(&p, options->variant_budget > 0 ? options->variant_budget : BUDGET_DEFAULT);
    free(p.items);
    if (result == KILN_OK)
        return KILN_OK;
    gs_plan_release(plan);
    enum kiln_result first = gs_diag_result(diag);
    return first != KILN_OK ? first : result;
}

void gs_plan_release(struct gs_plan *plan) {
    mf_arena_release(&plan->arena);
    *plan = (struct gs_plan){0};
}
