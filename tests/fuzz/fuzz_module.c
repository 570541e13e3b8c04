/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target of the SPIR-V gate and everything that runs behind it. The gate may refuse; what it
 * accepts must be walked, normalised, split, stripped, reduced and measured without a sanitizer's
 * complaint, and these properties hold or the target traps:
 *   - a module that was normalised, split or stripped passes the gate again, a skeleton can be
 *     walked (of an invalid module it may lack what the gate asks for);
 *   - normalising and stripping twice changes nothing the second time;
 *   - the same bytes in the other byte order give the same words.
 * Seeds: tests/fixtures/spirv (all .spv files). tests/unit/test_gate.c includes this file.
 */
#include "gs_module.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void fuzz_require(bool holds) {
    if (!holds)
        abort();
}

/* Every word of every instruction is read, so that a sanitizer sees what the gate let through. */
static uint32_t fuzz_walk(const struct gs_module *module) {
    uint32_t sum = 0;
    size_t position = 0;
    size_t word_count = 5;
    struct gs_instruction instruction;
    while (gs_module_next(module, &position, &instruction)) {
        for (size_t i = 0; i < instruction.word_count; i++)
            sum = sum * 31 + instruction.words[i];
        word_count += instruction.word_count;
    }
    fuzz_require(word_count == module->word_count);
    struct gs_entry_point entries[4];
    size_t count = gs_module_entry_points(module, entries, 4);
    for (size_t i = 0; i < count && i < 4; i++)
        sum += (uint32_t)strlen(entries[i].name);
    return sum;
}

static void fuzz_read(const struct gs_module *module, struct gs_module *copy) {
    fuzz_require(gs_module_read(module->words, module->word_count * sizeof(uint32_t), NULL, copy,
                                NULL) == KILN_OK);
}

static bool fuzz_equal(const struct gs_module *a, const struct gs_module *b) {
    return a->word_count == b->word_count &&
           memcmp(a->words, b->words, a->word_count * sizeof(uint32_t)) == 0;
}

typedef enum kiln_result (*fuzz_rewrite)(struct gs_module *module, struct kiln_error *error);

/* In-place rewrites: bit-equal when refused, gate-clean and idempotent when done. */
static void fuzz_in_place(const struct gs_module *module, fuzz_rewrite rewrite) {
    struct gs_module once;
    struct gs_module twice;
    fuzz_read(module, &once);
    if (rewrite(&once, NULL) != KILN_OK) {
        fuzz_require(fuzz_equal(module, &once));
    } else {
        fuzz_read(&once, &twice);
        fuzz_require(rewrite(&twice, NULL) == KILN_OK);
        fuzz_require(fuzz_equal(&once, &twice));
        gs_module_release(&twice);
    }
    gs_module_release(&once);
}

static void fuzz_copies(const struct gs_module *module) {
    struct gs_module made;
    struct gs_module again;
    size_t count = gs_module_entry_points(module, NULL, 0);
    for (size_t i = 0; i < count && i < 4; i++) {
        fuzz_require(gs_module_split(module, i, &made, NULL) == KILN_OK);
        fuzz_require(gs_module_entry_points(&made, NULL, 0) == 1);
        fuzz_read(&made, &again);
        gs_module_release(&made);
        gs_module_release(&again);
    }
    if (gs_module_skeleton(module, &made, NULL) == KILN_OK) {
        (void)fuzz_walk(&made);
    } else {
        fuzz_require(made.words == NULL);
    }
    gs_module_release(&made);
}

static void fuzz_requirements(const struct gs_module *module) {
    struct mf_arena arena = {0};
    struct mf_requires requires_ = {.push_bytes = 77, .subgroup_size = 78};
    if (gs_module_requirements(module, &arena, &requires_, NULL) == KILN_OK) {
        uint64_t product = (uint64_t)requires_.local_size[0] * requires_.local_size[1];
        fuzz_require(product != 0 && requires_.local_size[2] != 0);
        for (size_t i = 1; i < requires_.feature_count; i++)
            fuzz_require(strcmp(requires_.features[i - 1], requires_.features[i]) < 0);
    }
    fuzz_require(requires_.push_bytes == 77 && requires_.subgroup_size == 78);
    mf_arena_release(&arena);
}

static void fuzz_swapped(const struct gs_module *module) {
    struct gs_module swapped;
    struct gs_module back;
    const struct gs_gate_options options = {.swap = true};
    fuzz_read(module, &swapped);
    for (size_t i = 0; i < swapped.word_count; i++)
        swapped.words[i] = __builtin_bswap32(swapped.words[i]);
    size_t size_bytes = swapped.word_count * sizeof(uint32_t);
    fuzz_require(gs_module_read(swapped.words, size_bytes, NULL, &back, NULL) != KILN_OK);
    fuzz_require(gs_module_read(swapped.words, size_bytes, &options, &back, NULL) == KILN_OK);
    fuzz_require(fuzz_equal(module, &back));
    gs_module_release(&swapped);
    gs_module_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    struct gs_module module;
    struct kiln_error error = {0};
    if (gs_module_read(data, size_bytes, NULL, &module, &error) != KILN_OK) {
        fuzz_require(module.words == NULL && module.word_count == 0 && error.message[0] != 0);
        return 0;
    }
    (void)fuzz_walk(&module);
    fuzz_in_place(&module, gs_module_normalise);
    fuzz_in_place(&module, gs_module_strip);
    fuzz_copies(&module);
    fuzz_requirements(&module);
    fuzz_swapped(&module);
    gs_module_release(&module);
    return 0;
}
