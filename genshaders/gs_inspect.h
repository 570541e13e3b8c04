/* SPDX-License-Identifier: MIT */
/*
 * gs_inspect: a SPIR-V module told in text: what it offers, what it needs and what it is made of.
 *
 * Works on any module that passes the gate, also on such as gs_import refuses; what cannot be told
 * of a part (the interface of a kernel that uses images) is one line with the reason. Safe from any
 * thread.
 */
#ifndef GS_INSPECT_H
#define GS_INSPECT_H

#include "gs_module.h"

/*
 * Appends the description: version, size, entry points and their execution models, then for each
 * compute entry point local size, workgroup memory, bindings, push and specialisation constants,
 * Vulkan version, features and device extensions; then capabilities and instructions, most frequent
 * first. KILN_ERR_MEMORY only.
 */
enum kiln_result gs_inspect(const struct gs_module *module, struct mf_buffer *out,
                            struct kiln_error *error);

#endif /* GS_INSPECT_H */
