/* SPDX-License-Identifier: MIT */
/*
 * A program with its kernels inside: opens the linked pack and expands every module. No file is
 * opened. Prints the number of artifacts and the bytes of their modules.
 *
 *   cc embedded.c kiln_embed.o $(pkg-config --cflags --libs kiln) && ./a.out
 */
#include <kiln/kiln.h>
#include <kiln/kiln_embed.h>

#include <stdio.h>

int main(void) {
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error = {KILN_OK, ""};
    unsigned long bytes = 0;
    enum kiln_result result =
        kiln_bundle_open_memory(kiln_embedded_pack, kiln_embedded_pack_bytes, &bundle, &error);
    size_t count = result == KILN_OK ? kiln_bundle_artifact_count(bundle) : 0;
    for (size_t i = 0; i < count && result == KILN_OK; i++) {
        struct kiln_module module;
        result = kiln_bundle_module(bundle, kiln_bundle_artifact(bundle, i), &module, &error);
        bytes += (unsigned long)(4 * module.word_count);
        kiln_module_release(&module);
    }
    kiln_bundle_close(&bundle);
    if (result != KILN_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%lu %lu\n", (unsigned long)count, bytes);
    return 0;
}
