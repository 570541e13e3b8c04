/* SPDX-License-Identifier: MIT */
#include "vf_options.h"

#include "vf_bench.h"
#include "vf_case.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_text[] =
    "Usage: verify [options]                run every artifact of a bundle against its reference\n"
    "       verify golden DIR [options]     check decoders and quantisers against golden vectors\n"
    "       verify bench TABLE [options]    check and time the artifacts on a table of problems\n"
    "       verify devices                  list the Vulkan devices\n"
    "       verify merge OUT.json IN.json...  join JSON reports of one bundle\n"
    "\n"
    "  --bundle PATH      bundle: a directory or a pack (default: spv)\n"
    "  --suite NAME       quick (default), seeds or full\n"
    "  --device WHICH     index, part of a name, or all (default: all)\n"
    "  --filter GLOB      only artifacts whose name matches; may be repeated\n"
    "  --json FILE        write the JSON report\n"
    "  --tap FILE         write TAP; - for standard output\n"
    "  --junit FILE       write JUnit XML\n"
    "  --jobs N           worker processes (default: 2, or 1 on a single processor)\n"
    "  --seed S           seed of the test data (default: 0)\n"
    "  --timeout S        seconds that one case may take (default: 60)\n"
    "  --require-device   having no Vulkan device is an error\n"
    "  --allow-unlisted-tuples  run cooperative matrix shapes that a driver does not list, too\n"
    "  --list             print the cases instead of running them\n"
    "  --replay A/C       only case C of artifact A, whatever the suite\n"
    "  --rounds N         bench: how often each time is taken (default: 7)\n"
    "  --variants         bench: a line for each artifact, not only for the fastest\n"
    "  --limits LIST      pretend lower device limits: groups=N,range=BYTES\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 all passed, or nothing to run on; 1 failures; 2 wrong usage;\n"
    "3 no device although --require-device was given; 4 the bundle was refused.\n"
    "\n"
    "KILN_VERIFY_INJECT=crash:ARTIFACT (or hang:, lost:, wrong:) makes that artifact fail on\n"
    "purpose, to see that failures are noticed.\n";

const char *vf_options_help(void) {
    return help_text;
}

static enum kiln_result parse_number(const char *option, const char *text, uint64_t least,
                                     uint64_t most, uint64_t *out, struct kiln_error *error) {
    char *end = NULL;

    errno = 0;
    const unsigned long long value = strtoull(text, &end, 0);
    if (errno || end == text || *end || text[0] == '-' || value < least || value > most) {
        return kiln_error_set(error, KILN_ERR_ARGUMENT,
                              "%s: expected a number from %" PRIu64 " to %" PRIu64 ", got '%s'",
                              option, least, most, text);
    }
    *out = value;
    return KILN_OK;
}

static enum kiln_result parse_limits(const char *text, struct vf_options *out,
                                     struct kiln_error *error) {
    static const char *const keys[] = {"groups=", "range="};
    const char *at = text;

    while (*at) {
        const size_t length = strcspn(at, ",");
        char item[64] = {0};
        size_t which = 0;

        if (length >= sizeof item) {
            which = 2;
        } else {
            memcpy(item, at, length);
            while (which < 2 && strncmp(item, keys[which], strlen(keys[which])) != 0) {
                which++;
            }
        }
        if (which == 2) {
            return kiln_error_set(error, KILN_ERR_ARGUMENT,
                                  "--limits: expected groups=N or range=BYTES, got '%.*s'",
                                  (int)length, at);
        }
        uint64_t value = 0;
        const enum kiln_result result =
            parse_number("--limits", item + strlen(keys[which]), 1,
                         which == 0 ? UINT32_MAX : UINT64_MAX, &value, error);
        if (result != KILN_OK) {
            return result;
        }
        if (which == 0) {
            out->group_limit = (uint32_t)value;
        } else {
            out->storage_range_bytes = value;
        }
        at += length + (at[length] == ',');
    }
    return KILN_OK;
}

enum option_id {
    OPTION_BUNDLE,
    OPTION_SUITE,
    OPTION_DEVICE,
    OPTION_FILTER,
    OPTION_JSON,
    OPTION_TAP,
    OPTION_JUNIT,
    OPTION_JOBS,
    OPTION_SEED,
    OPTION_TIMEOUT,
    OPTION_REPLAY,
    OPTION_LIMITS,
    OPTION_ROUNDS,
    OPTION_WORKER,
    OPTION_REQUIRE_DEVICE,
    OPTION_UNLISTED_TUPLES,
    OPTION_LIST,
    OPTION_VARIANTS,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
};

/* Options from OPTION_REQUIRE_DEVICE on take no value. */
static const char *const option_names[OPTION_COUNT] = {
    [OPTION_BUNDLE] = "--bundle",   [OPTION_SUITE] = "--suite",
    [OPTION_DEVICE] = "--device",   [OPTION_FILTER] = "--filter",
    [OPTION_JSON] = "--json",       [OPTION_TAP] = "--tap",
    [OPTION_JUNIT] = "--junit",     [OPTION_JOBS] = "--jobs",
    [OPTION_SEED] = "--seed",       [OPTION_TIMEOUT] = "--timeout",
    [OPTION_REPLAY] = "--replay",   [OPTION_LIMITS] = "--limits",
    [OPTION_ROUNDS] = "--rounds",   [OPTION_VARIANTS] = "--variants",
    [OPTION_WORKER] = "--worker",   [OPTION_REQUIRE_DEVICE] = "--require-device",
    [OPTION_LIST] = "--list",       [OPTION_HELP] = "--help",
    [OPTION_VERSION] = "--version", [OPTION_UNLISTED_TUPLES] = "--allow-unlisted-tuples",
};

static enum kiln_result option_value(enum option_id id, const char *value, struct vf_options *out,
                                     const char **filters, struct kiln_error *error) {
    uint64_t number = 0;
    enum kiln_result result = KILN_OK;

    switch (id) {
    case OPTION_BUNDLE:
        out->bundle = value;
        break;
    case OPTION_SUITE:
        out->suite_name = value;
        out->suite = vf_suite_find(value);
        if (!out->suite) {
            result = kiln_error_set(error, KILN_ERR_ARGUMENT,
                                    "--suite: expected quick, seeds or full, got '%s'", value);
        }
        break;
    case OPTION_DEVICE:
        out->device = value;
        break;
    case OPTION_FILTER:
        filters[out->filter_count++] = value;
        break;
    case OPTION_JSON:
        out->json = value;
        break;
    case OPTION_TAP:
        out->tap = value;
        break;
    case OPTION_JUNIT:
        out->junit = value;
        break;
    case OPTION_JOBS:
        result = parse_number("--jobs", value, 1, 256, &number, error);
        out->jobs = (unsigned)number;
        break;
    case OPTION_SEED:
        result = parse_number("--seed", value, 0, UINT64_MAX, &out->seed, error);
        break;
    case OPTION_TIMEOUT:
        result = parse_number("--timeout", value, 1, 86400, &number, error);
        out->timeout_s = (uint32_t)number;
        break;
    case OPTION_REPLAY:
        out->replay = value;
        if (!strchr(value, '/')) {
            result = kiln_error_set(error, KILN_ERR_ARGUMENT,
                                    "--replay: expected ARTIFACT/CASE, got '%s'", value);
        }
        break;
    case OPTION_LIMITS:
        result = parse_limits(value, out, error);
        break;
    case OPTION_ROUNDS:
        result = parse_number("--rounds", value, 1, VF_BENCH_ROUNDS_MAX, &number, error);
        out->rounds = (size_t)number;
        break;
    case OPTION_WORKER:
        out->worker = value;
        break;
    default:
        break;
    }
    return result;
}

static void option_flag(enum option_id id, struct vf_options *out) {
    switch (id) {
    case OPTION_REQUIRE_DEVICE:
        out->require_device = true;
        break;
    case OPTION_UNLISTED_TUPLES:
        out->allow_unlisted_tuples = true;
        break;
    case OPTION_LIST:
        out->list = true;
        break;
    case OPTION_VARIANTS:
        out->variants = true;
        break;
    case OPTION_HELP:
        out->command = VF_COMMAND_HELP;
        break;
    default:
        out->command = VF_COMMAND_VERSION;
        break;
    }
}

/* The value of option `id` at argv[*at]: "--name=value" or the next word. NULL when missing. */
static const char *take_value(enum option_id id, int argc, char **argv, int *at) {
    const size_t length = strlen(option_names[id]);

    if (argv[*at][length] == '=') {
        return argv[*at] + length + 1;
    }
    return *at + 1 < argc ? argv[++*at] : NULL;
}

static enum option_id option_find(const char *word) {
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const size_t length = strlen(option_names[i]);
        if (strncmp(word, option_names[i], length) == 0 &&
            (word[length] == '\0' || (word[length] == '=' && i < OPTION_REQUIRE_DEVICE))) {
            return (enum option_id)i;
        }
    }
    return OPTION_COUNT;
}

static enum kiln_result check_operands(const char *const *operands, size_t count,
                                       struct vf_options *out, struct kiln_error *error) {
    static const struct {
        const char *name;
        enum vf_command command;
        size_t least, most;
        const char *expected;
    } commands[] = {
        {"golden", VF_COMMAND_GOLDEN, 1, 1, "golden DIR"},
        {"bench", VF_COMMAND_BENCH, 1, 1, "bench TABLE"},
        {"devices", VF_COMMAND_DEVICES, 0, 0, "devices"},
        {"merge", VF_COMMAND_MERGE, 2, SIZE_MAX, "merge OUT.json IN.json..."},
    };

    if (count == 0 || out->command != VF_COMMAND_RUN) {
        return KILN_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(operands[0], commands[i].name) == 0) {
            if (count - 1 < commands[i].least || count - 1 > commands[i].most) {
                return kiln_error_set(error, KILN_ERR_ARGUMENT, "expected: verify %s",
                                      commands[i].expected);
            }
            out->command = commands[i].command;
            out->operands = operands + 1;
            out->operand_count = count - 1;
            return KILN_OK;
        }
    }
    return kiln_error_set(error, KILN_ERR_ARGUMENT,
                          "expected an option, golden, bench, devices or merge, got '%s'",
                          operands[0]);
}

enum kiln_result vf_options_parse(int argc, char **argv, struct mf_arena *arena,
                                  struct vf_options *out, struct kiln_error *error) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const char **filters = mf_arena_alloc(arena, (size_t)argc + 1, sizeof *filters);
    const char **operands = mf_arena_alloc(arena, (size_t)argc + 1, sizeof *operands);
    size_t operand_count = 0;

    *out = (struct vf_options){.bundle = "spv",
                               .suite_name = "quick",
                               .suite = VF_SUITE_QUICK,
                               .device = "all",
                               .jobs = processors > 1 ? 2 : 1,
                               .timeout_s = 60,
                               .rounds = 7,
                               .filters = filters,
                               .argc = argc,
                               .argv = argv};
    if (!filters || !operands) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    for (int at = 1; at < argc; at++) {
        if (argv[at][0] != '-' || argv[at][1] == '\0') {
            operands[operand_count++] = argv[at];
            continue;
        }
        const enum option_id id = option_find(argv[at]);
        if (id == OPTION_COUNT) {
            return kiln_error_set(error, KILN_ERR_ARGUMENT, "unknown option '%s'", argv[at]);
        }
        if (id >= OPTION_REQUIRE_DEVICE) {
            option_flag(id, out);
            continue;
        }
        const char *value = take_value(id, argc, argv, &at);
        if (!value) {
            return kiln_error_set(error, KILN_ERR_ARGUMENT, "%s needs a value", option_names[id]);
        }
        const enum kiln_result result = option_value(id, value, out, filters, error);
        if (result != KILN_OK) {
            return result;
        }
    }
    const enum kiln_result result = check_operands(operands, operand_count, out, error);
    if (result == KILN_OK && out->worker) {
        out->command = VF_COMMAND_WORKER;
    }
    return result;
}

/* Appends a word in single quotes, ' as '\''. Quotes only where a shell needs them. */
static void append_quoted(struct mf_buffer *out, const char *word) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-./=,:+";

    if (*word && word[strspn(word, plain)] == '\0') {
        mf_buffer_append_string(out, word);
        return;
    }
    mf_buffer_append_string(out, "'");
    for (const char *c = word; *c; c++) {
        if (*c == '\'') {
            mf_buffer_append_string(out, "'\\''");
        } else {
            mf_buffer_append(out, c, 1);
        }
    }
    mf_buffer_append_string(out, "'");
}

enum kiln_result vf_options_replay(const struct vf_options *options, const char *artifact,
                                   const char *case_id, const char *device, struct mf_buffer *out) {
    mf_buffer_append_string(out, "verify --bundle ");
    append_quoted(out, options->bundle);
    mf_buffer_append_string(out, " --device ");
    append_quoted(out, device);
    mf_buffer_append_format(out, " --seed %" PRIu64, options->seed);
    if (options->allow_unlisted_tuples) {
        mf_buffer_append_string(out, " --allow-unlisted-tuples");
    }
    if (options->group_limit && options->storage_range_bytes) {
        mf_buffer_append_format(out, " --limits groups=%" PRIu32 ",range=%" PRIu64,
                                options->group_limit, options->storage_range_bytes);
    } else if (options->group_limit) {
        mf_buffer_append_format(out, " --limits groups=%" PRIu32, options->group_limit);
    } else if (options->storage_range_bytes) {
        mf_buffer_append_format(out, " --limits range=%" PRIu64, options->storage_range_bytes);
    }
    return mf_buffer_append_format(out, " --replay %s/%s", artifact, case_id);
}
