/* SPDX-License-Identifier: MIT */
/* The sections of rows, artifacts last. */
#include "kl_pack_reader.h"

#include <string.h>

/* The bounds of FORMAT.md for the size of an artifact. */
#define KL_ARTIFACT_MIN_BYTES 20
#define KL_ARTIFACT_MAX_BYTES (UINT32_C(256) * 1024 * 1024)

/* `.` and 8 hex digits, `.spv`, terminator: what follows the name in a file's name. */
#define KL_FILE_TAIL_BYTES 14

/* Row `index` of a section; NULL when the section is not made of whole rows. */
static const unsigned char *kl_rows(struct kl_reader *reader, enum mf_pack_section section,
                                    size_t *row_bytes) {
    const struct kl_section *in = &reader->sections[section];
    *row_bytes = 4 * (size_t)mf_pack_section_words(section);
    if (in->size_bytes % *row_bytes != 0 || in->size_bytes / *row_bytes != in->count) {
        kl_fail(reader, KILN_ERR_FORMAT, section, in->count, "as many rows as stated");
    }
    return in->bytes;
}

static void kl_read_grids(struct kl_reader *reader) {
    size_t row_bytes;
    const unsigned char *row = kl_rows(reader, MF_PACK_GRIDS, &row_bytes);
    size_t count = reader->sections[MF_PACK_GRIDS].count;
    reader->grids = kl_allocate(reader, count, sizeof(*reader->grids));
    for (size_t i = 0; i < count && !reader->failed; i++, row += row_bytes) {
        struct mf_grid *grid = &reader->grids[i];
        for (size_t axis = 0; axis < 3; axis++) {
            struct kl_list list =
                kl_list_of(reader, MF_PACK_GRIDS, i, MF_PACK_FACTORS, row + 4 * axis);
            grid->axes[axis] = (struct mf_grid_axis){list.items, list.count};
        }
        uint32_t fold = mf_pack_u32(row + 12);
        grid->fold = fold == 1;
        if (fold > 1 ||
            (fold == 1 && (grid->axes[1].factor_count > 0 || grid->axes[2].factor_count > 0))) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_GRIDS, i,
                    "fold 0, or 1 without factors on y and z");
        }
    }
}

/* Identifiers in ascending order. */
static const char *const *kl_sorted_texts(struct kl_reader *reader, size_t index,
                                          const unsigned char *word, size_t *count) {
    struct kl_list list = kl_list_of(reader, MF_PACK_REQUIRES, index, MF_PACK_TEXT_LISTS, word);
    const char *const *texts = list.items;
    for (size_t i = 0; i < list.count; i++) {
        kl_check_kind(reader, MF_PACK_REQUIRES, index, texts[i], KL_TEXT_IDENTIFIER);
        if (i > 0 && texts[i - 1] >= texts[i]) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_REQUIRES, index, "ascending texts");
        }
    }
    *count = list.count;
    return texts;
}

static void kl_read_requires_row(struct kl_reader *reader, size_t index, const unsigned char *row,
                                 struct mf_requires *out) {
    out->vulkan_major = mf_pack_u32(row);
    out->vulkan_minor = mf_pack_u32(row + 4);
    out->spirv_major = mf_pack_u32(row + 8);
    out->spirv_minor = mf_pack_u32(row + 12);
    uint64_t product = 1;
    for (size_t i = 0; i < 3; i++) {
        out->local_size[i] = mf_pack_u32(row + 4 * (MF_PACK_REQUIRES_LOCAL_SIZE + i));
        product = product > UINT32_MAX ? product : product * out->local_size[i];
    }
    out->workgroup_bytes = mf_pack_u32(row + 4 * MF_PACK_REQUIRES_WORKGROUP_BYTES);
    out->push_bytes = mf_pack_u32(row + 4 * MF_PACK_REQUIRES_PUSH_BYTES);
    out->subgroup_size = mf_pack_u32(row + 4 * MF_PACK_REQUIRES_SUBGROUP_SIZE);
    if (out->vulkan_major > 999 || out->vulkan_minor > 999 || out->spirv_major > 999 ||
        out->spirv_minor > 999) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_REQUIRES, index, "versions below 1000");
    }
    if (product == 0 || product > UINT32_MAX) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_REQUIRES, index,
                "a local size from 1 with a product below 2^32");
    }
    if (out->subgroup_size > 128 || (out->subgroup_size & (out->subgroup_size - 1)) != 0) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_REQUIRES, index,
                "a subgroup size of 0 or a power of two to 128");
    }
    const unsigned char *lists = row + 4 * MF_PACK_REQUIRES_LISTS;
    out->subgroup_operations =
        kl_sorted_texts(reader, index, lists, &out->subgroup_operation_count);
    out->features = kl_sorted_texts(reader, index, lists + 4, &out->feature_count);
    out->extensions = kl_sorted_texts(reader, index, lists + 8, &out->extension_count);
    out->capabilities = kl_sorted_texts(reader, index, lists + 12, &out->capability_count);
}

static void kl_read_requires(struct kl_reader *reader) {
    size_t row_bytes;
    const unsigned char *row = kl_rows(reader, MF_PACK_REQUIRES, &row_bytes);
    size_t count = reader->sections[MF_PACK_REQUIRES].count;
    reader->requires_ = kl_allocate(reader, count, sizeof(*reader->requires_));
    for (size_t i = 0; i < count && !reader->failed; i++, row += row_bytes) {
        kl_read_requires_row(reader, i, row, &reader->requires_[i]);
    }
}

/* -1, or from 0 and finite. */
static double kl_bound(struct kl_reader *reader, size_t index, const unsigned char *words) {
    uint64_t bits = mf_pack_u64(words);
    double value;
    memcpy(&value, &bits, sizeof(value));
    if (value != -1.0 && !(value >= 0 && value - value == 0)) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_TOLERANCES, index, "-1 or a finite bound from 0");
    }
    return value;
}

static void kl_read_tolerances(struct kl_reader *reader) {
    size_t row_bytes;
    const unsigned char *row = kl_rows(reader, MF_PACK_TOLERANCES, &row_bytes);
    size_t count = reader->sections[MF_PACK_TOLERANCES].count;
    reader->tolerances = kl_allocate(reader, count, sizeof(*reader->tolerances));
    for (size_t i = 0; i < count && !reader->failed; i++, row += row_bytes) {
        uint32_t exact = mf_pack_u32(row);
        if (exact > 1) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_TOLERANCES, i, "exact 0 or 1");
        }
        reader->tolerances[i] = (struct mf_tolerance){
            .exact = exact == 1,
            .ulp_f16 = mf_pack_u32(row + 4 * MF_PACK_TOLERANCE_ULP_F16),
            .max_abs = kl_bound(reader, i, row + 4 * MF_PACK_TOLERANCE_MAX_ABS),
            .rel = kl_bound(reader, i, row + 4 * MF_PACK_TOLERANCE_REL),
            .scale = kl_bound(reader, i, row + 4 * MF_PACK_TOLERANCE_SCALE)};
    }
}

static void kl_read_toolchain(struct kl_reader *reader) {
    size_t row_bytes;
    const unsigned char *row = kl_rows(reader, MF_PACK_TOOLCHAIN, &row_bytes);
    struct mf_toolchain *out = &reader->manifest->toolchain;
    const char **const fields[] = {&out->glslang, &out->spirv_tools, &out->spirv_cross,
                                   &out->pipeline, &out->signature};
    if (reader->sections[MF_PACK_TOOLCHAIN].count != 1) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_TOOLCHAIN, 0, "one row");
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !reader->failed; i++) {
        *fields[i] = kl_text(reader, MF_PACK_TOOLCHAIN, 0, row + 4 * i);
        if ((*fields[i])[0] == '\0') {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_TOOLCHAIN, 0, "texts that are not empty");
        }
    }
}

/* Blobs stand one behind the other at multiples of 16, so none can overlap or lie outside. */
static void kl_read_blobs(struct kl_reader *reader) {
    size_t row_bytes;
    const unsigned char *row = kl_rows(reader, MF_PACK_BLOBS, &row_bytes);
    const struct kl_section *data = &reader->sections[MF_PACK_DATA];
    size_t count = reader->sections[MF_PACK_BLOBS].count;
    size_t position = 0;
    reader->blobs = kl_allocate(reader, count, sizeof(*reader->blobs));
    reader->contents = kl_allocate(reader, count, sizeof(*reader->contents));
    if (data->count != count) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_DATA, data->count, "as many blobs as rows");
    }
    for (size_t i = 0; i < count && !reader->failed; i++, row += row_bytes) {
        struct kl_blob *blob = &reader->blobs[i];
        size_t begin = (size_t)mf_pack_align(position);
        blob->packed_bytes = mf_pack_u32(row);
        blob->size_bytes = mf_pack_u32(row + 4);
        memcpy(reader->contents[i].bytes, row + 8, MF_HASH_BYTES);
        if (begin > data->size_bytes || blob->packed_bytes > data->size_bytes - begin ||
            !kl_is_zero(data->bytes + position, begin - position)) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_BLOBS, i, "its bytes inside the data");
            return;
        }
        if (blob->size_bytes < KL_ARTIFACT_MIN_BYTES || blob->size_bytes > KL_ARTIFACT_MAX_BYTES ||
            blob->size_bytes % 4 != 0) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_BLOBS, i,
                    "a size from 20 to 2^28 that is a multiple of 4");
        }
        blob->offset_bytes = (size_t)(data->bytes - reader->bytes) + begin;
        position = begin + blob->packed_bytes;
    }
    if (!reader->failed && position != data->size_bytes) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_DATA, count, "nothing behind the last blob");
    }
}

/* ---- artifacts ---- */

/* A number below the section's count, 0 after a failure: check `failed` before using it. */
static uint32_t kl_number(struct kl_reader *reader, size_t index, enum mf_pack_section section,
                          const unsigned char *word) {
    uint32_t number = mf_pack_u32(word);
    if (number >= reader->sections[section].count) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_ARTIFACTS, index, "the number of a row");
        return 0;
    }
    return number;
}

/* The name's place among the artifact's dims; their number when it is none. */
static size_t kl_find_dim(const struct mf_artifact *artifact, const char *dim) {
    size_t i = 0;
    while (i < artifact->dim_count && artifact->dims[i] != dim) {
        i++;
    }
    return i;
}

/* What holds between the parts of an artifact. */
static void kl_check_artifact(struct kl_reader *reader, size_t index,
                              const struct mf_artifact *artifact) {
    for (size_t i = 0; i < artifact->dtype_count; i++) {
        kl_check_kind(reader, MF_PACK_ARTIFACTS, index, artifact->dtypes[i], KL_TEXT_PART);
    }
    for (size_t i = 0; i < artifact->dim_count; i++) {
        kl_check_kind(reader, MF_PACK_ARTIFACTS, index, artifact->dims[i], KL_TEXT_IDENTIFIER);
    }
    if (artifact->dtype_count == 0) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_ARTIFACTS, index, "at least one dtype");
    }
    uint64_t push_bytes =
        artifact->push_count > 0 ? kl_push_end(&artifact->push[artifact->push_count - 1]) : 0;
    if (push_bytes != artifact->requires_.push_bytes) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_ARTIFACTS, index,
                "required push bytes at the end of the last push constant");
    }
    size_t next = 0; /* place of the first dim that may follow */
    for (size_t i = 0; i < artifact->limit_count; i++) {
        size_t place = kl_find_dim(artifact, artifact->limits[i].dim);
        if (place < next || place == artifact->dim_count) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_ARTIFACTS, index, "limits in order of dims");
        }
        next = place + 1;
    }
    for (size_t axis = 0; axis < 3; axis++) {
        for (size_t i = 0; i < artifact->grid.axes[axis].factor_count; i++) {
            if (kl_find_dim(artifact, artifact->grid.axes[axis].factors[i].dim) ==
                artifact->dim_count) {
                kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_ARTIFACTS, index, "a grid over dims");
            }
        }
    }
}

static void kl_read_artifact_texts(struct kl_reader *reader, size_t index, const unsigned char *row,
                                   struct mf_artifact *out) {
    const enum mf_pack_section here = MF_PACK_ARTIFACTS;
    out->name = kl_text_of(reader, here, index, row + 4 * MF_PACK_ARTIFACT_NAME, KL_TEXT_NAME);
    out->family = kl_text_of(reader, here, index, row + 4 * MF_PACK_ARTIFACT_FAMILY, KL_TEXT_PART);
    out->kernel =
        kl_text_of(reader, here, index, row + 4 * MF_PACK_ARTIFACT_KERNEL, KL_TEXT_IDENTIFIER);
    out->shape = kl_text_of(reader, here, index, row + 4 * MF_PACK_ARTIFACT_SHAPE, KL_TEXT_PART);
    out->schedule =
        kl_text_of(reader, here, index, row + 4 * MF_PACK_ARTIFACT_SCHEDULE, KL_TEXT_PART);
    out->tier = kl_text_of(reader, here, index, row + 4 * MF_PACK_ARTIFACT_TIER, KL_TEXT_PART);
    out->reference = kl_text(reader, here, index, row + 4 * MF_PACK_ARTIFACT_REFERENCE);
    if (out->reference[0] != '\0') {
        kl_check_kind(reader, here, index, out->reference, KL_TEXT_IDENTIFIER);
    }
}

static const void *kl_artifact_list(struct kl_reader *reader, size_t index,
                                    enum mf_pack_section section, const unsigned char *word,
                                    size_t *count) {
    struct kl_list list = kl_list_of(reader, MF_PACK_ARTIFACTS, index, section, word);
    *count = list.count;
    return list.items;
}

static void kl_read_artifact(struct kl_reader *reader, size_t index, const unsigned char *row,
                             struct mf_artifact *out) {
    kl_read_artifact_texts(reader, index, row, out);
    out->dtypes = kl_artifact_list(reader, index, MF_PACK_TEXT_LISTS,
                                   row + 4 * MF_PACK_ARTIFACT_DTYPES, &out->dtype_count);
    out->dims = kl_artifact_list(reader, index, MF_PACK_TEXT_LISTS, row + 4 * MF_PACK_ARTIFACT_DIMS,
                                 &out->dim_count);
    out->axes = kl_artifact_list(reader, index, MF_PACK_AXES, row + 4 * MF_PACK_ARTIFACT_AXES,
                                 &out->axis_count);
    out->bindings = kl_artifact_list(reader, index, MF_PACK_BINDINGS,
                                     row + 4 * MF_PACK_ARTIFACT_BINDINGS, &out->binding_count);
    out->push = kl_artifact_list(reader, index, MF_PACK_PUSH, row + 4 * MF_PACK_ARTIFACT_PUSH,
                                 &out->push_count);
    out->spec = kl_artifact_list(reader, index, MF_PACK_SPEC, row + 4 * MF_PACK_ARTIFACT_SPEC,
                                 &out->spec_count);
    out->limits = kl_artifact_list(reader, index, MF_PACK_LIMITS, row + 4 * MF_PACK_ARTIFACT_LIMITS,
                                   &out->limit_count);
    uint32_t grid = kl_number(reader, index, MF_PACK_GRIDS, row + 4 * MF_PACK_ARTIFACT_GRID);
    uint32_t requires_ =
        kl_number(reader, index, MF_PACK_REQUIRES, row + 4 * MF_PACK_ARTIFACT_REQUIRES);
    uint32_t tolerance =
        kl_number(reader, index, MF_PACK_TOLERANCES, row + 4 * MF_PACK_ARTIFACT_TOLERANCE);
    uint32_t blob = kl_number(reader, index, MF_PACK_BLOBS, row + 4 * MF_PACK_ARTIFACT_BLOB);
    if (reader->failed) {
        return;
    }
    out->grid = reader->grids[grid];
    out->requires_ = reader->requires_[requires_];
    out->tolerance = reader->tolerances[tolerance];
    out->size_bytes = reader->blobs[blob].size_bytes;
    out->content = reader->contents[blob];
    memcpy(out->recipe.bytes, row + 4 * MF_PACK_ARTIFACT_RECIPE, MF_HASH_BYTES);
    memcpy(out->iface.bytes, row + 4 * MF_PACK_ARTIFACT_IFACE, MF_HASH_BYTES);
    kl_check_artifact(reader, index, out);
    if (index > 0 && out[-1].name >= out->name) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_ARTIFACTS, index, "ascending names");
    }
}

/* mf_artifact_file_name for all, in one piece of memory. */
static void kl_name_files(struct kl_reader *reader) {
    struct mf_manifest *manifest = reader->manifest;
    size_t size_bytes = 0;
    for (size_t i = 0; i < manifest->artifact_count; i++) {
        size_bytes += strlen(manifest->artifacts[i].name) + KL_FILE_TAIL_BYTES;
    }
    char *at = kl_allocate(reader, size_bytes, 1);
    for (size_t i = 0; i < manifest->artifact_count && !reader->failed; i++) {
        struct mf_artifact *artifact = &manifest->artifacts[i];
        char text[MF_HASH_TEXT_BYTES];
        size_t length = strlen(artifact->name);
        mf_hash_format(&artifact->content, text);
        artifact->file = at;
        memcpy(at, artifact->name, length);
        at[length] = '.';
        memcpy(at + length + 1, text, 8);
        memcpy(at + length + 9, ".spv", 5);
        at += length + KL_FILE_TAIL_BYTES;
    }
}

static void kl_read_artifacts(struct kl_reader *reader, struct kl_pack_index *out) {
    size_t row_bytes;
    const unsigned char *row = kl_rows(reader, MF_PACK_ARTIFACTS, &row_bytes);
    size_t count = reader->sections[MF_PACK_ARTIFACTS].count;
    struct mf_manifest *manifest = reader->manifest;
    uint32_t *numbers = kl_allocate(reader, count, sizeof(*numbers));
    manifest->artifacts = kl_allocate(reader, count, sizeof(*manifest->artifacts));
    for (size_t i = 0; i < count && !reader->failed; i++, row += row_bytes) {
        kl_read_artifact(reader, i, row, &manifest->artifacts[i]);
        numbers[i] = mf_pack_u32(row + 4 * MF_PACK_ARTIFACT_BLOB);
    }
    if (!reader->failed) {
        manifest->artifact_count = count;
        kl_name_files(reader);
    }
    out->artifact_blobs = numbers;
    out->blobs = reader->blobs;
}

static void kl_read_excluded(struct kl_reader *reader) {
    size_t row_bytes;
    const unsigned char *row = kl_rows(reader, MF_PACK_EXCLUDED, &row_bytes);
    size_t count = reader->sections[MF_PACK_EXCLUDED].count;
    struct mf_exclusion *out = kl_allocate(reader, count, sizeof(*out));
    for (size_t i = 0; i < count && !reader->failed; i++, row += row_bytes) {
        out[i].name = kl_text_of(reader, MF_PACK_EXCLUDED, i, row, KL_TEXT_NAME);
        out[i].reason = kl_text(reader, MF_PACK_EXCLUDED, i, row + 4);
        if (out[i].reason[0] == '\0') {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_EXCLUDED, i, "a reason");
        } else if (i > 0 && out[i - 1].name >= out[i].name) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_EXCLUDED, i, "ascending names");
        } else if (!reader->failed && mf_manifest_find(reader->manifest, out[i].name)) {
            kl_fail(reader, KILN_ERR_DUPLICATE, MF_PACK_EXCLUDED, i, "no name of an artifact");
        }
    }
    reader->manifest->excluded = out;
    reader->manifest->exclusion_count = reader->failed ? 0 : count;
}

static void kl_read_dictionary(struct kl_reader *reader, struct kl_pack_index *out) {
    const struct kl_section *section = &reader->sections[MF_PACK_DICTIONARY];
    if (section->count > MF_PACK_DICTIONARY_MAX_BYTES) {
        kl_fail(reader, KILN_ERR_LIMIT, MF_PACK_DICTIONARY, section->count, "at most 512 KiB");
    }
    out->dictionary = section->bytes;
    out->dictionary_packed_bytes = section->size_bytes;
    out->dictionary_bytes = section->count;
}

void kl_pack_read_rows(struct kl_reader *reader, struct kl_pack_index *index) {
    kl_read_grids(reader);
    kl_read_requires(reader);
    kl_read_tolerances(reader);
    kl_read_toolchain(reader);
    kl_read_blobs(reader);
    kl_read_artifacts(reader, index);
    kl_read_excluded(reader);
    kl_read_dictionary(reader, index);
}
