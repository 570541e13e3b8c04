/* SPDX-License-Identifier: MIT */
/* The reader of mf_manifest.h, above the JSON seam. The first failure sticks in `json.failed`. */
#include "mf_file.h"
#include "mf_json.h"
#include "mf_manifest.h"
#include "mf_name.h"

#include <stdlib.h>
#include <string.h>

/* A module has at least a header of five words; files over 256 MiB are no shaders. */
#define ARTIFACT_MIN_BYTES 20
#define ARTIFACT_MAX_BYTES (UINT64_C(256) * 1024 * 1024)
#define TEXT_MAX_BYTES 4096

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct reader {
    struct mf_json_reader json;
    struct mf_arena *arena;
};

/* What a text field may hold. */
enum text_kind {
    TEXT_ANY,        /* no control characters, at most TEXT_MAX_BYTES */
    TEXT_NOT_EMPTY,  /* as TEXT_ANY, but not empty */
    TEXT_IDENTIFIER, /* [A-Za-z_][A-Za-z0-9_]* */
    TEXT_OPTIONAL,   /* an identifier or empty */
    TEXT_PART,       /* mf_name_check_part */
    TEXT_NAME        /* mf_name_check */
};

static bool is_plain_text(const char *text) {
    size_t i = 0;
    for (; text[i]; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == 0x7f) {
            return false;
        }
    }
    return i <= TEXT_MAX_BYTES;
}

static void check_text(struct reader *reader, enum text_kind kind, const char *key,
                       const char *text) {
    struct kiln_error reason;
    enum kiln_result result = KILN_OK;
    const char *expected = NULL;
    switch (kind) {
    case TEXT_NOT_EMPTY:
    case TEXT_ANY:
        if (!is_plain_text(text)) {
            expected = "at most 4096 bytes without control characters";
        } else if (kind == TEXT_NOT_EMPTY && text[0] == '\0') {
            expected = "a text that is not empty";
        }
        break;
    case TEXT_OPTIONAL:
    case TEXT_IDENTIFIER:
        if (!mf_name_is_identifier(text) && (kind == TEXT_IDENTIFIER || text[0] != '\0')) {
            expected = "an identifier ([A-Za-z_][A-Za-z0-9_]*)";
        }
        break;
    case TEXT_PART:
        result = mf_name_check_part(text, &reason);
        break;
    case TEXT_NAME:
        result = mf_name_check(text, &reason);
        break;
    }
    if (result != KILN_OK) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key, "%s", reason.message);
    } else if (expected) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key, "expected %s, found \"%.60s\"",
                           expected, text);
    }
}

/* Never NULL: "" after a failure. */
static const char *keep_text(struct reader *reader, const char *text) {
    const char *copy = NULL;
    if (reader->json.failed == KILN_OK) {
        copy = mf_arena_string(reader->arena, text);
        if (!copy) {
            (void)mf_json_fail(&reader->json, KILN_ERR_MEMORY, "", "out of memory");
        }
    }
    return copy ? copy : "";
}

static const char *read_text(struct reader *reader, const struct mf_json *object, const char *key,
                             enum text_kind kind) {
    const char *text = mf_json_get_string(&reader->json, object, key);
    if (reader->json.failed == KILN_OK) {
        check_text(reader, kind, key, text);
    }
    return keep_text(reader, text);
}

static uint32_t read_u32(struct reader *reader, const struct mf_json *object, const char *key,
                         uint32_t min, uint32_t max) {
    return (uint32_t)mf_json_get_u64(&reader->json, object, key, min, max);
}

/* Zeroed elements; NULL after a failure. */
static void *allocate(struct reader *reader, size_t count, size_t element_size_bytes) {
    void *memory = NULL;
    if (reader->json.failed == KILN_OK) {
        memory = mf_arena_alloc(reader->arena, count, element_size_bytes);
        if (!memory) {
            (void)mf_json_fail(&reader->json, KILN_ERR_MEMORY, "", "out of memory");
        }
    }
    return memory;
}

/* An array of texts without repetition; `sorted` also asks for ascending order. */
static const char *const *read_texts(struct reader *reader, const struct mf_json *object,
                                     const char *key, enum text_kind kind, bool sorted,
                                     size_t *count) {
    struct mf_json *array = mf_json_get_array(&reader->json, object, key);
    size_t length = mf_json_count(array);
    const char **texts = allocate(reader, length, sizeof *texts);
    *count = 0;
    for (size_t i = 0; i < length && reader->json.failed == KILN_OK; i++) {
        const char *text = mf_json_item_string(&reader->json, array, key, i);
        if (reader->json.failed == KILN_OK) {
            check_text(reader, kind, key, text);
        }
        if (sorted && i > 0 && strcmp(texts[i - 1], text) >= 0) {
            (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key,
                               "expected ascending order without repetition, found \"%s\" behind "
                               "\"%s\"",
                               text, texts[i - 1]);
        }
        texts[i] = keep_text(reader, text);
    }
    *count = reader->json.failed == KILN_OK ? length : 0;
    return texts;
}

static struct mf_hash read_hash(struct reader *reader, const struct mf_json *object,
                                const char *key) {
    struct mf_hash hash = {{0}};
    const char *text = mf_json_get_string(&reader->json, object, key);
    if (reader->json.failed == KILN_OK && mf_hash_parse(text, &hash) != KILN_OK) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key,
                           "expected 32 lower-case hex digits, found \"%.60s\"", text);
    }
    return hash;
}

static enum mf_scalar read_scalar(struct reader *reader, const struct mf_json *object,
                                  const char *key, bool allow_struct) {
    const char *text = mf_json_get_string(&reader->json, object, key);
    for (int i = 0; i <= MF_SCALAR_STRUCT && reader->json.failed == KILN_OK; i++) {
        if (strcmp(text, mf_scalar_string((enum mf_scalar)i)) == 0 &&
            (allow_struct || i != MF_SCALAR_STRUCT)) {
            return (enum mf_scalar)i;
        }
    }
    (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key,
                       "expected a scalar type (u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64 bool%s), "
                       "found \"%.60s\"",
                       allow_struct ? " struct" : "", text);
    return MF_SCALAR_U32;
}

static enum mf_access read_access(struct reader *reader, const struct mf_json *object,
                                  const char *key) {
    const char *text = mf_json_get_string(&reader->json, object, key);
    for (int i = 0; i <= MF_ACCESS_READ_WRITE && reader->json.failed == KILN_OK; i++) {
        if (strcmp(text, mf_access_string((enum mf_access)i)) == 0) {
            return (enum mf_access)i;
        }
    }
    (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key,
                       "expected \"read\", \"write\" or \"read_write\", found \"%.60s\"", text);
    return MF_ACCESS_READ;
}

/* Up to three digits without a leading zero; moves *text behind them. */
static bool parse_small_number(const char **text, uint32_t *number) {
    const char *c = *text;
    uint32_t value = 0;
    size_t digits = 0;
    for (; *c >= '0' && *c <= '9' && digits < 4; c++, digits++) {
        value = value * 10 + (uint32_t)(*c - '0');
    }
    bool valid = digits > 0 && digits < 4 && (digits == 1 || **text != '0');
    *text = c;
    *number = value;
    return valid;
}

static void read_version(struct reader *reader, const struct mf_json *object, const char *key,
                         uint32_t *major, uint32_t *minor) {
    const char *text = mf_json_get_string(&reader->json, object, key);
    const char *rest = text;
    bool valid = parse_small_number(&rest, major) && *rest == '.';
    if (valid) {
        rest++;
        valid = parse_small_number(&rest, minor) && *rest == '\0';
    }
    if (!valid) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key,
                           "expected a version \"major.minor\", found \"%.60s\"", text);
    }
}

static void read_requires(struct reader *reader, const struct mf_json *artifact,
                          struct mf_requires *out) {
    static const char *const keys[] = {
        "vulkan",     "spirv",         "local_size",          "workgroup_bytes",
        "push_bytes", "subgroup_size", "subgroup_operations", "features",
        "extensions", "capabilities"};
    struct mf_json *object = mf_json_get_object(&reader->json, artifact, "requires");
    size_t where = mf_json_enter(&reader->json, "requires.");
    mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
    read_version(reader, object, "vulkan", &out->vulkan_major, &out->vulkan_minor);
    read_version(reader, object, "spirv", &out->spirv_major, &out->spirv_minor);
    struct mf_json *local_size = mf_json_get_array(&reader->json, object, "local_size");
    if (mf_json_count(local_size) != 3) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "local_size",
                           "expected 3 numbers, found %zu", mf_json_count(local_size));
    }
    uint64_t product = 1;
    for (size_t i = 0; i < 3; i++) {
        out->local_size[i] =
            (uint32_t)mf_json_item_u64(&reader->json, local_size, "local_size", i, 1, UINT32_MAX);
        product = product > UINT32_MAX ? product : product * out->local_size[i];
    }
    if (product > UINT32_MAX) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "local_size",
                           "expected a product below 2^32");
    }
    out->workgroup_bytes = read_u32(reader, object, "workgroup_bytes", 0, UINT32_MAX);
    out->push_bytes = read_u32(reader, object, "push_bytes", 0, UINT32_MAX);
    out->subgroup_size = read_u32(reader, object, "subgroup_size", 0, 128);
    if ((out->subgroup_size & (out->subgroup_size - 1)) != 0) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "subgroup_size",
                           "expected 0 or a power of two, found %u", out->subgroup_size);
    }
    out->subgroup_operations = read_texts(reader, object, "subgroup_operations", TEXT_IDENTIFIER,
                                          true, &out->subgroup_operation_count);
    out->features =
        read_texts(reader, object, "features", TEXT_IDENTIFIER, true, &out->feature_count);
    out->extensions =
        read_texts(reader, object, "extensions", TEXT_IDENTIFIER, true, &out->extension_count);
    out->capabilities =
        read_texts(reader, object, "capabilities", TEXT_IDENTIFIER, true, &out->capability_count);
    mf_json_leave(&reader->json, where);
}

static void read_bindings(struct reader *reader, const struct mf_json *artifact,
                          struct mf_artifact *out) {
    static const char *const keys[] = {"set", "binding", "name", "access", "element", "stride"};
    struct mf_json *array = mf_json_get_array(&reader->json, artifact, "bindings");
    size_t count = mf_json_count(array);
    struct mf_binding *bindings = allocate(reader, count, sizeof *bindings);
    for (size_t i = 0; i < count && reader->json.failed == KILN_OK; i++) {
        struct mf_json *object = mf_json_item_object(&reader->json, array, "bindings", i);
        size_t where = mf_json_enter(&reader->json, "bindings[%zu].", i);
        struct mf_binding *binding = &bindings[i];
        mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
        binding->set = read_u32(reader, object, "set", 0, UINT32_MAX);
        binding->binding = read_u32(reader, object, "binding", 0, UINT32_MAX);
        binding->name = read_text(reader, object, "name", TEXT_IDENTIFIER);
        binding->access = read_access(reader, object, "access");
        binding->element = read_scalar(reader, object, "element", true);
        binding->stride_bytes = read_u32(reader, object, "stride", 1, UINT32_MAX);
        const struct mf_binding *previous = i > 0 ? binding - 1 : NULL;
        if (previous && (previous->set > binding->set || (previous->set == binding->set &&
                                                          previous->binding >= binding->binding))) {
            (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "binding",
                               "expected ascending set and binding");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(bindings[j].name, binding->name) == 0) {
                (void)mf_json_fail(&reader->json, KILN_ERR_DUPLICATE, "name", "\"%s\" occurs twice",
                                   binding->name);
            }
        }
        mf_json_leave(&reader->json, where);
    }
    out->bindings = bindings;
    out->binding_count = count;
}

static void read_push(struct reader *reader, const struct mf_json *artifact,
                      struct mf_artifact *out) {
    static const char *const keys[] = {"name", "offset", "size", "type"};
    struct mf_json *array = mf_json_get_array(&reader->json, artifact, "push");
    size_t count = mf_json_count(array);
    struct mf_push *pushes = allocate(reader, count, sizeof *pushes);
    uint64_t end_bytes = 0;
    for (size_t i = 0; i < count && reader->json.failed == KILN_OK; i++) {
        struct mf_json *object = mf_json_item_object(&reader->json, array, "push", i);
        size_t where = mf_json_enter(&reader->json, "push[%zu].", i);
        struct mf_push *push = &pushes[i];
        mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
        push->name = read_text(reader, object, "name", TEXT_IDENTIFIER);
        push->offset_bytes = read_u32(reader, object, "offset", 0, UINT32_MAX);
        push->size_bytes = read_u32(reader, object, "size", 1, UINT32_MAX);
        push->type = read_scalar(reader, object, "type", true);
        if (push->offset_bytes < end_bytes) {
            (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "offset",
                               "expected ascending offsets without overlap, found %u",
                               push->offset_bytes);
        }
        uint32_t scalar_bytes = mf_scalar_bytes(push->type);
        if (scalar_bytes > 0 && push->size_bytes % scalar_bytes != 0) {
            (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "size",
                               "expected a multiple of %u, found %u", scalar_bytes,
                               push->size_bytes);
        }
        end_bytes = (uint64_t)push->offset_bytes + push->size_bytes;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(pushes[j].name, push->name) == 0) {
                (void)mf_json_fail(&reader->json, KILN_ERR_DUPLICATE, "name", "\"%s\" occurs twice",
                                   push->name);
            }
        }
        mf_json_leave(&reader->json, where);
    }
    if (reader->json.failed == KILN_OK && end_bytes != out->requires_.push_bytes) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "requires.push_bytes",
                           "expected %llu, the end of the last push constant, found %u",
                           (unsigned long long)end_bytes, out->requires_.push_bytes);
    }
    out->push = pushes;
    out->push_count = count;
}

/* "0x" and two lower-case hex digits a byte of the type. */
static uint64_t read_bits(struct reader *reader, const struct mf_json *object, const char *key,
                          enum mf_scalar type) {
    const char *text = mf_json_get_string(&reader->json, object, key);
    size_t digits = (size_t)mf_scalar_bytes(type) * 2;
    bool valid = strlen(text) == digits + 2 && text[0] == '0' && text[1] == 'x' &&
                 strspn(text + 2, "0123456789abcdef") == digits;
    if (!valid) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key,
                           "expected \"0x\" and %zu lower-case hex digits, found \"%.60s\"", digits,
                           text);
        return 0;
    }
    return strtoull(text + 2, NULL, 16);
}

static void read_spec(struct reader *reader, const struct mf_json *artifact,
                      struct mf_artifact *out) {
    static const char *const keys[] = {"id", "name", "type", "default"};
    struct mf_json *array = mf_json_get_array(&reader->json, artifact, "spec");
    size_t count = mf_json_count(array);
    struct mf_spec_constant *specs = allocate(reader, count, sizeof *specs);
    for (size_t i = 0; i < count && reader->json.failed == KILN_OK; i++) {
        struct mf_json *object = mf_json_item_object(&reader->json, array, "spec", i);
        size_t where = mf_json_enter(&reader->json, "spec[%zu].", i);
        struct mf_spec_constant *spec = &specs[i];
        mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
        spec->constant_id = read_u32(reader, object, "id", 0, UINT32_MAX);
        spec->name = read_text(reader, object, "name", TEXT_OPTIONAL);
        spec->type = read_scalar(reader, object, "type", false);
        spec->default_bits = read_bits(reader, object, "default", spec->type);
        if (i > 0 && specs[i - 1].constant_id >= spec->constant_id) {
            (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "id",
                               "expected ascending ids, found %u", spec->constant_id);
        }
        mf_json_leave(&reader->json, where);
    }
    out->spec = specs;
    out->spec_count = count;
}

static void read_axes(struct reader *reader, const struct mf_json *artifact,
                      struct mf_artifact *out) {
    struct mf_json *object = mf_json_get_object(&reader->json, artifact, "axes");
    const char **keys = NULL;
    size_t count = 0;
    if (reader->json.failed == KILN_OK &&
        mf_json_keys(object, reader->arena, &keys, &count) != KILN_OK) {
        (void)mf_json_fail(&reader->json, KILN_ERR_MEMORY, "axes", "out of memory");
    }
    struct mf_axis *axes = allocate(reader, count, sizeof *axes);
    size_t where = mf_json_enter(&reader->json, "axes.");
    for (size_t i = 0; i < count && reader->json.failed == KILN_OK; i++) {
        check_text(reader, TEXT_IDENTIFIER, "", keys[i]);
        axes[i].name = keys[i];
        axes[i].value = read_text(reader, object, keys[i], TEXT_ANY);
    }
    mf_json_leave(&reader->json, where);
    out->axes = axes;
    out->axis_count = count;
}

/* Its place among the artifact's dims; their number when it is none. */
static size_t find_dim(const struct mf_artifact *artifact, const char *dim) {
    size_t i = 0;
    while (i < artifact->dim_count && strcmp(artifact->dims[i], dim) != 0) {
        i++;
    }
    return i;
}

static void read_limits(struct reader *reader, const struct mf_json *artifact,
                        struct mf_artifact *out) {
    static const char *const keys[] = {"dim", "max", "multiple"};
    struct mf_json *array = mf_json_get_array(&reader->json, artifact, "limits");
    size_t count = mf_json_count(array);
    struct mf_dim_limit *limits = allocate(reader, count, sizeof *limits);
    size_t next = 0; /* place of the first dim that may follow */
    for (size_t i = 0; i < count && reader->json.failed == KILN_OK; i++) {
        struct mf_json *object = mf_json_item_object(&reader->json, array, "limits", i);
        size_t where = mf_json_enter(&reader->json, "limits[%zu].", i);
        mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
        limits[i].dim = read_text(reader, object, "dim", TEXT_IDENTIFIER);
        limits[i].max = read_u32(reader, object, "max", 1, UINT32_MAX);
        limits[i].multiple = read_u32(reader, object, "multiple", 1, UINT32_MAX);
        size_t place = find_dim(out, limits[i].dim);
        if (place < next || place == out->dim_count) {
            (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "dim",
                               "expected the artifact's dims in their order, found \"%s\"",
                               limits[i].dim);
        }
        next = place + 1;
        mf_json_leave(&reader->json, where);
    }
    out->limits = limits;
    out->limit_count = count;
}

static void read_grid_axis(struct reader *reader, const struct mf_json *grid, const char *key,
                           const struct mf_artifact *artifact, struct mf_grid_axis *out) {
    static const char *const keys[] = {"dim", "tile"};
    struct mf_json *array = mf_json_get_array(&reader->json, grid, key);
    size_t count = mf_json_count(array);
    struct mf_grid_factor *factors = allocate(reader, count, sizeof *factors);
    for (size_t i = 0; i < count && reader->json.failed == KILN_OK; i++) {
        struct mf_json *object = mf_json_item_object(&reader->json, array, key, i);
        size_t where = mf_json_enter(&reader->json, "%s[%zu].", key, i);
        mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
        factors[i].dim = read_text(reader, object, "dim", TEXT_IDENTIFIER);
        factors[i].tile = read_u32(reader, object, "tile", 1, UINT32_MAX);
        if (find_dim(artifact, factors[i].dim) == artifact->dim_count) {
            (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "dim",
                               "expected one of the artifact's dims, found \"%s\"", factors[i].dim);
        }
        mf_json_leave(&reader->json, where);
    }
    out->factors = factors;
    out->factor_count = count;
}

static void read_grid(struct reader *reader, const struct mf_json *artifact,
                      struct mf_artifact *out) {
    static const char *const keys[] = {"x", "y", "z", "fold"};
    struct mf_json *object = mf_json_get_object(&reader->json, artifact, "grid");
    size_t where = mf_json_enter(&reader->json, "grid.");
    mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
    for (size_t axis = 0; axis < 3; axis++) {
        read_grid_axis(reader, object, keys[axis], out, &out->grid.axes[axis]);
    }
    out->grid.fold = mf_json_get_bool(&reader->json, object, "fold");
    if (out->grid.fold &&
        (out->grid.axes[1].factor_count > 0 || out->grid.axes[2].factor_count > 0)) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "fold",
                           "expected no factors on y and z of a folded grid");
    }
    mf_json_leave(&reader->json, where);
}

static double read_bound(struct reader *reader, const struct mf_json *object, const char *key) {
    if (!mf_json_has(object, key)) {
        return -1.0;
    }
    double bound = mf_json_get_number(&reader->json, object, key);
    if (bound < 0) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, key,
                           "expected a bound of at least 0, found %g", bound);
    }
    return bound;
}

static void read_tolerance(struct reader *reader, const struct mf_json *artifact,
                           struct mf_tolerance *out) {
    static const char *const keys[] = {"exact", "max_abs", "rel", "scale", "ulp_f16"};
    struct mf_json *object = mf_json_get_object(&reader->json, artifact, "tolerance");
    size_t where = mf_json_enter(&reader->json, "tolerance.");
    mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
    out->exact = mf_json_has(object, "exact") && mf_json_get_bool(&reader->json, object, "exact");
    out->max_abs = read_bound(reader, object, "max_abs");
    out->rel = read_bound(reader, object, "rel");
    out->scale = read_bound(reader, object, "scale");
    out->ulp_f16 =
        mf_json_has(object, "ulp_f16") ? read_u32(reader, object, "ulp_f16", 1, UINT32_MAX) : 0;
    mf_json_leave(&reader->json, where);
}

static const char *read_file_name(struct reader *reader, const struct mf_json *object) {
    const char *text = mf_json_get_string(&reader->json, object, "file");
    struct kiln_error reason;
    if (reader->json.failed == KILN_OK && mf_path_check(text, &reason) != KILN_OK) {
        (void)mf_json_fail(&reader->json, KILN_ERR_PATH, "file", "%s", reason.message);
    }
    size_t length = strlen(text);
    if (length < 5 || strcmp(text + length - 4, ".spv") != 0) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "file",
                           "expected a name that ends in \".spv\", found \"%.60s\"", text);
    }
    return keep_text(reader, text);
}

static void check_interface_hash(struct reader *reader, const struct mf_artifact *artifact) {
    struct mf_hash expected;
    if (reader->json.failed != KILN_OK) {
        return;
    }
    if (mf_artifact_interface_hash(artifact, &expected) != KILN_OK) {
        (void)mf_json_fail(&reader->json, KILN_ERR_MEMORY, "", "out of memory");
    } else if (!mf_hash_equal(&expected, &artifact->iface)) {
        char text[MF_HASH_TEXT_BYTES];
        char found[MF_HASH_TEXT_BYTES];
        mf_hash_format(&expected, text);
        mf_hash_format(&artifact->iface, found);
        (void)mf_json_fail(&reader->json, KILN_ERR_HASH, "iface",
                           "expected %s, the hash of the interface, found %s", text, found);
    }
}

static void read_artifact(struct reader *reader, const struct mf_json *object,
                          struct mf_artifact *out) {
    static const char *const keys[] = {
        "name", "family", "kernel",  "dtypes", "shape",     "schedule", "tier",     "file",
        "size", "recipe", "content", "iface",  "axes",      "requires", "bindings", "push",
        "spec", "dims",   "limits",  "grid",   "reference", "tolerance"};
    out->name = read_text(reader, object, "name", TEXT_NAME);
    size_t where = mf_json_enter(&reader->json, "artifact %s: ", out->name);
    mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
    out->family = read_text(reader, object, "family", TEXT_PART);
    out->kernel = read_text(reader, object, "kernel", TEXT_IDENTIFIER);
    out->dtypes = read_texts(reader, object, "dtypes", TEXT_PART, false, &out->dtype_count);
    if (out->dtype_count == 0) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "dtypes", "expected at least one");
    }
    out->shape = read_text(reader, object, "shape", TEXT_PART);
    out->schedule = read_text(reader, object, "schedule", TEXT_PART);
    out->tier = read_text(reader, object, "tier", TEXT_PART);
    out->file = read_file_name(reader, object);
    out->size_bytes =
        mf_json_get_u64(&reader->json, object, "size", ARTIFACT_MIN_BYTES, ARTIFACT_MAX_BYTES);
    if (out->size_bytes % 4 != 0) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, "size",
                           "expected a multiple of 4, found %llu",
                           (unsigned long long)out->size_bytes);
    }
    out->recipe = read_hash(reader, object, "recipe");
    out->content = read_hash(reader, object, "content");
    out->iface = read_hash(reader, object, "iface");
    read_axes(reader, object, out);
    read_requires(reader, object, &out->requires_);
    read_bindings(reader, object, out);
    read_push(reader, object, out);
    read_spec(reader, object, out);
    out->dims = read_texts(reader, object, "dims", TEXT_IDENTIFIER, false, &out->dim_count);
    read_limits(reader, object, out);
    read_grid(reader, object, out);
    out->reference = read_text(reader, object, "reference", TEXT_OPTIONAL);
    read_tolerance(reader, object, &out->tolerance);
    check_interface_hash(reader, out);
    mf_json_leave(&reader->json, where);
}

static void read_toolchain(struct reader *reader, const struct mf_json *root,
                           struct mf_toolchain *out) {
    static const char *const keys[] = {"glslang", "spirv_tools", "spirv_cross", "pipeline",
                                       "signature"};
    struct mf_json *object = mf_json_get_object(&reader->json, root, "toolchain");
    size_t where = mf_json_enter(&reader->json, "toolchain.");
    mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
    out->glslang = read_text(reader, object, "glslang", TEXT_NOT_EMPTY);
    out->spirv_tools = read_text(reader, object, "spirv_tools", TEXT_NOT_EMPTY);
    out->spirv_cross = read_text(reader, object, "spirv_cross", TEXT_NOT_EMPTY);
    out->pipeline = read_text(reader, object, "pipeline", TEXT_NOT_EMPTY);
    out->signature = read_text(reader, object, "signature", TEXT_NOT_EMPTY);
    mf_json_leave(&reader->json, where);
}

/* Fails unless `name` comes behind `previous` (NULL for the first). */
static void check_order(struct reader *reader, const char *list, const char *previous,
                        const char *name) {
    if (reader->json.failed != KILN_OK || !previous) {
        return;
    }
    int order = strcmp(previous, name);
    if (order == 0) {
        (void)mf_json_fail(&reader->json, KILN_ERR_DUPLICATE, list, "\"%s\" occurs twice", name);
    } else if (order > 0) {
        (void)mf_json_fail(&reader->json, KILN_ERR_FORMAT, list,
                           "expected names in ascending order, found \"%s\" behind \"%s\"", name,
                           previous);
    }
}

static void read_artifacts(struct reader *reader, const struct mf_json *root,
                           struct mf_manifest *out) {
    struct mf_json *array = mf_json_get_array(&reader->json, root, "artifacts");
    size_t count = mf_json_count(array);
    out->artifacts = allocate(reader, count, sizeof *out->artifacts);
    for (size_t i = 0; i < count && reader->json.failed == KILN_OK; i++) {
        struct mf_json *object = mf_json_item_object(&reader->json, array, "artifacts", i);
        size_t where = mf_json_enter(&reader->json, "artifacts[%zu]: ", i);
        const char *name = mf_json_get_string(&reader->json, object, "name");
        check_text(reader, TEXT_NAME, "name", name);
        mf_json_leave(&reader->json, where);
        read_artifact(reader, object, &out->artifacts[i]);
        check_order(reader, "artifacts", i > 0 ? out->artifacts[i - 1].name : NULL,
                    out->artifacts[i].name);
    }
    out->artifact_count = count;
}

static void read_excluded(struct reader *reader, const struct mf_json *root,
                          struct mf_manifest *out) {
    static const char *const keys[] = {"name", "reason"};
    struct mf_json *array = mf_json_get_array(&reader->json, root, "excluded");
    size_t count = mf_json_count(array);
    out->excluded = allocate(reader, count, sizeof *out->excluded);
    for (size_t i = 0; i < count && reader->json.failed == KILN_OK; i++) {
        struct mf_json *object = mf_json_item_object(&reader->json, array, "excluded", i);
        size_t where = mf_json_enter(&reader->json, "excluded[%zu].", i);
        mf_json_only_keys(&reader->json, object, keys, COUNT_OF(keys));
        out->excluded[i].name = read_text(reader, object, "name", TEXT_NAME);
        out->excluded[i].reason = read_text(reader, object, "reason", TEXT_NOT_EMPTY);
        mf_json_leave(&reader->json, where);
        check_order(reader, "excluded", i > 0 ? out->excluded[i - 1].name : NULL,
                    out->excluded[i].name);
        if (reader->json.failed == KILN_OK && mf_manifest_find(out, out->excluded[i].name)) {
            (void)mf_json_fail(&reader->json, KILN_ERR_DUPLICATE, "excluded",
                               "\"%s\" is an artifact too", out->excluded[i].name);
        }
    }
    out->exclusion_count = count;
}

struct folded_file {
    const char *folded; /* lower case */
    const struct mf_artifact *artifact;
};

static int compare_folded(const void *a, const void *b) {
    return strcmp(((const struct folded_file *)a)->folded, ((const struct folded_file *)b)->folded);
}

/* Two files that differ in letter case only are one file on some systems. */
static void check_file_twins(struct reader *reader, const struct mf_manifest *manifest) {
    struct folded_file *files = allocate(reader, manifest->artifact_count, sizeof *files);
    for (size_t i = 0; i < manifest->artifact_count && reader->json.failed == KILN_OK; i++) {
        char *folded = mf_arena_string(reader->arena, manifest->artifacts[i].file);
        if (!folded) {
            (void)mf_json_fail(&reader->json, KILN_ERR_MEMORY, "", "out of memory");
            return;
        }
        for (char *c = folded; *c; c++) {
            if (*c >= 'A' && *c <= 'Z') {
                *c = (char)(*c - 'A' + 'a');
            }
        }
        files[i] = (struct folded_file){folded, &manifest->artifacts[i]};
    }
    if (reader->json.failed != KILN_OK || manifest->artifact_count < 2) {
        return;
    }
    qsort(files, manifest->artifact_count, sizeof *files, compare_folded);
    for (size_t i = 1; i < manifest->artifact_count && reader->json.failed == KILN_OK; i++) {
        if (strcmp(files[i - 1].folded, files[i].folded) == 0) {
            (void)mf_json_fail(&reader->json, KILN_ERR_DUPLICATE, "artifacts",
                               "%s and %s have files equal up to letter case: \"%s\" and \"%s\"",
                               files[i - 1].artifact->name, files[i].artifact->name,
                               files[i - 1].artifact->file, files[i].artifact->file);
        }
    }
}

/* The two version numbers, before anything else: a newer format may look different throughout. */
static void read_versions(struct reader *reader, const struct mf_json *root,
                          struct mf_manifest *out) {
    out->format = read_u32(reader, root, "format", 1, UINT32_MAX);
    if (out->format > MF_MANIFEST_FORMAT) {
        (void)mf_json_fail(&reader->json, KILN_ERR_VERSION, "format",
                           "expected at most %d, found %u: made by a newer version",
                           MF_MANIFEST_FORMAT, out->format);
    }
    out->abi = read_u32(reader, root, "abi", 1, UINT32_MAX);
    if (out->abi > MF_MANIFEST_ABI) {
        (void)mf_json_fail(&reader->json, KILN_ERR_VERSION, "abi",
                           "expected at most %d, found %u: made by a newer version",
                           MF_MANIFEST_ABI, out->abi);
    }
}

enum kiln_result mf_manifest_parse(const char *json, size_t size_bytes, const char *label,
                                   struct mf_manifest *out, struct kiln_error *error) {
    static const char *const keys[] = {"format", "abi", "toolchain", "artifacts", "excluded"};
    *out = (struct mf_manifest){0};
    struct mf_json *root = NULL;
    enum kiln_result result = mf_json_parse(json, size_bytes, label, &root, error);
    if (result != KILN_OK) {
        return result;
    }
    struct reader reader = {.arena = &out->arena};
    mf_json_reader_init(&reader.json, label, error);
    if (mf_json_type(root) != MF_JSON_OBJECT) {
        (void)mf_json_fail(&reader.json, KILN_ERR_FORMAT, "", "expected an object");
    }
    read_versions(&reader, root, out);
    mf_json_only_keys(&reader.json, root, keys, COUNT_OF(keys));
    read_toolchain(&reader, root, &out->toolchain);
    read_artifacts(&reader, root, out);
    read_excluded(&reader, root, out);
    check_file_twins(&reader, out);
    mf_json_release(&root);
    if (reader.json.failed != KILN_OK) {
        mf_manifest_release(out);
    }
    return reader.json.failed;
}

enum kiln_result mf_artifact_parse(const char *json, size_t size_bytes, const char *label,
                                   struct mf_arena *arena, struct mf_artifact *out,
                                   struct kiln_error *error) {
    *out = (struct mf_artifact){0};
    struct mf_json *root = NULL;
    enum kiln_result result = mf_json_parse(json, size_bytes, label, &root, error);
    if (result != KILN_OK) {
        return result;
    }
    struct reader reader = {.arena = arena};
    mf_json_reader_init(&reader.json, label, error);
    if (mf_json_type(root) != MF_JSON_OBJECT) {
        (void)mf_json_fail(&reader.json, KILN_ERR_FORMAT, "", "expected an object");
    }
    read_artifact(&reader, root, out);
    mf_json_release(&root);
    if (reader.json.failed != KILN_OK) {
        *out = (struct mf_artifact){0};
    }
    return reader.json.failed;
}
