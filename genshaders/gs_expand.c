/* SPDX-License-Identifier: MIT */
#include "gs_kernel.h"
#include "gs_text.h"
#include "mf_file.h"
#include "mf_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const tier_names[] = {"portable", "subgroup", "dp4a", "coopmat", "coopmat2"};
static const char *const target_names[] = {"vulkan1.1", "vulkan1.2", "vulkan1.3"};
static const char *const recipe_names[] = {"performance", "size", "none"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

const char *gs_target_string(enum gs_target target) {
    return target_names[target];
}

const char *gs_recipe_string(enum gs_recipe recipe) {
    return recipe_names[recipe];
}

const struct gs_yaml_node *gs_scope_node(const struct gs_scope *scope, enum gs_key key) {
    const struct gs_kernel *kernel = scope->kernel;
    for (size_t i = kernel->override_count; i-- > 0;) {
        const struct gs_yaml_pair *pair =
            gs_yaml_find(kernel->overrides[i].set, gs_key_string(key));
        if (pair != NULL && gs_rule_matches(kernel, &kernel->overrides[i], scope->value_index))
            return pair->value;
    }
    return kernel->nodes[key];
}

uint32_t gs_scope_line(const struct gs_scope *scope, enum gs_key key) {
    const struct gs_yaml_node *node = gs_scope_node(scope, key);
    return node != NULL ? node->line : scope->kernel->line;
}

const struct gs_value *gs_scope_value(const struct gs_scope *scope,
                                      const struct gs_parameter *parameter) {
    return &parameter->values[scope->value_index[parameter->axis]];
}

enum kiln_result gs_scope_report(const struct gs_scope *scope, enum kiln_result code, uint32_t line,
                                 const char *format, ...) {
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&message, format, arguments);
    va_end(arguments);
    if (length < 0)
        return gs_kernel_memory(scope->kernel);
    gs_diag_add(scope->kernel->diag, code, scope->kernel->path, line, scope->variant, "%s",
                message);
    free(message);
    return code;
}

enum kiln_result gs_scope_text(const struct gs_scope *scope, const struct gs_yaml_node *node,
                               const char *what, struct gs_value *out) {
    if (node->kind != GS_YAML_SCALAR || node->text[0] == '\0')
        return gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                               "%s is %s; expected a word or number", what,
                               gs_yaml_kind_string(node));
    *out = (struct gs_value){.text = node->text, .integer = node->integer, .line = node->line};
    if (strchr(node->text, '$') == NULL)
        return KILN_OK;
    struct mf_buffer text = {0};
    const char *p = node->text;
    for (const char *next; (next = strchr(p, '$')) != NULL;) {
        const char *end = strchr(next, '}'); /* the syntax was checked when the file was read */
        const struct gs_parameter *parameter =
            gs_kernel_parameter(scope->kernel, next + 2, (size_t)(end - next) - 2);
        const struct gs_value *value = gs_scope_value(scope, parameter);
        mf_buffer_append(&text, p, (size_t)(next - p));
        mf_buffer_append_string(&text, value->text);
        p = end + 1;
        if (next == node->text && *p == '\0')
            out->integer = value->integer;
    }
    mf_buffer_append_string(&text, p);
    out->text = text.failed == KILN_OK ? mf_arena_string(scope->kernel->arena, text.data) : NULL;
    mf_buffer_release(&text);
    return out->text != NULL ? KILN_OK : gs_kernel_memory(scope->kernel);
}

enum kiln_result gs_scope_integer(const struct gs_scope *scope, const struct gs_value *value,
                                  const char *what, uint32_t minimum, uint32_t maximum,
                                  uint32_t *out) {
    uint64_t number = 0;
    bool good = value->integer && value->text[0] != '-';
    for (const char *p = value->text; good && *p != '\0'; p++) {
        number = number * 10 + (uint64_t)(*p - '0');
        good = number <= maximum;
    }
    if (!good || number < minimum)
        return gs_scope_report(scope, KILN_ERR_FORMAT, value->line,
                               "%s is %s'%s'; expected an integer from %u to %u", what,
                               value->integer ? "" : "the string ", value->text, minimum, maximum);
    *out = (uint32_t)number;
    return KILN_OK;
}

/* Text of a key that must be one of `words`; its index. */
static enum kiln_result read_choice(const struct gs_scope *scope, enum gs_key key,
                                    const char *const *words, size_t word_count, size_t *index) {
    const struct gs_yaml_node *node = gs_scope_node(scope, key);
    struct gs_value value;
    enum kiln_result result = gs_scope_text(scope, node, gs_key_string(key), &value);
    if (result != KILN_OK)
        return result;
    for (size_t i = 0; i < word_count; i++) {
        if (strcmp(words[i], value.text) == 0) {
            *index = i;
            return KILN_OK;
        }
    }
    struct mf_buffer hint = {0};
    result = gs_scope_report(scope, KILN_ERR_FORMAT, node->line, "there is no %s '%s'%s",
                             gs_key_string(key), value.text,
                             gs_text_suggest(&hint, value.text, words, word_count));
    mf_buffer_release(&hint);
    return result;
}

/* Text of a key that becomes a part of the name. */
static enum kiln_result read_part(const struct gs_scope *scope, enum gs_key key, const char **out) {
    const struct gs_yaml_node *node = gs_scope_node(scope, key);
    struct gs_value value;
    struct kiln_error error;
    enum kiln_result result = gs_scope_text(scope, node, gs_key_string(key), &value);
    if (result != KILN_OK)
        return result;
    result = mf_name_check_part(value.text, &error);
    if (result != KILN_OK)
        return gs_scope_report(scope, result, node->line, "%s: %s", gs_key_string(key),
                               error.message);
    *out = value.text;
    return KILN_OK;
}

static enum kiln_result report_dtype(const struct gs_scope *scope, const struct gs_value *value) {
    size_t count = 0;
    const struct mf_dtype_info *table = mf_dtype_table(&count);
    const char **names = mf_arena_alloc(scope->kernel->arena, count, sizeof *names);
    if (names == NULL)
        return gs_kernel_memory(scope->kernel);
    for (size_t i = 0; i < count; i++)
        names[i] = table[i].name;
    struct mf_buffer hint = {0};
    enum kiln_result result =
        gs_scope_report(scope, KILN_ERR_FORMAT, value->line, "there is no dtype '%s'%s",
                        value->text, gs_text_suggest(&hint, value->text, names, count));
    mf_buffer_release(&hint);
    return result;
}

static enum kiln_result read_dtypes(const struct gs_scope *scope, struct mf_artifact *promise) {
    const struct gs_yaml_node *node = gs_scope_node(scope, GS_KEY_DTYPES);
    if (node->kind != GS_YAML_SEQUENCE || node->count == 0)
        return gs_scope_report(
            scope, KILN_ERR_FORMAT, node->line, "dtypes is %s; expected a list of data types",
            node->count == 0 && node->kind == GS_YAML_SEQUENCE ? "empty"
                                                               : gs_yaml_kind_string(node));
    const char **dtypes = mf_arena_alloc(scope->kernel->arena, node->count, sizeof *dtypes);
    if (dtypes == NULL)
        return gs_kernel_memory(scope->kernel);
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < node->count; i++) {
        struct gs_value value;
        enum kiln_result found = gs_scope_text(scope, node->items[i], "a dtype", &value);
        if (found == KILN_OK && mf_dtype_find(value.text) == NULL)
            found = report_dtype(scope, &value);
        dtypes[i] = found == KILN_OK ? value.text : NULL;
        result = gs_first(result, found);
    }
    promise->dtypes = dtypes;
    promise->dtype_count = node->count;
    return result;
}

enum kiln_result gs_expand_name(struct gs_scope *scope, struct mf_artifact *promise) {
    size_t tier = 0;
    struct kiln_error error;
    char *name = NULL;
    promise->family = scope->kernel->family;
    promise->kernel = scope->kernel->name;
    enum kiln_result result = read_dtypes(scope, promise);
    result = gs_first(result, read_part(scope, GS_KEY_SHAPE, &promise->shape));
    result = gs_first(result, read_part(scope, GS_KEY_SCHEDULE, &promise->schedule));
    result =
        gs_first(result, read_choice(scope, GS_KEY_TIER, tier_names, COUNT_OF(tier_names), &tier));
    if (result != KILN_OK)
        return result;
    promise->tier = tier_names[tier];
    result =
        mf_name_make(scope->kernel->arena, promise->family, promise->dtypes, promise->dtype_count,
                     promise->shape, promise->schedule, promise->tier, &name, &error);
    if (result != KILN_OK)
        return gs_scope_report(scope, result, gs_scope_line(scope, GS_KEY_SCHEDULE), "%s",
                               error.message);
    promise->name = name;
    scope->variant = name;
    return KILN_OK;
}

/* GLSL has 32-bit integer literals. */
static bool fits_glsl(const char *integer) {
    bool negative = integer[0] == '-';
    uint64_t number = 0;
    for (const char *p = integer + (negative ? 1 : 0); *p != '\0'; p++) {
        number = number * 10 + (uint64_t)(*p - '0');
        if (number > UINT32_MAX)
            return false;
    }
    return !negative || number <= (uint64_t)1 << 31;
}

static void upper(char *text) {
    for (; *text != '\0'; text++) {
        if (*text >= 'a' && *text <= 'z')
            *text = (char)(*text - 'a' + 'A');
    }
}

/* K_<NAME>, and for a string the symbol <NAME>_<VALUE>. */
static enum kiln_result make_define(const struct gs_scope *scope, const struct gs_yaml_node *node,
                                    struct gs_define *define) {
    struct mf_arena *arena = scope->kernel->arena;
    const struct gs_parameter *parameter =
        node->kind == GS_YAML_SCALAR
            ? gs_kernel_parameter(scope->kernel, node->text, strlen(node->text))
            : NULL;
    if (parameter == NULL)
        return gs_scope_report(scope, KILN_ERR_FORMAT, node->line,
                               "%s in defines; expected the name of a parameter",
                               gs_yaml_kind_string(node));
    const struct gs_value *value = gs_scope_value(scope, parameter);
    if (value->integer && !fits_glsl(value->text))
        return gs_scope_report(scope, KILN_ERR_LIMIT, value->line,
                               "%s: %s does not fit a 32-bit integer of GLSL", parameter->name,
                               value->text);
    if (!value->integer &&
        (!gs_text_consists_of(value->text, "abcdefghijklmnopqrstuvwxyz0123456789_") ||
         strstr(value->text, "__") != NULL || value->text[0] == '_'))
        return gs_scope_report(scope, KILN_ERR_FORMAT, value->line,
                               "%s: '%s' cannot be part of a macro's name; expected [a-z0-9_] "
                               "without double or leading '_'",
                               parameter->name, value->text);
    char *name = mf_arena_format(arena, "K_%s", parameter->name);
    char *symbol = value->integer ? mf_arena_string(arena, value->text)
                                  : mf_arena_format(arena, "%s_%s", parameter->name, value->text);
    if (name == NULL || symbol == NULL)
        return gs_kernel_memory(scope->kernel);
    upper(name);
    upper(symbol);
    *define = (struct gs_define){.name = name, .value = symbol, .line = node->line};
    return KILN_OK;
}

static enum kiln_result make_constant(const struct gs_scope *scope, const struct gs_yaml_pair *pair,
                                      struct gs_define *define) {
    struct gs_value value;
    enum kiln_result result = gs_scope_text(scope, pair->value, pair->key, &value);
    if (result != KILN_OK)
        return result;
    if (strncmp(pair->key, "K_", 2) != 0 || pair->key[2] == '\0' ||
        !gs_text_consists_of(pair->key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ||
        strstr(pair->key, "__") != NULL || strlen(pair->key) > GS_NAME_MAX_BYTES + 2)
        return gs_scope_report(scope, KILN_ERR_FORMAT, pair->line,
                               "the constant '%s'; expected a name K_[A-Z0-9_] without double '_'",
                               pair->key);
    bool printable = strstr(value.text, "//") == NULL && strstr(value.text, "/*") == NULL &&
                     strpbrk(value.text, "\\\"'#") == NULL;
    for (const char *p = value.text; printable && *p != '\0'; p++)
        printable = *p >= 0x20 && *p < 0x7F;
    if (!printable)
        return gs_scope_report(scope, KILN_ERR_FORMAT, pair->line,
                               "the value of '%s'; expected an expression of GLSL without "
                               "comments, quotes, '#' and '\\'",
                               pair->key);
    *define = (struct gs_define){.name = pair->key, .value = value.text, .line = pair->line};
    return KILN_OK;
}

static enum kiln_result check_repeats(const struct gs_scope *scope, const struct gs_define *defines,
                                      size_t count) {
    enum kiln_result result = KILN_OK;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(defines[i].name, defines[j].name) == 0)
                result =
                    gs_first(result, gs_scope_report(scope, KILN_ERR_DUPLICATE, defines[i].line,
                                                     "the macro %s is set twice; first on "
                                                     "line %u",
                                                     defines[i].name, defines[j].line));
        }
    }
    return result;
}

static enum kiln_result make_preamble(const struct gs_scope *scope, struct gs_variant *variant) {
    struct mf_buffer text = {0};
    for (size_t i = 0; i < variant->define_count; i++)
        mf_buffer_append_format(&text, "#define %s %s\n", variant->defines[i].name,
                                variant->defines[i].value);
    variant->preamble = text.failed != KILN_OK
                            ? NULL
                            : mf_arena_string(scope->kernel->arena, text.data ? text.data : "");
    mf_buffer_release(&text);
    return variant->preamble != NULL ? KILN_OK : gs_kernel_memory(scope->kernel);
}

static enum kiln_result make_defines(const struct gs_scope *scope, struct gs_variant *variant) {
    const struct gs_yaml_node *list = gs_scope_node(scope, GS_KEY_DEFINES);
    const struct gs_yaml_node *map = gs_scope_node(scope, GS_KEY_CONSTANTS);
    if (list != NULL && list->kind != GS_YAML_SEQUENCE)
        return gs_scope_report(scope, KILN_ERR_FORMAT, list->line,
                               "defines is %s; expected a list of parameters",
                               gs_yaml_kind_string(list));
    if (map != NULL && map->kind != GS_YAML_MAPPING)
        return gs_scope_report(scope, KILN_ERR_FORMAT, map->line,
                               "constants is %s; expected a mapping {K_NAME: value}",
                               gs_yaml_kind_string(map));
    size_t total = (list != NULL ? list->count : 0) + (map != NULL ? map->count : 0);
    if (total > GS_YAML_KEY_COUNT_MAX)
        return gs_scope_report(scope, KILN_ERR_LIMIT, scope->kernel->line, "%zu macros; at most %d",
                               total, GS_YAML_KEY_COUNT_MAX);
    struct gs_define *defines = mf_arena_alloc(scope->kernel->arena, total + 1, sizeof *defines);
    if (defines == NULL)
        return gs_kernel_memory(scope->kernel);
    enum kiln_result result = KILN_OK;
    size_t count = 0;
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        enum kiln_result made = make_define(scope, list->items[i], &defines[count]);
        count += made == KILN_OK ? 1 : 0;
        result = gs_first(result, made);
    }
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        enum kiln_result made = make_constant(scope, &map->pairs[i], &defines[count]);
        count += made == KILN_OK ? 1 : 0;
        result = gs_first(result, made);
    }
    result = gs_first(result, check_repeats(scope, defines, count));
    variant->defines = defines;
    variant->define_count = count;
    return gs_first(result, make_preamble(scope, variant));
}

static enum kiln_result find_template(const struct gs_scope *scope, struct gs_variant *variant) {
    const struct gs_yaml_node *node = gs_scope_node(scope, GS_KEY_TEMPLATE);
    struct gs_value value;
    struct kiln_error error;
    struct mf_file_stat stat;
    enum kiln_result result = gs_scope_text(scope, node, "template", &value);
    if (result != KILN_OK)
        return result;
    result = mf_path_check(value.text, &error);
    if (result != KILN_OK)
        return gs_scope_report(scope, result, node->line, "template: %s", error.message);
    variant->template_path =
        mf_path_join(scope->kernel->arena, scope->kernel->directory, value.text);
    if (variant->template_path == NULL)
        return gs_kernel_memory(scope->kernel);
    result = mf_file_stat(variant->template_path, &stat, &error);
    if (result == KILN_ERR_NOT_FOUND)
        return gs_scope_report(scope, result, node->line,
                               "there is no template '%s' beside this file", value.text);
    if (result != KILN_OK)
        return gs_scope_report(scope, result, node->line, "template: %s", error.message);
    return KILN_OK;
}

enum kiln_result gs_expand_variant(const struct gs_scope *scope, struct gs_variant *variant) {
    size_t target = GS_TARGET_VULKAN_1_1;
    size_t recipe = GS_RECIPE_PERFORMANCE;
    variant->yaml_path = scope->kernel->path;
    variant->yaml_line = scope->kernel->line;
    enum kiln_result result = find_template(scope, variant);
    if (gs_scope_node(scope, GS_KEY_TARGET) != NULL)
        result = gs_first(result, read_choice(scope, GS_KEY_TARGET, target_names,
                                              COUNT_OF(target_names), &target));
    if (gs_scope_node(scope, GS_KEY_RECIPE) != NULL)
        result = gs_first(result, read_choice(scope, GS_KEY_RECIPE, recipe_names,
                                              COUNT_OF(recipe_names), &recipe));
    variant->target = (enum gs_target)target;
    variant->recipe = (enum gs_recipe)recipe;
    result = gs_first(result, make_defines(scope, variant));
    return gs_first(result, gs_promise_fill(scope, &variant->promise));
}
