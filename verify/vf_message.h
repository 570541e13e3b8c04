/* SPDX-License-Identifier: MIT */
/*
 * vf_message: the lines that the verifier and its worker processes exchange over pipes.
 *
 * A line is fields separated by tabs. Bytes of a field that would break the line (tab, newline,
 * other control characters, '%') are written as %XX.
 *
 *   to a worker      devices
 *                    run      JOB "DEVICE:ENTRY DEVICE:ENTRY ..." (entries in ascending order)
 *                    golden   DEVICE DIRECTORY
 *   from a worker    device   NAME TYPE DRIVER DRIVER_INFO API VENDOR:DEVICE SUBGROUP
 *                    start    DEVICE ENTRY
 *                    result   DEVICE ENTRY STATUS MAX_ABS REL SCALE REASON    (C hexadecimal
 * floats) row      TYPE CASE CHECK STATUS DETAIL end      CODE MESSAGE                (answer to
 * each request; CODE kiln_result)
 */
#ifndef VF_MESSAGE_H
#define VF_MESSAGE_H

#include "mf_buffer.h"

#include <stddef.h>

#define VF_FIELD_MAX 12

/* Appends a tab, unless the buffer is empty or ends with a newline, and the escaped text. */
enum kiln_result vf_message_field(struct mf_buffer *out, const char *text);
enum kiln_result vf_message_format(struct mf_buffer *out, const char *format, ...)
    KILN_PRINTF(2, 3);
enum kiln_result vf_message_end(struct mf_buffer *out); /* the newline */

/*
 * Splits a line (without its newline) in place into at most VF_FIELD_MAX fields, the escapes
 * undone; what is left of a longer line stays in the last field. Returns the number of fields.
 */
size_t vf_message_split(char *line, char *fields[VF_FIELD_MAX]);

/* Writes all bytes to a descriptor; KILN_ERR_IO when the other side is gone. */
enum kiln_result vf_message_write(int descriptor, const struct mf_buffer *bytes);

#endif /* VF_MESSAGE_H */
