/* SPDX-License-Identifier: MIT */
/*
 * gs_module_layout: sizes of types and layout rules of blocks. Private to genshaders.
 *
 * Source of the rules: Vulkan 1.3 specification, "Shader Resource Interface", "Offset and Stride
 * Assignment", with relaxed block layout (core since Vulkan 1.1).
 */
#ifndef GS_MODULE_LAYOUT_H
#define GS_MODULE_LAYOUT_H

#include "gs_module_ids.h"

/* Fills size and alignments of a type from earlier definitions; called by gs_ids_make in order. */
void gs_layout_define(const struct gs_ids *ids, struct gs_definition *definition);

/* Which relaxations of the standard layouts the module's blocks make use of. */
struct gs_layout_needs {
    bool scalar_block;           /* storage, uniform or push block: scalarBlockLayout */
    bool uniform_standard;       /* uniform block laid out as std430 */
    bool workgroup_scalar_block; /* explicitly laid out Workgroup block */
};
struct gs_layout_needs gs_layout_needs(const struct gs_ids *ids);

/*
 * Bytes of all Workgroup variables together: each placed in module order at the next multiple of
 * its scalar alignment. Explicitly laid out blocks (WorkgroupMemoryExplicitLayoutKHR) alias each
 * other, so only the largest counts. KILN_ERR_UNSUPPORTED for a variable whose size is not known,
 * KILN_ERR_LIMIT for a sum above 2^32 - 1.
 */
enum kiln_result gs_layout_workgroup_bytes(const struct gs_ids *ids, uint32_t *out,
                                           struct kiln_error *error);

#endif /* GS_MODULE_LAYOUT_H */
