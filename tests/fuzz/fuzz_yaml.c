/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: bytes as the YAML of a kernel, through the parser, the checks and the expansion of
 * its first variants, from the root of the checkout (the seeds name a template there). Aborts when
 * a promise of the headers is broken: a failure without a diagnostic, a success without a result, a
 * name that mf_name_check_part would refuse.
 */
#include "gs_kernel.h"
#include "mf_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define EXPANDED_MAX 64

static void require(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "fuzz_yaml: %s\n", what);
        abort();
    }
}

static void expand(const struct gs_kernel *kernel, struct gs_diag *diag) {
    size_t *index = mf_arena_alloc(kernel->arena, kernel->axis_count + 1, sizeof *index);
    if (index == NULL)
        return;
    for (size_t i = 0; i < kernel->combination_count && i < EXPANDED_MAX; i++) {
        struct gs_scope scope = {.kernel = kernel, .value_index = index};
        struct gs_variant variant = {0};
        gs_kernel_combination(kernel, i, index);
        (void)gs_kernel_excluded(kernel, index);
        if (gs_expand_name(&scope, &variant.promise) != KILN_OK) {
            require(gs_diag_count(diag) > 0, "no name and no diagnostic");
            continue;
        }
        require(strlen(variant.promise.name) <= MF_NAME_MAX_BYTES, "a name that is too long");
        require(mf_name_check_part(variant.promise.schedule, NULL) == KILN_OK, "a bad schedule");
        if (gs_expand_variant(&scope, &variant) != KILN_OK)
            require(gs_diag_count(diag) > 0, "no variant and no diagnostic");
        else
            require(variant.preamble != NULL && variant.promise.dim_count > 0 &&
                        variant.promise.binding_count > 0 && variant.promise.reference != NULL,
                    "an incomplete variant");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    struct mf_arena arena = {0};
    struct mf_buffer text = {0};
    struct gs_diag *diag = NULL;
    if (gs_diag_create(&diag) != KILN_OK)
        return 0;
    struct gs_kernel kernel = {
        .path = "fam/k.yaml", .directory = "tests/fuzz/seeds/macro", .arena = &arena, .diag = diag};
    enum kiln_result result = gs_kernel_parse(&kernel, "k", (const char *)data, size_bytes);
    require((result == KILN_OK) == kernel.valid, "valid and the result differ");
    require((result == KILN_OK) == (gs_diag_count(diag) == 0), "a failure without a diagnostic");
    if (kernel.valid)
        expand(&kernel, diag);
    require(gs_diag_format(diag, &text) == KILN_OK && gs_diag_format_json(diag, &text) == KILN_OK,
            "diagnostics that cannot be printed");
    mf_buffer_release(&text);
    gs_diag_destroy(&diag);
    mf_arena_release(&arena);
    return 0;
}
