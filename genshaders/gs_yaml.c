/* SPDX-License-Identifier: MIT */
#include "gs_yaml.h"

#include <string.h>
#include <yaml.h>

/* A mapping or sequence that is being filled. */
struct frame {
    struct gs_yaml_node *node;
    const struct gs_yaml_node **items;
    struct gs_yaml_pair *pairs;
    size_t count;
    size_t capacity;
    const char *key; /* mapping: key that waits for its value, or NULL */
    uint32_t key_line;
};

struct builder {
    const char *path;
    struct mf_arena *arena;
    struct gs_diag *diag;
    struct frame stack[GS_YAML_DEPTH_MAX];
    size_t depth;
    size_t node_count;
    size_t document_count;
    const struct gs_yaml_node *root;
    enum kiln_result result; /* KILN_OK or the first problem's code */
    bool stop;
};

static uint32_t mark_line(yaml_mark_t mark) {
    return mark.line < UINT32_MAX ? (uint32_t)mark.line + 1 : UINT32_MAX;
}

static enum kiln_result builder_memory(struct builder *b) {
    b->result = gs_diag_add(b->diag, KILN_ERR_MEMORY, b->path, 0, NULL, "out of memory");
    b->stop = true;
    return b->result;
}

/* Bytes of the well-formed UTF-8 sequence at `s` (Unicode 15, table 3-7), 0 when there is none. */
static size_t utf8_sequence(const unsigned char *s, size_t size_bytes) {
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || length > size_bytes)
        return 0;
    unsigned char low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (s[i] < 0x80 || s[i] > 0xBF)
            return 0;
    }
    return length;
}

/* libyaml would guess UTF-16 from a byte order mark and gives no line for encoding errors. */
static enum kiln_result check_text(const char *text, size_t size_bytes, const char *path,
                                   struct gs_diag *diag) {
    if (size_bytes > GS_YAML_SIZE_MAX_BYTES)
        return gs_diag_add(diag, KILN_ERR_LIMIT, path, 0, NULL,
                           "the file has %zu bytes, at most %zu are read", size_bytes,
                           (size_t)GS_YAML_SIZE_MAX_BYTES);
    uint32_t line = 1;
    for (size_t i = 0; i < size_bytes;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = utf8_sequence((const unsigned char *)text + i, size_bytes - i);
        if (length == 0)
            return gs_diag_add(diag, KILN_ERR_FORMAT, path, line, NULL,
                               "byte 0x%02x is not UTF-8; expected UTF-8 text", c);
        if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F)
            return gs_diag_add(diag, KILN_ERR_FORMAT, path, line, NULL,
                               "control character 0x%02x; expected text", c);
        if (c == '\n')
            line++;
        i += length;
    }
    return KILN_OK;
}

static bool text_is_integer(const char *text) {
    const char *p = text + (text[0] == '-');
    size_t digits = strspn(p, "0123456789");
    return digits > 0 && p[digits] == '\0';
}

static struct gs_yaml_node *node_make(struct builder *b, enum gs_yaml_kind kind, uint32_t line) {
    if (++b->node_count > GS_YAML_NODE_COUNT_MAX) {
        b->result = gs_diag_add(b->diag, KILN_ERR_LIMIT, b->path, line, NULL,
                                "more than %d values in one file", GS_YAML_NODE_COUNT_MAX);
        b->stop = true;
        return NULL;
    }
    struct gs_yaml_node *node = mf_arena_alloc(b->arena, 1, sizeof *node);
    if (node == NULL) {
        builder_memory(b);
        return NULL;
    }
    node->kind = kind;
    node->line = line;
    return node;
}

/* Checks what YAML allows around a node and kiln does not. */
static void check_properties(struct builder *b, const yaml_char_t *anchor, const yaml_char_t *tag,
                             uint32_t line) {
    if (anchor != NULL)
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, line, NULL,
                                "anchor '&%s': anchors and aliases are not supported, write the "
                                "value out",
                                (const char *)anchor);
    else if (tag != NULL)
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, line, NULL,
                                "tag '%s': tags are not supported, quote the value to make it a "
                                "string",
                                (const char *)tag);
    b->stop = b->stop || anchor != NULL || tag != NULL;
}

static void take_key(struct builder *b, struct frame *frame, const struct gs_yaml_node *key) {
    if (key->kind != GS_YAML_SCALAR || key->text[0] == '\0') {
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, key->line, NULL,
                                "%s as a key; expected a word",
                                key->kind != GS_YAML_SCALAR ? gs_yaml_kind_string(key) : "nothing");
        b->stop = true;
        return;
    }
    for (size_t i = 0; i < frame->count; i++) {
        if (strcmp(frame->pairs[i].key, key->text) == 0) {
            enum kiln_result result = gs_diag_add(b->diag, KILN_ERR_DUPLICATE, b->path, key->line,
                                                  NULL, "key '%s' is repeated; first on line %u",
                                                  key->text, frame->pairs[i].line);
            if (b->result == KILN_OK)
                b->result = result;
            break;
        }
    }
    frame->key = key->text;
    frame->key_line = key->line;
}

/* Hands a complete node to the innermost open mapping or sequence. */
static void take_node(struct builder *b, const struct gs_yaml_node *node) {
    if (b->depth == 0) {
        b->root = node;
        return;
    }
    struct frame *frame = &b->stack[b->depth - 1];
    if (frame->node->kind == GS_YAML_MAPPING && frame->key == NULL) {
        take_key(b, frame, node);
        return;
    }
    if (frame->node->kind == GS_YAML_SEQUENCE) {
        const struct gs_yaml_node **items = mf_arena_grow(b->arena, frame->items, frame->count,
                                                          &frame->capacity, sizeof *frame->items);
        if (items == NULL) {
            builder_memory(b);
            return;
        }
        frame->items = items;
        frame->items[frame->count++] = node;
        return;
    }
    if (frame->count == GS_YAML_KEY_COUNT_MAX) {
        b->result = gs_diag_add(b->diag, KILN_ERR_LIMIT, b->path, frame->key_line, NULL,
                                "more than %d keys in one mapping", GS_YAML_KEY_COUNT_MAX);
        b->stop = true;
        return;
    }
    struct gs_yaml_pair *pairs =
        mf_arena_grow(b->arena, frame->pairs, frame->count, &frame->capacity, sizeof *frame->pairs);
    if (pairs == NULL) {
        builder_memory(b);
        return;
    }
    frame->pairs = pairs;
    frame->pairs[frame->count++] =
        (struct gs_yaml_pair){.key = frame->key, .line = frame->key_line, .value = node};
    frame->key = NULL;
}

static void take_scalar(struct builder *b, const yaml_event_t *event, uint32_t line) {
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    const yaml_char_t *tag = event->data.scalar.tag;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    /* The tag "!" (a string whatever it looks like) is reported by these flags only. */
    if (tag == NULL && plain && !event->data.scalar.plain_implicit)
        tag = (const yaml_char_t *)"!";
    check_properties(b, event->data.scalar.anchor, tag, line);
    for (size_t i = 0; i < length && !b->stop; i++) {
        if ((unsigned char)value[i] < 0x20 || value[i] == 0x7F) {
            b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, line, NULL,
                                    "line break or control character inside a value; expected one "
                                    "line (fold long text with >-)");
            b->stop = true;
        }
    }
    if (b->stop)
        return;
    struct gs_yaml_node *node = node_make(b, GS_YAML_SCALAR, line);
    if (node == NULL)
        return;
    node->text = mf_arena_copy(b->arena, value, length);
    if (node->text == NULL) {
        builder_memory(b);
        return;
    }
    node->plain = plain;
    node->integer = node->plain && text_is_integer(node->text);
    const char *digits = node->text + (node->text[0] == '-');
    if (node->integer && digits[0] == '0' && (digits[1] != '\0' || digits != node->text)) {
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, line, NULL,
                                "integer '%s': a leading zero or sign of zero; expected a decimal "
                                "number, or quotes for a string",
                                node->text);
        b->stop = true;
        return;
    }
    take_node(b, node);
}

static void open_node(struct builder *b, enum gs_yaml_kind kind, const yaml_char_t *anchor,
                      const yaml_char_t *tag, uint32_t line) {
    check_properties(b, anchor, tag, line);
    if (b->stop)
        return;
    if (b->depth == GS_YAML_DEPTH_MAX) {
        b->result = gs_diag_add(b->diag, KILN_ERR_LIMIT, b->path, line, NULL,
                                "nested deeper than %d levels", GS_YAML_DEPTH_MAX);
        b->stop = true;
        return;
    }
    struct gs_yaml_node *node = node_make(b, kind, line);
    if (node == NULL)
        return;
    b->stack[b->depth++] = (struct frame){.node = node};
}

static void close_node(struct builder *b) {
    struct frame *frame = &b->stack[--b->depth];
    frame->node->items = frame->items;
    frame->node->pairs = frame->pairs;
    frame->node->count = frame->count;
    take_node(b, frame->node);
}

static void open_document(struct builder *b, const yaml_event_t *event, uint32_t line) {
    bool directive = event->data.document_start.version_directive != NULL ||
                     event->data.document_start.tag_directives.start !=
                         event->data.document_start.tag_directives.end;
    if (b->document_count++ > 0) {
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, line, NULL,
                                "a second document starts here; expected one a file");
        b->stop = true;
    } else if (directive) {
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, line, NULL,
                                "a %%YAML or %%TAG directive; expected none");
        b->stop = true;
    }
}

static void take_event(struct builder *b, const yaml_event_t *event) {
    uint32_t line = mark_line(event->start_mark);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        open_document(b, event, line);
        break;
    case YAML_ALIAS_EVENT:
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, line, NULL,
                                "alias '*%s': anchors and aliases are not supported, write the "
                                "value out",
                                (const char *)event->data.alias.anchor);
        b->stop = true;
        break;
    case YAML_SCALAR_EVENT:
        take_scalar(b, event, line);
        break;
    case YAML_SEQUENCE_START_EVENT:
        open_node(b, GS_YAML_SEQUENCE, event->data.sequence_start.anchor,
                  event->data.sequence_start.tag, line);
        break;
    case YAML_MAPPING_START_EVENT:
        open_node(b, GS_YAML_MAPPING, event->data.mapping_start.anchor,
                  event->data.mapping_start.tag, line);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_node(b);
        break;
    case YAML_STREAM_END_EVENT:
        b->stop = true;
        break;
    default:
        break;
    }
}

static void report_library_error(struct builder *b, const yaml_parser_t *parser) {
    if (parser->error == YAML_MEMORY_ERROR) {
        builder_memory(b);
        return;
    }
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error == YAML_READER_ERROR)
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, mark_line(parser->mark), NULL,
                                "%s", problem);
    else if (parser->context != NULL)
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, mark_line(parser->problem_mark),
                                NULL, "%s, %s that began on line %u", problem, parser->context,
                                mark_line(parser->context_mark));
    else
        b->result = gs_diag_add(b->diag, KILN_ERR_FORMAT, b->path, mark_line(parser->problem_mark),
                                NULL, "%s", problem);
    b->stop = true;
}

enum kiln_result gs_yaml_parse(const char *text, size_t size_bytes, const char *path,
                               struct mf_arena *arena, const struct gs_yaml_node **root,
                               struct gs_diag *diag) {
    struct builder b = {.path = path, .arena = arena, .diag = diag};
    yaml_parser_t parser;
    *root = NULL;
    enum kiln_result result = check_text(text, size_bytes, path, diag);
    if (result != KILN_OK)
        return result;
    if (!yaml_parser_initialize(&parser))
        return builder_memory(&b);
    size_t mark_bytes = size_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text + mark_bytes,
                                 size_bytes - mark_bytes);
    while (!b.stop) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            report_library_error(&b, &parser);
            break;
        }
        take_event(&b, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (b.result == KILN_OK && b.root == NULL)
        b.result = gs_diag_add(diag, KILN_ERR_FORMAT, path, 0, NULL,
                               "the file holds no document; expected a mapping of keys");
    if (b.result == KILN_OK)
        *root = b.root;
    return b.result;
}

const struct gs_yaml_pair *gs_yaml_find(const struct gs_yaml_node *mapping, const char *key) {
    if (mapping == NULL || mapping->kind != GS_YAML_MAPPING)
        return NULL;
    for (size_t i = 0; i < mapping->count; i++) {
        if (strcmp(mapping->pairs[i].key, key) == 0)
            return &mapping->pairs[i];
    }
    return NULL;
}

const char *gs_yaml_kind_string(const struct gs_yaml_node *node) {
    switch (node->kind) {
    case GS_YAML_SEQUENCE:
        return "a list";
    case GS_YAML_MAPPING:
        return "a mapping";
    case GS_YAML_SCALAR:
        break;
    }
    return node->text[0] == '\0' ? "nothing" : "a scalar";
}

const char *gs_yaml_version(void) {
    return yaml_get_version_string();
}
