/* SPDX-License-Identifier: MIT */
/*
 * kl_pack_reader: what kl_pack_index.c (header, texts, lists) and kl_pack_rows.c share.
 *
 * The first failure sticks in `failed` of the reader; what a function gives afterwards is safe to
 * look at, and nothing more.
 */
#ifndef KL_PACK_READER_H
#define KL_PACK_READER_H

#include "kl_pack.h"

#include "mf_pack.h"

struct kl_section {
    const unsigned char *bytes;
    size_t size_bytes;
    uint32_t count;
};

/* A list of elements of some type. */
struct kl_list {
    const void *items;
    uint32_t count;
};

/* What a text was found to be, so that each is checked once a kind. */
enum kl_text_kind { KL_TEXT_PART = 1, KL_TEXT_IDENTIFIER = 2, KL_TEXT_NAME = 4 };

struct kl_reader {
    const unsigned char *bytes;
    size_t size_bytes;
    const char *label;
    struct mf_manifest *manifest;
    struct kl_section sections[MF_PACK_SECTION_COUNT + 1];
    /* Texts stand in ascending order in one block: order and equality are those of pointers. */
    const char *text_block;
    unsigned char *text_kinds; /* by the text's offset in the block */
    const char **texts;
    struct kl_list *lists[MF_PACK_SECTION_COUNT + 1]; /* of the sections of lists */
    struct mf_grid *grids;
    struct mf_requires *requires_;
    struct mf_tolerance *tolerances;
    struct kl_blob *blobs;
    struct mf_hash *contents; /* of the blobs */
    enum kiln_result failed;
    struct kiln_error *error;
};

/* Sets the failure, "label: section[index]: expected what", unless there is one. */
void kl_fail(struct kl_reader *reader, enum kiln_result code, enum mf_pack_section section,
             size_t index, const char *what);

/* Zeroed memory of the manifest's arena; NULL after a failure. */
void *kl_allocate(struct kl_reader *reader, size_t count, size_t element_bytes);

bool kl_is_zero(const unsigned char *bytes, size_t size_bytes);

/* The text whose number stands at `word`, "" after a failure; `section` and `index` are for the
 * message. kl_text_of also checks what it is. */
const char *kl_text(struct kl_reader *reader, enum mf_pack_section section, size_t index,
                    const unsigned char *word);
const char *kl_text_of(struct kl_reader *reader, enum mf_pack_section section, size_t index,
                       const unsigned char *word, enum kl_text_kind kind);
void kl_check_kind(struct kl_reader *reader, enum mf_pack_section section, size_t index,
                   const char *text, enum kl_text_kind kind);

/* The list of section `lists` whose number stands at `word`; an empty one after a failure. */
struct kl_list kl_list_of(struct kl_reader *reader, enum mf_pack_section section, size_t index,
                          enum mf_pack_section lists, const unsigned char *word);

uint64_t kl_push_end(const struct mf_push *push); /* in bytes */

/* The sections of rows, once the lists are read. */
void kl_pack_read_rows(struct kl_reader *reader, struct kl_pack_index *index);

#endif /* KL_PACK_READER_H */
