/* SPDX-License-Identifier: MIT */
/*
 * gs_import: compute modules of other front ends as a bundle like our own.
 *
 *   gate -> refuse what is no Vulkan compute shader -> for each compute entry point: split, prune,
 *   validate, optimise, normalise, reflect, strip, validate, hash -> publish
 *
 * An artifact's name is made of the file's name, the element types of its buffers, the entry
 * point's name and the local size. The other fields of a variant are not known: tier `imported`,
 * shape `any`, no reference, no tolerance; dims are groups_x, groups_y, groups_z, the group counts.
 */
#ifndef GS_IMPORT_H
#define GS_IMPORT_H

#include "gs_diag.h"
#include "gs_spec.h"

struct gs_import_options {
    const char *const *paths; /* modules, and directories of which every *.spv is taken */
    size_t path_count;
    const char *out;       /* bundle directory; made when missing */
    enum gs_recipe recipe; /* GS_RECIPE_NONE: instructions stay as they are */
};

struct gs_import_summary {
    size_t file_count;
    size_t artifact_count;
    uint64_t size_bytes;
};

/*
 * KILN_OK and a bundle of all that the paths hold and nothing else, or the code of the first
 * diagnostic with all of them in *diag and the bundle as it was. Refused are, by code:
 *   KILN_ERR_FORMAT       what the gate refuses: damaged, cut, no SPIR-V
 *   KILN_ERR_UNSUPPORTED  OpenCL kernels, libraries with linkage, capabilities that the table of
 *                         requirements does not know
 *   KILN_ERR_NOT_FOUND    no such file, no *.spv in a directory, no entry point of a compute shader
 *   KILN_ERR_SPIRV        what the validator refuses
 *   KILN_ERR_INTERFACE    images, samplers, uniform buffers, arrays of buffers
 *   KILN_ERR_DUPLICATE    two entry points that would have one name
 *   KILN_ERR_PATH         the bundle in place holds artifacts that were built, not imported
 */
enum kiln_result gs_import_run(const struct gs_import_options *options,
                               struct gs_import_summary *summary, struct gs_diag *diag);

#endif /* GS_IMPORT_H */
