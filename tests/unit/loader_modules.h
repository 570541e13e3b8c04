/* SPDX-License-Identifier: MIT */
/*
 * loader_modules: SPIR-V 1.3 modules for the loader's tests, from tests/fixtures/loader/ by
 * make_words.sh there: `rows` (dims nout and k, windows, folding), `spec` (constant 7, descriptor
 * set 1), `subgroup` (subgroup size).
 */
#ifndef LOADER_MODULES_H
#define LOADER_MODULES_H

#include <stddef.h>
#include <stdint.h>

extern const uint32_t loader_module_rows_words[];
extern const size_t loader_module_rows_word_count;
extern const uint32_t loader_module_spec_words[];
extern const size_t loader_module_spec_word_count;
extern const uint32_t loader_module_subgroup_words[];
extern const size_t loader_module_subgroup_word_count;

#endif /* LOADER_MODULES_H */
