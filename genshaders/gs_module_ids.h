/* SPDX-License-Identifier: MIT */
/*
 * gs_module_ids: what the ids of a module's global section mean. Private to genshaders.
 *
 * The table holds every type, constant and variable that is declared before the first function,
 * with the value of constants (specialisation constants at their defaults, OpSpecConstantOp of
 * integer arithmetic folded) and the size and alignment of types. All is computed in one pass in
 * module order, from earlier definitions only, so that neither forward references nor deeply shared
 * types cost more than linear time.
 *
 * Ownership: gs_ids_release frees; the module must outlive the table. Immutable once made.
 */
#ifndef GS_MODULE_IDS_H
#define GS_MODULE_IDS_H

#include "gs_module.h"

struct gs_definition {
    uint32_t id;
    uint16_t opcode;
    bool known;      /* `value` holds */
    uint64_t value;  /* scalar constant: its bits, zero-extended; type: bytes in scalar layout, with
                        4-byte bools */
    size_t index;    /* word index of the defining instruction */
    uint64_t stored; /* type: bytes by its Offset and stride decorations; runtime arrays count 0 */
    /* Of types, in bytes, 0 when unknown; SPIR-V environment of Vulkan, "Offset and Stride
     * Assignment": scalar, base (std430) and extended (std140) alignment. */
    uint32_t scalar_alignment, base_alignment, extended_alignment;
    /* Of types: some offset or stride in it is no multiple of the base / extended alignment. */
    bool breaks_base, breaks_extended;
};

#define GS_NO_MEMBER UINT32_MAX

struct gs_decoration {
    uint32_t target;
    uint32_t member; /* GS_NO_MEMBER for OpDecorate */
    uint32_t kind;   /* SpvDecoration */
    uint32_t value;  /* first literal, 0 when there is none */
};

struct gs_ids {
    const struct gs_module *module;
    struct gs_definition *definitions; /* sorted by id */
    size_t definition_count;
    struct gs_decoration *decorations; /* sorted by target, member, kind */
    size_t decoration_count;
};

/* KILN_ERR_MEMORY only; *out is all zero then. The module has passed the gate's structural checks.
 */
enum kiln_result gs_ids_make(const struct gs_module *module, struct gs_ids *out,
                             struct kiln_error *error);
void gs_ids_release(struct gs_ids *ids);

/* NULL when the id is no type, constant or variable of the global section. */
const struct gs_definition *gs_ids_find(const struct gs_ids *ids, uint32_t id);

/* The defining instruction. */
struct gs_instruction gs_ids_instruction(const struct gs_ids *ids,
                                         const struct gs_definition *definition);

/* NULL when there is no such decoration. */
const struct gs_decoration *gs_ids_decoration(const struct gs_ids *ids, uint32_t target,
                                              uint32_t member, uint32_t kind);

/* Value of a scalar constant; false when the id is none or its value is not known. */
bool gs_ids_constant(const struct gs_ids *ids, uint32_t id, uint64_t *value);

/*
 * Local size of a GLCompute entry function: the constant decorated with the built-in WorkgroupSize
 * where there is one (it has precedence), else LocalSizeId, else LocalSize. KILN_ERR_FORMAT when
 * there is none, when a part is no known constant, when the product is 0 or exceeds 2^32 - 1.
 */
enum kiln_result gs_ids_local_size(const struct gs_ids *ids, uint32_t function_id, uint32_t size[3],
                                   struct kiln_error *error);

#endif /* GS_MODULE_IDS_H */
