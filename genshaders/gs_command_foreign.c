/* SPDX-License-Identifier: MIT */
#include "gs_command.h"
#include "gs_import.h"
#include "gs_inspect.h"
#include "mf_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_LIMIT_BYTES ((size_t)256 << 20)

static enum kiln_result file_inspect(const char *path, struct mf_buffer *text,
                                     struct kiln_error *error) {
    struct mf_buffer bytes = {0};
    struct gs_module module = {NULL, 0};
    enum kiln_result result = mf_file_read(path, MODULE_LIMIT_BYTES, &bytes, error);
    if (result == KILN_OK) {
        result = gs_module_read(bytes.data, bytes.size_bytes,
                                &(struct gs_gate_options){.swap = true}, &module, error);
    }
    if (result == KILN_OK) {
        result = gs_inspect(&module, text, error);
    }
    gs_module_release(&module);
    mf_buffer_release(&bytes);
    return result;
}

int gs_command_inspect(int argc, char **argv) {
    const char **words = calloc((size_t)argc, sizeof *words);
    int word_count = words != NULL ? gs_options_parse(argc, argv, NULL, 0, words, argc) : -1;
    bool failed = false;
    if (word_count == 0) {
        fprintf(stderr, "usage: genshaders inspect FILE.spv...\n");
    }
    for (int i = 0; i < word_count; i++) {
        struct mf_buffer text = {0};
        struct kiln_error error = {KILN_OK, ""};
        if (file_inspect(words[i], &text, &error) == KILN_OK) {
            printf("%s%s: %s", i > 0 ? "\n" : "", words[i], text.data);
        } else {
            fprintf(stderr, "%s: %s\n", words[i], error.message);
            failed = true;
        }
        mf_buffer_release(&text);
    }
    free(words);
    failed = fflush(stdout) != 0 || ferror(stdout) || failed;
    return word_count <= 0 ? GS_EXIT_USAGE : failed ? GS_EXIT_FAILED : GS_EXIT_OK;
}

static bool recipe_find(const char *text, enum gs_recipe *recipe) {
    static const enum gs_recipe all[] = {GS_RECIPE_PERFORMANCE, GS_RECIPE_SIZE, GS_RECIPE_NONE};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(text, gs_recipe_string(all[i])) == 0) {
            *recipe = all[i];
            return true;
        }
    }
    fprintf(stderr, "genshaders import: --recipe: expected performance, size or none, got '%s'\n",
            text);
    return false;
}

static int import_run(const struct gs_import_options *options) {
    struct gs_diag *diag = NULL;
    struct gs_import_summary summary;
    if (gs_diag_create(&diag) != KILN_OK) {
        fprintf(stderr, "genshaders: out of memory\n");
        return GS_EXIT_FAILED;
    }
    bool failed = gs_import_run(options, &summary, diag) != KILN_OK;
    gs_command_diagnostics(diag);
    if (failed) {
        fprintf(stderr,
                "genshaders: nothing imported: %zu refused; the bundle was left as it was\n",
                gs_diag_count(diag));
    } else {
        fprintf(stderr,
                "genshaders: %zu artifacts imported from %zu modules; %" PRIu64
                " bytes of SPIR-V\n",
                summary.artifact_count, summary.file_count, summary.size_bytes);
    }
    gs_diag_destroy(&diag);
    return failed ? GS_EXIT_FAILED : GS_EXIT_OK;
}

int gs_command_import(int argc, char **argv) {
    const char *out = NULL, *recipe = "none";
    const struct gs_option options[] = {{"--out", &out, NULL}, {"--recipe", &recipe, NULL}};
    const char **words = calloc((size_t)argc, sizeof *words);
    struct gs_import_options import = {.paths = words};
    int word_count = words != NULL ? gs_options_parse(argc, argv, options, 2, words, argc) : -1;
    int status = GS_EXIT_USAGE;
    if (word_count == 0 || (word_count > 0 && out == NULL)) {
        fprintf(stderr, "usage: genshaders import FILE.spv|DIR... --out DIR [--recipe NAME]\n");
    } else if (word_count > 0 && recipe_find(recipe, &import.recipe)) {
        import.path_count = (size_t)word_count;
        import.out = out;
        status = import_run(&import);
    }
    free(words);
    return status;
}
