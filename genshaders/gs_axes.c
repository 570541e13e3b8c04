/* SPDX-License-Identifier: MIT */
#include "gs_kernel.h"
#include "gs_text.h"

#include <string.h>

#define VALUE_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-"

/* Adds a parameter without values; NULL after a report. */
static struct gs_parameter *parameter_add(struct gs_kernel *kernel, const char *name, uint32_t line,
                                          size_t *capacity) {
    struct gs_parameter *old = gs_kernel_parameter(kernel, name, strlen(name));
    if (!gs_text_is_name(name) || strcmp(name, "why") == 0) {
        gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, line, NULL,
                    "'%s' as a parameter; expected a word of [a-z0-9_] that begins with a letter, "
                    "has no double or final '_', at most %d bytes, not `why`",
                    name, GS_NAME_MAX_BYTES);
        return NULL;
    }
    if (old != NULL) {
        gs_diag_add(kernel->diag, KILN_ERR_DUPLICATE, kernel->path, line, NULL,
                    "the parameter '%s' is declared twice; first on line %u", name, old->line);
        return NULL;
    }
    struct gs_parameter *parameters =
        mf_arena_grow(kernel->arena, kernel->parameters, kernel->parameter_count, capacity,
                      sizeof *kernel->parameters);
    if (parameters == NULL) {
        gs_kernel_memory(kernel);
        return NULL;
    }
    kernel->parameters = parameters;
    struct gs_parameter *added = &parameters[kernel->parameter_count++];
    *added = (struct gs_parameter){.name = name, .line = line, .axis = kernel->axis_count - 1};
    return added;
}

static enum kiln_result read_value(const struct gs_kernel *kernel, const char *name,
                                   const struct gs_yaml_node *node, struct gs_value *out) {
    if (node->kind != GS_YAML_SCALAR || !gs_text_consists_of(node->text, VALUE_BYTES))
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, node->line, NULL,
                           "'%s' as a value of %s; expected an integer or a word of "
                           "[A-Za-z0-9_.+-]",
                           node->kind == GS_YAML_SCALAR ? node->text : gs_yaml_kind_string(node),
                           name);
    *out = (struct gs_value){.text = node->text, .integer = node->integer, .line = node->line};
    return KILN_OK;
}

static enum kiln_result read_plain_axis(struct gs_kernel *kernel, const struct gs_yaml_node *list,
                                        size_t *capacity) {
    const struct gs_axis *axis = &kernel->axes[kernel->axis_count - 1];
    struct gs_parameter *parameter = parameter_add(kernel, axis->name, axis->line, capacity);
    if (parameter == NULL)
        return KILN_ERR_FORMAT;
    struct gs_value *values = mf_arena_alloc(kernel->arena, list->count, sizeof *values);
    if (values == NULL)
        return gs_kernel_memory(kernel);
    parameter->values = values;
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < list->count; i++) {
        enum kiln_result found = read_value(kernel, axis->name, list->items[i], &values[i]);
        result = gs_first(result, found);
        for (size_t j = 0; j < i && found == KILN_OK; j++) {
            /* 1 and "1" would give the same names. */
            if (values[j].text != NULL && strcmp(values[j].text, values[i].text) == 0)
                found = gs_diag_add(kernel->diag, KILN_ERR_DUPLICATE, kernel->path, values[i].line,
                                    NULL, "the axis '%s' repeats the value '%s'", axis->name,
                                    values[i].text);
        }
        result = gs_first(result, found);
    }
    return result;
}

/* Every row of a tied axis must have the keys of the first, in any order. */
static enum kiln_result check_row(const struct gs_kernel *kernel, const struct gs_axis *axis,
                                  const struct gs_yaml_node *first,
                                  const struct gs_yaml_node *row) {
    const char *names[GS_YAML_KEY_COUNT_MAX];
    for (size_t i = 0; i < first->count; i++)
        names[i] = first->pairs[i].key;
    enum kiln_result result =
        gs_kernel_check_keys(kernel, row, "a value of this tied axis", names, first->count);
    for (size_t i = 0; i < first->count && row->kind == GS_YAML_MAPPING; i++) {
        if (gs_yaml_find(row, names[i]) == NULL)
            result = gs_first(result, gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path,
                                                  row->line, NULL,
                                                  "the key '%s' is missing; expected the keys of "
                                                  "the first value of '%s' (line %u)",
                                                  names[i], axis->name, first->line));
    }
    return result;
}

static enum kiln_result check_row_repeats(const struct gs_kernel *kernel,
                                          const struct gs_axis *axis, size_t first_parameter,
                                          const struct gs_yaml_node *list, size_t row) {
    for (size_t other = 0; other < row; other++) {
        bool same = true;
        for (size_t p = first_parameter; p < kernel->parameter_count && same; p++)
            same = strcmp(kernel->parameters[p].values[other].text,
                          kernel->parameters[p].values[row].text) == 0;
        if (same)
            return gs_diag_add(kernel->diag, KILN_ERR_DUPLICATE, kernel->path,
                               list->items[row]->line, NULL,
                               "the axis '%s' repeats a value; first on line %u", axis->name,
                               list->items[other]->line);
    }
    return KILN_OK;
}

static enum kiln_result read_tied_axis(struct gs_kernel *kernel, const struct gs_yaml_node *list,
                                       size_t *capacity) {
    const struct gs_axis *axis = &kernel->axes[kernel->axis_count - 1];
    const struct gs_yaml_node *first = list->items[0];
    size_t first_parameter = kernel->parameter_count;
    enum kiln_result result = KILN_OK;
    if (first->count == 0)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, first->line, NULL,
                           "a value of the axis '%s' without keys; expected {parameter: value}",
                           axis->name);
    for (size_t row = 1; row < list->count; row++)
        result = gs_first(result, check_row(kernel, axis, first, list->items[row]));
    if (result != KILN_OK)
        return result;
    for (size_t i = 0; i < first->count; i++) {
        const char *name = first->pairs[i].key;
        struct gs_parameter *parameter =
            parameter_add(kernel, name, first->pairs[i].line, capacity);
        struct gs_value *values = mf_arena_alloc(kernel->arena, list->count, sizeof *values);
        if (values == NULL)
            return gs_kernel_memory(kernel);
        if (parameter == NULL) {
            result = gs_first(result, KILN_ERR_FORMAT);
            continue;
        }
        parameter->values = values;
        for (size_t row = 0; row < list->count; row++)
            result = gs_first(result,
                              read_value(kernel, name, gs_yaml_find(list->items[row], name)->value,
                                         &values[row]));
    }
    for (size_t row = 1; row < list->count && result == KILN_OK; row++)
        result = check_row_repeats(kernel, axis, first_parameter, list, row);
    return result;
}

static enum kiln_result read_axis(struct gs_kernel *kernel, const struct gs_yaml_pair *pair,
                                  size_t *capacity) {
    struct gs_axis *axis = &kernel->axes[kernel->axis_count++];
    const struct gs_yaml_node *list = pair->value;
    *axis = (struct gs_axis){.name = pair->key, .line = pair->line};
    if (list->kind != GS_YAML_SEQUENCE)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, pair->line, NULL,
                           "the axis '%s' is %s; expected a list of values", pair->key,
                           gs_yaml_kind_string(list));
    if (list->count == 0)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, pair->line, NULL,
                           "the axis '%s' has no values, so there is no variant", pair->key);
    if (list->count > GS_AXIS_VALUE_COUNT_MAX)
        return gs_diag_add(kernel->diag, KILN_ERR_LIMIT, kernel->path, pair->line, NULL,
                           "the axis '%s' has %zu values; at most %d", pair->key, list->count,
                           GS_AXIS_VALUE_COUNT_MAX);
    axis->value_count = list->count;
    axis->tied = list->items[0]->kind == GS_YAML_MAPPING;
    return axis->tied ? read_tied_axis(kernel, list, capacity)
                      : read_plain_axis(kernel, list, capacity);
}

/* A tied axis' name is in no parameter's way, but one word for two things would confuse. */
static enum kiln_result check_tied_names(const struct gs_kernel *kernel) {
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < kernel->axis_count; i++) {
        const struct gs_axis *axis = &kernel->axes[i];
        const struct gs_parameter *parameter =
            axis->tied ? gs_kernel_parameter(kernel, axis->name, strlen(axis->name)) : NULL;
        if (parameter != NULL)
            result = gs_first(
                result,
                gs_diag_add(kernel->diag, KILN_ERR_DUPLICATE, kernel->path, axis->line, NULL,
                            "the tied axis '%s' has the name of a parameter (line %u)", axis->name,
                            parameter->line));
    }
    return result;
}

enum kiln_result gs_axes_parse(struct gs_kernel *kernel, const struct gs_yaml_node *node) {
    kernel->combination_count = 1;
    if (node == NULL)
        return KILN_OK;
    if (node->kind != GS_YAML_MAPPING)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, node->line, NULL,
                           "axes is %s; expected a mapping {name: [value, ...]}",
                           gs_yaml_kind_string(node));
    kernel->axes = mf_arena_alloc(kernel->arena, node->count + 1, sizeof *kernel->axes);
    if (kernel->axes == NULL)
        return gs_kernel_memory(kernel);
    enum kiln_result result = KILN_OK;
    size_t capacity = 0;
    for (size_t i = 0; i < node->count; i++)
        result = gs_first(result, read_axis(kernel, &node->pairs[i], &capacity));
    result = gs_first(result, check_tied_names(kernel));
    for (size_t i = 0; i < kernel->axis_count && result == KILN_OK; i++) {
        if (__builtin_mul_overflow(kernel->combination_count, kernel->axes[i].value_count,
                                   &kernel->combination_count) ||
            kernel->combination_count > GS_COMBINATION_COUNT_MAX)
            result = gs_diag_add(
                kernel->diag, KILN_ERR_LIMIT, kernel->path, kernel->lines[GS_KEY_AXES], NULL,
                "the axes of kernel '%s', family '%s', make more than %d "
                "combinations",
                kernel->name != NULL ? kernel->name : "?",
                kernel->family != NULL ? kernel->family : "?", GS_COMBINATION_COUNT_MAX);
    }
    return result;
}

/* The wanted value must be one that the parameter takes, in text and in kind. */
static enum kiln_result check_condition_value(const struct gs_kernel *kernel,
                                              const struct gs_parameter *parameter,
                                              const struct gs_value *wanted) {
    struct mf_buffer list = {0};
    size_t count = kernel->axes[parameter->axis].value_count;
    for (size_t i = 0; i < count; i++) {
        const struct gs_value *value = &parameter->values[i];
        bool same_text = strcmp(value->text, wanted->text) == 0;
        if (same_text && value->integer == wanted->integer) {
            mf_buffer_release(&list);
            return KILN_OK;
        }
        if (i < 40)
            mf_buffer_append_format(&list, value->integer ? "%s%s" : "%s'%s'", i == 0 ? "" : ", ",
                                    value->text);
    }
    enum kiln_result result = gs_diag_add(
        kernel->diag, KILN_ERR_NOT_FOUND, kernel->path, wanted->line, NULL,
        wanted->integer ? "%s is never %s; it is one of %s" : "%s is never '%s'; it is one of %s",
        parameter->name, wanted->text, list.data != NULL ? list.data : "");
    mf_buffer_release(&list);
    return result;
}

static enum kiln_result read_condition(struct gs_kernel *kernel, const struct gs_yaml_pair *pair,
                                       struct gs_condition *condition) {
    const struct gs_parameter *parameter =
        gs_kernel_parameter(kernel, pair->key, strlen(pair->key));
    if (parameter == NULL)
        return gs_kernel_undefined(kernel, pair->line, pair->key, strlen(pair->key));
    const struct gs_yaml_node *node = pair->value;
    const struct gs_yaml_node *const *items =
        node->kind == GS_YAML_SEQUENCE ? node->items : &pair->value;
    size_t count = node->kind == GS_YAML_SEQUENCE ? node->count : 1;
    if (count == 0)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, pair->line, NULL,
                           "an empty list for '%s'; expected a value or a list of values",
                           pair->key);
    struct gs_value *values = mf_arena_alloc(kernel->arena, count, sizeof *values);
    if (values == NULL)
        return gs_kernel_memory(kernel);
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < count; i++) {
        enum kiln_result found = read_value(kernel, pair->key, items[i], &values[i]);
        if (found == KILN_OK)
            found = check_condition_value(kernel, parameter, &values[i]);
        result = gs_first(result, found);
    }
    *condition = (struct gs_condition){.parameter = (size_t)(parameter - kernel->parameters),
                                       .values = values,
                                       .value_count = count};
    return result;
}

enum kiln_result gs_conditions_parse(struct gs_kernel *kernel, const struct gs_yaml_node *mapping,
                                     const char *skip, struct gs_rule *rule) {
    if (mapping->kind != GS_YAML_MAPPING)
        return gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, mapping->line, NULL,
                           "%s; expected a mapping {parameter: value}",
                           gs_yaml_kind_string(mapping));
    struct gs_condition *conditions =
        mf_arena_alloc(kernel->arena, mapping->count + 1, sizeof *conditions);
    if (conditions == NULL)
        return gs_kernel_memory(kernel);
    enum kiln_result result = KILN_OK;
    size_t named = 0;
    for (size_t i = 0; i < mapping->count; i++) {
        if (skip != NULL && strcmp(mapping->pairs[i].key, skip) == 0)
            continue;
        named++;
        enum kiln_result found =
            read_condition(kernel, &mapping->pairs[i], &conditions[rule->condition_count]);
        rule->condition_count += found == KILN_OK ? 1 : 0;
        result = gs_first(result, found);
    }
    rule->conditions = conditions;
    if (named == 0)
        result = gs_diag_add(kernel->diag, KILN_ERR_FORMAT, kernel->path, mapping->line, NULL,
                             "no parameter is named, so every variant would match; expected "
                             "{parameter: value}");
    return result;
}

bool gs_rule_matches(const struct gs_kernel *kernel, const struct gs_rule *rule,
                     const size_t *value_index) {
    for (size_t i = 0; i < rule->condition_count; i++) {
        const struct gs_condition *condition = &rule->conditions[i];
        const struct gs_parameter *parameter = &kernel->parameters[condition->parameter];
        const struct gs_value *value = &parameter->values[value_index[parameter->axis]];
        bool found = false;
        for (size_t j = 0; j < condition->value_count && !found; j++)
            found = strcmp(condition->values[j].text, value->text) == 0;
        if (!found)
            return false;
    }
    return true;
}

void gs_kernel_combination(const struct gs_kernel *kernel, size_t number, size_t *value_index) {
    for (size_t axis = kernel->axis_count; axis-- > 0;) {
        value_index[axis] = number % kernel->axes[axis].value_count;
        number /= kernel->axes[axis].value_count;
    }
}

struct gs_rule *gs_kernel_excluded(const struct gs_kernel *kernel, const size_t *value_index) {
    for (size_t i = 0; i < kernel->exclusion_count; i++) {
        if (gs_rule_matches(kernel, &kernel->exclusions[i], value_index))
            return &kernel->exclusions[i];
    }
    return NULL;
}
