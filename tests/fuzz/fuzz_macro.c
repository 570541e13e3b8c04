/* SPDX-License-Identifier: MIT */
/* Fuzz target: bytes as the GLSL of a template, through the macro lint. */
#include "gs_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    static const struct gs_define defines[] = {
        {.name = "K_DTYPE", .value = "DTYPE_Q4_K", .line = 1},
        {.name = "K_ROWS", .value = "2", .line = 2},
    };
    static const struct gs_variant variant = {.promise = {.name = "v"},
                                              .yaml_path = "k.yaml",
                                              .template_path = "k.comp",
                                              .defines = defines,
                                              .define_count = 2};
    const char *const paths[] = {"k.comp"};
    struct gs_diag *diag = NULL;
    char *text = malloc(size_bytes + 1);
    if (text != NULL && gs_diag_create(&diag) == KILN_OK) {
        memcpy(text, data, size_bytes);
        text[size_bytes] = '\0';
        const char *const texts[] = {text};
        enum kiln_result result = gs_macro_lint(&variant, paths, texts, 1, diag);
        if ((result == KILN_OK) != (gs_diag_count(diag) == 0)) {
            fprintf(stderr, "fuzz_macro: the result and the diagnostics differ\n");
            abort();
        }
    }
    gs_diag_destroy(&diag);
    free(text);
    return 0;
}
