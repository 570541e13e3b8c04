/* SPDX-License-Identifier: MIT */
/*
 * golden_files: the raw files of tests/golden, for unit tests. Reads by the C library alone, so
 * that tests of the layers below do not depend on them. Anything missing fails the running test.
 */
#ifndef GOLDEN_FILES_H
#define GOLDEN_FILES_H

#include "mf_dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GOLDEN_ROOT "tests/golden"

struct golden_files {
    uint8_t *blocks;
    size_t blocks_bytes;
    float *values; /* element_count of them; files are little-endian, as the test machines are */
    float *inputs; /* NULL without in_f32.bin */
    uint64_t element_count;
};

/* False when the type has no such case ("rand" or "quant"). Release with golden_files_free. */
bool golden_files_read(const struct mf_dtype_info *info, const char *case_name,
                       struct golden_files *files);
void golden_files_free(struct golden_files *files);

/* A whole file in new memory, with a zero byte behind it; NULL when there is none. */
uint8_t *golden_file_read(const char *path, size_t *size_bytes);

#endif /* GOLDEN_FILES_H */
