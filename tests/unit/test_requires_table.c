/* SPDX-License-Identifier: MIT */
/*
 * The generator's table of capabilities and extensions against the Vulkan registry's and the SPIR-V
 * grammar's own data, as tests/fixtures/spirv/make_vk_requirements.py extracts it.
 */
#include "gs_requires_table.h"
#include "spirv_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fields of one line of vk_requirements.txt. */
struct line {
    char what[16], number[16], name[64], kind[16], field[64], core[16], extension[64];
};

struct registry {
    struct line *lines;
    size_t count;
};

static void registry_read(struct registry *registry) {
    size_t size_bytes = 0;
    char *bytes = spirv_file_read("tests/fixtures/spirv/vk_requirements.txt", &size_bytes);
    char *text = malloc(size_bytes + 1);
    assert_non_null(text);
    memcpy(text, bytes, size_bytes);
    text[size_bytes] = 0;
    free(bytes);
    registry->lines = calloc(1000, sizeof *registry->lines);
    assert_non_null(registry->lines);
    registry->count = 0;
    char *save = NULL;
    for (char *at = strtok_r(text, "\n", &save); at != NULL; at = strtok_r(NULL, "\n", &save)) {
        struct line *line = &registry->lines[registry->count];
        assert_in_range(registry->count, 0, 999);
        if (sscanf(at, "capability %15s %63s %15s %63s %15s %63s", line->number, line->name,
                   line->kind, line->field, line->core, line->extension) == 6)
            snprintf(line->what, sizeof line->what, "capability");
        else if (sscanf(at, "implies %63s %63s", line->name, line->field) == 2)
            snprintf(line->what, sizeof line->what, "implies");
        else if (sscanf(at, "extension %63s %15s %63s", line->name, line->core, line->extension) ==
                 3)
            snprintf(line->what, sizeof line->what, "extension");
        else
            continue;
        registry->count++;
    }
    free(text);
    assert_in_range(registry->count, 300, 999);
}

static bool same_core(const char *text, uint32_t core_minor) {
    return core_minor == 0 ? strcmp(text, "-") == 0 || strcmp(text, "0") == 0
                           : (uint32_t)atoll(text) == core_minor;
}

/* One line of the registry says exactly what the row says. */
static bool registry_has_row(const struct registry *registry, const struct gs_capability_row *row) {
    const char *kind = row->need.feature != NULL         ? "feature"
                       : row->subgroup_operation != NULL ? "subgroup"
                                                         : "plain";
    const char *field = row->need.feature != NULL         ? row->need.feature
                        : row->subgroup_operation != NULL ? row->subgroup_operation
                                                          : "-";
    bool plain = strcmp(kind, "plain") == 0;
    for (size_t i = 0; i < registry->count; i++) {
        const struct line *line = &registry->lines[i];
        if (strcmp(line->what, "capability") != 0 || strcmp(line->name, row->name) != 0 ||
            (uint32_t)atoll(line->number) != row->capability || strcmp(line->kind, kind) != 0 ||
            strcmp(line->field, field) != 0)
            continue;
        const char *extension = row->need.extension == NULL ? "-" : row->need.extension;
        bool core =
            strcmp(kind, "subgroup") == 0 || plain || same_core(line->core, row->need.core_minor);
        if (core && (strcmp(line->extension, extension) == 0 || row->need.core_minor == 1))
            return true;
    }
    return false;
}

static bool registry_implies(const struct registry *registry, const char *name,
                             const char *implied) {
    for (size_t i = 0; i < registry->count; i++) {
        const struct line *line = &registry->lines[i];
        if (strcmp(line->what, "implies") == 0 && strcmp(line->name, name) == 0 &&
            (implied == NULL
                 ? strcmp(line->field, "Shader") != 0 && strcmp(line->field, "Matrix") != 0
                 : strcmp(line->field, implied) == 0))
            return true;
    }
    return false;
}

static void test_capabilities_as_in_registry(void **state) {
    (void)state;
    struct registry registry;
    size_t count = 0;
    size_t compared = 0;
    registry_read(&registry);
    const struct gs_capability_row *rows = gs_requires_capabilities(&count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(rows[i].name, "BFloat16", 8) == 0)
            continue; /* newer than the baseline's registry */
        if (!registry_has_row(&registry, &rows[i]))
            fail_msg("%s: the registry says otherwise", rows[i].name);
        const struct gs_capability_row *implied = gs_requires_capability(rows[i].implied);
        assert_non_null(implied);
        bool implies = implied->capability != 1 && implied != &rows[i];
        if (registry_implies(&registry, rows[i].name, implies ? implied->name : NULL) != implies)
            fail_msg("%s: the grammar implies other capabilities", rows[i].name);
        compared++;
    }
    assert_in_range(compared, 50, count);
    free(registry.lines);
}

static void test_extensions_as_in_registry(void **state) {
    (void)state;
    struct registry registry;
    size_t count = 0;
    registry_read(&registry);
    const struct gs_extension_row *rows = gs_requires_extensions(&count);
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (size_t j = 0; j < registry.count; j++) {
            const struct line *line = &registry.lines[j];
            if (strcmp(line->what, "extension") != 0 || strcmp(line->name, rows[i].name) != 0)
                continue;
            assert_string_equal(rows[i].need.extension, line->extension);
            /* No core version has the feature that this one needs: the device extension it is. */
            if (strcmp(line->name, "SPV_KHR_subgroup_uniform_control_flow") != 0)
                assert_true(same_core(line->core, rows[i].need.core_minor));
            found++;
        }
        if (found != 1 && strcmp(rows[i].name, "SPV_KHR_bfloat16") != 0)
            fail_msg("%s: %zu lines in the registry", rows[i].name, found);
    }
    assert_in_range(count, 30, 100);
    free(registry.lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capabilities_as_in_registry),
        cmocka_unit_test(test_extensions_as_in_registry),
    };
    return cmocka_run_group_tests_name("requires_table", tests, NULL, NULL);
}
