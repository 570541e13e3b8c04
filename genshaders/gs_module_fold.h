/* SPDX-License-Identifier: MIT */
/*
 * gs_module_fold: values of scalar constants. Private to genshaders.
 *
 * Semantics are those of the SPIR-V specification's arithmetic, bit and comparison instructions on
 * integers of 8 to 64 bits and booleans; results are undefined there for division by zero and
 * shifts beyond the width, which are "not known" here.
 */
#ifndef GS_MODULE_FOLD_H
#define GS_MODULE_FOLD_H

#include "gs_module_ids.h"

/* Fills known and value of a constant from earlier definitions; called by gs_ids_make in order. */
void gs_fold_define(const struct gs_ids *ids, struct gs_definition *definition);

#endif /* GS_MODULE_FOLD_H */
