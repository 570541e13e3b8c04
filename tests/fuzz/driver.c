/* SPDX-License-Identifier: MIT */
/*
 * A main for the fuzz targets where libFuzzer is not at hand (gcc): replays files and, with
 * --mutate N, N damaged copies of each. The damage depends on the seed of --seed only, so that a
 * crash can be repeated; the input in flight is in the file named by --save.
 *
 *   fuzz_yaml [--mutate N] [--seed S] [--save FILE] FILE|DIRECTORY...
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define INPUT_MAX_BYTES ((size_t)1 << 21)

struct driver {
    unsigned long mutations;
    uint64_t random;
    const char *save;
    unsigned long runs;
};

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(struct driver *driver) {
    uint64_t z = driver->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static size_t below(struct driver *driver, size_t limit) {
    return limit == 0 ? 0 : (size_t)(next_random(driver) % limit);
}

static int run(struct driver *driver, const uint8_t *data, size_t size_bytes) {
    /* An allocation of exactly this size lets the address sanitiser see a read past the end. */
    uint8_t *copy = malloc(size_bytes > 0 ? size_bytes : 1);
    if (copy == NULL)
        return 1;
    memcpy(copy, data, size_bytes);
    if (driver->save != NULL) {
        FILE *file = fopen(driver->save, "wb");
        if (file == NULL || fwrite(copy, 1, size_bytes, file) != size_bytes || fclose(file) != 0) {
            fprintf(stderr, "%s: %s\n", driver->save, strerror(errno));
            free(copy);
            return 1;
        }
    }
    LLVMFuzzerTestOneInput(copy, size_bytes);
    driver->runs++;
    free(copy);
    return 0;
}

/* One of: change, insert, remove a byte; repeat, remove a run of bytes. Returns the new size. */
static size_t damage(struct driver *driver, uint8_t *data, size_t size_bytes, size_t capacity) {
    static const char bytes[] = "\n\t :-[]{}&*!%\"'|>#?,$/\\0_\xff";
    size_t at = below(driver, size_bytes + 1);
    size_t length = below(driver, size_bytes - at + 1);
    uint8_t byte = (uint8_t)bytes[below(driver, sizeof bytes - 1)];
    switch (below(driver, 5)) {
    case 0:
        if (at < size_bytes)
            data[at] = byte;
        return size_bytes;
    case 1:
        if (size_bytes == capacity)
            return size_bytes;
        memmove(data + at + 1, data + at, size_bytes - at);
        data[at] = byte;
        return size_bytes + 1;
    case 2:
        if (at == size_bytes)
            return size_bytes;
        memmove(data + at, data + at + 1, size_bytes - at - 1);
        return size_bytes - 1;
    case 3:
        length = length > 64 ? 64 : length;
        if (size_bytes + length > capacity)
            return size_bytes;
        memmove(data + at + length, data + at, size_bytes - at);
        return size_bytes + length;
    default:
        length = length > 64 ? 64 : length;
        memmove(data + at, data + at + length, size_bytes - at - length);
        return size_bytes - length;
    }
}

static int replay_file(struct driver *driver, const char *path) {
    static uint8_t original[INPUT_MAX_BYTES], copy[INPUT_MAX_BYTES];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    size_t size_bytes = fread(original, 1, sizeof original, file);
    int failed = ferror(file);
    fclose(file);
    if (failed) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    failed = run(driver, original, size_bytes);
    for (unsigned long i = 0; i < driver->mutations && !failed; i++) {
        size_t copy_bytes = size_bytes;
        memcpy(copy, original, size_bytes);
        for (size_t steps = 1 + below(driver, 4); steps > 0; steps--)
            copy_bytes = damage(driver, copy, copy_bytes, sizeof copy);
        failed = run(driver, copy, copy_bytes);
    }
    return failed;
}

static int replay(struct driver *driver, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return replay_file(driver, path);
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    int failed = count < 0 ? 1 : 0;
    for (int i = 0; i < count; i++) {
        char *name = NULL;
        if (entries[i]->d_name[0] != '.' && asprintf(&name, "%s/%s", path, entries[i]->d_name) >= 0)
            failed |= replay(driver, name);
        free(name);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argument_count, char **arguments) {
    struct driver driver = {0};
    int failed = 0;
    for (int i = 1; i < argument_count && !failed; i++) {
        if (i + 1 < argument_count && strcmp(arguments[i], "--mutate") == 0)
            driver.mutations = strtoul(arguments[++i], NULL, 10);
        else if (i + 1 < argument_count && strcmp(arguments[i], "--seed") == 0)
            driver.random = strtoull(arguments[++i], NULL, 10);
        else if (i + 1 < argument_count && strcmp(arguments[i], "--save") == 0)
            driver.save = arguments[++i];
        else
            failed = replay(&driver, arguments[i]);
    }
    if (driver.runs == 0) {
        fprintf(stderr, "usage: %s [--mutate N] [--seed S] [--save FILE] FILE|DIRECTORY...\n",
                arguments[0]);
        return 2;
    }
    printf("%lu inputs\n", driver.runs);
    return failed;
}
