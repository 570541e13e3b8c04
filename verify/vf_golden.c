/* SPDX-License-Identifier: MIT */
#include "vf_golden.h"

#include "mf_buffer.h"
#include "mf_file.h"
#include "mf_json.h"
#include "vf_decode.h"
#include "vf_f16.h"
#include "vf_quantize.h"
#include "vf_sha256.h"

#include <kiln/kiln_repack.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETAIL_BYTES 512
#define COUNT_MAX ((uint64_t)1 << 28) /* elements of a case: 1 GiB of values */
#define RMS_RATIO_MAX 1.05

struct run {
    const char *directory;
    const struct vf_golden_callbacks *callbacks;
    struct vf_golden_summary *summary;
    struct kiln_error *error;
    struct mf_json_reader reader;
    struct mf_arena arena;
};

/* A case being checked. Buffers hold the raw files, the arrays what they mean. */
struct golden_case {
    const struct mf_dtype_info *info;
    const char *type;
    const char *name;
    const char *directory; /* of the type, relative */
    uint64_t block_count;
    uint64_t element_count;
    struct mf_buffer blocks;
    struct mf_buffer values_raw;
    struct mf_buffer inputs_raw;
    bool has_input;
    float *values;
    float *inputs;
};

static void report(struct run *run, const char *type, const char *case_name, const char *check,
                   bool passed, const char *detail) {
    struct vf_golden_row row = {type, case_name, check, passed, detail};
    if (passed) {
        run->summary->pass_count++;
    } else {
        run->summary->fail_count++;
    }
    if (run->callbacks != NULL && run->callbacks->row != NULL) {
        run->callbacks->row(run->callbacks->user, &row);
    }
}

/* Little-endian binary32 values of a file, in new memory; NULL when memory is out. */
static float *load_values(const struct mf_buffer *raw) {
    size_t count = raw->size_bytes / 4;
    const unsigned char *bytes = (const unsigned char *)raw->data;
    float *values = malloc(count > 0 ? count * sizeof *values : 1);
    for (size_t i = 0; values != NULL && i < count; i++, bytes += 4) {
        values[i] = vf_f32_from_bits(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                                     (uint32_t)bytes[3] << 24);
    }
    return values;
}

static bool values_equal(float a, float b) {
    return vf_f32_bits(a) == vf_f32_bits(b) || (a == 0.0f && b == 0.0f);
}

/* The decode check's result in words; true when all values are equal. */
static bool compare_values(const struct golden_case *c, const float *found, char *detail) {
    uint64_t different = 0;
    uint64_t first = 0;
    for (uint64_t i = 0; i < c->element_count; i++) {
        if (!values_equal(found[i], c->values[i])) {
            first = different == 0 ? i : first;
            different++;
        }
    }
    if (different == 0) {
        snprintf(detail, DETAIL_BYTES, "%" PRIu64 " values equal", c->element_count);
        return true;
    }
    snprintf(detail, DETAIL_BYTES,
             "%" PRIu64 " of %" PRIu64 " values differ; element %" PRIu64 " (block %" PRIu64
             "): expected %.9g (0x%08" PRIx32 "), found %.9g (0x%08" PRIx32 ")",
             different, c->element_count, first, first / c->info->block_elements,
             (double)c->values[first], vf_f32_bits(c->values[first]), (double)found[first],
             vf_f32_bits(found[first]));
    return false;
}

static enum kiln_result out_of_memory(struct run *run, const struct golden_case *c) {
    return kiln_error_set(run->error, KILN_ERR_MEMORY, "%s/%s/%s: out of memory", run->directory,
                          c->directory, c->name);
}

static enum kiln_result check_decode(struct run *run, const struct golden_case *c, bool *passed) {
    char detail[DETAIL_BYTES];
    *passed = false;
    float *found = malloc((size_t)c->element_count * sizeof *found);
    if (found == NULL) {
        return out_of_memory(run, c);
    }
    enum kiln_result result =
        vf_decode(c->info->dtype, (const uint8_t *)c->blocks.data, c->element_count, found);
    if (result == KILN_OK) {
        *passed = compare_values(c, found, detail);
    } else {
        snprintf(detail, sizeof detail, "no decoder: %s", kiln_result_string(result));
    }
    report(run, c->type, c->name, "decode", *passed, detail);
    free(found);
    return KILN_OK;
}

/* The exact quantisers' check: bytes. */
static bool compare_blocks(const struct golden_case *c, const uint8_t *found, char *detail) {
    const uint8_t *expected = (const uint8_t *)c->blocks.data;
    uint64_t different = 0;
    size_t first = 0;
    for (uint64_t b = c->block_count; b-- > 0;) {
        size_t start = (size_t)b * c->info->block_bytes;
        if (memcmp(found + start, expected + start, c->info->block_bytes) != 0) {
            different++;
            first = start;
        }
    }
    if (different == 0) {
        snprintf(detail, DETAIL_BYTES, "%" PRIu64 " blocks equal", c->block_count);
        return true;
    }
    size_t at = first;
    while (found[at] == expected[at]) {
        at++;
    }
    snprintf(detail, DETAIL_BYTES,
             "%" PRIu64 " of %" PRIu64
             " blocks differ; block %zu byte %zu: expected 0x%02x, found 0x%02x",
             different, c->block_count, first / c->info->block_bytes, at - first, expected[at],
             found[at]);
    return false;
}

static double sum_squared_errors(const float *values, const float *inputs, uint64_t count) {
    double sum = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        double error = (double)values[i] - (double)inputs[i];
        sum += error * error;
    }
    return sum;
}

/* The searching quantisers' check: RMS error against that of the golden blocks. */
static bool compare_errors(const struct golden_case *c, const float *found, char *detail) {
    double n = (double)c->element_count;
    double golden = sqrt(sum_squared_errors(c->values, c->inputs, c->element_count) / n);
    double own = sqrt(sum_squared_errors(found, c->inputs, c->element_count) / n);
    bool passed = own <= RMS_RATIO_MAX * golden; /* false for NaN */
    snprintf(detail, DETAIL_BYTES, "RMS error %.6g, golden blocks %.6g, ratio %.4f%s", own, golden,
             golden > 0.0 ? own / golden : (own > 0.0 ? INFINITY : 1.0),
             passed ? "" : ", above the limit of 1.05");
    return passed;
}

static enum kiln_result check_quantize(struct run *run, const struct golden_case *c) {
    char detail[DETAIL_BYTES];
    bool passed = false;
    uint8_t *found = malloc(c->blocks.size_bytes);
    float *decoded = malloc((size_t)c->element_count * sizeof *decoded);
    enum kiln_result result = KILN_OK;
    if (found == NULL || decoded == NULL) {
        result = out_of_memory(run, c);
        goto done;
    }
    enum kiln_result quantized = vf_quantize(c->info->dtype, c->inputs, c->element_count, found);
    if (quantized == KILN_OK) {
        quantized = vf_decode(c->info->dtype, found, c->element_count, decoded);
    }
    if (quantized != KILN_OK) {
        snprintf(detail, sizeof detail, "the quantiser refused the input: %s",
                 kiln_result_string(quantized));
    } else if (vf_quantize_exact(c->info->dtype)) {
        passed = compare_blocks(c, found, detail);
    } else {
        passed = compare_errors(c, decoded, detail);
    }
    report(run, c->type, c->name, "quantize", passed, detail);
done:
    free(found);
    free(decoded);
    return result;
}

/* Where the content of a listed file goes, and the size that the counts ask for; NULL: unused. */
static struct mf_buffer *file_buffer(struct golden_case *c, const char *name,
                                     uint64_t *size_bytes) {
    *size_bytes = c->element_count * 4;
    if (strcmp(name, "blocks.bin") == 0) {
        *size_bytes = c->block_count * c->info->block_bytes;
        return &c->blocks;
    }
    if (strcmp(name, "deq_f32.bin") == 0) {
        return &c->values_raw;
    }
    if (strcmp(name, "in_f32.bin") == 0) {
        c->has_input = true;
        return &c->inputs_raw;
    }
    return NULL;
}

/* Reads a listed file and compares it with its entry. False: `detail` says what is wrong. */
static bool check_file(struct run *run, struct golden_case *c, const char *name,
                       const struct mf_json *entry, char *detail) {
    char digest[VF_SHA256_TEXT_BYTES];
    struct mf_buffer unused = {0};
    uint64_t wanted_bytes = 0;
    bool passed = false;
    struct kiln_error error = {KILN_OK, ""};
    uint64_t listed_bytes = mf_json_get_u64(&run->reader, entry, "bytes", 0, COUNT_MAX * 8);
    const char *sha256 = mf_json_get_string(&run->reader, entry, "sha256");
    struct mf_buffer *buffer = file_buffer(c, name, &wanted_bytes);
    char *path =
        mf_arena_format(&run->arena, "%s/%s/%s/%s", run->directory, c->directory, c->name, name);
    if (run->reader.failed != KILN_OK || path == NULL) {
        snprintf(detail, DETAIL_BYTES, "%s: not readable", name);
        return false;
    }
    if (buffer != NULL && listed_bytes != wanted_bytes) {
        snprintf(detail, DETAIL_BYTES,
                 "%s: the index says %" PRIu64 " bytes, its counts need %" PRIu64, path,
                 listed_bytes, wanted_bytes);
        return false;
    }
    buffer = buffer != NULL ? buffer : &unused;
    if (mf_file_read(path, (size_t)COUNT_MAX * 8, buffer, &error) != KILN_OK) {
        snprintf(detail, DETAIL_BYTES, "%s", error.message);
        goto done;
    }
    vf_sha256_text(buffer->data, buffer->size_bytes, digest);
    if (buffer->size_bytes != listed_bytes) {
        snprintf(detail, DETAIL_BYTES, "%s: expected %" PRIu64 " bytes, found %zu", path,
                 listed_bytes, buffer->size_bytes);
    } else if (strcmp(digest, sha256) != 0) {
        snprintf(detail, DETAIL_BYTES, "%s: expected SHA-256 %s, found %s", path, sha256, digest);
    } else {
        passed = true;
    }
done:
    mf_buffer_release(&unused);
    return passed;
}

/* The files check of a case. *sound: all files are good and loaded. */
static enum kiln_result check_files(struct run *run, struct golden_case *c,
                                    const struct mf_json *files, bool *sound) {
    char detail[DETAIL_BYTES];
    const char **names = NULL;
    size_t count = 0;
    *sound = false;
    if (!mf_json_has(files, "blocks.bin") || !mf_json_has(files, "deq_f32.bin")) {
        return mf_json_fail(&run->reader, KILN_ERR_FORMAT, "files",
                            "expected blocks.bin and deq_f32.bin among the files");
    }
    if (mf_json_keys(files, &run->arena, &names, &count) != KILN_OK) {
        return out_of_memory(run, c);
    }
    bool passed = true;
    for (size_t i = 0; i < count && passed; i++) {
        struct kiln_error error = {KILN_OK, ""};
        if (mf_path_check(names[i], &error) != KILN_OK) {
            return mf_json_fail(&run->reader, KILN_ERR_PATH, "files", "%s", error.message);
        }
        size_t length = mf_json_enter(&run->reader, "files.%s.", names[i]);
        const struct mf_json *entry = mf_json_child(files, names[i]);
        passed = check_file(run, c, names[i], entry, detail);
        mf_json_leave(&run->reader, length);
        if (run->reader.failed != KILN_OK) {
            return run->reader.failed;
        }
    }
    if (passed) {
        c->values = load_values(&c->values_raw);
        c->inputs = load_values(&c->inputs_raw);
        if (c->values == NULL || c->inputs == NULL) {
            return out_of_memory(run, c);
        }
        snprintf(detail, sizeof detail, "%zu files", count);
    }
    report(run, c->type, c->name, "files", passed, detail);
    *sound = passed;
    return KILN_OK;
}

static bool wants_quantize(const struct golden_case *c) {
    return c->has_input && c->info->dtype != MF_DTYPE_Q8_1 && vf_quantize_supported(c->info->dtype);
}

static enum kiln_result hand_vector(struct run *run, const struct golden_case *c,
                                    enum mf_dtype dtype, const char *type, const uint8_t *blocks) {
    if (run->callbacks == NULL || run->callbacks->vector == NULL) {
        return KILN_OK;
    }
    const struct vf_golden_vector vector = {.dtype = dtype,
                                            .type = type,
                                            .case_name = c->name,
                                            .blocks = blocks,
                                            .element_count = c->element_count,
                                            .values = c->values};
    return run->callbacks->vector(run->callbacks->user, &vector, run->error);
}

/* Repacked, the blocks mean the same: the loader's repacking against the type's own decoder. */
static enum kiln_result check_repack(struct run *run, const struct golden_case *c,
                                     enum mf_dtype dtype) {
    const struct mf_dtype_info *info = mf_dtype_info(dtype);
    const struct kiln_repacking repacking = {c->info->dtype, dtype, info->block_elements};
    const size_t size_bytes = (size_t)c->block_count * info->block_bytes;
    char detail[DETAIL_BYTES];
    struct kiln_error error = {KILN_OK, ""};
    bool passed = false;
    uint8_t *repacked = malloc(size_bytes);
    float *found = malloc((size_t)c->element_count * sizeof *found);
    enum kiln_result result = KILN_OK;
    if (repacked == NULL || found == NULL) {
        result = out_of_memory(run, c);
        goto done;
    }
    if (kiln_repack(&repacking, c->blocks.data, c->blocks.size_bytes, repacked, size_bytes,
                    &error) != KILN_OK) {
        snprintf(detail, sizeof detail, "%s", error.message);
    } else if (vf_decode(dtype, repacked, c->element_count, found) != KILN_OK) {
        snprintf(detail, sizeof detail, "no decoder");
    } else {
        passed = compare_values(c, found, detail);
    }
    report(run, info->name, c->name, "repack", passed, detail);
    if (error.code == KILN_OK) {
        result = hand_vector(run, c, dtype, info->name, repacked);
    }
done:
    free(repacked);
    free(found);
    return result;
}

static enum kiln_result check_vector(struct run *run, const struct golden_case *c) {
    enum mf_dtype repacked = c->info->dtype;
    bool decoded = false;
    enum kiln_result result = check_decode(run, c, &decoded);
    if (result == KILN_OK && wants_quantize(c)) {
        result = check_quantize(run, c);
    }
    if (result == KILN_OK) {
        result = hand_vector(run, c, c->info->dtype, c->type, (const uint8_t *)c->blocks.data);
    }
    if (result == KILN_OK && decoded && kiln_repack_find(c->info->dtype, &repacked) == KILN_OK) {
        result = check_repack(run, c, repacked);
    }
    return result;
}

static enum kiln_result check_case(struct run *run, const struct mf_dtype_info *info,
                                   const char *type, const char *directory,
                                   const struct mf_json *object) {
    struct mf_json_reader *reader = &run->reader;
    struct golden_case c = {.info = info, .type = type, .directory = directory};
    struct kiln_error error = {KILN_OK, ""};
    bool sound = false;
    c.name = mf_json_get_string(reader, object, "case");
    c.block_count = mf_json_get_u64(reader, object, "blocks", 1, COUNT_MAX);
    c.element_count = mf_json_get_u64(reader, object, "elements", 1, COUNT_MAX);
    const struct mf_json *files = mf_json_get_object(reader, object, "files");
    if (reader->failed != KILN_OK) {
        return reader->failed;
    }
    if (mf_path_check(c.name, &error) != KILN_OK) {
        return mf_json_fail(reader, KILN_ERR_PATH, "case", "%s", error.message);
    }
    if (c.block_count * info->block_elements != c.element_count) {
        return mf_json_fail(reader, KILN_ERR_FORMAT, "elements",
                            "expected %" PRIu64 " (blocks times %" PRIu32 "), found %" PRIu64,
                            c.block_count * info->block_elements, info->block_elements,
                            c.element_count);
    }
    run->summary->case_count++;
    enum kiln_result result = check_files(run, &c, files, &sound);
    if (result == KILN_OK && sound) {
        result = check_vector(run, &c);
    }
    mf_buffer_release(&c.blocks);
    mf_buffer_release(&c.values_raw);
    mf_buffer_release(&c.inputs_raw);
    free(c.values);
    free(c.inputs);
    return result;
}

/* True when this build's idea of the type is the index's; otherwise `detail` says what differs. */
static bool check_shape(struct run *run, const struct mf_json *object, const char *name,
                        const struct mf_dtype_info **info, char *detail) {
    struct mf_json_reader *reader = &run->reader;
    uint64_t elements = mf_json_get_u64(reader, object, "block_elements", 1, COUNT_MAX);
    uint64_t bytes = mf_json_get_u64(reader, object, "type_bytes", 1, COUNT_MAX);
    *info = reader->failed == KILN_OK ? mf_dtype_find(name) : NULL;
    if (*info == NULL || !vf_decode_supported((*info)->dtype)) {
        snprintf(detail, DETAIL_BYTES, "%s/index.json: type \"%s\" is not one this build decodes",
                 run->directory, name);
        return false;
    }
    uint64_t id = (uint64_t)(*info)->dtype;
    if (mf_json_has(object, "ggml_type_id")) {
        id = mf_json_get_u64(reader, object, "ggml_type_id", 0, UINT32_MAX);
    }
    if (elements != (*info)->block_elements || bytes != (*info)->block_bytes ||
        id != (uint64_t)(*info)->dtype) {
        snprintf(detail, DETAIL_BYTES,
                 "%s/index.json: type \"%s\": expected id %d with %" PRIu32 " elements in %" PRIu32
                 " bytes, found id %" PRIu64 " with %" PRIu64 " in %" PRIu64,
                 run->directory, name, (int)(*info)->dtype, (*info)->block_elements,
                 (*info)->block_bytes, id, elements, bytes);
        return false;
    }
    return true;
}

static enum kiln_result check_type(struct run *run, const struct mf_json *object) {
    struct mf_json_reader *reader = &run->reader;
    char detail[DETAIL_BYTES];
    const struct mf_dtype_info *info = NULL;
    struct kiln_error error = {KILN_OK, ""};
    enum kiln_result result = KILN_OK;
    const char *name = mf_json_get_string(reader, object, "name");
    size_t length = mf_json_enter(reader, "type %s: ", name);
    const char *directory = mf_json_get_string(reader, object, "dir");
    const struct mf_json *cases = mf_json_get_array(reader, object, "cases");
    bool known = check_shape(run, object, name, &info, detail);
    if (reader->failed != KILN_OK) {
        return reader->failed;
    }
    run->summary->type_count++;
    if (!known) {
        report(run, name, "", "type", false, detail);
    } else if (mf_path_check(directory, &error) != KILN_OK) {
        return mf_json_fail(reader, KILN_ERR_PATH, "dir", "%s", error.message);
    } else if (mf_json_count(cases) == 0) {
        return mf_json_fail(reader, KILN_ERR_FORMAT, "cases", "expected at least one case");
    }
    for (size_t i = 0; known && i < mf_json_count(cases) && result == KILN_OK; i++) {
        const struct mf_json *item = mf_json_item_object(reader, cases, "cases", i);
        size_t inner = mf_json_enter(reader, "case %zu: ", i);
        result = reader->failed != KILN_OK ? reader->failed
                                           : check_case(run, info, name, directory, item);
        mf_json_leave(reader, inner);
    }
    mf_json_leave(reader, length);
    return result;
}

enum kiln_result vf_golden_run(const char *directory, const struct vf_golden_callbacks *callbacks,
                               struct vf_golden_summary *summary, struct kiln_error *error) {
    struct run run = {directory, callbacks, summary, error, {0}, {0}};
    struct mf_buffer text = {0};
    struct mf_json *root = NULL;
    enum kiln_result result = KILN_OK;
    *summary = (struct vf_golden_summary){0};
    char *path = mf_path_join(&run.arena, directory, "index.json");
    if (path == NULL) {
        result = kiln_error_set(error, KILN_ERR_MEMORY, "%s: out of memory", directory);
        goto done;
    }
    result = mf_file_read(path, 0, &text, error);
    if (result == KILN_OK) {
        result = mf_json_parse(text.data, text.size_bytes, path, &root, error);
    }
    if (result != KILN_OK) {
        goto done;
    }
    mf_json_reader_init(&run.reader, path, error);
    const struct mf_json *types = mf_json_get_array(&run.reader, root, "types");
    if (run.reader.failed == KILN_OK && mf_json_count(types) == 0) {
        mf_json_fail(&run.reader, KILN_ERR_FORMAT, "types", "expected at least one type");
    }
    result = run.reader.failed;
    for (size_t i = 0; i < mf_json_count(types) && result == KILN_OK; i++) {
        const struct mf_json *item = mf_json_item_object(&run.reader, types, "types", i);
        result = run.reader.failed != KILN_OK ? run.reader.failed : check_type(&run, item);
    }
    if (result == KILN_OK && summary->fail_count > 0) {
        result = kiln_error_set(error, KILN_ERR_MISMATCH,
                                "%s: %" PRIu32 " of %" PRIu32 " golden checks failed", directory,
                                summary->fail_count, summary->fail_count + summary->pass_count);
    }
done:
    mf_json_release(&root);
    mf_buffer_release(&text);
    mf_arena_release(&run.arena);
    return result;
}
