/* SPDX-License-Identifier: MIT */
#include "spirv_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void spirv_make_words(struct spirv_make *make, const uint32_t *words, size_t word_count) {
    if (make->capacity - make->word_count < word_count) {
        make->capacity = (make->capacity + word_count) * 2;
        make->words = realloc(make->words, make->capacity * sizeof *make->words);
        assert_non_null(make->words);
    }
    if (word_count != 0)
        memcpy(make->words + make->word_count, words, word_count * sizeof *words);
    make->word_count += word_count;
}

void spirv_make_begin(struct spirv_make *make, uint32_t version, uint32_t bound) {
    *make = (struct spirv_make){0};
    const uint32_t header[] = {0x07230203, version, 0x00540001, bound, 0};
    spirv_make_words(make, header, 5);
}

void spirv_make_release(struct spirv_make *make) {
    free(make->words);
    *make = (struct spirv_make){0};
}

void spirv_make_op(struct spirv_make *make, uint16_t opcode, const uint32_t *operands,
                   size_t operand_count) {
    uint32_t first = (uint32_t)(operand_count + 1) << 16 | opcode;
    spirv_make_words(make, &first, 1);
    spirv_make_words(make, operands, operand_count);
}

void spirv_make_text(struct spirv_make *make, uint16_t opcode, const uint32_t *before,
                     size_t before_count, const char *text, const uint32_t *after,
                     size_t after_count) {
    size_t length = strlen(text);
    size_t text_words = length / 4 + 1;
    uint32_t first = (uint32_t)(1 + before_count + text_words + after_count) << 16 | opcode;
    spirv_make_words(make, &first, 1);
    spirv_make_words(make, before, before_count);
    for (size_t i = 0; i < text_words; i++) {
        uint32_t word = 0;
        for (size_t j = 0; j < 4 && i * 4 + j < length; j++)
            word |= (uint32_t)(unsigned char)text[i * 4 + j] << (8 * j);
        spirv_make_words(make, &word, 1);
    }
    spirv_make_words(make, after, after_count);
}

void spirv_make_shape(struct spirv_make *make, const struct spirv_shape *shape) {
    uint32_t *interface = calloc(shape->interface_count + 1, sizeof *interface);
    assert_non_null(interface);
    for (size_t i = 0; i < shape->interface_count; i++)
        interface[i] = 9;
    spirv_make_begin(make, 0x00010400, 64);
    SPIRV_OP(make, 17, 1);    /* OpCapability Shader */
    SPIRV_OP(make, 14, 0, 1); /* OpMemoryModel Logical GLSL450 */
    spirv_make_text(make, 15, (const uint32_t[]){5, 1}, 2, shape->entry, interface,
                    shape->interface_count);
    SPIRV_OP(make, 16, 1, 17, 8, 4, 2); /* OpExecutionMode %1 LocalSize 8 4 2 */
    if (shape->entry_name != NULL)
        SPIRV_NAME(make, 1, shape->entry_name);
    if (shape->other_name != NULL)
        SPIRV_NAME(make, 2, shape->other_name);
    if (shape->variable_name != NULL)
        SPIRV_NAME(make, 9, shape->variable_name);
    SPIRV_OP(make, 19, 3);        /* %3 = OpTypeVoid */
    SPIRV_OP(make, 33, 4, 3);     /* %4 = OpTypeFunction %3 */
    SPIRV_OP(make, 21, 7, 32, 0); /* %7 = OpTypeInt 32 0 */
    SPIRV_OP(make, 32, 8, 6, 7);  /* %8 = OpTypePointer Private %7 */
    SPIRV_OP(make, 59, 8, 9, 6);  /* %9 = OpVariable %8 Private */
    for (uint32_t id = 2; id >= 1; id--) {
        SPIRV_OP(make, 54, 3, id, 0, 4); /* %id = OpFunction %3 None %4 */
        SPIRV_OP(make, 248, id + 4);     /* OpLabel */
        SPIRV_OP0(make, 253);            /* OpReturn */
        SPIRV_OP0(make, 56);             /* OpFunctionEnd */
    }
    free(interface);
}

void *spirv_file_read(const char *path, size_t *size_bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: cannot be read", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    void *bytes = malloc((size_t)size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
    fclose(file);
    *size_bytes = (size_t)size;
    return bytes;
}
