/* SPDX-License-Identifier: MIT */
#include "vf_bench.h"

#include "mf_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_COUNT = 5, TABLE_LIMIT_BYTES = 1 << 20 };

struct reader {
    struct vf_bench_table *table;
    const char *path;
    unsigned line;
    struct kiln_error *error;
};

static enum kiln_result fail(struct reader *reader, const char *expected, const char *found) {
    return kiln_error_set(reader->error, KILN_ERR_FORMAT, "%s:%u: expected %s, found '%s'",
                          reader->path, reader->line, expected, found);
}

static bool parse_positive(const char *text, double *out) {
    char *end = NULL;

    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out) && *out > 0;
}

static bool parse_dim(char *text, struct mf_dim *out) {
    char *value = strchr(text, '=');
    char *end = NULL;

    if (!value || value == text || value[1] < '0' || value[1] > '9') {
        return false;
    }
    *value = '\0';
    *out = (struct mf_dim){text, strtoull(value + 1, &end, 10)};
    return *end == '\0';
}

static enum kiln_result read_ceiling(struct reader *reader, char *text) {
    char *rest = NULL;

    for (char *item = strtok_r(text, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
        const struct {
            const char *prefix;
            double *value;
        } keys[] = {{"read_gbps=", &reader->table->read_gbps},
                    {"copy_gbps=", &reader->table->copy_gbps},
                    {"tflops=", &reader->table->tflops}};
        bool known = false;

        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            const size_t length = strlen(keys[i].prefix);
            known = known || (strncmp(item, keys[i].prefix, length) == 0 &&
                              parse_positive(item + length, keys[i].value));
        }
        if (!known) {
            return fail(reader, "read_gbps=, copy_gbps= or tflops= and a positive number", item);
        }
    }
    return KILN_OK;
}

static enum kiln_result read_cell(struct reader *reader, char *const fields[FIELD_COUNT]) {
    struct vf_bench_table *table = reader->table;
    struct vf_bench_cell cell = {.dtype = fields[1], .line = reader->line};
    char *rest = NULL;

    for (char *op = strtok_r(fields[0], ",", &rest); op; op = strtok_r(NULL, ",", &rest)) {
        if (cell.op_count == VF_BENCH_OPS_MAX) {
            return fail(reader, "at most 4 families", op);
        }
        cell.ops[cell.op_count++] = op;
    }
    for (char *dim = strtok_r(fields[2], ",", &rest); dim; dim = strtok_r(NULL, ",", &rest)) {
        if (cell.dim_count == VF_DIM_MAX || !parse_dim(dim, &cell.dims[cell.dim_count])) {
            return fail(reader, "NAME=NUMBER, at most 8 of them", dim);
        }
        cell.dim_count++;
    }
    cell.cold = strcmp(fields[3], "cold") == 0;
    if (!cell.cold && strcmp(fields[3], "warm") != 0) {
        return fail(reader, "warm or cold", fields[3]);
    }
    if (strcmp(fields[4], "-") != 0 && !parse_positive(fields[4], &cell.peer_us)) {
        return fail(reader, "microseconds or -", fields[4]);
    }
    if (table->cell_count == table->cell_capacity) {
        struct vf_bench_cell *grown = mf_arena_grow(&table->arena, table->cells, table->cell_count,
                                                    &table->cell_capacity, sizeof *grown);
        if (!grown) {
            return KILN_ERR_MEMORY;
        }
        table->cells = grown;
    }
    table->cells[table->cell_count++] = cell;
    return KILN_OK;
}

static enum kiln_result read_line(struct reader *reader, char *line) {
    char *fields[FIELD_COUNT + 1] = {NULL};
    char *rest = NULL;
    size_t count = 0;

    for (char *field = strtok_r(line, " \t\r", &rest); field && field[0] != '#';
         field = strtok_r(NULL, " \t\r", &rest)) {
        if (count > FIELD_COUNT) {
            break;
        }
        fields[count++] = field;
    }
    if (count == 0) {
        return KILN_OK;
    }
    if (strcmp(fields[0], "ceiling") == 0 && count == 2) {
        return read_ceiling(reader, fields[1]);
    }
    if (count != FIELD_COUNT) {
        return fail(reader, "OPS DTYPE DIMS warm|cold PEER_US", fields[0]);
    }
    return read_cell(reader, fields);
}

enum kiln_result vf_bench_table_read(const char *path, struct vf_bench_table *out,
                                     struct kiln_error *error) {
    struct reader reader = {.table = out, .path = path, .error = error};
    struct mf_buffer text = {0};

    *out = (struct vf_bench_table){0};
    enum kiln_result result = mf_file_read(path, TABLE_LIMIT_BYTES, &text, error);
    char *at = result == KILN_OK ? mf_arena_copy(&out->arena, text.data, text.size_bytes) : NULL;
    if (result == KILN_OK && !at) {
        result = KILN_ERR_MEMORY;
    }
    while (result == KILN_OK && at) {
        char *line = at;
        at = strchr(at, '\n');
        if (at) {
            *at++ = '\0';
        }
        reader.line++;
        result = read_line(&reader, line);
    }
    if (result == KILN_OK && out->cell_count == 0) {
        result = kiln_error_set(error, KILN_ERR_FORMAT, "%s: it has no cells", path);
    }
    mf_buffer_release(&text);
    if (result != KILN_OK) {
        vf_bench_table_release(out);
    }
    return result;
}

void vf_bench_table_release(struct vf_bench_table *table) {
    mf_arena_release(&table->arena);
    *table = (struct vf_bench_table){0};
}
