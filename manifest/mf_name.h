/* SPDX-License-Identifier: MIT */
/*
 * mf_name: artifact names, printed from typed fields and never parsed for meaning.
 *
 *   <family>__<dtypes joined by _>__<shape>__<schedule>__<tier>
 *   matvec__q4_k_f32__any__row_w64r2__subgroup
 *
 * Characters are [a-z0-9_]; parts are not empty, neither begin nor end with '_' and hold no "__";
 * the whole is at most MF_NAME_MAX_BYTES bytes.
 */
#ifndef MF_NAME_H
#define MF_NAME_H

#include "mf_buffer.h"

#include <stdbool.h>

#define MF_NAME_MAX_BYTES 96

/* KILN_ERR_FORMAT, with the reason, unless `part` can stand between two "__". */
enum kiln_result mf_name_check_part(const char *part, struct kiln_error *error);

/*
 * KILN_ERR_FORMAT, with the reason, unless `name` is one or more parts joined by "__";
 * KILN_ERR_LIMIT when it is longer than MF_NAME_MAX_BYTES. The number of parts is not checked:
 * imported modules may have fewer.
 */
enum kiln_result mf_name_check(const char *name, struct kiln_error *error);

/* True for [A-Za-z_][A-Za-z0-9_]* of at most 255 bytes. */
bool mf_name_is_identifier(const char *text);

/* The name in `arena`; KILN_ERR_FORMAT or KILN_ERR_LIMIT name the offending part. */
enum kiln_result mf_name_make(struct mf_arena *arena, const char *family, const char *const *dtypes,
                              size_t dtype_count, const char *shape, const char *schedule,
                              const char *tier, char **name, struct kiln_error *error);

#endif /* MF_NAME_H */
