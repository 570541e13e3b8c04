/* SPDX-License-Identifier: MIT */
#include "gs_kernel.h"

#include "gs_text.h"
#include "mf_name.h"

#include <string.h>

static const char *const key_names[GS_KEY_COUNT] = {
    [GS_KEY_KERNEL] = "kernel",       [GS_KEY_FAMILY] = "family",
    [GS_KEY_TEMPLATE] = "template",   [GS_KEY_AXES] = "axes",
    [GS_KEY_EXCLUDE] = "exclude",     [GS_KEY_DTYPES] = "dtypes",
    [GS_KEY_SHAPE] = "shape",         [GS_KEY_SCHEDULE] = "schedule",
    [GS_KEY_TIER] = "tier",           [GS_KEY_DEFINES] = "defines",
    [GS_KEY_CONSTANTS] = "constants", [GS_KEY_TARGET] = "target",
    [GS_KEY_RECIPE] = "recipe",       [GS_KEY_DIMS] = "dims",
    [GS_KEY_GRID] = "grid",           [GS_KEY_BINDINGS] = "bindings",
    [GS_KEY_PUSH] = "push",           [GS_KEY_REQUIRES] = "requires",
    [GS_KEY_REFERENCE] = "reference", [GS_KEY_TOLERANCE] = "tolerance",
    [GS_KEY_OVERRIDES] = "overrides",
};

static const enum gs_key required_keys[] = {
    GS_KEY_KERNEL, GS_KEY_FAMILY,   GS_KEY_TEMPLATE,  GS_KEY_DTYPES,
    GS_KEY_SHAPE,  GS_KEY_SCHEDULE, GS_KEY_TIER,      GS_KEY_DIMS,
    GS_KEY_GRID,   GS_KEY_BINDINGS, GS_KEY_REFERENCE, GS_KEY_TOLERANCE,
};

/* These make or choose the combinations, so no override can replace them. */
static bool key_is_fixed(enum gs_key key) {
    return key == GS_KEY_KERNEL || key == GS_KEY_FAMILY || key == GS_KEY_AXES ||
           key == GS_KEY_EXCLUDE || key == GS_KEY_OVERRIDES;
}

const char *gs_key_string(enum gs_key key) {
    return key_names[key];
}

enum kiln_result gs_kernel_memory(const struct gs_kernel *kernel) {
    return gs_diag_add(kernel->diag, KILN_ERR_MEMORY, kernel->path, 0, NULL, "out of memory");
}

enum kiln_result gs_kernel_check_keys(const struct gs_kernel *kernel,
                                      const struct gs_yaml_node *mapping, const char *what,
                                      const char *const *names, size_t name_count) {
    if (mapping->kind != GS_YAML_MAPPING)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, mapping->line, NULL,
                           "%s is %s; expected a mapping {%s: ...}", what,
                           gs_yaml_kind_string(mapping), names[0]);
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < mapping->count; i++) {
        const struct gs_yaml_pair *pair = &mapping->pairs[i];
        bool known = false;
        for (size_t j = 0; j < name_count && !known; j++)
            known = strcmp(pair->key, names[j]) == 0;
        if (known)
            continue;
        struct mf_buffer hint = {0};
        result =
            gs_first(result, gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, pair->line,
                                         NULL, "%s has an unknown key '%s'%s", what, pair->key,
                                         gs_text_suggest(&hint, pair->key, names, name_count)));
        mf_buffer_release(&hint);
    }
    return result;
}

static enum kiln_result find_keys(struct gs_kernel *kernel, const struct gs_yaml_node *root) {
    enum kiln_result result =
        gs_kernel_check_keys(kernel, root, "the file", key_names, GS_KEY_COUNT);
    if (root->kind != GS_YAML_MAPPING)
        return result;
    const struct gs_yaml_pair *first = gs_yaml_find(root, key_names[GS_KEY_KERNEL]);
    kernel->line = first != NULL ? first->line : root->line;
    for (size_t key = 0; key < GS_KEY_COUNT; key++) {
        const struct gs_yaml_pair *pair = gs_yaml_find(root, key_names[key]);
        kernel->nodes[key] = pair != NULL ? pair->value : NULL;
        kernel->lines[key] = pair != NULL ? pair->line : kernel->line;
    }
    for (size_t i = 0; i < sizeof required_keys / sizeof required_keys[0]; i++) {
        if (kernel->nodes[required_keys[i]] == NULL)
            result = gs_first(result, gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path,
                                                  kernel->line, NULL, "the key '%s' is missing",
                                                  key_names[required_keys[i]]));
    }
    return result;
}

/* kernel and family: plain words, the same for every combination. */
static enum kiln_result read_word(struct gs_kernel *kernel, enum gs_key key, const char **out) {
    const struct gs_yaml_node *node = kernel->nodes[key];
    struct kiln_error error;
    if (node == NULL)
        return KILN_OK;
    if (node->kind != GS_YAML_SCALAR)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, node->line, NULL,
                           "%s is %s; expected a word", key_names[key], gs_yaml_kind_string(node));
    if (mf_name_check_part(node->text, &error) != KILN_OK)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, node->line, NULL, "%s: %s",
                           key_names[key], error.message);
    *out = node->text;
    return KILN_OK;
}

static enum kiln_result read_exclusions(struct gs_kernel *kernel) {
    const struct gs_yaml_node *node = kernel->nodes[GS_KEY_EXCLUDE];
    if (node == NULL)
        return KILN_OK;
    if (node->kind != GS_YAML_SEQUENCE)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, node->line, NULL,
                           "exclude is %s; expected a list of {parameter: value, why: \"...\"}",
                           gs_yaml_kind_string(node));
    kernel->exclusions = mf_arena_alloc(kernel->arena, node->count, sizeof *kernel->exclusions);
    if (kernel->exclusions == NULL && node->count > 0)
        return gs_kernel_memory(kernel);
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < node->count; i++) {
        struct gs_rule *rule = &kernel->exclusions[kernel->exclusion_count++];
        const struct gs_yaml_pair *why = gs_yaml_find(node->items[i], "why");
        *rule =
            (struct gs_rule){.line = node->items[i]->line, .why = why != NULL ? why->value : NULL};
        result = gs_first(result, gs_conditions_parse(kernel, node->items[i], "why", rule));
        if (why == NULL || why->value->kind != GS_YAML_SCALAR || why->value->text[0] == '\0')
            result = gs_first(result, gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path,
                                                  rule->line, NULL,
                                                  "an exclude entry without `why`; expected the "
                                                  "reason in words"));
    }
    return result;
}

static enum kiln_result check_set(const struct gs_kernel *kernel, const struct gs_yaml_node *set) {
    const char *names[GS_KEY_COUNT];
    size_t count = 0;
    for (size_t key = 0; key < GS_KEY_COUNT; key++) {
        if (!key_is_fixed((enum gs_key)key))
            names[count++] = key_names[key];
    }
    if (set->kind == GS_YAML_MAPPING && set->count == 0)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, set->line, NULL,
                           "`set` sets nothing; expected keys to replace");
    return gs_kernel_check_keys(kernel, set, "set", names, count);
}

static enum kiln_result read_override(struct gs_kernel *kernel, const struct gs_yaml_node *node,
                                      struct gs_rule *rule) {
    static const char *const names[] = {"when", "set"};
    enum kiln_result result = gs_kernel_check_keys(kernel, node, "an override", names, 2);
    if (result != KILN_OK)
        return result;
    const struct gs_yaml_pair *when = gs_yaml_find(node, "when");
    const struct gs_yaml_pair *set = gs_yaml_find(node, "set");
    if (when == NULL || set == NULL)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, node->line, NULL,
                           "an override without `%s`; expected {when: {...}, set: {...}}",
                           when == NULL ? "when" : "set");
    rule->set = set->value;
    result = gs_conditions_parse(kernel, when->value, NULL, rule);
    return gs_first(result, check_set(kernel, set->value));
}

static enum kiln_result read_overrides(struct gs_kernel *kernel) {
    const struct gs_yaml_node *node = kernel->nodes[GS_KEY_OVERRIDES];
    if (node == NULL)
        return KILN_OK;
    if (node->kind != GS_YAML_SEQUENCE)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, node->line, NULL,
                           "overrides is %s; expected a list of {when: {...}, set: {...}}",
                           gs_yaml_kind_string(node));
    kernel->overrides = mf_arena_alloc(kernel->arena, node->count, sizeof *kernel->overrides);
    if (kernel->overrides == NULL && node->count > 0)
        return gs_kernel_memory(kernel);
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < node->count; i++) {
        struct gs_rule *rule = &kernel->overrides[kernel->override_count++];
        *rule = (struct gs_rule){.line = node->items[i]->line};
        result = gs_first(result, read_override(kernel, node->items[i], rule));
        for (size_t j = 0; j < rule->condition_count; j++)
            kernel->parameters[rule->conditions[j].parameter].used = true;
    }
    return result;
}

struct gs_parameter *gs_kernel_parameter(const struct gs_kernel *kernel, const char *name,
                                         size_t length) {
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        if (strlen(kernel->parameters[i].name) == length &&
            memcmp(kernel->parameters[i].name, name, length) == 0)
            return &kernel->parameters[i];
    }
    return NULL;
}

enum kiln_result gs_kernel_undefined(const struct gs_kernel *kernel, uint32_t line,
                                     const char *name, size_t length) {
    char *word = mf_arena_copy(kernel->arena, name, length);
    const char **names = mf_arena_alloc(kernel->arena, kernel->parameter_count + 1, sizeof *names);
    if (word == NULL || names == NULL)
        return gs_kernel_memory(kernel);
    for (size_t i = 0; i < kernel->parameter_count; i++)
        names[i] = kernel->parameters[i].name;
    for (size_t i = 0; i < kernel->axis_count; i++) {
        if (kernel->axes[i].tied && strcmp(kernel->axes[i].name, word) == 0)
            return gs_diag_add(kernel->diag, KILN_ERR_NOT_FOUND, kernel->path, line, NULL,
                               "'%s' is a tied axis, not a parameter; use one of its keys", word);
    }
    struct mf_buffer hint = {0};
    enum kiln_result result = gs_diag_add(
        kernel->diag, KILN_ERR_NOT_FOUND, kernel->path, line, NULL, "there is no parameter '%s'%s",
        word, gs_text_suggest(&hint, word, names, kernel->parameter_count));
    mf_buffer_release(&hint);
    return result;
}

/* Marks the parameters of every ${name} in a text; wrong syntax and unknown names are reported. */
static enum kiln_result scan_text(struct gs_kernel *kernel, const struct gs_yaml_node *node,
                                  bool counts) {
    enum kiln_result result = KILN_OK;
    for (const char *p = strchr(node->text, '$'); p != NULL; p = strchr(p, '$')) {
        const char *end = p[1] == '{' ? strchr(p, '}') : NULL;
        if (end == NULL)
            return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, node->line, NULL,
                               "'$' in '%s'; expected ${parameter}", node->text);
        struct gs_parameter *parameter = gs_kernel_parameter(kernel, p + 2, (size_t)(end - p) - 2);
        if (parameter == NULL)
            result = gs_first(
                result, gs_kernel_undefined(kernel, node->line, p + 2, (size_t)(end - p) - 2));
        else if (counts)
            parameter->used = true;
        p = end + 1;
    }
    return result;
}

/* Marks a word that names a parameter itself: an entry of `defines`, a divisor of the grid. */
static enum kiln_result scan_word(struct gs_kernel *kernel, uint32_t line, const char *word,
                                  size_t length) {
    struct gs_parameter *parameter = gs_kernel_parameter(kernel, word, length);
    if (parameter == NULL)
        return gs_kernel_undefined(kernel, line, word, length);
    parameter->used = true;
    return KILN_OK;
}

static enum kiln_result scan_divisors(struct gs_kernel *kernel, const struct gs_yaml_node *node) {
    enum kiln_result result = KILN_OK;
    for (const char *p = strchr(node->text, '/'); p != NULL; p = strchr(p, '/')) {
        size_t length = strcspn(++p, "/");
        if (length > 0 && p[0] >= 'a' && p[0] <= 'z' && memchr(p, '$', length) == NULL)
            result = gs_first(result, scan_word(kernel, node->line, p, length));
    }
    return result;
}

/* The parser bounds how deep this can recurse. */
static enum kiln_result scan_node(struct gs_kernel *kernel, enum gs_key key,
                                  const struct gs_yaml_node *node) {
    enum kiln_result result = KILN_OK;
    switch (node->kind) {
    case GS_YAML_SCALAR:
        if (key == GS_KEY_DEFINES)
            return node->text[0] == '\0'
                       ? KILN_OK
                       : scan_word(kernel, node->line, node->text, strlen(node->text));
        result = scan_text(kernel, node, true);
        if (key == GS_KEY_GRID)
            result = gs_first(result, scan_divisors(kernel, node));
        return result;
    case GS_YAML_SEQUENCE:
        for (size_t i = 0; i < node->count; i++)
            result = gs_first(result, scan_node(kernel, key, node->items[i]));
        return result;
    case GS_YAML_MAPPING:
        for (size_t i = 0; i < node->count; i++)
            result = gs_first(result, scan_node(kernel, key, node->pairs[i].value));
        return result;
    }
    return result;
}

static enum kiln_result scan_uses(struct gs_kernel *kernel) {
    enum kiln_result result = KILN_OK;
    for (size_t key = 0; key < GS_KEY_COUNT; key++) {
        if (key_is_fixed((enum gs_key)key))
            continue;
        if (kernel->nodes[key] != NULL)
            result = gs_first(result, scan_node(kernel, (enum gs_key)key, kernel->nodes[key]));
        for (size_t i = 0; i < kernel->override_count; i++) {
            const struct gs_yaml_pair *pair =
                gs_yaml_find(kernel->overrides[i].set, key_names[key]);
            if (pair != NULL)
                result = gs_first(result, scan_node(kernel, (enum gs_key)key, pair->value));
        }
    }
    for (size_t i = 0; i < kernel->exclusion_count; i++) {
        const struct gs_yaml_node *why = kernel->exclusions[i].why;
        if (why != NULL && why->kind == GS_YAML_SCALAR)
            result = gs_first(result, scan_text(kernel, why, false));
    }
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        if (!kernel->parameters[i].used)
            result = gs_first(
                result, gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path,
                                    kernel->parameters[i].line, NULL,
                                    "the parameter '%s' is never used; expected it in defines, in "
                                    "a ${%s} or in the grid",
                                    kernel->parameters[i].name, kernel->parameters[i].name));
    }
    return result;
}

enum kiln_result gs_kernel_parse(struct gs_kernel *kernel, const char *stem, const char *text,
                                 size_t size_bytes) {
    const struct gs_yaml_node *root = NULL;
    enum kiln_result result =
        gs_yaml_parse(text, size_bytes, kernel->path, kernel->arena, &root, kernel->diag);
    if (result != KILN_OK)
        return result;
    result = find_keys(kernel, root);
    if (root->kind != GS_YAML_MAPPING)
        return result;
    result = gs_first(result, read_word(kernel, GS_KEY_KERNEL, &kernel->name));
    result = gs_first(result, read_word(kernel, GS_KEY_FAMILY, &kernel->family));
    if (kernel->name != NULL && strcmp(kernel->name, stem) != 0)
        result =
            gs_first(result, gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path,
                                         kernel->nodes[GS_KEY_KERNEL]->line, NULL,
                                         "kernel '%s' in a file of another name; expected '%s'",
                                         kernel->name, stem));
    /* What follows would only repeat that an axis is wrong. */
    enum kiln_result axes = gs_axes_parse(kernel, kernel->nodes[GS_KEY_AXES]);
    if (axes != KILN_OK)
        return gs_first(result, axes);
    result = gs_first(result, read_exclusions(kernel));
    result = gs_first(result, read_overrides(kernel));
    result = gs_first(result, scan_uses(kernel));
    kernel->valid = result == KILN_OK;
    return result;
}
