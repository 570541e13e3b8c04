/* SPDX-License-Identifier: MIT */
/* The YAML subset: what a document becomes, what is refused and on which line, and the limits. */
#include "gs_yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct parsed {
    struct mf_arena arena;
    struct gs_diag *diag;
    const struct gs_yaml_node *root;
    enum kiln_result result;
    struct mf_buffer text; /* the diagnostics */
};

static void parse_bytes(struct parsed *p, const char *text, size_t size_bytes) {
    *p = (struct parsed){0};
    assert_int_equal(gs_diag_create(&p->diag), KILN_OK);
    p->result = gs_yaml_parse(text, size_bytes, "f.yaml", &p->arena, &p->root, p->diag);
    assert_int_equal(gs_diag_format(p->diag, &p->text), KILN_OK);
    assert_int_equal(gs_diag_result(p->diag), p->result);
    assert_true((p->root != NULL) == (p->result == KILN_OK));
}

static void parse(struct parsed *p, const char *text) {
    parse_bytes(p, text, strlen(text));
}

static void release(struct parsed *p) {
    mf_arena_release(&p->arena);
    mf_buffer_release(&p->text);
    gs_diag_destroy(&p->diag);
}

static void expect_scalar(const struct gs_yaml_node *node, const char *text, uint32_t line,
                          bool plain, bool integer) {
    assert_int_equal(node->kind, GS_YAML_SCALAR);
    assert_string_equal(node->text, text);
    assert_int_equal(node->line, line);
    assert_int_equal(node->plain, plain);
    assert_int_equal(node->integer, integer);
}

static void test_tree(void **state) {
    (void)state;
    struct parsed p;
    parse(&p, "# comment\n"
              "name: q4_k # trailing\n"
              "list: [1, -2, \"3\", 1e-3, no, ~, 0]\n"
              "\n"
              "maps:\n"
              "  - {a: b, c: 'it''s'}\n"
              "  - d:\n"
              "      - \"\\u00e9\"\n"
              "empty:\n"
              "folded: >-\n"
              "  two\n"
              "  lines\n");
    assert_int_equal(p.result, KILN_OK);
    assert_int_equal(p.root->kind, GS_YAML_MAPPING);
    assert_int_equal(p.root->count, 5);
    assert_int_equal(p.root->line, 2);
    expect_scalar(gs_yaml_find(p.root, "name")->value, "q4_k", 2, true, false);

    const struct gs_yaml_node *list = gs_yaml_find(p.root, "list")->value;
    assert_int_equal(list->kind, GS_YAML_SEQUENCE);
    assert_int_equal(list->count, 7);
    expect_scalar(list->items[0], "1", 3, true, true);
    expect_scalar(list->items[1], "-2", 3, true, true);
    expect_scalar(list->items[2], "3", 3, false, false);
    expect_scalar(list->items[3], "1e-3", 3, true, false);
    expect_scalar(list->items[4], "no", 3, true, false);
    expect_scalar(list->items[5], "~", 3, true, false);
    expect_scalar(list->items[6], "0", 3, true, true);

    const struct gs_yaml_node *maps = gs_yaml_find(p.root, "maps")->value;
    assert_int_equal(gs_yaml_find(p.root, "maps")->line, 5);
    assert_int_equal(maps->count, 2);
    expect_scalar(gs_yaml_find(maps->items[0], "c")->value, "it's", 6, false, false);
    const struct gs_yaml_pair *d = gs_yaml_find(maps->items[1], "d");
    assert_int_equal(d->line, 7);
    expect_scalar(d->value->items[0], "\xc3\xa9", 8, false, false);
    expect_scalar(gs_yaml_find(p.root, "empty")->value, "", 9, true, false);
    expect_scalar(gs_yaml_find(p.root, "folded")->value, "two lines", 10, false, false);
    assert_null(gs_yaml_find(p.root, "nam"));
    assert_null(gs_yaml_find(list, "name"));
    release(&p);
}

/* Line ends and byte order mark as editors of other systems write them. */
static void test_foreign_text(void **state) {
    (void)state;
    struct parsed p;
    parse(&p, "\xef\xbb\xbf"
              "a: 1\r\nb:\r\n  - x\r\n  - y\r\n");
    assert_int_equal(p.result, KILN_OK);
    expect_scalar(gs_yaml_find(p.root, "a")->value, "1", 1, true, true);
    expect_scalar(gs_yaml_find(p.root, "b")->value->items[1], "y", 4, true, false);
    release(&p);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum kiln_result result;
        const char *message;
    } cases[] = {
        {"", KILN_ERR_FORMAT, "f.yaml: the file holds no document"},
        {"# only a comment\n", KILN_ERR_FORMAT, "f.yaml: the file holds no document"},
        {"a: 1\nb: 2\na: 3\n", KILN_ERR_DUPLICATE,
         "f.yaml:3: key 'a' is repeated; first on line 1"},
        {"a: {x: 1,\n  'x': 2}\n", KILN_ERR_DUPLICATE, "f.yaml:2: key 'x' is repeated"},
        {"a: &b 1\n", KILN_ERR_FORMAT, "f.yaml:1: anchor '&b'"},
        {"x: 1\na: &b [1]\n", KILN_ERR_FORMAT, "f.yaml:2: anchor '&b'"},
        {"x: 1\na: &b {c: 1}\n", KILN_ERR_FORMAT, "f.yaml:2: anchor '&b'"},
        {"a: *b\n", KILN_ERR_FORMAT, "f.yaml:1: alias '*b'"},
        {"a: !!int 1\n", KILN_ERR_FORMAT, "f.yaml:1: tag 'tag:yaml.org,2002:int'"},
        {"a: ! 1\n", KILN_ERR_FORMAT, "f.yaml:1: tag '!'"},
        {"a: !x [1]\n", KILN_ERR_FORMAT, "f.yaml:1: tag '!x'"},
        {"%YAML 1.1\n---\na: 1\n", KILN_ERR_FORMAT, "f.yaml:1: a %YAML or %TAG directive"},
        {"%TAG !a! tag:x,1:\n---\na: 1\n", KILN_ERR_FORMAT, "f.yaml:1: a %YAML or %TAG directive"},
        {"a: 1\n---\nb: 1\n", KILN_ERR_FORMAT, "f.yaml:2: a second document starts here"},
        {"a: 1\n...\n---\n", KILN_ERR_FORMAT, "f.yaml:3: a second document starts here"},
        {"a: 007\n", KILN_ERR_FORMAT, "f.yaml:1: integer '007'"},
        {"a: -0\n", KILN_ERR_FORMAT, "f.yaml:1: integer '-0'"},
        {"[a]: 1\n", KILN_ERR_FORMAT, "f.yaml:1: a list as a key"},
        {"? \n: 1\n", KILN_ERR_FORMAT, "nothing as a key"},
        {"a: |\n  x\n  y\n", KILN_ERR_FORMAT, "f.yaml:1: line break"},
        {"a: \"x\\0y\"\n", KILN_ERR_FORMAT, "f.yaml:1: line break or control character"},
        {"a: \"\\x1b[31m\"\n", KILN_ERR_FORMAT, "f.yaml:1: line break or control character"},
        {"a: 1\nb: \x01\n", KILN_ERR_FORMAT, "f.yaml:2: control character 0x01"},
        {"a: 1\nb: \x7f\n", KILN_ERR_FORMAT, "f.yaml:2: control character 0x7f"},
        {"a: 1\n\nb: \xff\n", KILN_ERR_FORMAT, "f.yaml:3: byte 0xff is not UTF-8"},
        {"a: \xc0\xaf\n", KILN_ERR_FORMAT, "f.yaml:1: byte 0xc0 is not UTF-8"},     /* overlong */
        {"a: \xe0\x9f\xbf\n", KILN_ERR_FORMAT, "f.yaml:1: byte 0xe0 is not UTF-8"}, /* overlong */
        {"a: \xed\xa0\x80\n", KILN_ERR_FORMAT, "f.yaml:1: byte 0xed is not UTF-8"}, /* surrogate */
        {"a: \xf4\x90\x80\x80\n", KILN_ERR_FORMAT, "f.yaml:1: byte 0xf4 is not UTF-8"},
        {"a: \xe2\x82", KILN_ERR_FORMAT, "f.yaml:1: byte 0xe2 is not UTF-8"}, /* cut */
        {"a: [1\nb: 2\n", KILN_ERR_FORMAT, "f.yaml:2: did not find expected ',' or ']'"},
        {"a: \"x\n", KILN_ERR_FORMAT, "found unexpected end of stream"},
        {"a:\n\tb: 1\n", KILN_ERR_FORMAT, "f.yaml:2: found character that cannot start any token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct parsed p;
        parse(&p, cases[i].text);
        if (p.result != cases[i].result || strstr(p.text.data, cases[i].message) == NULL)
            fail_msg("%s\ngave %d %s", cases[i].text, (int)p.result, p.text.data);
        release(&p);
    }
}

/* A byte of zero ends C strings; it must not hide what follows. */
static void test_zero_byte(void **state) {
    (void)state;
    struct parsed p;
    parse_bytes(&p, "a: 1\n\0b: 1\n", 11);
    assert_int_equal(p.result, KILN_ERR_FORMAT);
    assert_non_null(strstr(p.text.data, "f.yaml:2: control character 0x00"));
    release(&p);
}

/* All repeated keys of a file, not only the first. */
static void test_all_repeated_keys(void **state) {
    (void)state;
    struct parsed p;
    parse(&p, "a: 1\na: 2\nb: {c: 1, c: 2}\na: 3\n");
    assert_int_equal(gs_diag_count(p.diag), 3);
    assert_string_equal(p.text.data, "f.yaml:2: key 'a' is repeated; first on line 1\n"
                                     "f.yaml:3: key 'c' is repeated; first on line 3\n"
                                     "f.yaml:4: key 'a' is repeated; first on line 1\n");
    release(&p);
}

/* Ten lines that a reader which follows aliases expands to 10^9 scalars. */
static void test_billion_laughs(void **state) {
    (void)state;
    struct mf_buffer text = {0};
    struct parsed p;
    mf_buffer_append_string(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++)
        mf_buffer_append_format(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1,
                                i - 1, i - 1, i - 1, i - 1);
    parse_bytes(&p, text.data, text.size_bytes);
    assert_int_equal(p.result, KILN_ERR_FORMAT);
    assert_non_null(strstr(p.text.data, "f.yaml:1: anchor '&a0'"));
    release(&p);
    mf_buffer_release(&text);
}

static void append_repeated(struct mf_buffer *out, const char *text, size_t count) {
    for (size_t i = 0; i < count; i++)
        mf_buffer_append_string(out, text);
}

static enum kiln_result parse_result(const struct mf_buffer *text) {
    struct parsed p;
    parse_bytes(&p, text->data, text->size_bytes);
    enum kiln_result result = p.result;
    release(&p);
    return result;
}

/* Each limit is met exactly by a document that passes and exceeded by one by another. */
static void test_limits(void **state) {
    (void)state;
    struct mf_buffer text = {0};
    for (size_t over = 0; over < 2; over++) {
        enum kiln_result expected = over ? KILN_ERR_LIMIT : KILN_OK;
        mf_buffer_clear(&text);
        append_repeated(&text, "[", GS_YAML_DEPTH_MAX + over);
        append_repeated(&text, "]", GS_YAML_DEPTH_MAX + over);
        assert_int_equal(parse_result(&text), expected);

        mf_buffer_clear(&text);
        mf_buffer_append_string(&text, "[x");
        append_repeated(&text, ",x", GS_YAML_NODE_COUNT_MAX - 2 + over); /* and the list itself */
        mf_buffer_append_string(&text, "]");
        assert_int_equal(parse_result(&text), expected);

        mf_buffer_clear(&text);
        for (size_t i = 0; i < GS_YAML_KEY_COUNT_MAX + over; i++)
            mf_buffer_append_format(&text, "k%zu: 1\n", i);
        assert_int_equal(parse_result(&text), expected);

        mf_buffer_clear(&text);
        mf_buffer_append_string(&text, "a: 1\n#");
        append_repeated(&text, "c", GS_YAML_SIZE_MAX_BYTES - text.size_bytes + over);
        assert_int_equal(parse_result(&text), expected);
    }
    /* Far deeper than the limit: refused before anything recurses or grows. */
    mf_buffer_clear(&text);
    append_repeated(&text, "[", 1000000);
    assert_int_equal(parse_result(&text), KILN_ERR_LIMIT);
    mf_buffer_clear(&text);
    append_repeated(&text, "{a: ", 200000);
    assert_int_equal(parse_result(&text), KILN_ERR_LIMIT);
    mf_buffer_release(&text);
}

/* Every cut and many damaged forms of a document: a tree or a diagnostic, nothing else. */
static void test_damaged(void **state) {
    (void)state;
    const char *good = "a: [1, \"x\", {b: 'c'}]\nd:\n  - e: >-\n      f\n  - \xc3\xa9\n# g\n";
    size_t size_bytes = strlen(good);
    size_t refused = 0;
    for (size_t i = 0; i < size_bytes; i++) {
        struct parsed p;
        parse_bytes(&p, good, i);
        release(&p);
        static const char bytes[] = "\0\t\n :-[]{}&*!%\"'|>#?,\xff";
        for (size_t b = 0; b < sizeof bytes - 1; b++) {
            char copy[128];
            memcpy(copy, good, size_bytes);
            copy[i] = bytes[b];
            parse_bytes(&p, copy, size_bytes);
            refused += p.result != KILN_OK ? 1 : 0;
            release(&p);
        }
    }
    assert_true(refused > size_bytes * 4); /* \0, \xff, & and % are hardly ever good */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_foreign_text),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_zero_byte),
        cmocka_unit_test(test_all_repeated_keys),
        cmocka_unit_test(test_billion_laughs),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
