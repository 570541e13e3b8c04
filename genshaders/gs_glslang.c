/* SPDX-License-Identifier: MIT */
#include "gs_glslang.h"

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INCLUDE_DEPTH_LIMIT 32

struct gs_glslang_unit {
    const struct gs_variant *variant;
    struct gs_source_tree *tree;
    struct gs_diag *diag;
    struct mf_arena arena;
    struct mf_buffer source;
    glslang_input_t input;
    glslang_shader_t *shader;
    const struct gs_source_file **closure;
    size_t closure_count, closure_capacity;
    bool include_failed; /* an include error was reported already, with a better message */
};

enum kiln_result gs_glslang_start(struct kiln_error *error) {
    if (glslang_initialize_process() == 0) {
        return kiln_error_set(error, KILN_ERR_SYSTEM, "glslang does not initialise");
    }
    return KILN_OK;
}

void gs_glslang_stop(void) {
    glslang_finalize_process();
}

static enum kiln_result closure_add(struct gs_glslang_unit *unit,
                                    const struct gs_source_file *file) {
    for (size_t i = 0; i < unit->closure_count; i++) {
        if (unit->closure[i] == file) {
            return KILN_OK;
        }
    }
    void *grown = mf_arena_grow(&unit->arena, unit->closure, unit->closure_count,
                                &unit->closure_capacity, sizeof *unit->closure);
    if (grown == NULL) {
        return KILN_ERR_MEMORY;
    }
    unit->closure = grown;
    unit->closure[unit->closure_count++] = file;
    return KILN_OK;
}

/* *file is the first existing of the two places, or NULL when neither exists. */
static enum kiln_result include_find(struct gs_glslang_unit *unit, const char *name,
                                     const char *includer, const struct gs_source_file **file,
                                     struct kiln_error *error) {
    const char *const bases[] = {includer, "include/x"};
    *file = NULL;
    for (size_t i = 0; i < 2 && *file == NULL; i++) {
        char path[PATH_MAX];
        const struct gs_source_file *found = NULL;
        enum kiln_result result = gs_source_resolve(bases[i], name, path, sizeof path, error);
        if (result == KILN_OK) {
            result = gs_source_get(unit->tree, path, &found, error);
        }
        if (result == KILN_OK) {
            result = closure_add(unit, found);
        }
        if (result != KILN_OK) {
            return result;
        }
        *file = found->text != NULL ? found : NULL;
    }
    return KILN_OK;
}

static void include_report(struct gs_glslang_unit *unit, const char *includer, const char *name,
                           const char *why) {
    char *label = mf_arena_format(&unit->arena, "%s/%s", gs_source_root(unit->tree), includer);
    const struct gs_source_file *file = NULL;
    uint32_t line = 0;
    if (gs_source_get(unit->tree, includer, &file, NULL) == KILN_OK && file->text != NULL) {
        const char *end = strstr(file->text, name);
        for (const char *at = file->text; end != NULL && at < end; at++) {
            line += *at == '\n';
        }
        line += end != NULL;
    }
    unit->include_failed = true;
    gs_diag_add(unit->diag, KILN_ERR_COMPILE, label, line, unit->variant->promise.name,
                "#include \"%s\": %s", name, why);
}

static glsl_include_result_t *include_serve(void *context, const char *name, const char *includer,
                                            size_t depth) {
    struct gs_glslang_unit *unit = context;
    const char *from = includer[0] != 0 ? includer : unit->closure[0]->path;
    struct kiln_error error = {KILN_OK, ""};
    const struct gs_source_file *file = NULL;
    if (unit->include_failed) {
        return NULL;
    }
    if (depth > INCLUDE_DEPTH_LIMIT) {
        include_report(unit, from, name, "nested more than 32 deep");
        return NULL;
    }
    if (include_find(unit, name, from, &file, &error) != KILN_OK) {
        include_report(unit, from, name, error.message);
        return NULL;
    }
    glsl_include_result_t *result = mf_arena_alloc(&unit->arena, 1, sizeof *result);
    if (file == NULL || result == NULL) {
        include_report(unit, from, name,
                       file == NULL ? "no such file beside the including file or in include/"
                                    : "out of memory");
        return NULL;
    }
    result->header_name = file->path;
    result->header_data = file->text;
    result->header_length = file->size_bytes;
    return result;
}

static int include_free(void *context, glsl_include_result_t *result) {
    (void)context; /* results live in the unit's arena */
    (void)result;
    return 0;
}

/* Offset just behind the #version line, and that line's number; false when there is none. */
static bool version_find(const char *text, size_t *end, uint32_t *line) {
    *line = 1;
    for (const char *at = text; *at != 0; *line += 1) {
        const char *word = at + strspn(at, " \t");
        size_t length = strcspn(at, "\n");
        if (*word == '#') {
            word += 1 + strspn(word + 1, " \t");
            if (strncmp(word, "version", 7) == 0) {
                *end = (size_t)(at - text) + length + (at[length] == '\n');
                return true;
            }
        }
        at += length + (at[length] == '\n');
    }
    return false;
}

static enum kiln_result source_expand(struct gs_glslang_unit *unit) {
    const struct gs_source_file *file = unit->closure[0];
    size_t end = 0;
    uint32_t line = 0;
    if (!version_find(file->text, &end, &line)) {
        return gs_diag_add(unit->diag, KILN_ERR_COMPILE, file->label, 1, NULL,
                           "expected a #version line");
    }
    struct mf_buffer *out = &unit->source;
    mf_buffer_append(out, file->text, end);
    mf_buffer_append_string(out, file->text[end - 1] == '\n' ? "" : "\n");
    mf_buffer_append_string(out, "#extension GL_GOOGLE_include_directive : require\n");
    mf_buffer_append_string(out, unit->variant->preamble);
    mf_buffer_append_format(out, "#line %u\n", line + 1);
    return mf_buffer_append_string(out, file->text + end);
}

/* Lines that only say that others stand above them. */
static bool log_line_is_empty(const char *text) {
    return strstr(text, "No code generated") != NULL ||
           strstr(text, "compilation terminated") != NULL;
}

/*
 * Turns glslang's log into diagnostics. Lines read `ERROR: file:line: message`, where file is 0 for
 * the template itself; the closing "N compilation errors" line carries nothing.
 */
static size_t log_report(struct gs_glslang_unit *unit, const char *log) {
    size_t reported = 0;
    while (log != NULL && *log != 0) {
        size_t length = strcspn(log, "\n");
        bool error = strncmp(log, "ERROR: ", 7) == 0;
        bool warning = strncmp(log, "WARNING: ", 9) == 0;
        char *text = mf_arena_copy(&unit->arena, log, length);
        log += length + (log[length] == '\n');
        if (text == NULL || (!error && !warning) || log_line_is_empty(text)) {
            continue;
        }
        text += error ? 7 : 9;
        const char *file = unit->closure[0]->path, *message = text;
        uint32_t line = 0;
        for (char *colon = strchr(text, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
            char *after = NULL;
            unsigned long number = strtoul(colon + 1, &after, 10);
            if (after != colon + 1 && after[0] == ':') {
                *colon = 0;
                file = strcmp(text, "0") == 0 ? file : text;
                line = (uint32_t)number;
                message = after + 1 + strspn(after + 1, " ");
                break;
            }
        }
        char *label = mf_arena_format(&unit->arena, "%s/%s", gs_source_root(unit->tree), file);
        gs_diag_add(unit->diag, KILN_ERR_COMPILE, label, line, unit->variant->promise.name, "%s%s",
                    warning ? "warning: " : "", message);
        reported++;
    }
    return reported;
}

static enum kiln_result stage_check(struct gs_glslang_unit *unit, const char *log, bool succeeded,
                                    const char *stage) {
    if (unit->include_failed) {
        return KILN_ERR_COMPILE;
    }
    size_t reported = log_report(unit, log);
    if (!succeeded && reported == 0) {
        gs_diag_add(unit->diag, KILN_ERR_COMPILE, unit->closure[0]->label, 0,
                    unit->variant->promise.name, "glslang failed to %s without a message", stage);
    }
    return succeeded && reported == 0 ? KILN_OK : KILN_ERR_COMPILE;
}

static void input_fill(struct gs_glslang_unit *unit) {
    static const struct {
        glslang_target_client_version_t client;
        glslang_target_language_version_t language;
    } targets[] = {
        [GS_TARGET_VULKAN_1_1] = {GLSLANG_TARGET_VULKAN_1_1, GLSLANG_TARGET_SPV_1_3},
        [GS_TARGET_VULKAN_1_2] = {GLSLANG_TARGET_VULKAN_1_2, GLSLANG_TARGET_SPV_1_5},
        [GS_TARGET_VULKAN_1_3] = {GLSLANG_TARGET_VULKAN_1_3, GLSLANG_TARGET_SPV_1_6},
    };
    unit->input = (glslang_input_t){
        .language = GLSLANG_SOURCE_GLSL,
        .stage = GLSLANG_STAGE_COMPUTE,
        .client = GLSLANG_CLIENT_VULKAN,
        .client_version = targets[unit->variant->target].client,
        .target_language = GLSLANG_TARGET_SPV,
        .target_language_version = targets[unit->variant->target].language,
        .code = unit->source.data,
        .default_version = 450,
        .default_profile = GLSLANG_NO_PROFILE,
        .messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT,
        .resource = glslang_default_resource(),
        .callbacks = {.include_system = include_serve,
                      .include_local = include_serve,
                      .free_include_result = include_free},
        .callbacks_ctx = unit,
    };
}

enum kiln_result gs_glslang_preprocess(const struct gs_variant *variant, const char *template_path,
                                       struct gs_source_tree *tree, struct gs_diag *diag,
                                       struct gs_glslang_unit **unit) {
    *unit = NULL;
    struct kiln_error error = {KILN_OK, ""};
    const struct gs_source_file *file = NULL;
    enum kiln_result result = gs_source_get(tree, template_path, &file, &error);
    struct gs_glslang_unit *made = calloc(1, sizeof *made);
    if (made == NULL) {
        result = kiln_error_set(&error, KILN_ERR_MEMORY, "out of memory");
    } else if (result == KILN_OK && file->text == NULL) {
        result = kiln_error_set(&error, KILN_ERR_NOT_FOUND, "no such template");
    }
    if (result != KILN_OK) {
        gs_diag_add(diag, result, variant->template_path, 0, NULL, "%s", error.message);
        goto done;
    }
    made->variant = variant;
    made->tree = tree;
    made->diag = diag;
    result = closure_add(made, file);
    if (result == KILN_OK) {
        result = source_expand(made);
    }
    if (result != KILN_OK) {
        goto done;
    }
    input_fill(made);
    made->shader = glslang_shader_create(&made->input);
    if (made->shader == NULL) {
        result = gs_diag_add(diag, KILN_ERR_COMPILE, file->label, 0, variant->promise.name,
                             "glslang does not create a shader");
        goto done;
    }
    bool succeeded = glslang_shader_preprocess(made->shader, &made->input) != 0;
    result = stage_check(made, glslang_shader_get_info_log(made->shader), succeeded, "preprocess");

done:
    if (result != KILN_OK) {
        gs_glslang_destroy(&made);
    }
    *unit = made;
    return result;
}

const char *gs_glslang_text(const struct gs_glslang_unit *unit) {
    return glslang_shader_get_preprocessed_code(unit->shader);
}

const struct gs_source_file *const *gs_glslang_closure(const struct gs_glslang_unit *unit,
                                                       size_t *count) {
    *count = unit->closure_count;
    return unit->closure;
}

static enum kiln_result program_emit(struct gs_glslang_unit *unit, glslang_program_t *program,
                                     struct gs_module *module) {
    glslang_spv_options_t options = {.disable_optimizer = true};
    glslang_program_SPIRV_generate_with_options(program, GLSLANG_STAGE_COMPUTE, &options);
    enum kiln_result result =
        stage_check(unit, glslang_program_SPIRV_get_messages(program), true, "generate SPIR-V");
    size_t word_count = glslang_program_SPIRV_get_size(program);
    if (result != KILN_OK) {
        return result;
    }
    module->words = malloc(word_count * sizeof *module->words);
    if (module->words == NULL) {
        return gs_diag_add(unit->diag, KILN_ERR_MEMORY, unit->closure[0]->label, 0, NULL,
                           "out of memory");
    }
    memcpy(module->words, glslang_program_SPIRV_get_ptr(program),
           word_count * sizeof *module->words);
    module->word_count = word_count;
    return KILN_OK;
}

enum kiln_result gs_glslang_compile(struct gs_glslang_unit *unit, struct gs_diag *diag,
                                    struct gs_module *module) {
    *module = (struct gs_module){NULL, 0};
    unit->diag = diag;
    glslang_program_t *program = NULL;
    bool succeeded = glslang_shader_parse(unit->shader, &unit->input) != 0;
    enum kiln_result result =
        stage_check(unit, glslang_shader_get_info_log(unit->shader), succeeded, "parse");
    if (result != KILN_OK) {
        goto done;
    }
    program = glslang_program_create();
    if (program == NULL) {
        result = gs_diag_add(diag, KILN_ERR_MEMORY, NULL, 0, NULL, "out of memory");
        goto done;
    }
    glslang_program_add_shader(program, unit->shader);
    succeeded = glslang_program_link(program,
                                     GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT) != 0;
    result = stage_check(unit, glslang_program_get_info_log(program), succeeded, "link");
    if (result == KILN_OK) {
        result = program_emit(unit, program, module);
    }

done:
    if (program != NULL) {
        glslang_program_delete(program);
    }
    return result;
}

void gs_glslang_destroy(struct gs_glslang_unit **unit) {
    struct gs_glslang_unit *old = *unit;
    if (old != NULL) {
        if (old->shader != NULL) {
            glslang_shader_delete(old->shader);
        }
        mf_buffer_release(&old->source);
        mf_arena_release(&old->arena);
        free(old);
    }
    *unit = NULL;
}

const char *gs_glslang_version(void) {
    static _Thread_local char text[48];
    glslang_version_t version = {0, 0, 0, ""};
    glslang_get_version(&version);
    snprintf(text, sizeof text, "%d.%d.%d%s", version.major, version.minor, version.patch,
             version.flavor != NULL ? version.flavor : "");
    return text;
}
