/* SPDX-License-Identifier: MIT */
/*
 * gs_requires_table: what Vulkan asks of a device for SPIR-V capabilities, extensions and execution
 * modes. Private to genshaders.
 *
 * Source: Vulkan 1.4 specification, appendix "Vulkan Environment for SPIR-V" (the same data is in
 * the registry's vk.xml as spirvcapability and spirvextension; tests compare the two). Rows stand
 * for what a compute kernel on buffers can use; others are unknown on purpose.
 */
#ifndef GS_REQUIRES_TABLE_H
#define GS_REQUIRES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One need: a feature-struct field, offered by Vulkan 1.<core_minor> (0: never core) or else by a
 * device extension. Any part may be NULL.
 */
struct gs_need {
    const char *feature;
    const char *extension;
    uint32_t core_minor;
};

struct gs_capability_row {
    uint32_t capability;
    const char *name;
    struct gs_need need;
    const char *subgroup_operation; /* bit of VkSubgroupFeatureFlags, NULL for none */
    uint32_t implied;               /* capability that this one declares too; Shader for none */
    bool atomic; /* need.feature is one of several: what the atomics use decides */
};

struct gs_extension_row {
    const char *name;
    struct gs_need need;
};

struct gs_mode_row {
    uint32_t mode;
    struct gs_need need;
};

/* NULL when the table does not have it. */
const struct gs_capability_row *gs_requires_capability(uint32_t capability);
const struct gs_extension_row *gs_requires_extension(const char *name);
const struct gs_mode_row *gs_requires_mode(uint32_t mode);

/* All rows, in the order of capability numbers. */
const struct gs_capability_row *gs_requires_capabilities(size_t *count);
const struct gs_extension_row *gs_requires_extensions(size_t *count);

#endif /* GS_REQUIRES_TABLE_H */
