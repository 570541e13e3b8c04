/* SPDX-License-Identifier: MIT */
/*
 * gs_reflect: the interface of a compute module by SPIRV-Cross (gs_reflect.c is the only file that
 * includes it), and its comparison with what the YAML promised.
 *
 * One SPIRV-Cross context per call; everything is copied out. Safe from any thread.
 */
#ifndef GS_REFLECT_H
#define GS_REFLECT_H

#include "gs_module.h"
#include "gs_spec.h"

/*
 * Fills out->{bindings, push, spec} and out->requires_.push_bytes from a module that still has its
 * names. Storage and uniform buffers only: an image, sampler or unsized set is KILN_ERR_INTERFACE.
 * A storage buffer is described by its last member: that member's name, element type and stride.
 * Access comes from NonWritable/NonReadable of block or members. Works on a skeleton by itself
 * where the library cannot parse the module.
 */
enum kiln_result gs_reflect(const struct gs_module *module, struct mf_arena *arena,
                            struct mf_artifact *out, struct kiln_error *error);

/*
 * Adds one diagnostic per difference between promise and reflection (missing or extra binding,
 * name, number, access, element; push constant name, order, type; local size against a parameter
 * named `workgroup`). KILN_OK when there is none.
 */
enum kiln_result gs_reflect_compare(const struct gs_variant *variant,
                                    const struct mf_artifact *reflected, struct gs_diag *diag);

/* "0.64.0 (commit)" of the library; static storage. */
const char *gs_reflect_version(void);

#endif /* GS_REFLECT_H */
