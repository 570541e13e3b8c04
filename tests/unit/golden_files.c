/* SPDX-License-Identifier: MIT */
#include "golden_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

uint8_t *golden_file_read(const char *path, size_t *size_bytes) {
    *size_bytes = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long end = ftell(file);
    assert_true(end >= 0);
    rewind(file);
    uint8_t *bytes = malloc((size_t)end + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)end, file), (size_t)end);
    bytes[end] = 0;
    fclose(file);
    *size_bytes = (size_t)end;
    return bytes;
}

static uint8_t *read_member(const char *type, const char *case_name, const char *name,
                            size_t *size_bytes) {
    char path[256];
    int length = snprintf(path, sizeof path, "%s/%s/%s/%s", GOLDEN_ROOT, type, case_name, name);
    assert_true(length > 0 && (size_t)length < sizeof path);
    return golden_file_read(path, size_bytes);
}

bool golden_files_read(const struct mf_dtype_info *info, const char *case_name,
                       struct golden_files *files) {
    size_t values_bytes, inputs_bytes;
    *files = (struct golden_files){0};
    files->blocks = read_member(info->name, case_name, "blocks.bin", &files->blocks_bytes);
    if (files->blocks == NULL) {
        return false;
    }
    files->values =
        (float *)(void *)read_member(info->name, case_name, "deq_f32.bin", &values_bytes);
    files->inputs =
        (float *)(void *)read_member(info->name, case_name, "in_f32.bin", &inputs_bytes);
    assert_non_null(files->values);
    files->element_count = values_bytes / sizeof(float);
    assert_int_equal(files->blocks_bytes / info->block_bytes * info->block_elements,
                     files->element_count);
    assert_true(files->inputs == NULL || inputs_bytes == values_bytes);
    return true;
}

void golden_files_free(struct golden_files *files) {
    free(files->blocks);
    free(files->values);
    free(files->inputs);
    *files = (struct golden_files){0};
}
