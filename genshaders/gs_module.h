/* SPDX-License-Identifier: MIT */
/*
 * gs_module: SPIR-V modules as data: the strict gate, the walk over instructions, entry-point
 * normalisation, stripping, splitting and what a module requires. No foreign library is involved;
 * numbers are those of the SPIR-V specification (unified1/spirv.h from spirv-headers).
 *
 * Words are in host order. Thread safety: a module is a value of one thread; const access may be
 * shared.
 */
#ifndef GS_MODULE_H
#define GS_MODULE_H

#include "mf_manifest.h"

#include <stdbool.h>
#include <stdint.h>

/* An owned module. All zero is the empty module. */
struct gs_module {
    uint32_t *words;
    size_t word_count;
};
void gs_module_release(struct gs_module *module);

struct gs_gate_options {
    uint32_t max_version; /* version word, e.g. 0x00010300 for SPIR-V 1.3; 0: 0x00010600 */
    bool swap;            /* accept a module of the other byte order and swap it */
};

/*
 * The gate: copies `size_bytes` bytes (any alignment) into *out after checking all that design
 * section 4 asks: size a multiple of 4 and at least a header, magic, version, schema 0, bound
 * 1..4194303, every instruction's word count positive and inside the module, every string literal
 * (OpEntryPoint, OpName, OpMemberName, OpString, OpExtension, OpExtInstImport, OpSource…)
 * 0-terminated inside its instruction, result ids below the bound, no trailing words; instructions
 * in the logical layout order as far as entry points and functions are concerned (no OpEntryPoint
 * inside a function). LocalSize in all three encodings: product computed in 64 bits, not 0.
 * KILN_ERR_FORMAT with the word index and what was expected; *out empty on failure.
 */
enum kiln_result gs_module_read(const void *bytes, size_t size_bytes,
                                const struct gs_gate_options *options, struct gs_module *out,
                                struct kiln_error *error);

/* Walk: *position starts as 0 (means the first instruction) and advances. False at the end. */
struct gs_instruction {
    uint16_t opcode;
    uint16_t word_count;
    const uint32_t *words; /* words[0] is the opcode word; inside the module */
    size_t index;          /* word index in the module */
};
bool gs_module_next(const struct gs_module *module, size_t *position,
                    struct gs_instruction *instruction);

struct gs_entry_point {
    uint32_t execution_model; /* SpvExecutionModel; GLCompute is 5 */
    uint32_t function_id;
    const char *name; /* inside the module */
};
/* Fills at most `capacity` entries and returns how many entry points there are. */
size_t gs_module_entry_points(const struct gs_module *module, struct gs_entry_point *entries,
                              size_t capacity);

/*
 * Rewrites the module so that its single GLCompute entry point is named `main`: new word count,
 * interface ids kept, the entry function's OpName (if any) becomes `main`, any other OpName "main"
 * becomes "main_<id>" (and stays unique), generator word untouched. Idempotent: a normalised module
 * comes back bit-equal. KILN_ERR_FORMAT for no entry point, several, one of another model, or a
 * name that would not fit. On failure the module is unchanged.
 */
enum kiln_result gs_module_normalise(struct gs_module *module, struct kiln_error *error);

/*
 * Makes a module with only entry point number `index` (in module order): the other OpEntryPoint
 * instructions and their OpExecutionMode go; dead functions stay for the optimiser to drop.
 */
enum kiln_result gs_module_split(const struct gs_module *module, size_t index,
                                 struct gs_module *out, struct kiln_error *error);

/*
 * Removes OpName, OpMemberName, OpSource*, OpString, OpLine, OpNoLine, OpModuleProcessed, and the
 * non-semantic and debug-info instructions that refer to the strings removed.
 */
enum kiln_result gs_module_strip(struct gs_module *module, struct kiln_error *error);

/*
 * A copy fit for SPIRV-Cross 2025-01, which does not parse OpTypeCooperativeMatrixKHR and newer
 * types: function bodies are replaced by an empty block with a return, types the library does not
 * know and everything that refers to them are dropped, functions other than the entry point go
 * whole. KILN_ERR_UNSUPPORTED when an interface variable would be lost. Bindings, push and
 * specialisation constants, names, decorations, entry point, execution modes and capabilities stay.
 */
enum kiln_result gs_module_skeleton(const struct gs_module *module, struct gs_module *out,
                                    struct kiln_error *error);

/*
 * Fills out->{vulkan,spirv,local_size,workgroup_bytes,subgroup_operations,features,extensions,
 * capabilities} from the module (arrays in `arena`, sorted, unique): capability → Vulkan feature
 * and lowest Vulkan version or device extension by one table; OpExtension → device extension where
 * the version does not have it in core. Workgroup bytes after specialisation-constant defaults,
 * with the explicit rule of FORMAT.md (scalar layout, 4-byte bools, arrays and structs summed in 64
 * bits). push_bytes and subgroup_size are left alone. KILN_ERR_UNSUPPORTED for a capability the
 * table does not know: an artifact must never claim to need less than it does.
 */
enum kiln_result gs_module_requirements(const struct gs_module *module, struct mf_arena *arena,
                                        struct mf_requires *out, struct kiln_error *error);

/* Stores the words as little-endian bytes. */
enum kiln_result gs_module_bytes(const struct gs_module *module, struct mf_buffer *out);

#endif /* GS_MODULE_H */
