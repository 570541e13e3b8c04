/* SPDX-License-Identifier: MIT */
#include "gs_module_fold.h"

#include <spirv/unified1/spirv.h>

/* An operand or result: a bool has width 1, and is never signed. */
struct scalar {
    uint32_t width_bits;
    uint64_t bits; /* zero-extended */
};

static uint64_t mask_of(uint32_t width_bits) {
    return width_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << width_bits) - 1;
}

static int64_t as_signed(struct scalar s) {
    uint64_t sign = UINT64_C(1) << (s.width_bits - 1);
    return (int64_t)((s.bits ^ sign) - sign);
}

/* Width of a scalar type in bits; 0 when the id is no scalar type. */
static uint32_t scalar_width(const struct gs_ids *ids, uint32_t type_id, bool floats) {
    const struct gs_definition *type = gs_ids_find(ids, type_id);
    if (type == NULL)
        return 0;
    if (type->opcode == SpvOpTypeBool)
        return 1;
    if (type->opcode != SpvOpTypeInt && !(floats && type->opcode == SpvOpTypeFloat))
        return 0;
    uint32_t width_bits = gs_ids_instruction(ids, type).words[2];
    return width_bits >= 8 && width_bits <= 64 ? width_bits : 0;
}

static bool scalar_operand(const struct gs_ids *ids, uint32_t id, struct scalar *out) {
    const struct gs_definition *definition = gs_ids_find(ids, id);
    if (definition == NULL || !gs_ids_constant(ids, id, &out->bits))
        return false;
    out->width_bits = scalar_width(ids, gs_ids_instruction(ids, definition).words[1], false);
    return out->width_bits != 0;
}

static bool fold_divide(uint32_t opcode, struct scalar a, struct scalar b, uint64_t *out) {
    if (b.bits == 0)
        return false;
    if (opcode == SpvOpUDiv || opcode == SpvOpUMod) {
        *out = opcode == SpvOpUDiv ? a.bits / b.bits : a.bits % b.bits;
        return true;
    }
    int64_t x = as_signed(a);
    int64_t y = as_signed(b);
    if (y == -1) { /* also the one quotient that overflows */
        *out = opcode == SpvOpSDiv ? 0 - (uint64_t)x : 0;
        return opcode != SpvOpSDiv || a.bits != UINT64_C(1) << (a.width_bits - 1);
    }
    int64_t remainder = x % y;
    if (opcode == SpvOpSMod && remainder != 0 && (remainder < 0) != (y < 0))
        remainder += y;
    *out = (uint64_t)(opcode == SpvOpSDiv ? x / y : remainder);
    return true;
}

static bool fold_shift(uint32_t opcode, struct scalar a, struct scalar b, uint64_t *out) {
    if (b.bits >= a.width_bits)
        return false;
    if (opcode == SpvOpShiftLeftLogical) {
        *out = a.bits << b.bits;
    } else {
        *out = a.bits >> b.bits;
        if (opcode == SpvOpShiftRightArithmetic && as_signed(a) < 0)
            *out |= ~(mask_of(a.width_bits) >> b.bits);
    }
    return true;
}

static bool fold_compare(uint32_t opcode, struct scalar a, struct scalar b, uint64_t *out) {
    switch (opcode) {
    case SpvOpIEqual:
    case SpvOpLogicalEqual:
        *out = a.bits == b.bits;
        return true;
    case SpvOpINotEqual:
    case SpvOpLogicalNotEqual:
        *out = a.bits != b.bits;
        return true;
    case SpvOpUGreaterThan:
        *out = a.bits > b.bits;
        return true;
    case SpvOpUGreaterThanEqual:
        *out = a.bits >= b.bits;
        return true;
    case SpvOpULessThan:
        *out = a.bits < b.bits;
        return true;
    case SpvOpULessThanEqual:
        *out = a.bits <= b.bits;
        return true;
    case SpvOpSGreaterThan:
        *out = as_signed(a) > as_signed(b);
        return true;
    case SpvOpSGreaterThanEqual:
        *out = as_signed(a) >= as_signed(b);
        return true;
    case SpvOpSLessThan:
        *out = as_signed(a) < as_signed(b);
        return true;
    case SpvOpSLessThanEqual:
        *out = as_signed(a) <= as_signed(b);
        return true;
    default:
        return false;
    }
}

static bool fold_binary(uint32_t opcode, struct scalar a, struct scalar b, uint64_t *out) {
    switch (opcode) {
    case SpvOpIAdd:
        *out = a.bits + b.bits;
        return true;
    case SpvOpISub:
        *out = a.bits - b.bits;
        return true;
    case SpvOpIMul:
        *out = a.bits * b.bits;
        return true;
    case SpvOpUDiv:
    case SpvOpSDiv:
    case SpvOpUMod:
    case SpvOpSRem:
    case SpvOpSMod:
        return a.width_bits == b.width_bits && fold_divide(opcode, a, b, out);
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        return fold_shift(opcode, a, b, out);
    case SpvOpBitwiseOr:
    case SpvOpLogicalOr:
        *out = a.bits | b.bits;
        return true;
    case SpvOpBitwiseAnd:
    case SpvOpLogicalAnd:
        *out = a.bits & b.bits;
        return true;
    case SpvOpBitwiseXor:
        *out = a.bits ^ b.bits;
        return true;
    default:
        return fold_compare(opcode, a, b, out);
    }
}

static bool fold_unary(uint32_t opcode, struct scalar a, uint64_t *out) {
    switch (opcode) {
    case SpvOpUConvert:
        *out = a.bits;
        return true;
    case SpvOpSConvert:
        *out = (uint64_t)as_signed(a);
        return true;
    case SpvOpSNegate:
        *out = 0 - a.bits;
        return true;
    case SpvOpNot:
        *out = ~a.bits;
        return true;
    case SpvOpLogicalNot:
        *out = a.bits == 0;
        return true;
    default:
        return false;
    }
}

/* OpCompositeExtract with one index from a constant composite. */
static bool fold_extract(const struct gs_ids *ids, const struct gs_instruction *instruction,
                         uint64_t *out) {
    if (instruction->word_count != 6)
        return false;
    const struct gs_definition *composite = gs_ids_find(ids, instruction->words[4]);
    if (composite == NULL || (composite->opcode != SpvOpConstantComposite &&
                              composite->opcode != SpvOpSpecConstantComposite))
        return false;
    struct gs_instruction parts = gs_ids_instruction(ids, composite);
    uint32_t index = instruction->words[5];
    return index < (uint32_t)parts.word_count - 3 &&
           gs_ids_constant(ids, parts.words[3 + index], out);
}

static bool fold_operation(const struct gs_ids *ids, const struct gs_instruction *instruction,
                           uint64_t *out) {
    uint32_t opcode = instruction->words[3];
    struct scalar a;
    struct scalar b;
    if (opcode == SpvOpCompositeExtract)
        return fold_extract(ids, instruction, out);
    if (instruction->word_count == 7 && opcode == SpvOpSelect) {
        return scalar_operand(ids, instruction->words[4], &a) &&
               gs_ids_constant(ids, instruction->words[a.bits != 0 ? 5 : 6], out);
    }
    if (instruction->word_count < 5 || !scalar_operand(ids, instruction->words[4], &a))
        return false;
    if (instruction->word_count == 5)
        return fold_unary(opcode, a, out);
    return instruction->word_count == 6 && scalar_operand(ids, instruction->words[5], &b) &&
           fold_binary(opcode, a, b, out);
}

void gs_fold_define(const struct gs_ids *ids, struct gs_definition *definition) {
    struct gs_instruction instruction = gs_ids_instruction(ids, definition);
    uint32_t width_bits = scalar_width(ids, instruction.words[1], true);
    if (width_bits == 0)
        return;
    uint64_t value = 0;
    bool known = true;
    switch (definition->opcode) {
    case SpvOpConstantTrue:
    case SpvOpSpecConstantTrue:
        value = 1;
        break;
    case SpvOpConstantFalse:
    case SpvOpSpecConstantFalse:
    case SpvOpConstantNull:
        break;
    case SpvOpConstant:
    case SpvOpSpecConstant:
        value = instruction.words[3];
        if (width_bits > 32) {
            known = instruction.word_count >= 5;
            if (known)
                value |= (uint64_t)instruction.words[4] << 32;
        }
        break;
    case SpvOpSpecConstantOp:
        known = fold_operation(ids, &instruction, &value);
        break;
    default:
        return;
    }
    definition->known = known;
    definition->value = value & mask_of(width_bits);
}
