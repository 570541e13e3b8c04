/* SPDX-License-Identifier: MIT */
#include "mf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char scratch[4000];

/* scratch + "/" + name, in one of several static buffers. */
static const char *at(const char *name) {
    static char paths[8][4200];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static int make_scratch(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    (void)snprintf(scratch, sizeof scratch, "%s/kiln file \xc3\xa4 XXXXXX",
                   parent ? parent : "/tmp");
    return mkdtemp(scratch) && chmod(scratch, 0755) == 0 ? 0 : -1;
}

static void remove_tree(const char *path) {
    struct mf_arena arena = {0};
    char **names = NULL;
    size_t count = 0;
    (void)chmod(path, 0755);
    for (int directories = 0; directories < 2; directories++) {
        if (mf_file_list(path, directories == 1, &arena, &names, &count, NULL) != KILN_OK) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            char *child = mf_path_join(&arena, path, names[i]);
            if (directories) {
                remove_tree(child);
            } else {
                (void)unlink(child);
            }
        }
    }
    mf_arena_release(&arena);
    (void)rmdir(path);
}

static int remove_scratch(void **state) {
    (void)state;
    (void)unlink(at("link"));
    (void)unlink(at("dangling"));
    (void)unlink(at("fifo"));
    (void)unlink(at("pipe"));
    (void)unlink(at("device"));
    remove_tree(scratch);
    return access(scratch, F_OK) == 0 ? -1 : 0;
}

static void put_raw(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static bool holds(const char *path, const char *text) {
    struct mf_buffer found = {0};
    bool equal = mf_file_read(path, 0, &found, NULL) == KILN_OK &&
                 found.size_bytes == strlen(text) && memcmp(found.data, text, strlen(text)) == 0;
    mf_buffer_release(&found);
    return equal;
}

/* Names of regular files in `path` that look like leftovers of a write. */
static size_t count_leftovers(const char *path) {
    struct mf_arena arena = {0};
    char **names = NULL;
    size_t count = 0;
    size_t leftovers = 0;
    (void)mf_file_list(path, false, &arena, &names, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        leftovers += strstr(names[i], ".tmp.") != NULL;
    }
    mf_arena_release(&arena);
    return leftovers;
}

/* Runs `body` in a child. Its return value: 0 passed, 77 skipped, anything else failed. */
static int in_child(int (*body)(void)) {
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(body());
    }
    int status = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void reads_whole_files(void **state) {
    (void)state;
    struct mf_buffer out = {0};
    struct kiln_error error;
    char *large = malloc(200001);
    assert_non_null(large);
    for (size_t i = 0; i < 200000; i++) {
        large[i] = (char)('0' + i % 71);
    }
    large[200000] = '\0';
    put_raw(at("large"), large);
    assert_int_equal(mf_file_read(at("large"), 0, &out, &error), KILN_OK);
    assert_int_equal(out.size_bytes, 200000);
    assert_string_equal(out.data, large);
    free(large);
    put_raw(at("empty"), "");
    assert_int_equal(mf_file_read(at("empty"), 0, &out, &error), KILN_OK);
    assert_int_equal(out.size_bytes, 0);
    assert_string_equal(out.data, "");
    /* Files whose size is stated as 0. */
    assert_int_equal(mf_file_read("/proc/self/status", 0, &out, &error), KILN_OK);
    assert_true(out.size_bytes > 100);
    mf_buffer_release(&out);
}

static void reading_fails_with_the_path_and_reason(void **state) {
    (void)state;
    struct mf_buffer out = {0};
    struct kiln_error error;
    assert_int_equal(mf_buffer_append_string(&out, "old"), KILN_OK);
    assert_int_equal(mf_file_read(at("missing"), 0, &out, &error), KILN_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "/missing: cannot open: No such file"));
    assert_int_equal(out.size_bytes, 0);
    assert_int_equal(mf_file_read(scratch, 0, &out, &error), KILN_ERR_IO);
    assert_non_null(strstr(error.message, "not a regular file"));
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    assert_int_equal(mf_file_read(at("fifo"), 0, &out, &error), KILN_ERR_IO);
    put_raw(at("five"), "12345");
    assert_int_equal(mf_file_read(at("five"), 5, &out, &error), KILN_OK);
    assert_int_equal(mf_file_read(at("five"), 4, &out, &error), KILN_ERR_LIMIT);
    assert_int_equal(out.size_bytes, 0);
    assert_non_null(strstr(error.message, "limit of 4 bytes"));
    assert_int_equal(mf_file_read("/proc/self/status", 10, &out, &error), KILN_ERR_LIMIT);
    assert_int_equal(out.size_bytes, 0);
    assert_int_equal(mf_file_read(at("five/x"), 0, &out, &error), KILN_ERR_IO);
    mf_buffer_release(&out);
}

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info.st_mode;
}

static void writes_with_a_fixed_mode(void **state) {
    (void)state;
    bool changed = false;
    mode_t before = umask(0077);
    assert_int_equal(mf_file_write_atomic(at("out"), "one", 3, &changed, NULL), KILN_OK);
    assert_int_equal(mf_file_write_atomic(at("none"), NULL, 0, NULL, NULL), KILN_OK);
    (void)umask(before);
    assert_true(changed);
    assert_true(holds(at("out"), "one"));
    assert_true(holds(at("none"), ""));
    assert_int_equal(mode_of(at("out")) & 07777, 0644);
    assert_int_equal(chmod(at("out"), 0600), 0);
    assert_int_equal(mf_file_write_atomic(at("out"), "one", 3, &changed, NULL), KILN_OK);
    assert_false(changed);
    assert_int_equal(mode_of(at("out")) & 07777, 0644);
    assert_int_equal(mf_file_write_atomic(at("out"), "two!", 4, &changed, NULL), KILN_OK);
    assert_true(changed);
    assert_true(holds(at("out"), "two!"));
    /* Equal size, other bytes. */
    assert_int_equal(mf_file_write_atomic(at("out"), "two?", 4, &changed, NULL), KILN_OK);
    assert_true(changed);
    assert_true(holds(at("out"), "two?"));
    assert_int_equal(count_leftovers(scratch), 0);
}

static void an_unchanged_file_keeps_its_time_and_inode(void **state) {
    (void)state;
    struct stat before;
    struct stat after;
    assert_int_equal(mf_file_write_atomic(at("same"), "text", 4, NULL, NULL), KILN_OK);
    const struct timespec past[2] = {{1000000000, 123456789}, {1000000000, 123456789}};
    assert_int_equal(utimensat(AT_FDCWD, at("same"), past, 0), 0);
    assert_int_equal(stat(at("same"), &before), 0);
    bool changed = true;
    assert_int_equal(mf_file_write_atomic(at("same"), "text", 4, &changed, NULL), KILN_OK);
    assert_false(changed);
    assert_int_equal(stat(at("same"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(after.st_mtim.tv_sec, 1000000000);
    assert_int_equal(after.st_mtim.tv_nsec, 123456789);
    struct mf_file_stat seen;
    assert_int_equal(mf_file_stat(at("same"), &seen, NULL), KILN_OK);
    assert_true(seen.size_bytes == 4);
    assert_true(seen.mtime_ns == INT64_C(1000000000123456789));
    assert_int_equal(mf_file_write_atomic(at("same"), "Text", 4, &changed, NULL), KILN_OK);
    assert_true(changed);
    assert_int_equal(mf_file_stat(at("same"), &seen, NULL), KILN_OK);
    assert_true(seen.mtime_ns > INT64_C(1000000000123456789));
}

static void a_link_is_replaced_and_its_target_kept(void **state) {
    (void)state;
    put_raw(at("target"), "text");
    assert_int_equal(symlink("target", at("link")), 0);
    bool changed = false;
    assert_int_equal(mf_file_write_atomic(at("link"), "text", 4, &changed, NULL), KILN_OK);
    assert_true(changed);
    assert_true(S_ISREG(mode_of(at("link"))));
    assert_true(holds(at("target"), "text"));
}

static void devices_and_pipes_are_not_replaced(void **state) {
    (void)state;
    struct kiln_error error;
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    assert_int_equal(mf_file_write_atomic(at("pipe"), "x", 1, NULL, &error), KILN_ERR_PATH);
    assert_non_null(strstr(error.message, "/pipe: expected a regular file"));
    assert_true(S_ISFIFO(mode_of(at("pipe"))));
    assert_int_equal(symlink("/dev/full", at("device")), 0);
    assert_int_equal(mf_file_write_atomic(at("device"), "x", 1, NULL, NULL), KILN_ERR_PATH);
    assert_true(S_ISLNK(mode_of(at("device"))));
}

static void failed_writes_change_nothing(void **state) {
    (void)state;
    struct kiln_error error;
    bool changed = true;
    assert_int_equal(mf_file_write_atomic(at("no/such/file"), "x", 1, &changed, &error),
                     KILN_ERR_IO);
    assert_false(changed);
    assert_non_null(strstr(error.message, "no/such/file: cannot create a temporary file"));
    assert_int_equal(mf_file_make_directory(at("dir"), NULL), KILN_OK);
    put_raw(at("dir/child"), "kept");
    assert_int_equal(mf_file_write_atomic(at("dir"), "x", 1, &changed, &error), KILN_ERR_IO);
    assert_non_null(strstr(error.message, "cannot rename into place"));
    assert_true(holds(at("dir/child"), "kept"));
    assert_int_equal(count_leftovers(scratch), 0);
}

static int read_only_body(void) {
    struct kiln_error error;
    /* Root may write anywhere, so the child becomes somebody else; it may then be unable to walk to
     * the directory by its full path. */
    if (chdir(scratch) != 0) {
        return 1;
    }
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
        return 77;
    }
    if (!holds("closed/file", "old")) {
        return 2;
    }
    if (mf_file_write_atomic("closed/file", "new", 3, NULL, &error) != KILN_ERR_IO ||
        !strstr(error.message, "Permission denied")) {
        return 3;
    }
    if (mf_file_write_atomic("closed/other", "new", 3, NULL, &error) != KILN_ERR_IO) {
        return 4;
    }
    return holds("closed/file", "old") ? 0 : 5;
}

static void a_read_only_directory_is_an_error(void **state) {
    (void)state;
    assert_int_equal(mf_file_make_directory(at("closed"), NULL), KILN_OK);
    put_raw(at("closed/file"), "old");
    assert_int_equal(chmod(at("closed"), 0555), 0);
    int status = in_child(read_only_body);
    assert_int_equal(chmod(at("closed"), 0755), 0);
    if (status == 77) {
        print_message("# root rights cannot be given up here\n");
        skip();
    }
    assert_int_equal(status, 0);
    assert_int_equal(count_leftovers(at("closed")), 0);
}

/* The file in `directory` holds "old"; 3 MB do not fit. */
static int check_no_space(const char *path, const char *directory, const char *reason) {
    struct kiln_error error = {0};
    const size_t size = 3000000;
    char *bytes = calloc(size, 1);
    if (!bytes) {
        return 10;
    }
    bool changed = true;
    enum kiln_result result = mf_file_write_atomic(path, bytes, size, &changed, &error);
    free(bytes);
    if (result != KILN_ERR_IO || changed || !strstr(error.message, reason) ||
        !strstr(error.message, path)) {
        print_error("%d %s\n", result, error.message);
        return 11;
    }
    return holds(path, "old") && count_leftovers(directory) == 0 ? 0 : 12;
}

static int full_disk_body(void) {
    char path[4300];
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
        return 77;
    }
    (void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    if (mount("tmpfs", at("full"), "tmpfs", 0, "size=1m") != 0) {
        return 77;
    }
    (void)snprintf(path, sizeof path, "%s/file", at("full"));
    if (mf_file_write_atomic(path, "old", 3, NULL, NULL) != KILN_OK) {
        return 1;
    }
    int status = check_no_space(path, at("full"), "No space left on device");
    if (status == 0 && mf_file_write_atomic(path, "new", 3, NULL, NULL) != KILN_OK) {
        status = 2; /* the failed write must have given its space back */
    }
    (void)umount(at("full"));
    return status;
}

static void a_full_disk_keeps_the_old_file(void **state) {
    (void)state;
    assert_int_equal(mf_file_make_directory(at("full"), NULL), KILN_OK);
    int status = in_child(full_disk_body);
    if (status == 77) {
        print_message("# mounting a small tmpfs is not permitted here\n");
        skip();
    }
    assert_int_equal(status, 0);
}

static int file_size_limit_body(void) {
    const struct rlimit limit = {1000000, 1000000};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 1;
    }
    return check_no_space(at("limited/file"), at("limited"), "File too large");
}

/* The kernel first writes a part, then refuses: a short write without any full disk. */
static void a_short_write_keeps_the_old_file(void **state) {
    (void)state;
    assert_int_equal(mf_file_make_directory(at("limited"), NULL), KILN_OK);
    put_raw(at("limited/file"), "old");
    assert_int_equal(in_child(file_size_limit_body), 0);
}

#define WRITERS 4
#define RACE_BYTES 100000

static int race_writer(int number) {
    char *bytes = malloc(RACE_BYTES);
    for (int i = 0; bytes && i < 15; i++) {
        memset(bytes, 'A' + number * 5 + i % 5, RACE_BYTES);
        if (mf_file_write_atomic(at("race/file"), bytes, RACE_BYTES, NULL, NULL) != KILN_OK) {
            free(bytes);
            return 1;
        }
    }
    free(bytes);
    return 0;
}

static void concurrent_writers_never_mix(void **state) {
    (void)state;
    pid_t writers[WRITERS];
    assert_int_equal(mf_file_make_directory(at("race"), NULL), KILN_OK);
    (void)fflush(NULL);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        if (writers[i] == 0) {
            _exit(race_writer(i));
        }
        assert_true(writers[i] > 0);
    }
    struct mf_buffer seen = {0};
    size_t reads = 0;
    int running = WRITERS;
    int failures = 0;
    size_t mixed = 0;
    while (running > 0) {
        int status = 0;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        running -= ended > 0;
        failures += ended > 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0);
        if (mf_file_read(at("race/file"), 0, &seen, NULL) == KILN_OK) {
            reads++;
            mixed += seen.size_bytes != RACE_BYTES ||
                     memcmp(seen.data, seen.data + 1, RACE_BYTES - 1) != 0;
        }
    }
    mf_buffer_release(&seen);
    assert_int_equal(failures, 0);
    assert_int_equal(mixed, 0);
    assert_true(reads > 0);
    assert_int_equal(count_leftovers(at("race")), 0);
}

static void directories_are_made_with_parents(void **state) {
    (void)state;
    struct kiln_error error;
    mode_t before = umask(0077);
    assert_int_equal(mf_file_make_directory(at("a/b c/d/"), NULL), KILN_OK);
    (void)umask(before);
    assert_int_equal(mode_of(at("a")), S_IFDIR | 0755);
    assert_int_equal(mode_of(at("a/b c")), S_IFDIR | 0755);
    assert_int_equal(mode_of(at("a/b c/d")), S_IFDIR | 0755);
    assert_int_equal(chmod(at("a"), 0700), 0);
    assert_int_equal(mf_file_make_directory(at("a//b c/d"), NULL), KILN_OK);
    assert_int_equal(mode_of(at("a")), S_IFDIR | 0700);
    assert_int_equal(mf_file_make_directory("/", NULL), KILN_OK);
    put_raw(at("plain"), "x");
    assert_int_equal(mf_file_make_directory(at("plain"), &error), KILN_ERR_IO);
    assert_non_null(strstr(error.message, "Not a directory"));
    assert_int_equal(mf_file_make_directory(at("plain/sub"), &error), KILN_ERR_IO);
    assert_int_equal(mf_file_make_directory("", &error), KILN_ERR_IO);
}

static void stat_wants_regular_files(void **state) {
    (void)state;
    struct mf_file_stat seen = {7, 7};
    assert_int_equal(mf_file_stat(at("missing"), &seen, NULL), KILN_ERR_NOT_FOUND);
    assert_true(seen.size_bytes == 0 && seen.mtime_ns == 0);
    assert_int_equal(mf_file_stat(scratch, &seen, NULL), KILN_ERR_PATH);
    assert_int_equal(symlink("nowhere", at("dangling")), 0);
    assert_int_equal(mf_file_stat(at("dangling"), &seen, NULL), KILN_ERR_NOT_FOUND);
    put_raw(at("file"), "12345678");
    assert_int_equal(mf_file_stat(at("file/x"), &seen, NULL), KILN_ERR_NOT_FOUND);
    assert_int_equal(mf_file_stat(at("file"), &seen, NULL), KILN_OK);
    assert_true(seen.size_bytes == 8 && seen.mtime_ns > 0);
}

static int try_lock(void) {
    int handle = 5;
    struct kiln_error error;
    enum kiln_result result = mf_file_lock(at("lock"), false, &handle, &error);
    if (result == KILN_ERR_BUSY) {
        return handle == -1 && strstr(error.message, "/lock: locked by") ? 1 : 3;
    }
    return result == KILN_OK ? 0 : 4;
}

static int wait_for_lock(void) {
    int handle = -1;
    (void)alarm(30);
    return mf_file_lock(at("lock"), true, &handle, NULL) == KILN_OK && handle >= 0 ? 0 : 1;
}

static void locks_exclude_other_processes(void **state) {
    (void)state;
    int handle = -1;
    assert_int_equal(mf_file_lock(at("lock"), false, &handle, NULL), KILN_OK);
    assert_true(handle >= 0);
    assert_int_equal(in_child(try_lock), 1);
    int second = 0;
    assert_int_equal(mf_file_lock(at("lock"), false, &second, NULL), KILN_ERR_BUSY);
    assert_int_equal(second, -1);
    mf_file_unlock(&handle);
    assert_int_equal(handle, -1);
    mf_file_unlock(&handle);
    assert_int_equal(in_child(try_lock), 0);
    assert_int_equal(access(at("lock"), F_OK), 0);
    assert_int_equal(mf_file_lock(at("no/lock"), false, &handle, NULL), KILN_ERR_IO);
    assert_int_equal(handle, -1);
}

static void a_killed_holder_frees_the_lock(void **state) {
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    (void)fflush(NULL);
    pid_t holder = fork();
    if (holder == 0) {
        int handle = -1;
        char byte = mf_file_lock(at("lock"), true, &handle, NULL) == KILN_OK ? 'y' : 'n';
        ssize_t written = write(ready[1], &byte, 1);
        (void)sleep(60);
        _exit(written == 1 ? 0 : 1);
    }
    char byte = 0;
    assert_true(holder > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(in_child(try_lock), 1);
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(in_child(wait_for_lock), 0);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

static void lists_are_sorted_and_filtered(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    char **names = NULL;
    size_t count = 0;
    assert_int_equal(mf_file_make_directory(at("listed/sub"), NULL), KILN_OK);
    assert_int_equal(mf_file_make_directory(at("listed/Sub"), NULL), KILN_OK);
    put_raw(at("listed/b"), "");
    put_raw(at("listed/B"), "");
    put_raw(at("listed/a b"), "");
    put_raw(at("listed/.hidden"), "");
    put_raw(at("listed/\xc3\xa4"), "");
    assert_int_equal(symlink("b", at("listed/link")), 0);
    assert_int_equal(mf_file_list(at("listed"), false, &arena, &names, &count, NULL), KILN_OK);
    static const char *const files[] = {".hidden", "B", "a b", "b", "\xc3\xa4"};
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(names[i], files[i]);
    }
    assert_int_equal(mf_file_list(at("listed"), true, &arena, &names, &count, NULL), KILN_OK);
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "Sub");
    assert_string_equal(names[1], "sub");
    assert_int_equal(mf_file_list(at("listed/sub"), true, &arena, &names, &count, NULL), KILN_OK);
    assert_int_equal(count, 0);
    struct kiln_error error;
    assert_int_equal(mf_file_list(at("missing"), true, &arena, &names, &count, &error),
                     KILN_ERR_NOT_FOUND);
    assert_int_equal(mf_file_list(at("listed/b"), true, &arena, &names, &count, &error),
                     KILN_ERR_IO);
    assert_null(names);
    assert_int_equal(unlink(at("listed/link")), 0);
    mf_arena_release(&arena);
}

static void bundle_paths_are_checked(void **state) {
    (void)state;
    static const char *const good[] = {"a",   "a.spv", "a/b.spv", "A-Z_0.9/x", "..a",
                                       "a..", "...",   ".a",      "-",         "a/..b/c"};
    static const char *const bad[] = {"",       "/",    "/a",    "a/",    "a//b",  ".",
                                      "..",     "./a",  "../a",  "a/.",   "a/..",  "a/./b",
                                      "a/../b", "a\\b", "a b",   "a:b",   "a\nb",  "\xc3\xa4",
                                      "a*",     "~",    "a\x7f", "$HOME", "a%2fb", "//a"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(mf_path_check(good[i], NULL), KILN_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct kiln_error error = {0};
        assert_int_equal(mf_path_check(bad[i], &error), KILN_ERR_PATH);
        assert_non_null(strstr(error.message, "path \""));
    }
    char path[257];
    memset(path, 'a', sizeof path);
    path[255] = '\0';
    assert_int_equal(mf_path_check(path, NULL), KILN_OK);
    path[255] = 'a';
    path[256] = '\0';
    assert_int_equal(mf_path_check(path, NULL), KILN_ERR_PATH);
}

static void paths_are_joined(void **state) {
    (void)state;
    struct mf_arena arena = {0};
    assert_string_equal(mf_path_join(&arena, "spv", "a.spv"), "spv/a.spv");
    assert_string_equal(mf_path_join(&arena, "", "a.spv"), "a.spv");
    mf_arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_whole_files),
        cmocka_unit_test(reading_fails_with_the_path_and_reason),
        cmocka_unit_test(writes_with_a_fixed_mode),
        cmocka_unit_test(an_unchanged_file_keeps_its_time_and_inode),
        cmocka_unit_test(a_link_is_replaced_and_its_target_kept),
        cmocka_unit_test(devices_and_pipes_are_not_replaced),
        cmocka_unit_test(failed_writes_change_nothing),
        cmocka_unit_test(a_read_only_directory_is_an_error),
        cmocka_unit_test(a_full_disk_keeps_the_old_file),
        cmocka_unit_test(a_short_write_keeps_the_old_file),
        cmocka_unit_test(concurrent_writers_never_mix),
        cmocka_unit_test(directories_are_made_with_parents),
        cmocka_unit_test(stat_wants_regular_files),
        cmocka_unit_test(locks_exclude_other_processes),
        cmocka_unit_test(a_killed_holder_frees_the_lock),
        cmocka_unit_test(lists_are_sorted_and_filtered),
        cmocka_unit_test(bundle_paths_are_checked),
        cmocka_unit_test(paths_are_joined),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
