/* SPDX-License-Identifier: MIT */
#include "mf_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_LIMIT_DEFAULT ((size_t)256 * 1024 * 1024)
#define READ_CHUNK_BYTES ((size_t)65536)
#define TEMPORARY_SUFFIX ".tmp.XXXXXX" /* mkostemp replaces the six X */

static enum kiln_result fail_errno(struct kiln_error *error, enum kiln_result code,
                                   const char *path, const char *what, int number) {
    char text[128];
    return kiln_error_set(error, code, "%s: %s: %s", path, what,
                          strerror_r(number, text, sizeof text));
}

/* Appends everything from the descriptor's position to its end. errno tells of a KILN_ERR_IO. */
static enum kiln_result read_all(int fd, size_t limit_bytes, struct mf_buffer *out) {
    char *chunk = malloc(READ_CHUNK_BYTES);
    if (!chunk) {
        return KILN_ERR_MEMORY;
    }
    enum kiln_result result = KILN_OK;
    while (result == KILN_OK) {
        ssize_t got = read(fd, chunk, READ_CHUNK_BYTES);
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            result = KILN_ERR_IO;
        } else if (got == 0) {
            break;
        } else if ((size_t)got > limit_bytes - out->size_bytes) {
            result = KILN_ERR_LIMIT;
        } else {
            result = mf_buffer_append(out, chunk, (size_t)got);
        }
    }
    int saved = errno;
    free(chunk);
    errno = saved;
    return result;
}

static enum kiln_result read_open_file(int fd, const char *path, size_t limit_bytes,
                                       struct mf_buffer *out, struct kiln_error *error) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return fail_errno(error, KILN_ERR_IO, path, "cannot stat", errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return kiln_error_set(error, KILN_ERR_IO, "%s: cannot read: not a regular file", path);
    }
    enum kiln_result result = KILN_ERR_LIMIT;
    if ((uint64_t)info.st_size <= limit_bytes) {
        result = read_all(fd, limit_bytes, out);
    }
    switch (result) {
    case KILN_OK:
        /* An empty file gives an empty C string, not NULL. */
        result = mf_buffer_append(out, NULL, 0);
        break;
    case KILN_ERR_LIMIT:
        return kiln_error_set(error, result, "%s: larger than the limit of %zu bytes", path,
                              limit_bytes);
    case KILN_ERR_IO:
        return fail_errno(error, result, path, "cannot read", errno);
    default:
        break;
    }
    if (result != KILN_OK) {
        return kiln_error_set(error, result, "%s: cannot read: out of memory", path);
    }
    return KILN_OK;
}

enum kiln_result mf_file_read(const char *path, size_t limit_bytes, struct mf_buffer *out,
                              struct kiln_error *error) {
    mf_buffer_clear(out);
    /* O_NONBLOCK: opening a FIFO must not hang before it is refused. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        int number = errno;
        return fail_errno(error, number == ENOENT ? KILN_ERR_NOT_FOUND : KILN_ERR_IO, path,
                          "cannot open", number);
    }
    enum kiln_result result =
        read_open_file(fd, path, limit_bytes ? limit_bytes : READ_LIMIT_DEFAULT, out, error);
    if (result != KILN_OK) {
        mf_buffer_clear(out);
    }
    (void)close(fd);
    return result;
}

/* Whether the open file holds exactly these bytes, from its start. */
static bool holds_bytes(int fd, const char *bytes, size_t size_bytes) {
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        (uint64_t)info.st_size != (uint64_t)size_bytes || lseek(fd, 0, SEEK_SET) != 0) {
        return false;
    }
    struct mf_buffer found = {0};
    bool equal = read_all(fd, size_bytes, &found) == KILN_OK && found.size_bytes == size_bytes &&
                 (size_bytes == 0 || memcmp(found.data, bytes, size_bytes) == 0);
    mf_buffer_release(&found);
    return equal;
}

/* Whether nothing has to be written. A link is replaced by a file even if its target is equal. */
static bool is_unchanged(const char *path, const char *bytes, size_t size_bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    struct stat info;
    bool same = fstat(fd, &info) == 0 && holds_bytes(fd, bytes, size_bytes);
    if (same && (info.st_mode & 07777) != 0644) {
        same = fchmod(fd, 0644) == 0;
    }
    (void)close(fd);
    return same;
}

static bool write_all(int fd, const char *bytes, size_t size_bytes) {
    size_t written = 0;
    while (written < size_bytes) {
        ssize_t count = write(fd, bytes + written, size_bytes - written);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            errno = count == 0 ? ENOSPC : errno;
            return false;
        }
        written += (size_t)count;
    }
    return true;
}

/*
 * Fills the temporary file and, unless readers will check it, proves that it holds the bytes.
 * Closes fd in every case.
 */
static enum kiln_result fill_temporary(int fd, const char *path, const char *bytes,
                                       size_t size_bytes, enum mf_durability durability,
                                       struct kiln_error *error) {
    enum kiln_result result = KILN_OK;
    if (!write_all(fd, bytes, size_bytes)) {
        result = fail_errno(error, KILN_ERR_IO, path, "cannot write", errno);
        goto done;
    }
    if (fchmod(fd, 0644) != 0) {
        result = fail_errno(error, KILN_ERR_IO, path, "cannot set the mode", errno);
        goto done;
    }
    if (durability == MF_VOLATILE) {
        goto done;
    }
    if (fsync(fd) != 0) {
        result = fail_errno(error, KILN_ERR_IO, path, "cannot flush", errno);
        goto done;
    }
    /* Clean pages are dropped, so that reading back asks the file system, not the cache. */
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (!holds_bytes(fd, bytes, size_bytes)) {
        result =
            kiln_error_set(error, KILN_ERR_IO, "%s: reading back what was written differs", path);
    }
done:
    /* Some file systems report a full disk or quota only here. */
    if (close(fd) != 0 && result == KILN_OK && errno != EINTR) {
        result = fail_errno(error, KILN_ERR_IO, path, "cannot close", errno);
    }
    return result;
}

static enum kiln_result sync_parent(const char *path, struct kiln_error *error) {
    const char *slash = strrchr(path, '/');
    char *directory = NULL;
    if (slash) {
        directory = strndup(path, slash == path ? 1 : (size_t)(slash - path));
        if (!directory) {
            return kiln_error_set(error, KILN_ERR_MEMORY, "%s: out of memory", path);
        }
    }
    enum kiln_result result = KILN_OK;
    int fd = open(directory ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A directory that may be written but not read cannot be opened, nor flushed: no failure. */
    if (fd < 0 && errno != EACCES) {
        result = fail_errno(error, KILN_ERR_IO, path, "cannot open its directory", errno);
    }
    /* EINVAL: this file system cannot flush directories. */
    if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL) {
        result = fail_errno(error, KILN_ERR_IO, path, "cannot flush its directory", errno);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(directory);
    return result;
}

enum kiln_result mf_file_write_atomic(const char *path, const void *bytes, size_t size_bytes,
                                      bool *changed, struct kiln_error *error) {
    return mf_file_write(path, bytes, size_bytes, MF_DURABLE, changed, error);
}

enum kiln_result mf_file_write(const char *path, const void *bytes, size_t size_bytes,
                               enum mf_durability durability, bool *changed,
                               struct kiln_error *error) {
    if (changed) {
        *changed = false;
    }
    struct stat present;
    if (stat(path, &present) == 0 && !S_ISREG(present.st_mode) && !S_ISDIR(present.st_mode)) {
        return kiln_error_set(error, KILN_ERR_PATH,
                              "%s: expected a regular file or nothing in its place", path);
    }
    if (is_unchanged(path, bytes, size_bytes)) {
        return KILN_OK;
    }
    struct mf_buffer temporary = {0};
    (void)mf_buffer_append_string(&temporary, path);
    if (mf_buffer_append_string(&temporary, TEMPORARY_SUFFIX) != KILN_OK) {
        mf_buffer_release(&temporary);
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: out of memory", path);
    }
    enum kiln_result result = KILN_OK;
    int fd = mkostemp(temporary.data, O_CLOEXEC);
    if (fd < 0) {
        result = fail_errno(error, KILN_ERR_IO, path, "cannot create a temporary file", errno);
        goto done;
    }
    result = fill_temporary(fd, path, bytes, size_bytes, durability, error);
    if (result == KILN_OK && rename(temporary.data, path) != 0) {
        result = fail_errno(error, KILN_ERR_IO, path, "cannot rename into place", errno);
    }
    if (result != KILN_OK) {
        (void)unlink(temporary.data);
        goto done;
    }
    if (changed) {
        *changed = true;
    }
    if (durability == MF_DURABLE) {
        result = sync_parent(path, error);
    }
done:
    mf_buffer_release(&temporary);
    return result;
}

/* One level. The mode is set apart because mkdir's is cut by the umask. */
static enum kiln_result make_one_directory(const char *path, struct kiln_error *error) {
    if (mkdir(path, 0755) == 0) {
        return chmod(path, 0755) == 0
                   ? KILN_OK
                   : fail_errno(error, KILN_ERR_IO, path, "cannot set the mode", errno);
    }
    int number = errno;
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) {
            return KILN_OK;
        }
        number = ENOTDIR;
    }
    return fail_errno(error, KILN_ERR_IO, path, "cannot make the directory", number);
}

enum kiln_result mf_file_make_directory(const char *path, struct kiln_error *error) {
    char *prefix = strdup(path);
    if (!prefix) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: out of memory", path);
    }
    enum kiln_result result = KILN_OK;
    for (char *slash = strchr(prefix, '/'); slash && result == KILN_OK;
         slash = strchr(slash + 1, '/')) {
        if (slash == prefix || slash[1] == '\0') {
            continue;
        }
        *slash = '\0';
        result = make_one_directory(prefix, error);
        *slash = '/';
    }
    if (result == KILN_OK) {
        result = make_one_directory(path, error);
    }
    free(prefix);
    return result;
}

enum kiln_result mf_file_stat(const char *path, struct mf_file_stat *out,
                              struct kiln_error *error) {
    *out = (struct mf_file_stat){0};
    struct stat info;
    if (stat(path, &info) != 0) {
        int number = errno;
        bool missing = number == ENOENT || number == ENOTDIR;
        return fail_errno(error, missing ? KILN_ERR_NOT_FOUND : KILN_ERR_IO, path, "cannot stat",
                          number);
    }
    if (!S_ISREG(info.st_mode)) {
        return kiln_error_set(error, KILN_ERR_PATH, "%s: not a regular file", path);
    }
    out->size_bytes = (uint64_t)info.st_size;
    out->mtime_ns = (int64_t)info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec;
    return KILN_OK;
}

enum kiln_result mf_file_lock(const char *path, bool wait, int *handle, struct kiln_error *error) {
    *handle = -1;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0) {
        return fail_errno(error, KILN_ERR_IO, path, "cannot open the lock file", errno);
    }
    int status = 0;
    do {
        status = flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
    } while (status != 0 && errno == EINTR);
    if (status != 0) {
        int number = errno;
        (void)close(fd);
        if (number == EWOULDBLOCK) {
            return kiln_error_set(error, KILN_ERR_BUSY, "%s: locked by another process", path);
        }
        return fail_errno(error, KILN_ERR_IO, path, "cannot lock", number);
    }
    *handle = fd;
    return KILN_OK;
}

void mf_file_unlock(int *handle) {
    if (*handle >= 0) {
        /* Unlocked, not only closed: a forked child may still hold the descriptor. */
        (void)flock(*handle, LOCK_UN);
        (void)close(*handle);
        *handle = -1;
    }
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends the wanted names of an open directory, unsorted. errno tells of a KILN_ERR_IO. */
static enum kiln_result collect_names(DIR *directory, bool directories, struct mf_arena *arena,
                                      char ***names, size_t *count) {
    size_t capacity = 0;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(directory);
        if (!entry) {
            return errno == 0 ? KILN_OK : KILN_ERR_IO;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        struct stat info;
        if (fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) {
                continue; /* removed meanwhile */
            }
            return KILN_ERR_IO;
        }
        if (directories ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode)) {
            continue;
        }
        char **grown = mf_arena_grow(arena, *names, *count, &capacity, sizeof **names);
        char *name = mf_arena_string(arena, entry->d_name);
        if (!grown || !name) {
            return KILN_ERR_MEMORY;
        }
        *names = grown;
        grown[(*count)++] = name;
    }
}

enum kiln_result mf_file_list(const char *path, bool directories, struct mf_arena *arena,
                              char ***names, size_t *count, struct kiln_error *error) {
    *names = NULL;
    *count = 0;
    DIR *directory = opendir(path);
    if (!directory) {
        int number = errno;
        return fail_errno(error, number == ENOENT ? KILN_ERR_NOT_FOUND : KILN_ERR_IO, path,
                          "cannot open the directory", number);
    }
    enum kiln_result result = collect_names(directory, directories, arena, names, count);
    if (result == KILN_ERR_IO) {
        result = fail_errno(error, result, path, "cannot read the directory", errno);
    } else if (result != KILN_OK) {
        result = kiln_error_set(error, result, "%s: out of memory", path);
    }
    (void)closedir(directory);
    if (result != KILN_OK) {
        *names = NULL;
        *count = 0;
    } else if (*count > 1) {
        qsort(*names, *count, sizeof **names, compare_names);
    }
    return result;
}

static bool is_path_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '/';
}

enum kiln_result mf_path_check(const char *path, struct kiln_error *error) {
    size_t size_bytes = strlen(path);
    const char *fault = NULL;
    if (size_bytes == 0) {
        fault = "is empty";
    } else if (size_bytes > 255) {
        fault = "is longer than 255 bytes";
    } else if (path[0] == '/') {
        fault = "is absolute";
    }
    for (size_t i = 0; !fault && i < size_bytes; i++) {
        if (!is_path_byte(path[i])) {
            fault = "has a character outside [A-Za-z0-9._-] and '/'";
        }
    }
    for (const char *component = path; !fault && component;) {
        size_t length = strcspn(component, "/");
        if (length == 0) {
            fault = "has an empty component";
        } else if (length <= 2 && strspn(component, ".") >= length) {
            fault = "has a component \".\" or \"..\"";
        }
        component = component[length] == '/' ? component + length + 1 : NULL;
    }
    if (fault) {
        return kiln_error_set(error, KILN_ERR_PATH, "path \"%s\" %s", path, fault);
    }
    return KILN_OK;
}

char *mf_path_join(struct mf_arena *arena, const char *directory, const char *name) {
    if (directory[0] == '\0') {
        return mf_arena_string(arena, name);
    }
    return mf_arena_format(arena, "%s/%s", directory, name);
}
