/* SPDX-License-Identifier: MIT */
/*
 * gs_glslang: GLSL to SPIR-V in process. gs_glslang.c is the only file that includes glslang.
 *
 * A unit is one variant on its way through glslang: preprocess it, look at the text to decide
 * whether compiling is needed, then compile exactly that text. Includes are served from the source
 * tree only; glslang itself never touches the disk.
 *
 * Thread safety: gs_glslang_start once before and gs_glslang_stop once after all threads; units are
 * independent and belong to one thread each.
 */
#ifndef GS_GLSLANG_H
#define GS_GLSLANG_H

#include "gs_module.h"
#include "gs_source.h"
#include "gs_spec.h"

/* KILN_ERR_SYSTEM when glslang cannot start. Calls nest. */
enum kiln_result gs_glslang_start(struct kiln_error *error);
void gs_glslang_stop(void);

struct gs_glslang_unit; /* opaque */

/*
 * Expands the template of `variant`, which stands at `template_path` relative to the tree's root,
 * with the variant's macros set behind its #version line. An include is looked up beside the
 * including file, then in include/ of the root. Problems become diagnostics that name template or
 * include file, line and variant. *unit is NULL on failure.
 */
enum kiln_result gs_glslang_preprocess(const struct gs_variant *variant, const char *template_path,
                                       struct gs_source_tree *tree, struct gs_diag *diag,
                                       struct gs_glslang_unit **unit);

/* The preprocessed text, owned by the unit. */
const char *gs_glslang_text(const struct gs_glslang_unit *unit);

/*
 * The include closure: every file that was read or found missing while looking for one, in order of
 * first use, the template first. Owned by the unit, the files by the tree.
 */
const struct gs_source_file *const *gs_glslang_closure(const struct gs_glslang_unit *unit,
                                                       size_t *count);

/* Compiles the preprocessed text. Warnings are errors. *module is empty on failure. */
enum kiln_result gs_glslang_compile(struct gs_glslang_unit *unit, struct gs_diag *diag,
                                    struct gs_module *module);

void gs_glslang_destroy(struct gs_glslang_unit **unit); /* accepts a pointer to NULL; sets NULL */

/* "15.1.0"; static storage. */
const char *gs_glslang_version(void);

#endif /* GS_GLSLANG_H */
