/* SPDX-License-Identifier: MIT */
#include "vf_command.h"
#include "vf_worker.h"

#include <stdio.h>

#ifndef KILN_VERSION
#define KILN_VERSION "0.1.0"
#endif

int main(int argc, char **argv) {
    struct mf_arena arena = {0};
    struct vf_options options;
    struct kiln_error error = {0};
    int status = VF_EXIT_USAGE;

    if (vf_options_parse(argc, argv, &arena, &options, &error) != KILN_OK) {
        fprintf(stderr, "verify: %s\nTry verify --help.\n", error.message);
        mf_arena_release(&arena);
        return VF_EXIT_USAGE;
    }
    switch (options.command) {
    case VF_COMMAND_RUN:
        status = vf_command_run(&options);
        break;
    case VF_COMMAND_GOLDEN:
        status = vf_command_golden(&options);
        break;
    case VF_COMMAND_BENCH:
        status = vf_command_bench(&options);
        break;
    case VF_COMMAND_DEVICES:
        status = vf_command_devices(&options);
        break;
    case VF_COMMAND_MERGE:
        status = vf_command_merge(&options);
        break;
    case VF_COMMAND_WORKER:
        status = vf_worker_run(&options);
        break;
    case VF_COMMAND_HELP:
        fputs(vf_options_help(), stdout);
        status = VF_EXIT_OK;
        break;
    case VF_COMMAND_VERSION:
        puts("verify (kiln) " KILN_VERSION);
        status = VF_EXIT_OK;
        break;
    }
    /* A table that reached nobody is no success. The worker's answers go another way. */
    if (options.command != VF_COMMAND_WORKER && (fflush(stdout) != 0 || ferror(stdout))) {
        fprintf(stderr, "verify: cannot write to standard output\n");
        status = status == VF_EXIT_OK ? VF_EXIT_FAILURES : status;
    }
    mf_arena_release(&arena);
    return status;
}
