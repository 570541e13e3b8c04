/* SPDX-License-Identifier: MIT */
/*
 * mf_manifest: what a bundle holds, in memory and as spv/manifest.json.
 *
 * FORMAT.md specifies the JSON field by field, manifest/manifest.schema.json is its JSON Schema.
 * The writer is canonical: objects have sorted keys, artifacts and exclusions are sorted by name
 * bytewise, two-space indentation, one final newline, no times, no absolute paths. Equal manifests
 * give equal bytes.
 *
 * The reader trusts nothing: duplicate keys, unknown keys, missing fields, wrong types, unsafe
 * paths (mf_path_check), paths equal up to letter case, names that do not match mf_name_check_part,
 * numbers out of range and unsorted or repeated names are errors that name the artifact and the
 * field (KILN_ERR_FORMAT, _PATH, _DUPLICATE). An `iface` that is not the hash of the artifact's
 * interface is KILN_ERR_HASH, so an altered binding or requirement is found. A `format` above
 * MF_MANIFEST_FORMAT or an `abi` above MF_MANIFEST_ABI is KILN_ERR_VERSION.
 *
 * Ownership: everything hangs off `arena` of the manifest that holds it and is released with it;
 * pointers inside are never NULL unless the field says so. Thread safety: a manifest may be read by
 * any number of threads while none writes it.
 */
#ifndef MF_MANIFEST_H
#define MF_MANIFEST_H

#include "mf_buffer.h"
#include "mf_dtype.h"
#include "mf_hash.h"

#include <stdbool.h>
#include <stdint.h>

#define MF_MANIFEST_FORMAT 1 /* structure of the JSON */
#define MF_MANIFEST_ABI 1    /* meaning of bindings, push constants and grids */

/* How a kernel touches a binding. JSON: "read", "write", "read_write". */
enum mf_access { MF_ACCESS_READ, MF_ACCESS_WRITE, MF_ACCESS_READ_WRITE };

/* Scalar types of buffers, push and specialisation constants. JSON: "u32", "f32", ... */
enum mf_scalar {
    MF_SCALAR_U8,
    MF_SCALAR_I8,
    MF_SCALAR_U16,
    MF_SCALAR_I16,
    MF_SCALAR_U32,
    MF_SCALAR_I32,
    MF_SCALAR_U64,
    MF_SCALAR_I64,
    MF_SCALAR_F16,
    MF_SCALAR_F32,
    MF_SCALAR_F64,
    MF_SCALAR_BOOL,
    MF_SCALAR_STRUCT /* a buffer whose element is not a scalar or vector */
};
const char *mf_access_string(enum mf_access access);
const char *mf_scalar_string(enum mf_scalar scalar);
uint32_t mf_scalar_bytes(enum mf_scalar scalar); /* 0 for MF_SCALAR_STRUCT; bool is 4 */

/* One storage buffer: `element buffer[]` with `stride_bytes` between elements. */
struct mf_binding {
    uint32_t set;
    uint32_t binding;
    const char *name; /* e.g. "weights" */
    enum mf_access access;
    enum mf_scalar element;
    uint32_t stride_bytes; /* a vec4 of f32 has element f32 and stride 16 */
};

struct mf_push {
    const char *name; /* e.g. "nout" */
    uint32_t offset_bytes;
    uint32_t size_bytes;
    enum mf_scalar type;
};

struct mf_spec_constant {
    uint32_t constant_id;
    const char *name; /* "" when the module has none */
    enum mf_scalar type;
    uint64_t default_bits; /* the default's bits, zero-extended */
};

/* ceil(dim / tile): one factor of a group count. */
struct mf_grid_factor {
    const char *dim; /* a dimension of the problem, e.g. "nout" */
    uint32_t tile;   /* at least 1 */
};

/*
 * Groups of one axis = product of its factors, 1 when there are none. `fold`: the kernel numbers
 * its groups as x + X * (y + Y * z) with X, Y the dispatched counts and ignores numbers beyond the
 * count of axis x, so a count above the device's limit may be folded into y and z (then axes y and
 * z have no factors of their own).
 */
struct mf_grid_axis {
    const struct mf_grid_factor *factors;
    size_t factor_count;
};
struct mf_grid {
    struct mf_grid_axis axes[3];
    bool fold;
};

/* What values of a dimension a kernel is right for: multiples of `multiple`, at most `max`. */
struct mf_dim_limit {
    const char *dim;
    uint32_t max;      /* at least 1; UINT32_MAX when only the 32 bits of push constants limit it */
    uint32_t multiple; /* at least 1 */
};

/* What a device must offer. Features are Vulkan feature-struct field names ("shaderFloat16"). */
struct mf_requires {
    uint32_t vulkan_major, vulkan_minor;    /* lowest API version */
    uint32_t spirv_major, spirv_minor;      /* version word of the module */
    uint32_t local_size[3];                 /* after defaults of specialisation constants */
    uint32_t workgroup_bytes;               /* Workgroup storage class, after those defaults */
    uint32_t push_bytes;                    /* end of the last push constant, 0 without any */
    uint32_t subgroup_size;                 /* pinned size, 0 when any size is right */
    const char *const *subgroup_operations; /* "basic", "arithmetic", ... sorted */
    size_t subgroup_operation_count;
    const char *const *features; /* sorted */
    size_t feature_count;
    const char *const *extensions; /* device extensions, sorted */
    size_t extension_count;
    const char *const *capabilities; /* SPIR-V capabilities, sorted */
    size_t capability_count;
};

/* One axis value of the variant, as the YAML gave it; kept as text. */
struct mf_axis {
    const char *name;
    const char *value;
};

/* A gate on a metric: the run passes when metric < bound. JSON: {"max_abs": 0.001, "rel": 0.001}.
 * A value below 0 means that the metric is not gated; `exact` asks for equal bits. */
struct mf_tolerance {
    bool exact;
    double max_abs;
    double rel;
    double scale;
    uint32_t ulp_f16; /* outputs of type f16 may differ by so many units; 0: not gated */
};

struct mf_artifact {
    const char *name;
    const char *family;
    const char *kernel; /* name of the YAML's kernel; one family may have several */
    const char *const *dtypes;
    size_t dtype_count;
    const char *shape;
    const char *schedule;
    const char *tier;
    const char *file; /* relative to the manifest */
    uint64_t size_bytes;
    struct mf_hash recipe, content, iface;
    const struct mf_axis *axes; /* sorted by name */
    size_t axis_count;
    struct mf_requires requires_;
    const struct mf_binding *bindings; /* sorted by set, binding */
    size_t binding_count;
    const struct mf_push *push; /* sorted by offset */
    size_t push_count;
    const struct mf_spec_constant *spec; /* sorted by constant id */
    size_t spec_count;
    const char *const *dims; /* names of the problem's dimensions, in the YAML's order */
    size_t dim_count;
    const struct mf_dim_limit *limits; /* in the order of dims; at most one of each */
    size_t limit_count;
    struct mf_grid grid;
    const char *reference; /* name of the CPU reference */
    struct mf_tolerance tolerance;
};

struct mf_exclusion {
    const char *name;
    const char *reason;
};

struct mf_toolchain {
    const char *glslang;     /* "15.1.0" */
    const char *spirv_tools; /* "v2025.1" */
    const char *spirv_cross; /* "0.64.0" */
    const char *pipeline;    /* version of genshaders' own steps */
    const char *signature;   /* one line made of the above; part of every recipe hash */
};

struct mf_manifest {
    struct mf_arena arena;
    uint32_t format;
    uint32_t abi;
    struct mf_toolchain toolchain;
    struct mf_artifact *artifacts; /* sorted by name */
    size_t artifact_count;
    struct mf_exclusion *excluded; /* sorted by name */
    size_t exclusion_count;
};

void mf_manifest_release(struct mf_manifest *manifest);

/* The file name of an artifact, `<name>.<first 8 hex digits of content>.spv`, in `arena`; NULL when
 * memory is out. */
char *mf_artifact_file_name(struct mf_arena *arena, const char *name,
                            const struct mf_hash *content);

/* NULL when there is no artifact of that name. Binary search: the manifest must be sorted. */
const struct mf_artifact *mf_manifest_find(const struct mf_manifest *manifest, const char *name);

/*
 * Parses `size_bytes` of JSON (not necessarily 0-terminated). `label` stands for the file in
 * messages. On failure *out is all zero.
 */
enum kiln_result mf_manifest_parse(const char *json, size_t size_bytes, const char *label,
                                   struct mf_manifest *out, struct kiln_error *error);

/*
 * Appends the canonical JSON. Sorts nothing: KILN_ERR_ARGUMENT when names are not sorted or repeat
 * or when a tolerance is not finite; KILN_ERR_FORMAT when a text is not UTF-8. Writing checks no
 * more than that: parse the result back to know that readers will accept it.
 */
enum kiln_result mf_manifest_write(const struct mf_manifest *manifest, struct mf_buffer *out,
                                   struct kiln_error *error);

/*
 * One artifact alone as canonical JSON of one line (without a newline), and back; used by the
 * generator's cache. The parsed artifact lives in `arena`. On failure *out is all zero.
 */
enum kiln_result mf_artifact_write(const struct mf_artifact *artifact, struct mf_buffer *out,
                                   struct kiln_error *error);
enum kiln_result mf_artifact_parse(const char *json, size_t size_bytes, const char *label,
                                   struct mf_arena *arena, struct mf_artifact *out,
                                   struct kiln_error *error);

/*
 * The interface hash: over bindings, push constants, specialisation constants, dims, limits, grid
 * and the requirements, in the field order of FORMAT.md. Names count (they are how callers fill
 * values); hashes, sizes, axes, tolerance and the artifact's own name do not.
 */
enum kiln_result mf_artifact_interface_hash(const struct mf_artifact *artifact,
                                            struct mf_hash *out);

/*
 * Group counts for a problem, gl_NumWorkGroups. Folding takes the fewest z, for that the fewest y,
 * for both the fewest x that reach the count: fewer than y * z groups are surplus. Kernels number
 * folded groups in 32 bits: more than 2^32 are KILN_ERR_LIMIT, so split the problem.
 * KILN_ERR_ARGUMENT for a tile or limit of 0 and for a folded grid with factors on y or z.
 * dims: `dim_count` names and values. All arithmetic is in 64 bits.
 * limit[3]: the device's maxComputeWorkGroupCount. A zero-sized problem gives three zeros. A count
 * beyond the limit is folded where grid.fold allows, otherwise KILN_ERR_LIMIT.
 * KILN_ERR_NOT_FOUND when a factor's dim is not among dims.
 */
struct mf_dim {
    const char *name;
    uint64_t value;
};
enum kiln_result mf_grid_groups(const struct mf_grid *grid, const struct mf_dim *dims,
                                size_t dim_count, const uint32_t limit[3], uint32_t groups[3],
                                struct kiln_error *error);

/*
 * Whether the artifact is right for these dimensions: KILN_ERR_LIMIT names the artifact, the first
 * dimension that breaks its limit, the value and the limit. Limits of dimensions that are not given
 * hold.
 */
enum kiln_result mf_artifact_check_dims(const struct mf_artifact *artifact,
                                        const struct mf_dim *dims, size_t dim_count,
                                        struct kiln_error *error);

#endif /* MF_MANIFEST_H */
