/* SPDX-License-Identifier: MIT */
/*
 * vf_command: the verifier's commands. Each prints for people on standard output and errors on
 * standard error, and returns the process's exit status.
 */
#ifndef VF_COMMAND_H
#define VF_COMMAND_H

#include "vf_options.h"

#include <kiln/kiln_bundle.h>

enum vf_exit {
    VF_EXIT_OK = 0,        /* all passed, or nothing to run on, which is said */
    VF_EXIT_FAILURES = 1,  /* something failed */
    VF_EXIT_USAGE = 2,     /* the command line, or a file named on it, is wrong */
    VF_EXIT_NO_DEVICE = 3, /* no device although --require-device was given */
    VF_EXIT_BUNDLE = 4     /* the bundle was refused */
};

int vf_command_run(const struct vf_options *options);
int vf_command_golden(const struct vf_options *options);
int vf_command_bench(const struct vf_options *options);
int vf_command_devices(const struct vf_options *options);
int vf_command_merge(const struct vf_options *options);

/*
 * Writes a report: atomically, unless the path is there and is no regular file (a terminal, a
 * pipe). Prints the error itself and returns false.
 */
bool vf_output_write(const char *path, const struct mf_buffer *text);

#endif /* VF_COMMAND_H */
