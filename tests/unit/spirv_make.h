/* SPDX-License-Identifier: MIT */
/*
 * spirv_make: SPIR-V modules built word by word for tests, independent of the code under test: its
 * own string packing and instruction encoding, from the SPIR-V specification sections 2.2.1
 * and 2.3. Out of memory or a failed file read ends the test (assert).
 */
#ifndef SPIRV_MAKE_H
#define SPIRV_MAKE_H

#include <stddef.h>
#include <stdint.h>

struct spirv_make {
    uint32_t *words;
    size_t word_count;
    size_t capacity;
};

/* Starts a module: header with the given version word, generator 0x00540001 and bound. */
void spirv_make_begin(struct spirv_make *make, uint32_t version, uint32_t bound);
void spirv_make_release(struct spirv_make *make);

void spirv_make_words(struct spirv_make *make, const uint32_t *words, size_t word_count);
void spirv_make_op(struct spirv_make *make, uint16_t opcode, const uint32_t *operands,
                   size_t operand_count);
/* opcode, `before`, the text, `after`. */
void spirv_make_text(struct spirv_make *make, uint16_t opcode, const uint32_t *before,
                     size_t before_count, const char *text, const uint32_t *after,
                     size_t after_count);

#define SPIRV_OP(make, opcode, ...)                                                                \
    spirv_make_op(make, opcode, (const uint32_t[]){__VA_ARGS__},                                   \
                  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define SPIRV_OP0(make, opcode) spirv_make_op(make, opcode, NULL, 0)
#define SPIRV_NAME(make, id, text)                                                                 \
    spirv_make_text(make, 5, (const uint32_t[]){id}, 1, text, NULL, 0)

/*
 * A compute module with two functions: ids 1 the entry function, 2 another function, 3 void, 4
 * void(), 5 and 6 labels, 7 uint, 8 a Private pointer, 9 a Private variable; bound 64.
 */
struct spirv_shape {
    const char *entry;         /* name of OpEntryPoint */
    const char *entry_name;    /* OpName of the entry function, NULL for none */
    const char *other_name;    /* OpName of the other function, NULL for none */
    const char *variable_name; /* OpName of the variable, NULL for none */
    size_t interface_count;    /* times the variable is listed as interface (version 1.4) */
};
void spirv_make_shape(struct spirv_make *make, const struct spirv_shape *shape);

/* The whole file; the caller frees. */
void *spirv_file_read(const char *path, size_t *size_bytes);

#endif /* SPIRV_MAKE_H */
