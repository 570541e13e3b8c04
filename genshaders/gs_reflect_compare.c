/* SPDX-License-Identifier: MIT */
#include "gs_reflect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
    const struct gs_variant *variant;
    struct gs_diag *diag;
    enum kiln_result result;
};

#define REPORT(comparison, ...)                                                                    \
    ((comparison)->result = gs_diag_add(                                                           \
         (comparison)->diag, KILN_ERR_INTERFACE, (comparison)->variant->yaml_path,                 \
         (comparison)->variant->yaml_line, (comparison)->variant->promise.name, __VA_ARGS__))

static const struct mf_binding *find_binding(const struct mf_artifact *artifact,
                                             const struct mf_binding *key) {
    for (size_t i = 0; i < artifact->binding_count; i++) {
        if (artifact->bindings[i].set == key->set && artifact->bindings[i].binding == key->binding)
            return &artifact->bindings[i];
    }
    return NULL;
}

static void compare_binding(struct comparison *comparison, const struct mf_binding *promised,
                            const struct mf_binding *found) {
    uint32_t set = promised->set;
    uint32_t binding = promised->binding;
    if (strcmp(promised->name, found->name) != 0) {
        REPORT(comparison,
               "set %" PRIu32 " binding %" PRIu32 ": promised name '%s', the module has '%s'", set,
               binding, promised->name, found->name);
    }
    if (promised->access != found->access) {
        REPORT(comparison,
               "set %" PRIu32 " binding %" PRIu32 " (%s): promised access %s, the module has %s",
               set, binding, promised->name, mf_access_string(promised->access),
               mf_access_string(found->access));
    }
    if (promised->element != found->element) {
        REPORT(comparison,
               "set %" PRIu32 " binding %" PRIu32 " (%s): promised element %s, the module has %s",
               set, binding, promised->name, mf_scalar_string(promised->element),
               mf_scalar_string(found->element));
    }
    if (promised->stride_bytes != 0 && promised->stride_bytes != found->stride_bytes) {
        REPORT(comparison,
               "set %" PRIu32 " binding %" PRIu32 " (%s): promised stride %" PRIu32
               " bytes, the module has %" PRIu32,
               set, binding, promised->name, promised->stride_bytes, found->stride_bytes);
    }
}

static void compare_bindings(struct comparison *comparison, const struct mf_artifact *reflected) {
    const struct mf_artifact *promise = &comparison->variant->promise;
    for (size_t i = 0; i < promise->binding_count; i++) {
        const struct mf_binding *promised = &promise->bindings[i];
        const struct mf_binding *found = find_binding(reflected, promised);
        if (found != NULL) {
            compare_binding(comparison, promised, found);
        } else {
            REPORT(comparison,
                   "set %" PRIu32 " binding %" PRIu32
                   ": '%s' is promised, the module does not have it",
                   promised->set, promised->binding, promised->name);
        }
    }
    for (size_t i = 0; i < reflected->binding_count; i++) {
        const struct mf_binding *found = &reflected->bindings[i];
        if (find_binding(promise, found) == NULL) {
            REPORT(comparison,
                   "set %" PRIu32 " binding %" PRIu32 ": the module has '%s', it is not promised",
                   found->set, found->binding, found->name);
        }
    }
}

static void compare_push(struct comparison *comparison, const struct mf_artifact *reflected) {
    const struct mf_artifact *promise = &comparison->variant->promise;
    size_t count =
        promise->push_count < reflected->push_count ? promise->push_count : reflected->push_count;
    for (size_t i = 0; i < count; i++) {
        const struct mf_push *promised = &promise->push[i];
        const struct mf_push *found = &reflected->push[i];
        if (strcmp(promised->name, found->name) != 0) {
            REPORT(comparison, "push constant %zu: promised '%s', the module has '%s'", i,
                   promised->name, found->name);
        } else if (promised->type != found->type) {
            REPORT(comparison, "push constant %zu (%s): promised type %s, the module has %s", i,
                   promised->name, mf_scalar_string(promised->type), mf_scalar_string(found->type));
        } else if (promised->offset_bytes != found->offset_bytes ||
                   promised->size_bytes != found->size_bytes) {
            REPORT(comparison,
                   "push constant %zu (%s): promised %" PRIu32 " bytes at %" PRIu32
                   ", the module has %" PRIu32 " at %" PRIu32,
                   i, promised->name, promised->size_bytes, promised->offset_bytes,
                   found->size_bytes, found->offset_bytes);
        }
    }
    for (size_t i = count; i < promise->push_count; i++) {
        REPORT(comparison, "push constant %zu: '%s' is promised, the module does not have it", i,
               promise->push[i].name);
    }
    for (size_t i = count; i < reflected->push_count; i++) {
        REPORT(comparison, "push constant %zu: the module has '%s', it is not promised", i,
               reflected->push[i].name);
    }
}

/* Value of the parameter `workgroup`; NULL when the variant has none. */
static const char *workgroup_parameter(const struct gs_variant *variant) {
    for (size_t i = 0; i < variant->promise.axis_count; i++) {
        if (strcmp(variant->promise.axes[i].name, "workgroup") == 0)
            return variant->promise.axes[i].value;
    }
    return NULL;
}

static void compare_local_size(struct comparison *comparison, const struct mf_artifact *reflected) {
    const char *text = workgroup_parameter(comparison->variant);
    if (text == NULL)
        return;
    char *end = NULL;
    unsigned long long promised = strtoull(text, &end, 10);
    const uint32_t *size = reflected->requires_.local_size;
    uint64_t found = (uint64_t)size[0] * size[1] * size[2]; /* the gate keeps it in 32 bits */
    if (*text == 0 || *end != 0) {
        REPORT(comparison, "parameter workgroup is '%s', expected a number of invocations", text);
    } else if (promised != found) {
        REPORT(comparison,
               "parameter workgroup is %llu, the module's local size is %" PRIu32 " x %" PRIu32
               " x %" PRIu32,
               promised, size[0], size[1], size[2]);
    }
}

enum kiln_result gs_reflect_compare(const struct gs_variant *variant,
                                    const struct mf_artifact *reflected, struct gs_diag *diag) {
    struct comparison comparison = {.variant = variant, .diag = diag, .result = KILN_OK};
    compare_bindings(&comparison, reflected);
    compare_push(&comparison, reflected);
    compare_local_size(&comparison, reflected);
    return comparison.result;
}
