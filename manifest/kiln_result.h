/* SPDX-License-Identifier: MIT */
/*
 * kiln_result: the one error enum of the project, and the message that goes with it.
 *
 * Every fallible function of every layer returns `enum kiln_result`: KILN_OK (0) or a negative
 * code. A function that can say more than its code takes a `struct kiln_error *`, which may be
 * NULL. On success the error is left as it was. On failure it holds the code that was returned and
 * one line of text without a trailing newline: what was expected, what was found, and the file
 * (and line, as `file:line: `) where that is known.
 *
 * This header is installed with libkiln's public headers as <kiln/kiln_result.h>. Numbers are
 * stable: a code is never renumbered or reused.
 *
 * Thread safety: functions here are safe to call from any thread; a kiln_error is a plain value
 * and belongs to one thread at a time.
 */
#ifndef KILN_RESULT_H
#define KILN_RESULT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kiln_result {
    KILN_OK = 0,
    /* An allocation failed. The objects passed in are unchanged. */
    KILN_ERR_MEMORY = -1,
    /* The caller broke the contract of a function (NULL where not allowed, a bad enum value). */
    KILN_ERR_ARGUMENT = -2,
    /* Reading or writing a file failed; the message holds the path and the system's reason. */
    KILN_ERR_IO = -3,
    /* A file, artifact, dimension or name that was asked for does not exist. */
    KILN_ERR_NOT_FOUND = -4,
    /* Bytes do not follow their format (manifest, pack, lock, YAML, SPIR-V). */
    KILN_ERR_FORMAT = -5,
    /* A format version newer than this build understands. */
    KILN_ERR_VERSION = -6,
    /* Bytes do not have the hash that the manifest or the lock states. */
    KILN_ERR_HASH = -7,
    /* A number exceeds a limit of a format, the budget or the device. */
    KILN_ERR_LIMIT = -8,
    /* A path that is absolute, leaves its directory, is a symbolic link or has a bad character. */
    KILN_ERR_PATH = -9,
    /* A name or key occurs twice. */
    KILN_ERR_DUPLICATE = -10,
    /* GLSL did not preprocess, compile or link. */
    KILN_ERR_COMPILE = -11,
    /* SPIR-V did not optimise or validate. */
    KILN_ERR_SPIRV = -12,
    /* What was reflected differs from what the YAML promised. */
    KILN_ERR_INTERFACE = -13,
    /* No Vulkan loader library (libvulkan) on this machine. */
    KILN_ERR_NO_LOADER = -14,
    /* A Vulkan loader, but no driver behind it. */
    KILN_ERR_NO_DRIVER = -15,
    /* Drivers, but no device that fits the request. */
    KILN_ERR_NO_DEVICE = -16,
    /* No artifact of the bundle fits the query on this device; the message says why. */
    KILN_ERR_NO_VARIANT = -17,
    /* The device lacks a feature, extension or limit that the artifact requires. */
    KILN_ERR_UNSUPPORTED = -18,
    /* VK_ERROR_DEVICE_LOST: nothing made on the device can be used any more. */
    KILN_ERR_DEVICE_LOST = -19,
    /* Any other Vulkan call failed; the message holds the call and its VkResult. */
    KILN_ERR_VULKAN = -20,
    /* A result differs from its reference, or a guard was overwritten. */
    KILN_ERR_MISMATCH = -21,
    /* Another process holds the lock of the output directory. */
    KILN_ERR_BUSY = -22,
    /* The operation was interrupted by the caller. */
    KILN_ERR_CANCELLED = -23,
    /* A system call that is not file input or output failed (fork, pipe, thread creation). */
    KILN_ERR_SYSTEM = -24
};

/* Longest message, its terminator included; longer ones are cut at a byte boundary. */
#define KILN_ERROR_MESSAGE_BYTES 512

struct kiln_error {
    enum kiln_result code;
    char message[KILN_ERROR_MESSAGE_BYTES];
};

/* A short English name of the code, static storage, never NULL ("unknown error" for others). */
const char *kiln_result_string(enum kiln_result result);

#if defined(__GNUC__)
#define KILN_PRINTF(format_index, first_index)                                                     \
    __attribute__((format(printf, format_index, first_index)))
#else
#define KILN_PRINTF(format_index, first_index)
#endif

/*
 * Stores `code` and the formatted message in *error when error is not NULL, and returns `code`, so
 * that a failure is one line: `return kiln_error_set(error, KILN_ERR_FORMAT, "...", ...)`.
 */
enum kiln_result kiln_error_set(struct kiln_error *error, enum kiln_result code, const char *format,
                                ...) KILN_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RESULT_H */
