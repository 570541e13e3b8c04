/* SPDX-License-Identifier: MIT */
#include "mf_pack.h"
#include "mf_relative.h"
#include "mf_zstd.h"

#include <stdlib.h>
#include <string.h>

/* A section under construction; where its records begin, to find equal ones. */
struct table {
    struct mf_buffer bytes;
    size_t *starts;
    size_t count, capacity;
};

struct blob {
    size_t artifact; /* the first that has it */
    uint32_t *words; /* relative */
    size_t word_count;
};

struct writer {
    const struct mf_manifest *manifest;
    const struct mf_buffer *const *modules;
    struct mf_arena arena;
    const char **texts; /* sorted, none twice, once numbering is set */
    size_t text_count, text_capacity;
    bool numbering; /* the rows are made twice: to collect the texts, then to number them */
    struct table tables[MF_PACK_SECTION_COUNT + 1];
    struct blob *blobs;
    size_t blob_count;
    uint64_t dictionary_bytes;
    enum kiln_result failed; /* the first failure sticks */
    struct kiln_error *error;
};

static void fail(struct writer *writer, enum kiln_result code, const char *what) {
    if (writer->failed == KILN_OK) {
        writer->failed = kiln_error_set(writer->error, code, "pack: %s", what);
    }
}

static void append(struct writer *writer, struct mf_buffer *out, const void *bytes, size_t size) {
    if (mf_buffer_append(out, bytes, size) != KILN_OK) {
        fail(writer, KILN_ERR_MEMORY, "out of memory");
    }
}

static void put_u32(struct writer *writer, struct mf_buffer *out, uint64_t value) {
    unsigned char bytes[4];
    if (value > UINT32_MAX) {
        fail(writer, KILN_ERR_LIMIT, "a number above 2^32 - 1");
    }
    mf_pack_put_u32(bytes, (uint32_t)value);
    append(writer, out, bytes, sizeof bytes);
}

static void put_u64(struct writer *writer, struct mf_buffer *out, uint64_t value) {
    unsigned char bytes[8];
    mf_pack_put_u64(bytes, value);
    append(writer, out, bytes, sizeof bytes);
}

static void put_real(struct writer *writer, struct mf_buffer *out, double value) {
    uint64_t bits;
    _Static_assert(sizeof bits == sizeof value, "binary64");
    memcpy(&bits, &value, sizeof bits);
    put_u64(writer, out, bits);
}

/* ---- texts ---- */

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Its number; while texts are collected 0. */
static uint32_t text_number(struct writer *writer, const char *text) {
    if (writer->numbering) {
        const char **found =
            bsearch(&text, writer->texts, writer->text_count, sizeof *writer->texts, compare_texts);
        return found ? (uint32_t)(found - writer->texts) : 0;
    }
    if (strlen(text) > MF_PACK_TEXT_MAX_BYTES) {
        fail(writer, KILN_ERR_LIMIT, "a text above 4096 bytes");
    }
    const char **texts = mf_arena_grow(&writer->arena, writer->texts, writer->text_count,
                                       &writer->text_capacity, sizeof *texts);
    if (!texts) {
        fail(writer, KILN_ERR_MEMORY, "out of memory");
        return 0;
    }
    writer->texts = texts;
    writer->texts[writer->text_count++] = text;
    return 0;
}

static void number_texts(struct writer *writer) {
    size_t count = 0;
    if (writer->text_count > 0) {
        qsort(writer->texts, writer->text_count, sizeof *writer->texts, compare_texts);
    }
    for (size_t i = 0; i < writer->text_count; i++) {
        if (count == 0 || strcmp(writer->texts[count - 1], writer->texts[i]) != 0) {
            writer->texts[count++] = writer->texts[i];
        }
    }
    writer->text_count = count;
    writer->numbering = true;
    for (size_t i = 0; i < count; i++) {
        append(writer, &writer->tables[MF_PACK_TEXTS].bytes, writer->texts[i],
               strlen(writer->texts[i]) + 1);
    }
    writer->tables[MF_PACK_TEXTS].count = count;
}

static void put_text(struct writer *writer, struct mf_buffer *out, const char *text) {
    put_u32(writer, out, text_number(writer, text));
}

/* ---- records ---- */

/* Adds a record behind the others of its section and gives its number. */
static uint32_t add(struct writer *writer, enum mf_pack_section section,
                    const struct mf_buffer *record) {
    struct table *table = &writer->tables[section];
    size_t *starts = mf_arena_grow(&writer->arena, table->starts, table->count, &table->capacity,
                                   sizeof *starts);
    if (!starts) {
        fail(writer, KILN_ERR_MEMORY, "out of memory");
        return 0;
    }
    table->starts = starts;
    table->starts[table->count] = table->bytes.size_bytes;
    append(writer, &table->bytes, record->data, record->size_bytes);
    return (uint32_t)table->count++;
}

/* The number of an equal record, added when there is none. Releases the record. */
static uint32_t intern(struct writer *writer, enum mf_pack_section section,
                       struct mf_buffer *record) {
    const struct table *table = &writer->tables[section];
    uint32_t number = UINT32_MAX;
    for (size_t i = 0; i < table->count && number == UINT32_MAX; i++) {
        size_t end = i + 1 < table->count ? table->starts[i + 1] : table->bytes.size_bytes;
        if (end - table->starts[i] == record->size_bytes &&
            memcmp(table->bytes.data + table->starts[i], record->data, record->size_bytes) == 0) {
            number = (uint32_t)i;
        }
    }
    if (number == UINT32_MAX) {
        number = add(writer, section, record);
    }
    mf_buffer_release(record);
    return number;
}

static uint32_t text_list(struct writer *writer, const char *const *texts, size_t count) {
    struct mf_buffer record = {0};
    put_u32(writer, &record, count);
    for (size_t i = 0; i < count; i++) {
        put_text(writer, &record, texts[i]);
    }
    return intern(writer, MF_PACK_TEXT_LISTS, &record);
}

static uint32_t axes_list(struct writer *writer, const struct mf_artifact *artifact) {
    struct mf_buffer record = {0};
    put_u32(writer, &record, artifact->axis_count);
    for (size_t i = 0; i < artifact->axis_count; i++) {
        put_text(writer, &record, artifact->axes[i].name);
        put_text(writer, &record, artifact->axes[i].value);
    }
    return intern(writer, MF_PACK_AXES, &record);
}

static uint32_t bindings_list(struct writer *writer, const struct mf_artifact *artifact) {
    struct mf_buffer record = {0};
    put_u32(writer, &record, artifact->binding_count);
    for (size_t i = 0; i < artifact->binding_count; i++) {
        const struct mf_binding *binding = &artifact->bindings[i];
        put_u32(writer, &record, binding->set);
        put_u32(writer, &record, binding->binding);
        put_text(writer, &record, binding->name);
        put_u32(writer, &record, (uint32_t)binding->access);
        put_u32(writer, &record, (uint32_t)binding->element);
        put_u32(writer, &record, binding->stride_bytes);
    }
    return intern(writer, MF_PACK_BINDINGS, &record);
}

static uint32_t push_list(struct writer *writer, const struct mf_artifact *artifact) {
    struct mf_buffer record = {0};
    put_u32(writer, &record, artifact->push_count);
    for (size_t i = 0; i < artifact->push_count; i++) {
        put_text(writer, &record, artifact->push[i].name);
        put_u32(writer, &record, artifact->push[i].offset_bytes);
        put_u32(writer, &record, artifact->push[i].size_bytes);
        put_u32(writer, &record, (uint32_t)artifact->push[i].type);
    }
    return intern(writer, MF_PACK_PUSH, &record);
}

static uint32_t spec_list(struct writer *writer, const struct mf_artifact *artifact) {
    struct mf_buffer record = {0};
    put_u32(writer, &record, artifact->spec_count);
    for (size_t i = 0; i < artifact->spec_count; i++) {
        put_u32(writer, &record, artifact->spec[i].constant_id);
        put_text(writer, &record, artifact->spec[i].name);
        put_u32(writer, &record, (uint32_t)artifact->spec[i].type);
        put_u64(writer, &record, artifact->spec[i].default_bits);
    }
    return intern(writer, MF_PACK_SPEC, &record);
}

static uint32_t limits_list(struct writer *writer, const struct mf_artifact *artifact) {
    struct mf_buffer record = {0};
    put_u32(writer, &record, artifact->limit_count);
    for (size_t i = 0; i < artifact->limit_count; i++) {
        put_text(writer, &record, artifact->limits[i].dim);
        put_u32(writer, &record, artifact->limits[i].max);
        put_u32(writer, &record, artifact->limits[i].multiple);
    }
    return intern(writer, MF_PACK_LIMITS, &record);
}

static uint32_t grid_row(struct writer *writer, const struct mf_grid *grid) {
    struct mf_buffer row = {0};
    for (size_t axis = 0; axis < 3; axis++) {
        struct mf_buffer factors = {0};
        put_u32(writer, &factors, grid->axes[axis].factor_count);
        for (size_t i = 0; i < grid->axes[axis].factor_count; i++) {
            put_text(writer, &factors, grid->axes[axis].factors[i].dim);
            put_u32(writer, &factors, grid->axes[axis].factors[i].tile);
        }
        put_u32(writer, &row, intern(writer, MF_PACK_FACTORS, &factors));
    }
    put_u32(writer, &row, grid->fold ? 1 : 0);
    return intern(writer, MF_PACK_GRIDS, &row);
}

static uint32_t requires_row(struct writer *writer, const struct mf_requires *requires_) {
    struct mf_buffer row = {0};
    const uint32_t numbers[] = {requires_->vulkan_major,  requires_->vulkan_minor,
                                requires_->spirv_major,   requires_->spirv_minor,
                                requires_->local_size[0], requires_->local_size[1],
                                requires_->local_size[2], requires_->workgroup_bytes,
                                requires_->push_bytes,    requires_->subgroup_size};
    _Static_assert(sizeof numbers == 4 * MF_PACK_REQUIRES_LISTS, "the row's beginning");
    for (size_t i = 0; i < MF_PACK_REQUIRES_LISTS; i++) {
        put_u32(writer, &row, numbers[i]);
    }
    put_u32(writer, &row,
            text_list(writer, requires_->subgroup_operations, requires_->subgroup_operation_count));
    put_u32(writer, &row, text_list(writer, requires_->features, requires_->feature_count));
    put_u32(writer, &row, text_list(writer, requires_->extensions, requires_->extension_count));
    put_u32(writer, &row, text_list(writer, requires_->capabilities, requires_->capability_count));
    return intern(writer, MF_PACK_REQUIRES, &row);
}

static uint32_t tolerance_row(struct writer *writer, const struct mf_tolerance *tolerance) {
    struct mf_buffer row = {0};
    put_u32(writer, &row, tolerance->exact ? 1 : 0);
    put_u32(writer, &row, tolerance->ulp_f16);
    put_real(writer, &row, tolerance->max_abs < 0 ? -1.0 : tolerance->max_abs);
    put_real(writer, &row, tolerance->rel < 0 ? -1.0 : tolerance->rel);
    put_real(writer, &row, tolerance->scale < 0 ? -1.0 : tolerance->scale);
    return intern(writer, MF_PACK_TOLERANCES, &row);
}

/* The number of the artifact's blob: one a content. */
static uint32_t blob_number(struct writer *writer, size_t artifact) {
    const struct mf_artifact *artifacts = writer->manifest->artifacts;
    for (size_t i = 0; i < writer->blob_count; i++) {
        const struct mf_artifact *other = &artifacts[writer->blobs[i].artifact];
        if (other->size_bytes == artifacts[artifact].size_bytes &&
            mf_hash_equal(&other->content, &artifacts[artifact].content)) {
            return (uint32_t)i;
        }
    }
    writer->blobs[writer->blob_count].artifact = artifact;
    return (uint32_t)writer->blob_count++;
}

/* In the order of enum mf_pack_artifact_word. */
static void add_artifact(struct writer *writer, size_t index) {
    const struct mf_artifact *artifact = &writer->manifest->artifacts[index];
    struct mf_buffer row = {0};
    put_text(writer, &row, artifact->name);
    put_text(writer, &row, artifact->family);
    put_text(writer, &row, artifact->kernel);
    put_text(writer, &row, artifact->shape);
    put_text(writer, &row, artifact->schedule);
    put_text(writer, &row, artifact->tier);
    put_text(writer, &row, artifact->reference);
    put_u32(writer, &row, text_list(writer, artifact->dtypes, artifact->dtype_count));
    put_u32(writer, &row, text_list(writer, artifact->dims, artifact->dim_count));
    put_u32(writer, &row, axes_list(writer, artifact));
    put_u32(writer, &row, bindings_list(writer, artifact));
    put_u32(writer, &row, push_list(writer, artifact));
    put_u32(writer, &row, spec_list(writer, artifact));
    put_u32(writer, &row, limits_list(writer, artifact));
    put_u32(writer, &row, grid_row(writer, &artifact->grid));
    put_u32(writer, &row, requires_row(writer, &artifact->requires_));
    put_u32(writer, &row, tolerance_row(writer, &artifact->tolerance));
    put_u32(writer, &row, blob_number(writer, index));
    append(writer, &row, artifact->recipe.bytes, MF_HASH_BYTES);
    append(writer, &row, artifact->iface.bytes, MF_HASH_BYTES);
    (void)add(writer, MF_PACK_ARTIFACTS, &row);
    mf_buffer_release(&row);
}

static void make_rows(struct writer *writer) {
    const struct mf_manifest *manifest = writer->manifest;
    const struct mf_toolchain *toolchain = &manifest->toolchain;
    const char *const texts[] = {toolchain->glslang, toolchain->spirv_tools, toolchain->spirv_cross,
                                 toolchain->pipeline, toolchain->signature};
    struct mf_buffer row = {0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        put_text(writer, &row, texts[i]);
    }
    (void)intern(writer, MF_PACK_TOOLCHAIN, &row);
    for (size_t i = 0; i < manifest->artifact_count && writer->failed == KILN_OK; i++) {
        add_artifact(writer, i);
    }
    for (size_t i = 0; i < manifest->exclusion_count && writer->failed == KILN_OK; i++) {
        put_text(writer, &row, manifest->excluded[i].name);
        put_text(writer, &row, manifest->excluded[i].reason);
        (void)add(writer, MF_PACK_EXCLUDED, &row);
        mf_buffer_release(&row);
    }
}

static void release_tables(struct writer *writer) {
    for (size_t i = 0; i <= MF_PACK_SECTION_COUNT; i++) {
        mf_buffer_release(&writer->tables[i].bytes);
        writer->tables[i] = (struct table){0};
    }
}

/* ---- modules ---- */

static void make_relative(struct writer *writer, struct blob *blob) {
    const struct mf_buffer *module = writer->modules[blob->artifact];
    blob->word_count = module->size_bytes / 4;
    blob->words = mf_arena_alloc(&writer->arena, blob->word_count, sizeof *blob->words);
    if (!blob->words) {
        fail(writer, KILN_ERR_MEMORY, "out of memory");
        return;
    }
    for (size_t i = 0; i < blob->word_count; i++) {
        blob->words[i] = mf_pack_u32((const unsigned char *)module->data + 4 * i);
    }
    mf_relative_encode(blob->words, blob->word_count);
    for (size_t i = 0; i < blob->word_count; i++) {
        mf_pack_put_u32((unsigned char *)&blob->words[i], blob->words[i]);
    }
}

/* Every so-manieth module, so that each family is there, as many as fit the limit. */
static void make_dictionary(struct writer *writer, struct mf_buffer *dictionary) {
    uint64_t total_bytes = 0;
    for (size_t i = 0; i < writer->blob_count; i++) {
        total_bytes += 4 * (uint64_t)writer->blobs[i].word_count;
    }
    size_t step = (size_t)(total_bytes / MF_PACK_DICTIONARY_MAX_BYTES) + 1;
    for (size_t i = step / 2; i < writer->blob_count; i += step) {
        size_t size_bytes = 4 * writer->blobs[i].word_count;
        if (size_bytes <= MF_PACK_DICTIONARY_MAX_BYTES - dictionary->size_bytes) {
            append(writer, dictionary, writer->blobs[i].words, size_bytes);
        }
    }
    writer->dictionary_bytes = dictionary->size_bytes;
}

static void pad(struct writer *writer, struct mf_buffer *out) {
    static const char zeros[MF_PACK_ALIGNMENT_BYTES];
    append(writer, out, zeros, (size_t)mf_pack_align(out->size_bytes) - out->size_bytes);
}

static void add_blob(struct writer *writer, struct mf_zstd_writer *zstd, const struct blob *blob) {
    const struct mf_artifact *artifact = &writer->manifest->artifacts[blob->artifact];
    struct mf_buffer *data = &writer->tables[MF_PACK_DATA].bytes;
    struct mf_buffer row = {0};
    pad(writer, data);
    size_t begin = data->size_bytes;
    if (mf_zstd_compress(zstd, blob->words, 4 * blob->word_count, data) != KILN_OK) {
        fail(writer, KILN_ERR_MEMORY, "out of memory");
    }
    put_u32(writer, &row, data->size_bytes - begin);
    put_u32(writer, &row, artifact->size_bytes);
    append(writer, &row, artifact->content.bytes, MF_HASH_BYTES);
    (void)add(writer, MF_PACK_BLOBS, &row);
    mf_buffer_release(&row);
}

static void make_blobs(struct writer *writer) {
    struct mf_buffer dictionary = {0};
    struct mf_zstd_writer *alone = NULL;
    struct mf_zstd_writer *shared = NULL;
    for (size_t i = 0; i < writer->blob_count && writer->failed == KILN_OK; i++) {
        make_relative(writer, &writer->blobs[i]);
    }
    if (writer->failed == KILN_OK) {
        make_dictionary(writer, &dictionary);
    }
    if (writer->failed != KILN_OK || dictionary.size_bytes == 0) {
        goto done;
    }
    if (mf_zstd_writer_create(NULL, 0, &alone) != KILN_OK ||
        mf_zstd_compress(alone, dictionary.data, dictionary.size_bytes,
                         &writer->tables[MF_PACK_DICTIONARY].bytes) != KILN_OK ||
        mf_zstd_writer_create(dictionary.data, dictionary.size_bytes, &shared) != KILN_OK) {
        fail(writer, KILN_ERR_MEMORY, "out of memory");
        goto done;
    }
    for (size_t i = 0; i < writer->blob_count && writer->failed == KILN_OK; i++) {
        add_blob(writer, shared, &writer->blobs[i]);
    }
done:
    mf_zstd_writer_destroy(&alone);
    mf_zstd_writer_destroy(&shared);
    mf_buffer_release(&dictionary);
}

/* ---- the file ---- */

static void check_input(struct writer *writer) {
    const struct mf_manifest *manifest = writer->manifest;
    for (size_t i = 0; i < manifest->artifact_count && writer->failed == KILN_OK; i++) {
        const struct mf_artifact *artifact = &manifest->artifacts[i];
        const struct mf_buffer *module = writer->modules[i];
        struct mf_hash found = mf_hash_bytes(MF_HASH_CONTENT, module->data, module->size_bytes);
        if (i > 0 && strcmp(artifact[-1].name, artifact->name) >= 0) {
            fail(writer, KILN_ERR_ARGUMENT, "the artifacts are not sorted by name");
        } else if (module->size_bytes != artifact->size_bytes || module->size_bytes % 4 != 0 ||
                   !mf_hash_equal(&found, &artifact->content)) {
            writer->failed = kiln_error_set(writer->error, KILN_ERR_HASH,
                                            "pack: %s: its bytes are not those that the manifest "
                                            "states",
                                            artifact->name);
        }
    }
    for (size_t i = 1; i < manifest->exclusion_count; i++) {
        if (strcmp(manifest->excluded[i - 1].name, manifest->excluded[i].name) >= 0) {
            fail(writer, KILN_ERR_ARGUMENT, "the exclusions are not sorted by name");
        }
    }
}

static void assemble(struct writer *writer, struct mf_buffer *out) {
    const uint64_t toc_bytes = MF_PACK_SECTION_COUNT * MF_PACK_ENTRY_BYTES;
    uint64_t offset = mf_pack_align(MF_PACK_HEADER_BYTES + toc_bytes);
    uint64_t size_bytes = offset;
    for (size_t i = 1; i <= MF_PACK_SECTION_COUNT; i++) {
        size_bytes += mf_pack_align(writer->tables[i].bytes.size_bytes);
    }
    append(writer, out, MF_PACK_MAGIC, MF_PACK_MAGIC_BYTES);
    put_u32(writer, out, MF_PACK_FORMAT);
    put_u32(writer, out, writer->manifest->abi);
    put_u64(writer, out, size_bytes + MF_HASH_BYTES);
    put_u32(writer, out, MF_PACK_SECTION_COUNT);
    put_u32(writer, out, 0);
    for (uint32_t i = 1; i <= MF_PACK_SECTION_COUNT; i++) {
        const struct table *table = &writer->tables[i];
        put_u32(writer, out, i);
        put_u32(writer, out, i == MF_PACK_DICTIONARY ? writer->dictionary_bytes : table->count);
        put_u64(writer, out, offset);
        put_u64(writer, out, table->bytes.size_bytes);
        offset += mf_pack_align(table->bytes.size_bytes);
    }
    pad(writer, out);
    for (size_t i = 1; i <= MF_PACK_SECTION_COUNT; i++) {
        append(writer, out, writer->tables[i].bytes.data, writer->tables[i].bytes.size_bytes);
        pad(writer, out);
    }
    if (writer->failed == KILN_OK) {
        struct mf_hash hash = mf_pack_hash(out->data, out->size_bytes + MF_HASH_BYTES);
        append(writer, out, hash.bytes, MF_HASH_BYTES);
    }
}

enum kiln_result mf_pack_write(const struct mf_manifest *manifest,
                               const struct mf_buffer *const *modules, struct mf_buffer *out,
                               struct kiln_error *error) {
    struct writer writer = {.manifest = manifest, .modules = modules, .error = error};
    struct mf_buffer file = {0};
    check_input(&writer);
    writer.blobs =
        mf_arena_alloc(&writer.arena, manifest->artifact_count + 1, sizeof *writer.blobs);
    if (!writer.blobs) {
        fail(&writer, KILN_ERR_MEMORY, "out of memory");
    }
    if (writer.failed == KILN_OK) {
        make_rows(&writer);
    }
    if (writer.failed == KILN_OK) {
        release_tables(&writer);
        writer.blob_count = 0;
        number_texts(&writer);
        make_rows(&writer);
    }
    if (writer.failed == KILN_OK) {
        make_blobs(&writer);
    }
    if (writer.failed == KILN_OK) {
        writer.tables[MF_PACK_DATA].count = writer.blob_count;
        assemble(&writer, &file);
    }
    if (writer.failed == KILN_OK) {
        append(&writer, out, file.data, file.size_bytes);
    }
    mf_buffer_release(&file);
    release_tables(&writer);
    mf_arena_release(&writer.arena);
    return writer.failed;
}
