/* SPDX-License-Identifier: MIT */
/*
 * gs_spec: from a tree of YAML files to the sorted list of variants.
 *
 * docs/variants.md defines the grammar. All problems of all files are reported, not just the first.
 * Ownership: a plan owns everything reachable from it, in its arena. A plan is immutable once made
 * and may then be read from any thread.
 */
#ifndef GS_SPEC_H
#define GS_SPEC_H

#include "gs_diag.h"
#include "mf_manifest.h"

/* SPIR-V environment of a variant; the text form is what YAML and manifests use. */
enum gs_target { GS_TARGET_VULKAN_1_1, GS_TARGET_VULKAN_1_2, GS_TARGET_VULKAN_1_3 };
const char *gs_target_string(enum gs_target target); /* "vulkan1.1" */

/* A named list of optimiser passes; never chosen as a fallback. */
enum gs_recipe { GS_RECIPE_PERFORMANCE, GS_RECIPE_SIZE, GS_RECIPE_NONE };
const char *gs_recipe_string(enum gs_recipe recipe); /* "performance" */

struct gs_define {
    const char *name;  /* K_ROWS */
    const char *value; /* 2, DTYPE_Q4_K */
    uint32_t line;     /* where the YAML asks for it */
};

/*
 * One artifact to be. `promise` holds every field that the YAML determines: name, family, kernel,
 * dtypes, shape, schedule, tier, axes, bindings (set 0, element's own size as stride 0 = unknown),
 * push (offsets in order), dims, grid, reference, tolerance and requires_.subgroup_size. The other
 * fields are zero until the module is built.
 */
struct gs_variant {
    struct mf_artifact promise;
    const char *yaml_path;     /* root included, for messages */
    uint32_t yaml_line;        /* line of the `kernel:` key */
    const char *template_path; /* path of the GLSL, root included */
    const struct gs_define *defines;
    size_t define_count;
    const char *preamble; /* the #define lines, in the order of `defines` */
    enum gs_target target;
    enum gs_recipe recipe;
};

struct gs_source { /* a YAML file that was read */
    const char *path;
    struct mf_hash hash;
};

struct gs_plan {
    struct mf_arena arena;
    struct gs_variant *variants; /* sorted by promise.name bytewise; names are unique */
    size_t variant_count;
    struct mf_exclusion *excluded; /* sorted by name; from `exclude` entries */
    size_t exclusion_count;
    struct gs_source *sources; /* sorted by path */
    size_t source_count;
};

struct gs_plan_options {
    const char *template_root; /* directory; every <dir>/<kernel>.yaml below it is read */
    size_t variant_budget;     /* 0: 2,000; more variants of all families is an error naming the
                                  largest family and its count */
};

/*
 * KILN_OK and a plan, or the code of the first diagnostic with all of them in *diag and *plan all
 * zero. A tree without any YAML file, an empty product and a kernel all of whose variants are
 * excluded are errors.
 */
enum kiln_result gs_plan_make(const struct gs_plan_options *options, struct gs_plan *plan,
                              struct gs_diag *diag);
void gs_plan_release(struct gs_plan *plan);

/*
 * Macro lint of one variant against its include closure (docs/variants.md, "Macros"): texts are the
 * raw contents of the template and of every file it included, paths likewise. Reports macros that
 * are never read, K_ words that nothing sets, and value symbols that no file defines. Comments and
 * strings do not count as reading.
 */
enum kiln_result gs_macro_lint(const struct gs_variant *variant, const char *const *paths,
                               const char *const *texts, size_t file_count, struct gs_diag *diag);

#endif /* GS_SPEC_H */
