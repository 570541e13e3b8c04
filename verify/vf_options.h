/* SPDX-License-Identifier: MIT */
/*
 * vf_options: the verifier's command line.
 */
#ifndef VF_OPTIONS_H
#define VF_OPTIONS_H

#include "mf_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vf_command {
    VF_COMMAND_RUN,
    VF_COMMAND_GOLDEN,  /* operands: DIR */
    VF_COMMAND_BENCH,   /* operands: TABLE */
    VF_COMMAND_DEVICES, /* no operands */
    VF_COMMAND_MERGE,   /* operands: OUT IN... */
    VF_COMMAND_HELP,
    VF_COMMAND_VERSION,
    VF_COMMAND_WORKER /* started by the verifier itself */
};

/* Strings point into argv. */
struct vf_options {
    enum vf_command command;
    const char *const *operands;
    size_t operand_count;
    const char *bundle; /* directory or pack */
    const char *suite_name;
    unsigned suite;             /* VF_SUITE_* bit */
    const char *device;         /* index, part of a name, or "all" */
    const char *const *filters; /* globs on artifact names; none: all */
    size_t filter_count;
    const char *json, *tap, *junit; /* paths; NULL: not written; "-" for tap: standard output */
    const char *replay;             /* "ARTIFACT/CASE"; NULL: everything */
    unsigned jobs;                  /* worker processes */
    uint64_t seed;
    uint32_t timeout_s;           /* of one case */
    uint32_t group_limit;         /* injected; 0: the device's */
    uint64_t storage_range_bytes; /* injected; 0: the device's */
    size_t rounds;                /* of bench */
    bool variants;                /* of bench: print each artifact */
    bool require_device;
    bool allow_unlisted_tuples; /* of cooperative matrices: kiln_instance_params */
    bool list;
    const char *worker; /* IN,OUT: descriptors of a worker process */
    int argc;           /* the whole command line, for starting workers */
    char **argv;
};

/*
 * Parses argv[1..]. Arrays of the result live in `arena`. KILN_ERR_ARGUMENT: the message says which
 * option is wrong and what was expected.
 */
enum kiln_result vf_options_parse(int argc, char **argv, struct mf_arena *arena,
                                  struct vf_options *out, struct kiln_error *error);

/* The help text, static storage, ends in a newline. */
const char *vf_options_help(void);

/*
 * Appends the command line that runs one case of one artifact on one device again, as a shell
 * takes it: bundle, seed and injected limits are kept.
 */
enum kiln_result vf_options_replay(const struct vf_options *options, const char *artifact,
                                   const char *case_id, const char *device, struct mf_buffer *out);

#endif /* VF_OPTIONS_H */
