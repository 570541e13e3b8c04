/* SPDX-License-Identifier: MIT */
/*
 * gs_record: lines of the generator's own small text files (stamps, run records):
 *
 *   <word> <32 hex digits>
 *   <word> <32 hex digits> <rest>
 */
#ifndef GS_RECORD_H
#define GS_RECORD_H

#include "mf_hash.h"

/*
 * Takes one line apart, writing zeros into it. With `rest` the second form is expected and *rest
 * points into the line, without it the first. False when the line is anything else.
 */
bool gs_record_line(char *line, const char *word, struct mf_hash *hash, const char **rest);

#endif /* GS_RECORD_H */
