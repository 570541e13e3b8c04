/* SPDX-License-Identifier: MIT */
#include "gs_kernel.h"
#include "gs_text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum kiln_result expect_list(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                    const char *what, const char *of) {
    if (node->kind == GS_YAML_SEQUENCE)
        return KILN_OK;
    return gs_scope_report(scope, KILN_ERR_FORMAT, node->line, "%s is %s; expected a list of %s",
                           what, gs_yaml_kind_string(node), of);
}

/* A word that must be a name (gs_text_is_name). */
static enum kiln_result read_name(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                  const char *what, const char **out) {
    struct gs_value value;
    enum kiln_result result = gs_scope_text(scope, node, what, &value);
    if (result != KILN_OK)
        return result;
    if (!gs_text_is_name(value.text))
        return gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                               "'%s' as %s; expected a word of [a-z0-9_] that begins with a "
                               "letter, has no double or final '_', at most %d bytes",
                               value.text, what, GS_NAME_MAX_BYTES);
    *out = value.text;
    return KILN_OK;
}

/* A key of a dimension's mapping: an integer from 1; `fallback` where it is absent. */
static enum kiln_result read_limit(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                   const char *key, uint32_t fallback, uint32_t *out) {
    const struct gs_yaml_pair *pair = gs_yaml_find(node, key);
    struct gs_value value;
    *out = fallback;
    if (pair == NULL)
        return KILN_OK;
    enum kiln_result result = gs_scope_text(scope, pair->value, key, &value);
    if (result != KILN_OK)
        return result;
    return gs_scope_integer(scope, &value, key, 1, UINT32_MAX, out);
}

/* A name, or {name: ..., max: ..., multiple: ...}, which appends a limit. */
static enum kiln_result read_dim(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                 const char **name, struct mf_dim_limit *limits, size_t *count) {
    static const char *const names[] = {"name", "max", "multiple"};
    if (node->kind != GS_YAML_MAPPING)
        return read_name(scope, node, "a dimension", name);
    enum kiln_result result = gs_kernel_check_keys(scope->kernel, node, "a dimension", names, 3);
    if (result != KILN_OK)
        return result;
    if (gs_yaml_find(node, "name") == NULL || node->count < 2)
        return gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                               "a dimension without %s; expected {name: ..., max: ..., multiple: "
                               "...}",
                               node->count < 2 ? "limits" : "'name'");
    struct mf_dim_limit *limit = &limits[*count];
    result = read_name(scope, gs_yaml_find(node, "name")->value, "a dimension", name);
    result = gs_first(result, read_limit(scope, node, "max", UINT32_MAX, &limit->max));
    result = gs_first(result, read_limit(scope, node, "multiple", 1, &limit->multiple));
    if (result == KILN_OK) {
        limit->dim = *name;
        ++*count;
    }
    return result;
}

static enum kiln_result read_dims(const struct gs_scope *scope, struct mf_artifact *promise) {
    const struct gs_yaml_node *node = gs_scope_node(scope, GS_KEY_DIMS);
    enum kiln_result result = expect_list(scope, node, "dims", "dimension names");
    if (result != KILN_OK)
        return result;
    const char **dims = mf_arena_alloc(scope->kernel->arena, node->count + 1, sizeof *dims);
    struct mf_dim_limit *limits =
        mf_arena_alloc(scope->kernel->arena, node->count + 1, sizeof *limits);
    if (dims == NULL || limits == NULL)
        return gs_kernel_memory(scope->kernel);
    promise->limits = limits;
    size_t count = 0;
    for (size_t i = 0; i < node->count; i++) {
        const char *name = NULL;
        enum kiln_result found =
            read_dim(scope, node->items[i], &name, limits, &promise->limit_count);
        for (size_t j = 0; j < count && found == KILN_OK; j++) {
            if (strcmp(dims[j], name) == 0)
                found = gs_scope_report(scope, KILN_ERR_DUPLICATE, node->items[i]->line,
                                        "the dimension '%s' is repeated", name);
        }
        if (found == KILN_OK)
            dims[count++] = name;
        result = gs_first(result, found);
    }
    if (node->count == 0)
        result = gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                                 "dims is empty; expected at least one dimension");
    promise->dims = dims;
    promise->dim_count = count;
    return result;
}

/* The divisor `text` of `length` bytes: a number or an integer parameter, at least 1. */
static enum kiln_result read_divisor(const struct gs_scope *scope, const struct gs_value *factor,
                                     const char *text, size_t length, uint32_t *out) {
    const struct gs_parameter *parameter = gs_kernel_parameter(scope->kernel, text, length);
    bool digits = length > 0 && strspn(text, "0123456789") >= length;
    char *word = mf_arena_copy(scope->kernel->arena, text, length);
    char *what = mf_arena_format(scope->kernel->arena, "the divisor '%.*s' of '%s'", (int)length,
                                 text, factor->text);
    if (word == NULL || what == NULL)
        return gs_kernel_memory(scope->kernel);
    struct gs_value value = {.text = word, .integer = digits, .line = factor->line};
    if (parameter != NULL) {
        value = *gs_scope_value(scope, parameter);
        value.line = factor->line;
    }
    return gs_scope_integer(scope, &value, what, 1, UINT32_MAX, out);
}

/* dim, or dim/divisor/...: ceil(ceil(d / a) / b) = ceil(d / (a b)), so divisors multiply. */
static enum kiln_result read_factor(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                    const struct mf_artifact *promise, struct mf_grid_factor *out) {
    struct gs_value value;
    enum kiln_result result = gs_scope_text(scope, node, "a grid factor", &value);
    if (result != KILN_OK)
        return result;
    const char *p = value.text;
    size_t length = strcspn(p, "/");
    out->tile = 1;
    for (size_t i = 0; i < promise->dim_count; i++) {
        if (strlen(promise->dims[i]) == length && memcmp(promise->dims[i], p, length) == 0)
            out->dim = promise->dims[i];
    }
    if (out->dim == NULL) {
        struct mf_buffer hint = {0};
        char *word = mf_arena_copy(scope->kernel->arena, p, length);
        if (word == NULL)
            return gs_kernel_memory(scope->kernel);
        result = gs_scope_report(scope, KILN_ERR_NOT_FOUND, node->line,
                                 "the grid factor '%s' is of no dimension%s", value.text,
                                 gs_text_suggest(&hint, word, promise->dims, promise->dim_count));
        mf_buffer_release(&hint);
    }
    for (p += length; *p == '/'; p += length) {
        uint32_t divisor = 1;
        length = strcspn(++p, "/");
        enum kiln_result found = read_divisor(scope, &value, p, length, &divisor);
        if (found == KILN_OK && __builtin_mul_overflow(out->tile, divisor, &out->tile))
            found =
                gs_scope_report(scope, KILN_ERR_LIMIT, node->line,
                                "the divisors of '%s' multiply to more than 32 bits", value.text);
        result = gs_first(result, found);
    }
    return result;
}

static enum kiln_result read_axis(const struct gs_scope *scope, const struct gs_yaml_pair *pair,
                                  const struct mf_artifact *promise, struct mf_grid_axis *axis) {
    if (pair == NULL)
        return KILN_OK;
    const struct gs_yaml_node *list = pair->value;
    enum kiln_result result = expect_list(scope, list, "a grid axis", "factors such as nout/rows");
    if (result != KILN_OK)
        return result;
    struct mf_grid_factor *factors =
        mf_arena_alloc(scope->kernel->arena, list->count + 1, sizeof *factors);
    if (factors == NULL)
        return gs_kernel_memory(scope->kernel);
    for (size_t i = 0; i < list->count; i++)
        result = gs_first(result, read_factor(scope, list->items[i], promise, &factors[i]));
    axis->factors = factors;
    axis->factor_count = list->count;
    return result;
}

/* `key: true`, or absent. */
static enum kiln_result read_flag(const struct gs_scope *scope, const struct gs_yaml_pair *pair,
                                  bool *out) {
    if (pair == NULL)
        return KILN_OK;
    const struct gs_yaml_node *node = pair->value;
    bool is_true = node->kind == GS_YAML_SCALAR && node->plain && strcmp(node->text, "true") == 0;
    bool is_false = node->kind == GS_YAML_SCALAR && node->plain && strcmp(node->text, "false") == 0;
    if (!is_true && !is_false)
        return gs_scope_report(
            scope, KILN_ERR_FORMAT, node->line, "%s is '%s'; expected true or false", pair->key,
            node->kind == GS_YAML_SCALAR ? node->text : gs_yaml_kind_string(node));
    *out = is_true;
    return KILN_OK;
}

static enum kiln_result read_grid(const struct gs_scope *scope, struct mf_artifact *promise) {
    static const char *const names[] = {"x", "y", "z", "fold"};
    const struct gs_yaml_node *node = gs_scope_node(scope, GS_KEY_GRID);
    struct mf_grid *grid = &promise->grid;
    enum kiln_result result = gs_kernel_check_keys(scope->kernel, node, "grid", names, 4);
    if (result != KILN_OK)
        return result;
    for (size_t i = 0; i < 3; i++)
        result = gs_first(result,
                          read_axis(scope, gs_yaml_find(node, names[i]), promise, &grid->axes[i]));
    result = gs_first(result, read_flag(scope, gs_yaml_find(node, "fold"), &grid->fold));
    if (grid->fold && (grid->axes[1].factor_count > 0 || grid->axes[2].factor_count > 0))
        result = gs_first(result, gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                                                  "a folded grid with factors on y or z; expected "
                                                  "all of them on x"));
    return result;
}

static enum kiln_result read_scalar_type(const struct gs_scope *scope,
                                         const struct gs_yaml_node *node, enum mf_scalar last,
                                         enum mf_scalar *out) {
    const char *names[MF_SCALAR_STRUCT + 1];
    struct gs_value value;
    size_t count = 0;
    enum kiln_result result = gs_scope_text(scope, node, "a type", &value);
    if (result != KILN_OK)
        return result;
    for (int i = 0; i <= (int)last; i++) {
        if (i == MF_SCALAR_BOOL)
            continue;
        names[count++] = mf_scalar_string((enum mf_scalar)i);
        if (strcmp(names[count - 1], value.text) == 0) {
            *out = (enum mf_scalar)i;
            return KILN_OK;
        }
    }
    struct mf_buffer hint = {0};
    result = gs_scope_report(scope, KILN_ERR_FORMAT, node->line, "there is no type '%s' here%s",
                             value.text, gs_text_suggest(&hint, value.text, names, count));
    mf_buffer_release(&hint);
    return result;
}

static enum kiln_result read_access(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                    enum mf_access *out) {
    struct gs_value value;
    enum kiln_result result = gs_scope_text(scope, node, "access", &value);
    if (result != KILN_OK)
        return result;
    for (int i = MF_ACCESS_READ; i <= MF_ACCESS_READ_WRITE; i++) {
        if (strcmp(mf_access_string((enum mf_access)i), value.text) == 0) {
            *out = (enum mf_access)i;
            return KILN_OK;
        }
    }
    return gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                           "there is no access '%s'; expected read, write, read_write", value.text);
}

static enum kiln_result read_binding(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                     struct mf_binding *out) {
    static const char *const names[] = {"name", "access", "element"};
    enum kiln_result result = gs_kernel_check_keys(scope->kernel, node, "a binding", names, 3);
    for (size_t i = 0; i < 3 && result == KILN_OK; i++) {
        if (gs_yaml_find(node, names[i]) == NULL)
            result = gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                                     "a binding without '%s'; expected {name: ..., access: ..., "
                                     "element: ...}",
                                     names[i]);
    }
    if (result != KILN_OK)
        return result;
    result = read_name(scope, gs_yaml_find(node, "name")->value, "a binding's name", &out->name);
    result =
        gs_first(result, read_access(scope, gs_yaml_find(node, "access")->value, &out->access));
    return gs_first(result, read_scalar_type(scope, gs_yaml_find(node, "element")->value,
                                             MF_SCALAR_STRUCT, &out->element));
}

static enum kiln_result read_bindings(const struct gs_scope *scope, struct mf_artifact *promise) {
    const struct gs_yaml_node *node = gs_scope_node(scope, GS_KEY_BINDINGS);
    enum kiln_result result =
        expect_list(scope, node, "bindings", "{name: ..., access: ..., element: ...}");
    if (result != KILN_OK)
        return result;
    struct mf_binding *bindings =
        mf_arena_alloc(scope->kernel->arena, node->count + 1, sizeof *bindings);
    if (bindings == NULL)
        return gs_kernel_memory(scope->kernel);
    for (size_t i = 0; i < node->count; i++) {
        bindings[i].binding = (uint32_t)i;
        result = gs_first(result, read_binding(scope, node->items[i], &bindings[i]));
        for (size_t j = 0; j < i && result == KILN_OK; j++) {
            if (strcmp(bindings[j].name, bindings[i].name) == 0)
                result = gs_scope_report(scope, KILN_ERR_DUPLICATE, node->items[i]->line,
                                         "the binding '%s' is repeated", bindings[i].name);
        }
    }
    if (node->count == 0)
        result = gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                                 "bindings is empty; expected at least one buffer");
    promise->bindings = bindings;
    promise->binding_count = node->count;
    return result;
}

static enum kiln_result read_push_entry(const struct gs_scope *scope,
                                        const struct gs_yaml_node *node, struct mf_push *out) {
    static const char *const names[] = {"name", "type"};
    out->type = MF_SCALAR_U32;
    if (node->kind != GS_YAML_MAPPING)
        return read_name(scope, node, "a push constant", &out->name);
    enum kiln_result result =
        gs_kernel_check_keys(scope->kernel, node, "a push constant", names, 2);
    const struct gs_yaml_pair *name = gs_yaml_find(node, "name");
    const struct gs_yaml_pair *type = gs_yaml_find(node, "type");
    if (result != KILN_OK)
        return result;
    if (name == NULL || type == NULL)
        return gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                               "a push constant without '%s'; expected {name: ..., type: ...}",
                               name == NULL ? "name" : "type");
    result = read_name(scope, name->value, "a push constant", &out->name);
    return gs_first(result, read_scalar_type(scope, type->value, MF_SCALAR_F64, &out->type));
}

/* Offsets as GLSL lays out scalars in a push_constant block: each aligned to its size. */
static enum kiln_result read_push(const struct gs_scope *scope, struct mf_artifact *promise) {
    const struct gs_yaml_node *node = gs_scope_node(scope, GS_KEY_PUSH);
    if (node == NULL)
        return KILN_OK;
    enum kiln_result result = expect_list(scope, node, "push", "names or {name: ..., type: ...}");
    if (result != KILN_OK)
        return result;
    struct mf_push *push = mf_arena_alloc(scope->kernel->arena, node->count + 1, sizeof *push);
    if (push == NULL)
        return gs_kernel_memory(scope->kernel);
    uint32_t end = 0;
    for (size_t i = 0; i < node->count && result == KILN_OK; i++) {
        result = read_push_entry(scope, node->items[i], &push[i]);
        for (size_t j = 0; j < i && result == KILN_OK; j++) {
            if (strcmp(push[j].name, push[i].name) == 0)
                result = gs_scope_report(scope, KILN_ERR_DUPLICATE, node->items[i]->line,
                                         "the push constant '%s' is repeated", push[i].name);
        }
        if (result != KILN_OK)
            break;
        push[i].size_bytes = mf_scalar_bytes(push[i].type);
        push[i].offset_bytes =
            (end + push[i].size_bytes - 1) / push[i].size_bytes * push[i].size_bytes;
        end = push[i].offset_bytes + push[i].size_bytes;
        if (end > GS_PUSH_MAX_BYTES)
            result = gs_scope_report(scope, KILN_ERR_LIMIT, node->items[i]->line,
                                     "the push constants need more than the %d bytes that every "
                                     "device has",
                                     GS_PUSH_MAX_BYTES);
    }
    promise->push = push;
    promise->push_count = node->count;
    return result;
}

static enum kiln_result read_requires(const struct gs_scope *scope, struct mf_artifact *promise) {
    static const char *const names[] = {"subgroup_size"};
    const struct gs_yaml_node *node = gs_scope_node(scope, GS_KEY_REQUIRES);
    if (node == NULL)
        return KILN_OK;
    enum kiln_result result = gs_kernel_check_keys(scope->kernel, node, "requires", names, 1);
    const struct gs_yaml_pair *pair = gs_yaml_find(node, "subgroup_size");
    struct gs_value value;
    if (result != KILN_OK || pair == NULL)
        return result;
    result = gs_scope_text(scope, pair->value, "subgroup_size", &value);
    uint32_t size = 0;
    if (result == KILN_OK)
        result = gs_scope_integer(scope, &value, "subgroup_size", 1, 128, &size);
    if (result == KILN_OK && (size & (size - 1)) != 0)
        result = gs_scope_report(scope, KILN_ERR_FORMAT, value.line,
                                 "subgroup_size is %u; expected a power of two", size);
    promise->requires_.subgroup_size = size;
    return result;
}

/* strtod reads the decimal comma where the caller's locale has one. */
static bool parse_positive(const char *text, double *out) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0 || !gs_text_consists_of(text, "0123456789.eE+-")) {
        if (c_locale != (locale_t)0)
            freelocale(c_locale);
        return false;
    }
    char *end = NULL;
    *out = strtod_l(text, &end, c_locale);
    freelocale(c_locale);
    return *end == '\0' && isfinite(*out) && *out > 0.0;
}

static enum kiln_result read_bound(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                   const char *name, double *out) {
    const struct gs_yaml_pair *pair = gs_yaml_find(node, name);
    struct gs_value value;
    *out = -1.0;
    if (pair == NULL)
        return KILN_OK;
    enum kiln_result result = gs_scope_text(scope, pair->value, name, &value);
    if (result == KILN_OK && !parse_positive(value.text, out))
        result = gs_scope_report(scope, KILN_ERR_FORMAT, value.line,
                                 "the tolerance %s is '%s'; expected a number above 0", name,
                                 value.text);
    return result;
}

static enum kiln_result read_tolerance(const struct gs_scope *scope, struct mf_artifact *promise) {
    static const char *const names[] = {"max_abs", "rel", "scale", "ulp_f16", "exact"};
    const struct gs_yaml_node *node = gs_scope_node(scope, GS_KEY_TOLERANCE);
    struct mf_tolerance *tolerance = &promise->tolerance;
    enum kiln_result result = gs_kernel_check_keys(scope->kernel, node, "tolerance", names, 5);
    if (result != KILN_OK)
        return result;
    result = read_bound(scope, node, "max_abs", &tolerance->max_abs);
    result = gs_first(result, read_bound(scope, node, "rel", &tolerance->rel));
    result = gs_first(result, read_bound(scope, node, "scale", &tolerance->scale));
    const struct gs_yaml_pair *ulp = gs_yaml_find(node, "ulp_f16");
    if (ulp != NULL) {
        struct gs_value value;
        enum kiln_result found = gs_scope_text(scope, ulp->value, "ulp_f16", &value);
        if (found == KILN_OK)
            found = gs_scope_integer(scope, &value, "the tolerance ulp_f16", 1, 1024,
                                     &tolerance->ulp_f16);
        result = gs_first(result, found);
    }
    const struct gs_yaml_pair *exact = gs_yaml_find(node, "exact");
    result = gs_first(result, read_flag(scope, exact, &tolerance->exact));
    if (result != KILN_OK)
        return result;
    if (exact != NULL && (!tolerance->exact || node->count > 1))
        return gs_scope_report(scope, KILN_ERR_FORMAT, exact->line,
                               "tolerance: expected `exact: true` alone, or bounds without it");
    if (node->count == 0)
        return gs_scope_report(
            scope, KILN_ERR_FORMAT, node->line,
            "tolerance is empty; expected max_abs, rel, scale, ulp_f16 or exact");
    return KILN_OK;
}

static int axis_compare(const void *a, const void *b) {
    return strcmp(((const struct mf_axis *)a)->name, ((const struct mf_axis *)b)->name);
}

static enum kiln_result fill_axes(const struct gs_scope *scope, struct mf_artifact *promise) {
    const struct gs_kernel *kernel = scope->kernel;
    struct mf_axis *axes = mf_arena_alloc(kernel->arena, kernel->parameter_count + 1, sizeof *axes);
    if (axes == NULL)
        return gs_kernel_memory(kernel);
    for (size_t i = 0; i < kernel->parameter_count; i++)
        axes[i] = (struct mf_axis){.name = kernel->parameters[i].name,
                                   .value = gs_scope_value(scope, &kernel->parameters[i])->text};
    qsort(axes, kernel->parameter_count, sizeof *axes, axis_compare);
    promise->axes = axes;
    promise->axis_count = kernel->parameter_count;
    return KILN_OK;
}

enum kiln_result gs_promise_fill(const struct gs_scope *scope, struct mf_artifact *promise) {
    enum kiln_result result = read_dims(scope, promise);
    /* Factors of an unread dimension would be reported as well. */
    if (result == KILN_OK)
        result = read_grid(scope, promise);
    result = gs_first(result, read_bindings(scope, promise));
    result = gs_first(result, read_push(scope, promise));
    result = gs_first(result, read_requires(scope, promise));
    result = gs_first(result, read_name(scope, gs_scope_node(scope, GS_KEY_REFERENCE),
                                        "the reference", &promise->reference));
    result = gs_first(result, read_tolerance(scope, promise));
    return gs_first(result, fill_axes(scope, promise));
}
