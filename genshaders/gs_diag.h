/* SPDX-License-Identifier: MIT */
/*
 * gs_diag: the errors of one run, collected from all threads and printed sorted.
 *
 * A diagnostic is `file:line: message`; line 0 means "the file as a whole" and an empty file means
 * "no file" (then only the message is printed). The same diagnostic reported by many variants is
 * kept once, with the number of variants and the name of the first (in name order).
 *
 * Thread safety: gs_diag_add may be called from any thread; everything else from one thread while
 * no other adds.
 */
#ifndef GS_DIAG_H
#define GS_DIAG_H

#include "mf_buffer.h"

#include <stdint.h>

struct gs_diag; /* opaque */

/* *diag is NULL on failure (KILN_ERR_MEMORY or KILN_ERR_SYSTEM). */
enum kiln_result gs_diag_create(struct gs_diag **diag);
void gs_diag_destroy(struct gs_diag **diag); /* accepts a pointer to NULL; sets NULL */

/*
 * Adds one diagnostic and returns `code`, so that callers can write `return gs_diag_add(...)`.
 * file may be NULL; variant is the artifact's name or NULL. The message is cut at newlines: one
 * line each. When memory is out the loss itself is counted and printed at the end.
 */
enum kiln_result gs_diag_add(struct gs_diag *diag, enum kiln_result code, const char *file,
                             uint32_t line, const char *variant, const char *format, ...)
    KILN_PRINTF(6, 7);

size_t gs_diag_count(const struct gs_diag *diag);

/* Code of the first diagnostic in print order; KILN_OK when there is none. */
enum kiln_result gs_diag_result(const struct gs_diag *diag);

/*
 * Appends all diagnostics, sorted by file, line and message, one line each:
 *   templates/matvec/matvec.comp:12: 'foo' : undeclared identifier [matvec__…, and 3 more]
 */
enum kiln_result gs_diag_format(const struct gs_diag *diag, struct mf_buffer *out);

/* Appends a JSON array of {file, line, message, code, variant, count}, one line, same order. */
enum kiln_result gs_diag_format_json(const struct gs_diag *diag, struct mf_buffer *out);

#endif /* GS_DIAG_H */
