/* SPDX-License-Identifier: MIT */
#include "kiln_result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *kiln_result_string(enum kiln_result result) {
    switch (result) {
    case KILN_OK:
        return "success";
    case KILN_ERR_MEMORY:
        return "out of memory";
    case KILN_ERR_ARGUMENT:
        return "invalid argument";
    case KILN_ERR_IO:
        return "input or output failed";
    case KILN_ERR_NOT_FOUND:
        return "not found";
    case KILN_ERR_FORMAT:
        return "malformed data";
    case KILN_ERR_VERSION:
        return "unsupported version";
    case KILN_ERR_HASH:
        return "hash mismatch";
    case KILN_ERR_LIMIT:
        return "limit exceeded";
    case KILN_ERR_PATH:
        return "unsafe path";
    case KILN_ERR_DUPLICATE:
        return "duplicate name";
    case KILN_ERR_COMPILE:
        return "shader compilation failed";
    case KILN_ERR_SPIRV:
        return "invalid SPIR-V";
    case KILN_ERR_INTERFACE:
        return "interface differs from its declaration";
    case KILN_ERR_NO_LOADER:
        return "no Vulkan loader";
    case KILN_ERR_NO_DRIVER:
        return "no Vulkan driver";
    case KILN_ERR_NO_DEVICE:
        return "no suitable device";
    case KILN_ERR_NO_VARIANT:
        return "no suitable artifact";
    case KILN_ERR_UNSUPPORTED:
        return "not supported by the device";
    case KILN_ERR_DEVICE_LOST:
        return "device lost";
    case KILN_ERR_VULKAN:
        return "Vulkan call failed";
    case KILN_ERR_MISMATCH:
        return "result differs from its reference";
    case KILN_ERR_BUSY:
        return "locked by another process";
    case KILN_ERR_CANCELLED:
        return "cancelled";
    case KILN_ERR_SYSTEM:
        return "system call failed";
    }
    return "unknown error";
}

enum kiln_result kiln_error_set(struct kiln_error *error, enum kiln_result code, const char *format,
                                ...) {
    if (!error) {
        return code;
    }
    /* Formatted apart, so that an argument may be error->message itself. */
    char message[KILN_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0) {
        message[0] = '\0';
    }
    size_t end = strlen(message);
    while (end > 0 && message[end - 1] == '\n') {
        message[--end] = '\0';
    }
    /* Names from files appear in messages; they must not steer a terminal or break the line. */
    for (size_t i = 0; i < end; i++) {
        unsigned char byte = (unsigned char)message[i];
        if (byte < 0x20 || byte == 0x7f) {
            message[i] = byte == '\n' || byte == '\t' ? ' ' : '?';
        }
    }
    error->code = code;
    memcpy(error->message, message, end + 1);
    return code;
}
