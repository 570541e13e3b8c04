/* SPDX-License-Identifier: MIT */
#include "kl_path.h"

#include "mf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KL_COMPONENT_BYTES 256 /* mf_path_check limits the whole path to 255 bytes */

enum kiln_result kl_path_open_directory(const char *path, int *descriptor,
                                        struct kiln_error *error) {
    *descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*descriptor >= 0) {
        return KILN_OK;
    }
    int reason = errno;
    enum kiln_result code = reason == ENOENT    ? KILN_ERR_NOT_FOUND
                            : reason == ENOTDIR ? KILN_ERR_PATH
                                                : KILN_ERR_IO;
    return kiln_error_set(error, code, "%s: %s", path, strerror(reason));
}

/* Why a component could not be opened. `reason` is errno; a link shows as ELOOP or ENOTDIR. */
static enum kiln_result kl_path_failed(int directory, const char *component, const char *path,
                                       const char *label, int reason, struct kiln_error *error) {
    struct stat status;
    if (fstatat(directory, component, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISLNK(status.st_mode)) {
            return kiln_error_set(error, KILN_ERR_PATH,
                                  "%s: %s: %s is a symbolic link, which a bundle may not hold",
                                  label, path, component);
        }
        if (reason == ENOTDIR) {
            return kiln_error_set(error, KILN_ERR_PATH, "%s: %s: %s is not a directory", label,
                                  path, component);
        }
    }
    return kiln_error_set(error, reason == ENOENT ? KILN_ERR_NOT_FOUND : KILN_ERR_IO, "%s: %s: %s",
                          label, path, strerror(reason));
}

/* The file itself: O_NONBLOCK so that a named pipe in its place cannot block the caller. */
static enum kiln_result kl_path_open_last(int directory, const char *component, const char *path,
                                          const char *label, int *descriptor, uint64_t *size_bytes,
                                          struct kiln_error *error) {
    int file = openat(directory, component, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return kl_path_failed(directory, component, path, label, errno, error);
    }
    struct stat status;
    enum kiln_result result = KILN_OK;
    if (fstat(file, &status) != 0) {
        result = kiln_error_set(error, KILN_ERR_IO, "%s: %s: %s", label, path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        result = kiln_error_set(error, KILN_ERR_PATH, "%s: %s: not a regular file", label, path);
    }
    if (result) {
        close(file);
        return result;
    }
    *descriptor = file;
    *size_bytes = (uint64_t)status.st_size;
    return KILN_OK;
}

enum kiln_result kl_path_open_file(int directory, const char *path, const char *label,
                                   int *descriptor, uint64_t *size_bytes,
                                   struct kiln_error *error) {
    *descriptor = -1;
    *size_bytes = 0;
    enum kiln_result result = mf_path_check(path, error);
    if (result) {
        return result;
    }
    int current = directory;
    const char *rest = path;
    for (const char *slash; !result && (slash = strchr(rest, '/')) != NULL; rest = slash + 1) {
        char component[KL_COMPONENT_BYTES];
        size_t length = (size_t)(slash - rest);
        memcpy(component, rest, length);
        component[length] = '\0';
        int next = openat(current, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0) {
            result = kl_path_failed(current, component, path, label, errno, error);
        }
        if (current != directory) {
            close(current);
        }
        current = next;
    }
    if (!result) {
        result = kl_path_open_last(current, rest, path, label, descriptor, size_bytes, error);
        if (current != directory) {
            close(current);
        }
    }
    return result;
}

/* Bytes read, less than asked for only at the end of the file; -1 with errno. */
static ssize_t kl_path_read(int descriptor, void *bytes, size_t size_bytes) {
    size_t done = 0;
    while (done < size_bytes) {
        ssize_t got = read(descriptor, (char *)bytes + done, size_bytes - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        done += (size_t)got;
    }
    return (ssize_t)done;
}

enum kiln_result kl_path_read_all(int descriptor, const char *path, void *bytes,
                                  uint64_t size_bytes, struct kiln_error *error) {
    char beyond;
    ssize_t got = kl_path_read(descriptor, bytes, (size_t)size_bytes);
    ssize_t more = got < 0 ? got : kl_path_read(descriptor, &beyond, 1);
    if (more < 0) {
        return kiln_error_set(error, KILN_ERR_IO, "%s: %s", path, strerror(errno));
    }
    if ((uint64_t)got != size_bytes || more != 0) {
        return kiln_error_set(error, KILN_ERR_HASH, "%s: changed its size while it was read", path);
    }
    return KILN_OK;
}
