/* SPDX-License-Identifier: MIT */
/*
 * gs_spvtools: optimise, validate and (for people and tests) print and assemble modules, by
 * SPIRV-Tools. gs_spvtools.c is the only file that includes it.
 *
 * Nothing here falls back silently: a pass that fails is an error, and the module stays unchanged.
 * Thread safety: every function may be called from any thread, on different modules.
 */
#ifndef GS_SPVTOOLS_H
#define GS_SPVTOOLS_H

#include "gs_module.h"
#include "gs_spec.h"

/*
 * Runs the recipe's passes; bindings and specialisation constants are kept even when unused. The
 * input is not validated here: it comes from glslang and through the gate (gs_module_read), or has
 * been validated, since SPIRV-Tools may crash on what is not valid. KILN_ERR_SPIRV with the tool's
 * first message, KILN_ERR_UNSUPPORTED when the library lacks a pass of the recipe.
 */
enum kiln_result gs_spvtools_optimise(struct gs_module *module, enum gs_target target,
                                      enum gs_recipe recipe, struct kiln_error *error);

/* The lowest target that takes modules of that module's version. */
enum gs_target gs_spvtools_target(const struct gs_module *module);

/*
 * Drops functions that no entry point reaches and then global variables that nothing uses, bindings
 * too: for a module split off from one with other entry points. Instructions stay as they are.
 * Input and errors as for gs_spvtools_optimise.
 */
enum kiln_result gs_spvtools_prune(struct gs_module *module, enum gs_target target,
                                   struct kiln_error *error);

/*
 * KILN_ERR_SPIRV with the validator's first message when the module is invalid for the target.
 * Scalar block layout and LocalSizeId are let through; a module's requirements name both.
 */
enum kiln_result gs_spvtools_validate(const struct gs_module *module, enum gs_target target,
                                      struct kiln_error *error);

/* Appends the disassembly, friendly names, indented. */
enum kiln_result gs_spvtools_print(const struct gs_module *module, enum gs_target target,
                                   struct mf_buffer *out, struct kiln_error *error);

/* *module is empty on failure. */
enum kiln_result gs_spvtools_assemble(const char *text, enum gs_target target,
                                      struct gs_module *module, struct kiln_error *error);

/* "v2025.1": static storage. */
const char *gs_spvtools_version(void);

#endif /* GS_SPVTOOLS_H */
