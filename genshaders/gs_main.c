/* SPDX-License-Identifier: MIT */
#include "gs_build.h"
#include "gs_command.h"

#include <stdio.h>
#include <string.h>

static const char usage_text[] =
    "usage: genshaders COMMAND [OPTIONS]\n"
    "\n"
    "  build      expand, compile and publish all variants\n"
    "             --templates DIR (templates)  --out DIR (spv)  --cache DIR (build/cache)\n"
    "             --jobs N (0: one per processor)  --json  --quiet\n"
    "  list       print the names of all variants: --templates DIR\n"
    "  lock       write or check the list of what the tree produces\n"
    "             --manifest FILE (spv/manifest.json)  --write LOCK | --compare LOCK\n"
    "  normalise  IN.spv OUT.spv: name the entry point `main`\n"
    "  split      IN.spv DIR: one normalised module per entry point\n"
    "  version    print the toolchain signature\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 the lock belongs to another toolchain.\n";

static int version_print(void) {
    struct mf_arena arena = {0};
    struct mf_toolchain toolchain;
    if (gs_toolchain_fill(&arena, &toolchain) != KILN_OK) {
        fprintf(stderr, "genshaders: out of memory\n");
        return GS_EXIT_FAILED;
    }
    printf("%s\n", toolchain.signature);
    mf_arena_release(&arena);
    return fflush(stdout) == 0 ? GS_EXIT_OK : GS_EXIT_FAILED;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {
        {"build", gs_command_build},         {"list", gs_command_list},
        {"lock", gs_command_lock},           {"normalise", gs_command_normalise},
        {"normalize", gs_command_normalise}, {"split", gs_command_split},
    };
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
        return version_print();
    }
    bool help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0;
    fputs(usage_text, help ? stdout : stderr);
    return help ? GS_EXIT_OK : GS_EXIT_USAGE;
}
