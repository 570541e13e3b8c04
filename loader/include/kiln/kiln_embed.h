/* SPDX-License-Identifier: MIT */
/*
 * kiln_embed: a pack linked into the program, for those who want no files.
 *
 * `make embed` writes build/embed/kiln_embed.o, which defines the two symbols; libkiln does not.
 * `genshaders embed PACK OUT.c` gives its source, for other compilers. Open it with
 *
 *   kiln_bundle_open_memory(kiln_embedded_pack, kiln_embedded_pack_bytes, &bundle, &error)
 *
 * The bytes are constant and aligned to 16.
 */
#ifndef KILN_EMBED_H
#define KILN_EMBED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const unsigned char kiln_embedded_pack[];
extern const size_t kiln_embedded_pack_bytes;

#ifdef __cplusplus
}
#endif

#endif /* KILN_EMBED_H */
