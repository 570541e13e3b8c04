/* SPDX-License-Identifier: MIT */
/*
 * mf_file: whole-file input and atomic output.
 *
 * Paths are byte strings as the system takes them; spaces and any encoding are fine. Every function
 * here reports KILN_ERR_IO (or the code stated) with the path and strerror text in *error.
 * Thread safety: all functions may be called from any thread; two writers of one path are safe (one
 * of the two contents wins whole).
 */
#ifndef MF_FILE_H
#define MF_FILE_H

#include "mf_buffer.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Replaces the content of *out by the file's bytes. KILN_ERR_NOT_FOUND when there is no such file,
 * KILN_ERR_LIMIT when it is larger than limit_bytes (0: 256 MiB). Links are followed; anything but
 * a regular file is refused (KILN_ERR_IO) without blocking. On failure *out is empty.
 */
enum kiln_result mf_file_read(const char *path, size_t limit_bytes, struct mf_buffer *out,
                              struct kiln_error *error);

/*
 * Makes the file at `path` hold exactly these bytes, or leaves whatever stood there untouched:
 * writes `path` plus a unique suffix in the same directory, fsyncs, reads it back and compares,
 * renames, fsyncs the directory. When the file holds these bytes already nothing is written and
 * its times stay. *changed (may be NULL) tells which. A failed write removes its temporary file.
 * KILN_ERR_PATH when a device or pipe stands there, or a link to one: the rename would replace it.
 * A link to a regular file is replaced and its target kept. The mode is 0644 whatever the umask, so
 * that trees are reproducible. Missing parent directories are not created.
 */
enum kiln_result mf_file_write_atomic(const char *path, const void *bytes, size_t size_bytes,
                                      bool *changed, struct kiln_error *error);

/*
 * The same with a choice of what a loss of power may do. MF_DURABLE: nothing, as above.
 * MF_DURABLE_CONTENT: the file may be missing or old, never half-written; for many files of one
 * directory, made durable together by writing one more with MF_DURABLE. MF_VOLATILE: the file may
 * be empty or cut, and is not read back; for caches whose readers check what they read. A killed
 * process does no harm in any of the three.
 */
enum mf_durability { MF_DURABLE, MF_DURABLE_CONTENT, MF_VOLATILE };
enum kiln_result mf_file_write(const char *path, const void *bytes, size_t size_bytes,
                               enum mf_durability durability, bool *changed,
                               struct kiln_error *error);

/* mkdir -p with mode 0755. An existing directory is success. */
enum kiln_result mf_file_make_directory(const char *path, struct kiln_error *error);

/*
 * Identity of a file as cheap change detection sees it; links are followed. Not found is
 * KILN_ERR_NOT_FOUND, anything but a regular file KILN_ERR_PATH.
 */
struct mf_file_stat {
    uint64_t size_bytes;
    int64_t mtime_ns;
};
enum kiln_result mf_file_stat(const char *path, struct mf_file_stat *out, struct kiln_error *error);

/*
 * An exclusive advisory lock (flock) on the file `path`, created when missing and never removed.
 * Waits until it is free when `wait` is set, otherwise KILN_ERR_BUSY. The lock ends with
 * mf_file_unlock or with the process, however that ends. *handle is -1 on failure.
 */
enum kiln_result mf_file_lock(const char *path, bool wait, int *handle, struct kiln_error *error);
void mf_file_unlock(int *handle); /* accepts -1; sets -1 */

/*
 * Names (not paths) of the entries of a directory, without . and .., sorted bytewise, in `arena`.
 * With `directories` only directories, otherwise only regular files; links are not followed.
 * KILN_ERR_NOT_FOUND when there is no such directory. On failure *names is NULL and *count 0.
 */
enum kiln_result mf_file_list(const char *path, bool directories, struct mf_arena *arena,
                              char ***names, size_t *count, struct kiln_error *error);

/*
 * KILN_OK when `path` is a safe relative path for a bundle: not empty, at most 255 bytes, '/'
 * between components, no component empty, "." or "..", no leading '/', only bytes of
 * [A-Za-z0-9._-] and '/'. Otherwise KILN_ERR_PATH with the reason. Does not touch the disk.
 */
enum kiln_result mf_path_check(const char *path, struct kiln_error *error);

/* directory + "/" + name, in the arena; `name` alone when directory is "" . NULL: out of memory. */
char *mf_path_join(struct mf_arena *arena, const char *directory, const char *name);

#endif /* MF_FILE_H */
