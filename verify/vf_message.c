/* SPDX-License-Identifier: MIT */
#include "vf_message.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum kiln_result vf_message_field(struct mf_buffer *out, const char *text) {
    if (out->size_bytes && out->data[out->size_bytes - 1] != '\n') {
        mf_buffer_append(out, "\t", 1);
    }
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte == 0x7F || byte == '%') {
            mf_buffer_append_format(out, "%%%02X", byte);
        } else {
            mf_buffer_append(out, c, 1);
        }
    }
    return out->failed;
}

enum kiln_result vf_message_format(struct mf_buffer *out, const char *format, ...) {
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return vf_message_field(out, text);
}

enum kiln_result vf_message_end(struct mf_buffer *out) {
    return mf_buffer_append(out, "\n", 1);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void unescape(char *text) {
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from == '%' && hex_digit(from[1]) >= 0 && hex_digit(from[2]) >= 0) {
            *to++ = (char)(hex_digit(from[1]) * 16 + hex_digit(from[2]));
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

size_t vf_message_split(char *line, char *fields[VF_FIELD_MAX]) {
    size_t count = 0;
    char *at = line;

    while (count < VF_FIELD_MAX) {
        fields[count++] = at;
        char *tab = count < VF_FIELD_MAX ? strchr(at, '\t') : NULL;
        if (!tab) {
            break;
        }
        *tab = '\0';
        at = tab + 1;
    }
    for (size_t i = 0; i < count; i++) {
        unescape(fields[i]);
    }
    return count;
}

enum kiln_result vf_message_write(int descriptor, const struct mf_buffer *bytes) {
    size_t done = 0;

    while (done < bytes->size_bytes) {
        const ssize_t written = write(descriptor, bytes->data + done, bytes->size_bytes - done);
        if (written > 0) {
            done += (size_t)written;
        } else if (written < 0 && errno != EINTR) {
            return KILN_ERR_IO;
        }
    }
    return bytes->failed;
}
