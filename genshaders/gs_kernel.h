/* SPDX-License-Identifier: MIT */
/*
 * gs_kernel: private to gs_spec: one YAML file as checked structure, before its axes are
 * multiplied out.
 *
 *   gs_kernel.c   top-level keys, exclusions, overrides, use of parameters
 *   gs_axes.c     axes and conditions on their parameters
 *   gs_expand.c   one combination of axis values: names, macros, texts with ${...}
 *   gs_promise.c  one combination: bindings, push constants, dims, grid, tolerance
 *   gs_spec.c     all files: reading, counting, budget, sorting, duplicate names
 *
 * Everything lives in `arena`. Functions report to `diag` and return the code of the first problem
 * they found, after having looked for the others too. One thread at a time.
 */
#ifndef GS_KERNEL_H
#define GS_KERNEL_H

#include "gs_spec.h"
#include "gs_yaml.h"

#define GS_AXIS_VALUE_COUNT_MAX 1024   /* values of one axis */
#define GS_COMBINATION_COUNT_MAX 65536 /* of one kernel, before exclusion */
#define GS_PUSH_MAX_BYTES                                                                          \
    128 /* Vulkan's guaranteed maxPushConstantsSize (table "Required Limits") */

/* Keys of a YAML file, in the order in which they are documented. */
enum gs_key {
    GS_KEY_KERNEL,
    GS_KEY_FAMILY,
    GS_KEY_TEMPLATE,
    GS_KEY_AXES,
    GS_KEY_EXCLUDE,
    GS_KEY_DTYPES,
    GS_KEY_SHAPE,
    GS_KEY_SCHEDULE,
    GS_KEY_TIER,
    GS_KEY_DEFINES,
    GS_KEY_CONSTANTS,
    GS_KEY_TARGET,
    GS_KEY_RECIPE,
    GS_KEY_DIMS,
    GS_KEY_GRID,
    GS_KEY_BINDINGS,
    GS_KEY_PUSH,
    GS_KEY_REQUIRES,
    GS_KEY_REFERENCE,
    GS_KEY_TOLERANCE,
    GS_KEY_OVERRIDES,
    GS_KEY_COUNT
};
const char *gs_key_string(enum gs_key key);

struct gs_value {
    const char *text;
    bool integer; /* written as a plain integer, or ${p} alone of such a parameter */
    uint32_t line;
};

struct gs_axis {
    const char *name;
    uint32_t line;
    bool tied;
    size_t value_count;
};

/* values[i] belongs to value i of the axis, so tied parameters move together. */
struct gs_parameter {
    const char *name;
    uint32_t line;
    size_t axis;
    const struct gs_value *values;
    bool used;
};

/* True when the parameter has one of these values. */
struct gs_condition {
    size_t parameter;
    const struct gs_value *values;
    size_t value_count;
};

/* An `exclude` entry (why) or an `overrides` entry (set). */
struct gs_rule {
    uint32_t line;
    const struct gs_condition *conditions;
    size_t condition_count;
    const struct gs_yaml_node *why;
    const struct gs_yaml_node *set;
    size_t hit_count; /* combinations that matched */
};

struct gs_kernel {
    const char *path;      /* of the YAML, template root included */
    const char *directory; /* of the YAML */
    struct mf_arena *arena;
    struct gs_diag *diag;

    const char *name;
    const char *family;
    uint32_t line;                                  /* of `kernel:` */
    const struct gs_yaml_node *nodes[GS_KEY_COUNT]; /* NULL when the key is absent */
    uint32_t lines[GS_KEY_COUNT]; /* of the keys; the kernel's line where absent */

    struct gs_axis *axes;
    size_t axis_count;
    struct gs_parameter *parameters;
    size_t parameter_count;
    struct gs_rule *exclusions;
    size_t exclusion_count;
    struct gs_rule *overrides;
    size_t override_count;

    size_t combination_count;
    size_t built_count; /* combinations that no exclusion matches */
    bool valid;         /* parsed without a problem */
};

/* One combination: value_index[a] is the number of axis a's value. */
struct gs_scope {
    const struct gs_kernel *kernel;
    const size_t *value_index;
    const char *variant; /* name for messages; NULL until it is known */
};

/* The first failure of a series of checks. */
static inline enum kiln_result gs_first(enum kiln_result first, enum kiln_result next) {
    return first != KILN_OK ? first : next;
}

/* Reports that memory is out. */
enum kiln_result gs_kernel_memory(const struct gs_kernel *kernel);

/* Checks that every key of a mapping is one of `names`; `what` stands before "has an unknown key".
 */
enum kiln_result gs_kernel_check_keys(const struct gs_kernel *kernel,
                                      const struct gs_yaml_node *mapping, const char *what,
                                      const char *const *names, size_t name_count);

/*
 * Fills a kernel whose path, directory, arena and diag are set from YAML text. `stem` is the file
 * name without ".yaml". Sets `valid`.
 */
enum kiln_result gs_kernel_parse(struct gs_kernel *kernel, const char *stem, const char *text,
                                 size_t size_bytes);

/* gs_axes.c. The node of `axes` may be NULL: one combination without parameters. */
enum kiln_result gs_axes_parse(struct gs_kernel *kernel, const struct gs_yaml_node *node);

/* Conditions of a mapping, except the key `skip` (may be NULL), into rule->conditions. */
enum kiln_result gs_conditions_parse(struct gs_kernel *kernel, const struct gs_yaml_node *mapping,
                                     const char *skip, struct gs_rule *rule);
bool gs_rule_matches(const struct gs_kernel *kernel, const struct gs_rule *rule,
                     const size_t *value_index);

/* NULL when there is no such parameter; `length` bytes of name count. */
struct gs_parameter *gs_kernel_parameter(const struct gs_kernel *kernel, const char *name,
                                         size_t length);
/* Reports an undefined parameter with the nearest one. */
enum kiln_result gs_kernel_undefined(const struct gs_kernel *kernel, uint32_t line,
                                     const char *name, size_t length);

/* value_index of combination number `number`; the last axis moves fastest. */
void gs_kernel_combination(const struct gs_kernel *kernel, size_t number, size_t *value_index);
/* The exclusion that matches, or NULL; the first one wins. */
struct gs_rule *gs_kernel_excluded(const struct gs_kernel *kernel, const size_t *value_index);

/* The key's node after overrides; NULL when absent. */
const struct gs_yaml_node *gs_scope_node(const struct gs_scope *scope, enum gs_key key);
uint32_t gs_scope_line(const struct gs_scope *scope, enum gs_key key);
const struct gs_value *gs_scope_value(const struct gs_scope *scope,
                                      const struct gs_parameter *parameter);
/*
 * The scalar's text with every ${name} replaced. `what` names the thing in messages. *out is valid
 * on success only. A node that is no scalar, or empty, is KILN_ERR_FORMAT.
 */
enum kiln_result gs_scope_text(const struct gs_scope *scope, const struct gs_yaml_node *node,
                               const char *what, struct gs_value *out);
enum kiln_result gs_scope_report(const struct gs_scope *scope, enum kiln_result code, uint32_t line,
                                 const char *format, ...) KILN_PRINTF(4, 5);

/* gs_expand.c: the fields that make the name, and the name itself. */
enum kiln_result gs_expand_name(struct gs_scope *scope, struct mf_artifact *promise);
/* The rest of a variant whose name is made. */
enum kiln_result gs_expand_variant(const struct gs_scope *scope, struct gs_variant *variant);

/* gs_promise.c: dims, grid, bindings, push, requires_, reference, tolerance, axes. */
enum kiln_result gs_promise_fill(const struct gs_scope *scope, struct mf_artifact *promise);

/*
 * The number of a value that must be an integer from minimum to maximum; `what` names it in
 * messages.
 */
enum kiln_result gs_scope_integer(const struct gs_scope *scope, const struct gs_value *value,
                                  const char *what, uint32_t minimum, uint32_t maximum,
                                  uint32_t *out);

#endif /* GS_KERNEL_H */
