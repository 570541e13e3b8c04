/* SPDX-License-Identifier: MIT */
/*
 * gs_command: the commands of the genshaders program, each `int gs_command_<noun>(argc, argv)` with
 * argv[0] its own name. They write results to stdout and problems to stderr and return the exit
 * status: 0 done, 1 failed, 2 usage, 3 the lock belongs to another toolchain.
 */
#ifndef GS_COMMAND_H
#define GS_COMMAND_H

#include "gs_diag.h"

enum gs_exit { GS_EXIT_OK = 0, GS_EXIT_FAILED = 1, GS_EXIT_USAGE = 2, GS_EXIT_TOOLCHAIN = 3 };

int gs_command_build(int argc, char **argv);
int gs_command_expand(int argc, char **argv);
int gs_command_import(int argc, char **argv);
int gs_command_inspect(int argc, char **argv);
int gs_command_list(int argc, char **argv);
int gs_command_lock(int argc, char **argv);
int gs_command_normalise(int argc, char **argv);
int gs_command_embed(int argc, char **argv);
int gs_command_pack(int argc, char **argv);
int gs_command_split(int argc, char **argv);

/* All diagnostics, sorted, to stderr. */
void gs_command_diagnostics(const struct gs_diag *diag);

/*
 * Options of a command: `name` takes a value when `value` is set and is a switch when `flag` is.
 * Parses "--name VALUE", "--name=VALUE" and "--name"; other words go to words[] in order, at most
 * word_capacity. Returns the number of words, or -1 after telling stderr what was expected.
 */
struct gs_option {
    const char *name; /* with its dashes */
    const char **value;
    int *flag;
};
int gs_options_parse(int argc, char **argv, const struct gs_option *options, int option_count,
                     const char **words, int word_capacity);

/* A decimal number from 0 to `limit` into *out; 0 and a message when `text` is none, else 1. */
int gs_options_number(const char *command, const char *option, const char *text,
                      unsigned long limit, unsigned long *out);

#endif /* GS_COMMAND_H */
