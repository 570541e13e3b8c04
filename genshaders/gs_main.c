/* SPDX-License-Identifier: MIT */
#include "gs_build.h"
#include "gs_command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int gs_command_version(int argc, char **argv);

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
    const char *help; /* what stands behind "usage: genshaders <name>" */
};

static const struct command commands[] = {
    {"build", gs_command_build, "expand, compile and publish all variants",
     " [OPTIONS]\n"
     "\n"
     "Brings a bundle up to date with a template tree. Only what changed is compiled, and the\n"
     "bundle changes only when everything succeeded.\n"
     "\n"
     "  --templates DIR  the template tree (templates)\n"
     "  --out DIR        the bundle: manifest.json and the modules (spv)\n"
     "  --cache DIR      results of earlier runs (build/cache)\n"
     "  --jobs N         threads; 0: one per processor (0)\n"
     "  --json           a summary with all errors as one line of JSON on standard output\n"
     "  --quiet          nothing but errors\n"},
    {"list", gs_command_list, "print the names of all variants",
     " [--templates DIR]\n"
     "\n"
     "Prints the name of every artifact that the tree would produce, sorted, one a line.\n"
     "\n"
     "  --templates DIR  the template tree (templates)\n"},
    {"expand", gs_command_expand, "write the expanded GLSL of all variants",
     " [--templates DIR] --out DIR\n"
     "\n"
     "Writes DIR/<name>.comp for every variant: the preprocessed text that is compiled. Prints\n"
     "a line `name target` for each.\n"
     "\n"
     "  --templates DIR  the template tree (templates)\n"
     "  --out DIR        where the files go; made when missing\n"},
    {"lock", gs_command_lock, "write or check the list of what a tree produces",
     " [--manifest FILE] (--write LOCK | --compare LOCK)\n"
     "\n"
     "  --manifest FILE  the bundle's manifest (spv/manifest.json)\n"
     "  --write LOCK     write the names and hashes of its artifacts\n"
     "  --compare LOCK   print what differs; status 1 if anything does, 3 if the lock was\n"
     "                   made with another toolchain\n"},
    {"pack", gs_command_pack, "write a bundle as one file",
     " [--bundle DIR] [--out FILE]\n"
     "\n"
     "  --bundle DIR  the bundle: manifest.json and the modules (spv)\n"
     "  --out FILE    the pack (spv/kernels.kiln)\n"},
    {"embed", gs_command_embed, "a pack as C source, to be linked in",
     " PACK OUT.c\n"
     "\n"
     "The source defines what kiln/kiln_embed.h declares.\n"},
    {"inspect", gs_command_inspect, "print what a SPIR-V module is and needs",
     " FILE.spv...\n"
     "\n"
     "Prints entry points, local size, bindings, push constants, specialisation constants,\n"
     "capabilities, the device features they need, workgroup memory and the instructions, most\n"
     "frequent first.\n"},
    {"import", gs_command_import, "make a bundle of modules from other front ends",
     " FILE.spv|DIR... --out DIR [--recipe NAME]\n"
     "\n"
     "Takes compute modules of any compiler: splits them by entry point, names each entry point\n"
     "`main`, optimises, reflects and hashes them, and writes a manifest. Of a directory, every\n"
     "*.spv in it. One module that is refused, and nothing is written.\n"
     "\n"
     "  --out DIR      the bundle: manifest.json and the modules\n"
     "  --recipe NAME  performance, size or none: leave the instructions as they are (none)\n"},
    {"normalise", gs_command_normalise, "name a module's entry point `main`",
     " IN.spv OUT.spv\n"
     "\n"
     "The module must have exactly one entry point, of a compute shader.\n"},
    {"split", gs_command_split, "one normalised module per entry point",
     " IN.spv DIR\n"
     "\n"
     "Writes DIR/0.spv, DIR/1.spv and so on, in the order of the entry points.\n"},
    {"version", gs_command_version, "print the toolchain signature",
     "\n"
     "\n"
     "Prints the versions that artifacts depend on, as they are part of every recipe hash.\n"},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static int gs_command_version(int argc, char **argv) {
    struct mf_arena arena = {0};
    struct mf_toolchain toolchain;
    if (gs_options_parse(argc, argv, NULL, 0, NULL, 0) < 0) {
        return GS_EXIT_USAGE;
    }
    if (gs_toolchain_fill(&arena, &toolchain) != KILN_OK) {
        fprintf(stderr, "genshaders: out of memory\n");
        return GS_EXIT_FAILED;
    }
    printf("%s\n", toolchain.signature);
    mf_arena_release(&arena);
    return fflush(stdout) == 0 ? GS_EXIT_OK : GS_EXIT_FAILED;
}

static void usage_print(FILE *out) {
    fputs("usage: genshaders COMMAND [ARGUMENTS]\n\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n`genshaders COMMAND --help` tells more.\n"
          "Exit status: 0 done, 1 failed, 2 usage, 3 the lock belongs to another toolchain.\n",
          out);
}

static int help_print(const struct command *command) {
    if (command != NULL) {
        printf("usage: genshaders %s%s", command->name, command->help);
    } else {
        usage_print(stdout);
    }
    return fflush(stdout) == 0 ? GS_EXIT_OK : GS_EXIT_FAILED;
}

static const struct command *command_find(const char *name) {
    if (strcmp(name, "normalize") == 0) {
        name = "normalise";
    } else if (strcmp(name, "--version") == 0) {
        name = "version";
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static bool is_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (is_help(name) || (strcmp(name, "help") == 0 && argc == 2)) {
        return help_print(NULL);
    }
    bool help = strcmp(name, "help") == 0;
    const struct command *command = command_find(help ? argv[2] : name);
    for (int i = 2; i < argc && command != NULL; i++) {
        help = help || is_help(argv[i]);
    }
    if (command == NULL) {
        usage_print(stderr);
        return GS_EXIT_USAGE;
    }
    return help ? help_print(command) : command->run(argc - 1, argv + 1);
}
