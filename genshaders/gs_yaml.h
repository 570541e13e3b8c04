/* SPDX-License-Identifier: MIT */
/*
 * gs_yaml: a strict subset of YAML 1.1 as an immutable tree whose every node knows its line.
 * gs_yaml.c is the only file that includes libyaml.
 *
 * Accepted is what data needs: one document of UTF-8 text, block and flow mappings and sequences,
 * plain, quoted and folded scalars, comments. Rejected, each with its line, because it is
 * ambiguous, dangerous or useless here: anchors and aliases (cycles, exponential growth), tags,
 * directives, several documents, repeated keys, keys that are no scalars, integers with a leading
 * zero (octal in GLSL), line breaks and control characters inside a value, and everything over the
 * limits below. Text is never interpreted beyond that: `no`, `~` and `1e-3` are the strings they
 * are.
 *
 * Ownership: nodes and their texts live in the caller's arena; nothing points into the input.
 * Thread safety: a tree may be read from any thread; parsing uses no state but its arguments.
 */
#ifndef GS_YAML_H
#define GS_YAML_H

#include "gs_diag.h"

#include <stdbool.h>
#include <stdint.h>

#define GS_YAML_SIZE_MAX_BYTES ((size_t)1 << 20)
#define GS_YAML_DEPTH_MAX 16         /* mappings and sequences inside each other */
#define GS_YAML_NODE_COUNT_MAX 65536 /* scalars, sequences and mappings; keys count */
#define GS_YAML_KEY_COUNT_MAX 1024   /* of one mapping */

enum gs_yaml_kind { GS_YAML_SCALAR, GS_YAML_SEQUENCE, GS_YAML_MAPPING };

struct gs_yaml_pair;

struct gs_yaml_node {
    enum gs_yaml_kind kind;
    uint32_t line;    /* of the node's first character, from 1 */
    const char *text; /* scalar: its value, UTF-8, 0-terminated, may be ""; else NULL */
    bool plain;       /* scalar written without quotes and not as a block */
    bool integer;     /* plain scalar that matches -?[0-9]+ (of any size) */
    const struct gs_yaml_node *const *items; /* sequence: `count` nodes */
    const struct gs_yaml_pair *pairs;        /* mapping: `count` pairs in the order of the file */
    size_t count;
};

struct gs_yaml_pair {
    const char *key;
    uint32_t line; /* of the key */
    const struct gs_yaml_node *value;
};

/*
 * Parses `size_bytes` bytes. `path` is only for messages. On failure *root is NULL, one or more
 * diagnostics were added and the code is that of the first: KILN_ERR_FORMAT, KILN_ERR_DUPLICATE
 * (repeated key), KILN_ERR_LIMIT or KILN_ERR_MEMORY. *root is never NULL on success: an empty
 * document is an error.
 */
enum kiln_result gs_yaml_parse(const char *text, size_t size_bytes, const char *path,
                               struct mf_arena *arena, const struct gs_yaml_node **root,
                               struct gs_diag *diag);

/* The pair with that key, or NULL; NULL too when the node is no mapping. */
const struct gs_yaml_pair *gs_yaml_find(const struct gs_yaml_node *mapping, const char *key);

/* "a scalar", "a list" or "a mapping": what the node is, for messages. */
const char *gs_yaml_kind_string(const struct gs_yaml_node *node);

/* "0.2.5" of the library; static storage. */
const char *gs_yaml_version(void);

#endif /* GS_YAML_H */
