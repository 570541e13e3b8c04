/* SPDX-License-Identifier: MIT */
#include "gs_spvtools.h"

#include <spirv-tools/libspirv.h>

#include <stdlib.h>
#include <string.h>

static const spv_target_env target_environments[] = {
    [GS_TARGET_VULKAN_1_1] = SPV_ENV_VULKAN_1_1,
    [GS_TARGET_VULKAN_1_2] = SPV_ENV_VULKAN_1_2,
    [GS_TARGET_VULKAN_1_3] = SPV_ENV_VULKAN_1_3,
};

/*
 * The performance recipe. A driver's compiler inlines, unrolls, folds and eliminates by itself; the
 * long list of passes that SPIRV-Tools calls by this name takes eight times as long, makes modules
 * a seventh larger and the machine code of RADV and NVK a little worse (docs/pipeline.md). What
 * pays is a single return a function, which drivers make less well, and what makes a module small:
 * chains of blocks become one, variables of functions become values, and what nothing uses goes.
 */
static const char *const performance_passes[] = {
    "--merge-return",
    "--merge-blocks",
    "--ssa-rewrite",
    "--eliminate-dead-code-aggressive",
};
#define PERFORMANCE_PASS_COUNT (sizeof performance_passes / sizeof *performance_passes)

/* The optimiser's message callback has no user pointer, so the first message goes by thread. */
static _Thread_local char optimiser_message[KILN_ERROR_MESSAGE_BYTES];

static void optimiser_consume(spv_message_level_t level, const char *source,
                              const spv_position_t *position, const char *message) {
    (void)source;
    (void)position;
    if (level <= SPV_MSG_ERROR && optimiser_message[0] == 0) {
        strncpy(optimiser_message, message, sizeof optimiser_message - 1);
    }
}

static enum kiln_result module_replace(struct gs_module *module, const uint32_t *words,
                                       size_t word_count, struct kiln_error *error) {
    uint32_t *copy = malloc(word_count * sizeof *copy);
    if (copy == NULL) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    memcpy(copy, words, word_count * sizeof *copy);
    gs_module_release(module);
    module->words = copy;
    module->word_count = word_count;
    return KILN_OK;
}

static enum kiln_result passes_register(spv_optimizer_t *optimiser, const char *const *passes,
                                        size_t pass_count, struct kiln_error *error) {
    for (size_t i = 0; i < pass_count; i++) {
        if (!spvOptimizerRegisterPassFromFlag(optimiser, passes[i])) {
            return kiln_error_set(error, KILN_ERR_UNSUPPORTED,
                                  "SPIRV-Tools %s has no optimiser pass %s", gs_spvtools_version(),
                                  passes[i]);
        }
    }
    return KILN_OK;
}

/* Runs these passes, or without any the library's own list for size. `what` is for messages. */
static enum kiln_result passes_run(struct gs_module *module, enum gs_target target,
                                   const char *what, const char *const *passes, size_t pass_count,
                                   bool keep_bindings, struct kiln_error *error) {
    enum kiln_result result = KILN_ERR_MEMORY;
    spv_binary binary = NULL;
    spv_optimizer_t *optimiser = spvOptimizerCreate(target_environments[target]);
    spv_optimizer_options options = spvOptimizerOptionsCreate();
    if (optimiser == NULL || options == NULL) {
        kiln_error_set(error, result, "out of memory");
        goto done;
    }
    optimiser_message[0] = 0;
    spvOptimizerSetMessageConsumer(optimiser, optimiser_consume);
    spvOptimizerOptionsSetRunValidator(options, false);
    spvOptimizerOptionsSetPreserveBindings(options, keep_bindings);
    spvOptimizerOptionsSetPreserveSpecConstants(options, true);
    if (pass_count == 0) {
        spvOptimizerRegisterSizePasses(optimiser);
    }
    result = passes_register(optimiser, passes, pass_count, error);
    if (result != KILN_OK) {
        goto done;
    }
    spv_result_t status =
        spvOptimizerRun(optimiser, module->words, module->word_count, &binary, options);
    if (status != SPV_SUCCESS || binary == NULL) {
        result = kiln_error_set(error, KILN_ERR_SPIRV, "optimiser (%s) failed: %s", what,
                                optimiser_message[0] ? optimiser_message : "no message");
        goto done;
    }
    result = module_replace(module, binary->code, binary->wordCount, error);

done:
    spvBinaryDestroy(binary);
    if (options != NULL) {
        spvOptimizerOptionsDestroy(options);
    }
    if (optimiser != NULL) {
        spvOptimizerDestroy(optimiser);
    }
    return result;
}

enum kiln_result gs_spvtools_optimise(struct gs_module *module, enum gs_target target,
                                      enum gs_recipe recipe, struct kiln_error *error) {
    size_t pass_count = recipe == GS_RECIPE_PERFORMANCE ? PERFORMANCE_PASS_COUNT : 0;
    return recipe == GS_RECIPE_NONE ? KILN_OK
                                    : passes_run(module, target, gs_recipe_string(recipe),
                                                 performance_passes, pass_count, true, error);
}

enum kiln_result gs_spvtools_prune(struct gs_module *module, enum gs_target target,
                                   struct kiln_error *error) {
    static const char *const passes[] = {"--eliminate-dead-functions",
                                         "--eliminate-dead-variables"};
    return passes_run(module, target, "prune", passes, sizeof passes / sizeof *passes, false,
                      error);
}

enum gs_target gs_spvtools_target(const struct gs_module *module) {
    uint32_t version = module->words[1];
    return version <= 0x00010300   ? GS_TARGET_VULKAN_1_1
           : version <= 0x00010500 ? GS_TARGET_VULKAN_1_2
                                   : GS_TARGET_VULKAN_1_3;
}

static enum kiln_result diagnostic_error(spv_result_t status, spv_diagnostic diagnostic,
                                         const char *stage, struct kiln_error *error) {
    if (status == SPV_SUCCESS) {
        return KILN_OK;
    }
    if (status == SPV_ERROR_OUT_OF_MEMORY) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    return kiln_error_set(error, KILN_ERR_SPIRV, "%s: %s (word or line %zu)", stage,
                          diagnostic != NULL ? diagnostic->error : "no message",
                          diagnostic != NULL ? diagnostic->position.index : (size_t)0);
}

enum kiln_result gs_spvtools_validate(const struct gs_module *module, enum gs_target target,
                                      struct kiln_error *error) {
    spv_diagnostic diagnostic = NULL;
    spv_context context = spvContextCreate(target_environments[target]);
    spv_validator_options options = spvValidatorOptionsCreate();
    enum kiln_result result = KILN_ERR_MEMORY;
    if (context == NULL || options == NULL) {
        kiln_error_set(error, result, "out of memory");
        goto done;
    }
    spvValidatorOptionsSetFriendlyNames(options, false);
    spvValidatorOptionsSetScalarBlockLayout(options, true);
    spvValidatorOptionsSetAllowLocalSizeId(options, true);
    spv_const_binary_t binary = {module->words, module->word_count};
    spv_result_t status = spvValidateWithOptions(context, options, &binary, &diagnostic);
    result = diagnostic_error(status, diagnostic, "invalid SPIR-V", error);

done:
    spvDiagnosticDestroy(diagnostic);
    if (options != NULL) {
        spvValidatorOptionsDestroy(options);
    }
    if (context != NULL) {
        spvContextDestroy(context);
    }
    return result;
}

enum kiln_result gs_spvtools_print(const struct gs_module *module, enum gs_target target,
                                   struct mf_buffer *out, struct kiln_error *error) {
    spv_diagnostic diagnostic = NULL;
    spv_text text = NULL;
    spv_context context = spvContextCreate(target_environments[target]);
    if (context == NULL) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    spv_result_t status =
        spvBinaryToText(context, module->words, module->word_count,
                        SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES,
                        &text, &diagnostic);
    enum kiln_result result = diagnostic_error(status, diagnostic, "cannot disassemble", error);
    if (result == KILN_OK) {
        result = mf_buffer_append(out, text->str, text->length);
    }
    spvTextDestroy(text);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return result;
}

enum kiln_result gs_spvtools_assemble(const char *text, enum gs_target target,
                                      struct gs_module *module, struct kiln_error *error) {
    *module = (struct gs_module){NULL, 0};
    spv_diagnostic diagnostic = NULL;
    spv_binary binary = NULL;
    spv_context context = spvContextCreate(target_environments[target]);
    if (context == NULL) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    spv_result_t status = spvTextToBinary(context, text, strlen(text), &binary, &diagnostic);
    enum kiln_result result = diagnostic_error(status, diagnostic, "cannot assemble", error);
    if (result == KILN_OK) {
        result = module_replace(module, binary->code, binary->wordCount, error);
    }
    spvBinaryDestroy(binary);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return result;
}

const char *gs_spvtools_version(void) {
    return spvSoftwareVersionString();
}
