/* SPDX-License-Identifier: MIT */
#include "gs_command.h"
#include "gs_glslang.h"
#include "gs_variant.h"
#include "mf_file.h"

#include <limits.h>
#include <stdio.h>

struct expansion {
    const char *out;
    struct gs_source_tree *tree;
    struct gs_diag *diag;
};

/* <out>/<name>.comp, and its line `name target` on stdout. */
static enum kiln_result variant_expand(const struct expansion *expansion,
                                       const struct gs_variant *variant) {
    struct gs_glslang_unit *unit = NULL;
    struct mf_buffer text = {0};
    struct kiln_error error = {KILN_OK, ""};
    char path[PATH_MAX];
    enum kiln_result result =
        gs_glslang_preprocess(variant, gs_variant_template(variant, expansion->tree),
                              expansion->tree, expansion->diag, &unit);
    if (result != KILN_OK) {
        return result; /* reported already */
    }
    result = gs_variant_text(gs_glslang_text(unit), &text);
    if (result == KILN_OK) {
        snprintf(path, sizeof path, "%s/%s.comp", expansion->out, variant->promise.name);
        result = mf_file_write(path, text.data, text.size_bytes, MF_VOLATILE, NULL, &error);
    }
    if (result != KILN_OK) {
        gs_diag_add(expansion->diag, result, NULL, 0, variant->promise.name, "%s",
                    error.message[0] != 0 ? error.message : kiln_result_string(result));
    } else {
        printf("%s %s\n", variant->promise.name, gs_target_string(variant->target));
    }
    mf_buffer_release(&text);
    gs_glslang_destroy(&unit);
    return result;
}

static enum kiln_result expansion_run(const char *templates, struct expansion *expansion) {
    struct gs_plan_options options = {.template_root = templates};
    struct gs_plan plan = {0};
    struct kiln_error error = {KILN_OK, ""};
    enum kiln_result result = gs_plan_make(&options, &plan, expansion->diag);
    if (result != KILN_OK) {
        return result; /* reported already */
    }
    result = mf_file_make_directory(expansion->out, &error);
    if (result == KILN_OK) {
        result = gs_source_open(templates, &expansion->tree, &error);
    }
    if (result == KILN_OK) {
        result = gs_glslang_start(&error);
    }
    if (result != KILN_OK) {
        gs_diag_add(expansion->diag, result, NULL, 0, NULL, "%s", error.message);
        goto done;
    }
    for (size_t i = 0; i < plan.variant_count; i++) {
        (void)variant_expand(expansion, &plan.variants[i]);
    }
    gs_glslang_stop();
    result = gs_diag_result(expansion->diag);

done:
    gs_source_close(&expansion->tree);
    gs_plan_release(&plan);
    return result;
}

int gs_command_expand(int argc, char **argv) {
    const char *templates = "templates", *out = NULL;
    const struct gs_option options[] = {{"--templates", &templates, NULL}, {"--out", &out, NULL}};
    struct expansion expansion = {0};
    if (gs_options_parse(argc, argv, options, 2, NULL, 0) < 0) {
        return GS_EXIT_USAGE;
    }
    if (out == NULL) {
        fprintf(stderr, "usage: genshaders expand [--templates DIR] --out DIR\n");
        return GS_EXIT_USAGE;
    }
    if (gs_diag_create(&expansion.diag) != KILN_OK) {
        fprintf(stderr, "genshaders: out of memory\n");
        return GS_EXIT_FAILED;
    }
    expansion.out = out;
    bool failed = expansion_run(templates, &expansion) != KILN_OK;
    gs_command_diagnostics(expansion.diag);
    gs_diag_destroy(&expansion.diag);
    failed = fflush(stdout) != 0 || ferror(stdout) || failed;
    return failed ? GS_EXIT_FAILED : GS_EXIT_OK;
}
