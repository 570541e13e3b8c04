/* SPDX-License-Identifier: MIT */
#include "kiln/kiln_bundle.h"

#include <stdlib.h>
#include <string.h>

/* SPIR-V specification, sections 2.3 (physical layout), 2.17 (limits), 3.3 and 3.32. */
#define KL_SPIRV_MAGIC 0x07230203u
#define KL_SPIRV_HEADER_WORDS 5u
#define KL_SPIRV_BOUND_LIMIT 4194303u
#define KL_SPIRV_OP_ENTRY_POINT 15u
#define KL_SPIRV_MODEL_GLCOMPUTE 5u

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "bundles hold little-endian words and the loader hands them on as they are");

void kiln_module_release(struct kiln_module *module) {
    free(module->words);
    *module = (struct kiln_module){0};
}

static enum kiln_result kl_module_check_header(const uint32_t *words, size_t word_count,
                                               const char *label, struct kiln_error *error) {
    if (word_count < KL_SPIRV_HEADER_WORDS) {
        return kiln_error_set(error, KILN_ERR_SPIRV, "%s: %zu words, a SPIR-V header has %u", label,
                              word_count, KL_SPIRV_HEADER_WORDS);
    }
    if (words[0] != KL_SPIRV_MAGIC) {
        return kiln_error_set(error, KILN_ERR_SPIRV,
                              "%s: word 0 is 0x%08x, expected the SPIR-V magic number 0x%08x%s",
                              label, words[0], KL_SPIRV_MAGIC,
                              words[0] == 0x03022307u ? " (the module is byte-swapped)" : "");
    }
    if ((words[1] & 0xff0000ffu) != 0 || words[1] >> 16 != 1 || ((words[1] >> 8) & 0xff) > 6) {
        return kiln_error_set(error, KILN_ERR_SPIRV,
                              "%s: word 1 is 0x%08x, expected a version from 1.0 to 1.6", label,
                              words[1]);
    }
    if (words[3] == 0 || words[3] > KL_SPIRV_BOUND_LIMIT) {
        return kiln_error_set(error, KILN_ERR_SPIRV,
                              "%s: word 3, the bound of ids, is %u, expected 1 to %u", label,
                              words[3], KL_SPIRV_BOUND_LIMIT);
    }
    if (words[4] != 0) {
        return kiln_error_set(error, KILN_ERR_SPIRV, "%s: word 4, the schema, is %u, expected 0",
                              label, words[4]);
    }
    return KILN_OK;
}

/* OpEntryPoint: word 1 the execution model, 2 the function, from 3 on the name. */
static enum kiln_result kl_module_check_entry(const uint32_t *instruction, size_t length, size_t at,
                                              const char *label, struct kiln_error *error) {
    if (length < 4 || !memchr(&instruction[3], '\0', (length - 3) * sizeof(uint32_t))) {
        return kiln_error_set(error, KILN_ERR_SPIRV,
                              "%s: word %zu: the entry point's name has no end", label, at);
    }
    if (instruction[1] != KL_SPIRV_MODEL_GLCOMPUTE) {
        return kiln_error_set(error, KILN_ERR_SPIRV,
                              "%s: word %zu: entry point of execution model %u, expected %u "
                              "(GLCompute)",
                              label, at, instruction[1], KL_SPIRV_MODEL_GLCOMPUTE);
    }
    if (strcmp((const char *)&instruction[3], "main") != 0) {
        return kiln_error_set(error, KILN_ERR_SPIRV,
                              "%s: word %zu: entry point \"%.64s\", expected \"main\"", label, at,
                              (const char *)&instruction[3]);
    }
    return KILN_OK;
}

enum kiln_result kiln_module_check(const uint32_t *words, size_t word_count, const char *label,
                                   struct kiln_error *error) {
    enum kiln_result result = kl_module_check_header(words, word_count, label, error);
    size_t entry_count = 0;
    for (size_t at = KL_SPIRV_HEADER_WORDS; !result && at < word_count;) {
        size_t length = words[at] >> 16;
        if (length == 0 || length > word_count - at) {
            return kiln_error_set(error, KILN_ERR_SPIRV,
                                  "%s: word %zu: an instruction of %zu words where %zu are left",
                                  label, at, length, word_count - at);
        }
        if ((words[at] & 0xffff) == KL_SPIRV_OP_ENTRY_POINT) {
            entry_count++;
            result = kl_module_check_entry(&words[at], length, at, label, error);
        }
        at += length;
    }
    if (!result && entry_count != 1) {
        result = kiln_error_set(error, KILN_ERR_SPIRV, "%s: %zu entry points, expected one", label,
                                entry_count);
    }
    return result;
}
