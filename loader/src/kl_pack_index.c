/* SPDX-License-Identifier: MIT */
/* Header, table of contents and index of a pack. The first failure sticks in `failed`. */
#include "kl_pack_reader.h"

#include "mf_name.h"
#include "mf_pack.h"

#include <string.h>

void kl_fail(struct kl_reader *reader, enum kiln_result code, enum mf_pack_section section,
             size_t index, const char *what) {
    if (!reader->failed) {
        reader->failed =
            kiln_error_set(reader->error, code, "%s: %s[%zu]: expected %s", reader->label,
                           mf_pack_section_string(section), index, what);
    }
}

void *kl_allocate(struct kl_reader *reader, size_t count, size_t element_bytes) {
    void *memory = NULL;
    if (!reader->failed) {
        memory = mf_arena_alloc(&reader->manifest->arena, count, element_bytes);
    }
    if (!memory && !reader->failed) {
        reader->failed =
            kiln_error_set(reader->error, KILN_ERR_MEMORY, "%s: no memory", reader->label);
    }
    return memory;
}

/* ---- header and table of contents ---- */

static enum kiln_result kl_check_header(struct kl_reader *reader) {
    const unsigned char *bytes = reader->bytes;
    size_t size_bytes = reader->size_bytes;
    size_t least_bytes =
        MF_PACK_HEADER_BYTES + MF_PACK_SECTION_COUNT * MF_PACK_ENTRY_BYTES + MF_HASH_BYTES;
    if (size_bytes < MF_PACK_HEADER_BYTES ||
        memcmp(bytes, MF_PACK_MAGIC, MF_PACK_MAGIC_BYTES) != 0) {
        return kiln_error_set(reader->error, KILN_ERR_FORMAT, "%s: not a kiln pack", reader->label);
    }
    uint32_t format = mf_pack_u32(bytes + MF_PACK_AT_FORMAT);
    uint32_t abi = mf_pack_u32(bytes + MF_PACK_AT_ABI);
    if (format > MF_PACK_FORMAT || abi > MF_MANIFEST_ABI) {
        return kiln_error_set(reader->error, KILN_ERR_VERSION,
                              "%s: format %u, abi %u: this library knows up to %u and %u",
                              reader->label, format, abi, MF_PACK_FORMAT, MF_MANIFEST_ABI);
    }
    uint64_t stated_bytes = mf_pack_u64(bytes + MF_PACK_AT_SIZE);
    if (stated_bytes != size_bytes || size_bytes < least_bytes) {
        return kiln_error_set(reader->error, KILN_ERR_FORMAT,
                              "%s: has %zu bytes, its header states %llu", reader->label,
                              size_bytes, (unsigned long long)stated_bytes);
    }
    struct mf_hash hash = mf_pack_hash(bytes, size_bytes);
    if (memcmp(hash.bytes, bytes + size_bytes - MF_HASH_BYTES, MF_HASH_BYTES) != 0) {
        return kiln_error_set(reader->error, KILN_ERR_HASH,
                              "%s: damaged: the hash at its end is not that of its bytes",
                              reader->label);
    }
    if (format == 0 || abi == 0 ||
        mf_pack_u32(bytes + MF_PACK_AT_SECTIONS) != MF_PACK_SECTION_COUNT ||
        mf_pack_u32(bytes + MF_PACK_AT_ZERO) != 0) {
        return kiln_error_set(reader->error, KILN_ERR_FORMAT,
                              "%s: header: expected format and abi from 1, %d sections, then 0",
                              reader->label, MF_PACK_SECTION_COUNT);
    }
    reader->manifest->format = MF_MANIFEST_FORMAT;
    reader->manifest->abi = abi;
    return KILN_OK;
}

bool kl_is_zero(const unsigned char *bytes, size_t size_bytes) {
    for (size_t i = 0; i < size_bytes; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Each section stands directly behind the one before, so none can overlap or be out of order. */
static void kl_read_contents(struct kl_reader *reader) {
    size_t position = MF_PACK_HEADER_BYTES + MF_PACK_SECTION_COUNT * MF_PACK_ENTRY_BYTES;
    size_t end = reader->size_bytes - MF_HASH_BYTES;
    for (uint32_t i = 1; i <= MF_PACK_SECTION_COUNT && !reader->failed; i++) {
        const unsigned char *entry =
            reader->bytes + MF_PACK_HEADER_BYTES + (i - 1) * MF_PACK_ENTRY_BYTES;
        size_t begin = (size_t)mf_pack_align(position);
        uint64_t size_bytes = mf_pack_u64(entry + 16);
        if (mf_pack_u32(entry) != i || mf_pack_u64(entry + 8) != begin || begin > end ||
            size_bytes > end - begin || !kl_is_zero(reader->bytes + position, begin - position)) {
            kl_fail(reader, KILN_ERR_FORMAT, (enum mf_pack_section)i, 0,
                    "a section behind the one before it and inside the file");
            return;
        }
        reader->sections[i] =
            (struct kl_section){reader->bytes + begin, (size_t)size_bytes, mf_pack_u32(entry + 4)};
        position = begin + (size_t)size_bytes;
    }
    if (mf_pack_align(position) != end || !kl_is_zero(reader->bytes + position, end - position)) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_DATA, 0, "its end before the hash");
    }
}

/* ---- texts ---- */

static void kl_read_texts(struct kl_reader *reader) {
    const struct kl_section *section = &reader->sections[MF_PACK_TEXTS];
    if (section->count > section->size_bytes) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_TEXTS, section->count, "no more texts than bytes");
    }
    char *block = kl_allocate(reader, section->size_bytes + 1, 1);
    reader->text_kinds = kl_allocate(reader, section->size_bytes + 1, 1);
    reader->texts = kl_allocate(reader, section->count, sizeof(*reader->texts));
    if (reader->failed) {
        return;
    }
    memcpy(block, section->bytes, section->size_bytes);
    reader->text_block = block;
    size_t position = 0;
    for (size_t i = 0; i < section->count && !reader->failed; i++) {
        const char *text = block + position;
        size_t length = 0;
        while (position + length < section->size_bytes && (unsigned char)text[length] >= 0x20 &&
               text[length] != 0x7f) {
            length++;
        }
        if (position + length == section->size_bytes || text[length] != '\0' ||
            length > MF_PACK_TEXT_MAX_BYTES) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_TEXTS, i,
                    "at most 4096 bytes without control characters, then 0");
        } else if (i > 0 && strcmp(reader->texts[i - 1], text) >= 0) {
            kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_TEXTS, i, "ascending order");
        }
        reader->texts[i] = text;
        position += length + 1;
    }
    if (position != section->size_bytes) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_TEXTS, section->count, "nothing behind the last");
    }
}

/* "" after a failure. */
const char *kl_text(struct kl_reader *reader, enum mf_pack_section section, size_t index,
                    const unsigned char *word) {
    uint32_t number = mf_pack_u32(word);
    if (!reader->failed && number >= reader->sections[MF_PACK_TEXTS].count) {
        kl_fail(reader, KILN_ERR_FORMAT, section, index, "the number of a text");
    }
    return reader->failed ? "" : reader->texts[number];
}

void kl_check_kind(struct kl_reader *reader, enum mf_pack_section section, size_t index,
                   const char *text, enum kl_text_kind kind) {
    if (reader->failed) {
        return;
    }
    unsigned char *known = &reader->text_kinds[text - reader->text_block];
    if (*known & kind) {
        return;
    }
    if (kind == KL_TEXT_PART && mf_name_check_part(text, NULL)) {
        kl_fail(reader, KILN_ERR_FORMAT, section, index, "a part of a name");
    } else if (kind == KL_TEXT_IDENTIFIER && !mf_name_is_identifier(text)) {
        kl_fail(reader, KILN_ERR_FORMAT, section, index, "an identifier");
    } else if (kind == KL_TEXT_NAME && mf_name_check(text, NULL)) {
        kl_fail(reader, KILN_ERR_FORMAT, section, index, "a name");
    }
    *known = (unsigned char)(*known | kind);
}

const char *kl_text_of(struct kl_reader *reader, enum mf_pack_section section, size_t index,
                       const unsigned char *word, enum kl_text_kind kind) {
    const char *text = kl_text(reader, section, index, word);
    kl_check_kind(reader, section, index, text, kind);
    return text;
}

/* ---- lists ---- */

/* Reads an element from its words. `position` is its place in the list: previous ones of the list
 * stand before it. */
typedef void (*kl_read_element)(struct kl_reader *reader, const unsigned char *words, void *element,
                                size_t list, size_t position);

static void kl_read_lists(struct kl_reader *reader, enum mf_pack_section section,
                          size_t element_bytes, kl_read_element read) {
    const struct kl_section *in = &reader->sections[section];
    size_t element_words = mf_pack_section_words(section);
    size_t word_count = in->size_bytes / 4;
    if (in->size_bytes % 4 != 0 || word_count < in->count ||
        (word_count - in->count) % element_words != 0) {
        kl_fail(reader, KILN_ERR_FORMAT, section, in->count, "whole lists");
        return;
    }
    size_t left = (word_count - in->count) / element_words;
    char *element = kl_allocate(reader, left, element_bytes);
    struct kl_list *lists = kl_allocate(reader, in->count, sizeof(*lists));
    const unsigned char *words = in->bytes;
    for (size_t i = 0; i < in->count && !reader->failed; i++) {
        uint32_t count = mf_pack_u32(words);
        words += 4;
        if (count > left) {
            kl_fail(reader, KILN_ERR_FORMAT, section, i, "no more elements than there are");
            return;
        }
        lists[i] = (struct kl_list){element, count};
        left -= count;
        for (size_t j = 0; j < count && !reader->failed; j++) {
            read(reader, words, element, i, j);
            words += 4 * element_words;
            element += element_bytes;
        }
    }
    if (left != 0) {
        kl_fail(reader, KILN_ERR_FORMAT, section, in->count, "nothing behind the last");
    }
    reader->lists[section] = lists;
}

static void kl_read_text_element(struct kl_reader *reader, const unsigned char *words,
                                 void *element, size_t list, size_t position) {
    (void)position;
    *(const char **)element = kl_text(reader, MF_PACK_TEXT_LISTS, list, words);
}

static void kl_read_axis(struct kl_reader *reader, const unsigned char *words, void *element,
                         size_t list, size_t position) {
    struct mf_axis *axis = element;
    axis->name = kl_text_of(reader, MF_PACK_AXES, list, words, KL_TEXT_IDENTIFIER);
    axis->value = kl_text(reader, MF_PACK_AXES, list, words + 4);
    if (position > 0 && axis[-1].name >= axis->name) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_AXES, list, "ascending names");
    }
}

static enum mf_scalar kl_scalar(struct kl_reader *reader, enum mf_pack_section section, size_t list,
                                const unsigned char *word, enum mf_scalar last) {
    uint32_t number = mf_pack_u32(word);
    if (number > (uint32_t)last) {
        kl_fail(reader, KILN_ERR_FORMAT, section, list, "a scalar type");
        return MF_SCALAR_U32;
    }
    return (enum mf_scalar)number;
}

static void kl_read_binding(struct kl_reader *reader, const unsigned char *words, void *element,
                            size_t list, size_t position) {
    struct mf_binding *binding = element;
    uint32_t access = mf_pack_u32(words + 12);
    binding->set = mf_pack_u32(words);
    binding->binding = mf_pack_u32(words + 4);
    binding->name = kl_text_of(reader, MF_PACK_BINDINGS, list, words + 8, KL_TEXT_IDENTIFIER);
    binding->element = kl_scalar(reader, MF_PACK_BINDINGS, list, words + 16, MF_SCALAR_STRUCT);
    binding->stride_bytes = mf_pack_u32(words + 20);
    if (access > MF_ACCESS_READ_WRITE || binding->stride_bytes == 0) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_BINDINGS, list, "an access and a stride from 1");
        return;
    }
    binding->access = (enum mf_access)access;
    for (size_t i = 1; i <= position; i++) {
        const struct mf_binding *other = binding - i;
        if (other->name == binding->name) {
            kl_fail(reader, KILN_ERR_DUPLICATE, MF_PACK_BINDINGS, list, "each name once");
        }
    }
    if (position > 0 &&
        (binding[-1].set > binding->set ||
         (binding[-1].set == binding->set && binding[-1].binding >= binding->binding))) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_BINDINGS, list, "ascending set and binding");
    }
}

uint64_t kl_push_end(const struct mf_push *push) {
    return (uint64_t)push->offset_bytes + push->size_bytes;
}

static void kl_read_push(struct kl_reader *reader, const unsigned char *words, void *element,
                         size_t list, size_t position) {
    struct mf_push *push = element;
    push->name = kl_text_of(reader, MF_PACK_PUSH, list, words, KL_TEXT_IDENTIFIER);
    push->offset_bytes = mf_pack_u32(words + 4);
    push->size_bytes = mf_pack_u32(words + 8);
    push->type = kl_scalar(reader, MF_PACK_PUSH, list, words + 12, MF_SCALAR_STRUCT);
    uint32_t scalar_bytes = mf_scalar_bytes(push->type);
    if (push->size_bytes == 0 || (scalar_bytes > 0 && push->size_bytes % scalar_bytes != 0)) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_PUSH, list, "a size of whole scalars");
    }
    if (position > 0 && kl_push_end(push - 1) > push->offset_bytes) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_PUSH, list, "ascending offsets without overlap");
    }
    for (size_t i = 1; i <= position; i++) {
        const struct mf_push *other = push - i;
        if (other->name == push->name) {
            kl_fail(reader, KILN_ERR_DUPLICATE, MF_PACK_PUSH, list, "each name once");
        }
    }
}

static void kl_read_spec(struct kl_reader *reader, const unsigned char *words, void *element,
                         size_t list, size_t position) {
    struct mf_spec_constant *spec = element;
    spec->constant_id = mf_pack_u32(words);
    spec->name = kl_text(reader, MF_PACK_SPEC, list, words + 4);
    if (spec->name[0] != '\0') {
        kl_check_kind(reader, MF_PACK_SPEC, list, spec->name, KL_TEXT_IDENTIFIER);
    }
    spec->type = kl_scalar(reader, MF_PACK_SPEC, list, words + 8, MF_SCALAR_BOOL);
    spec->default_bits = mf_pack_u64(words + 12);
    uint32_t bits = 8 * mf_scalar_bytes(spec->type);
    if (bits < 64 && spec->default_bits >> bits != 0) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_SPEC, list, "a default of the type's size");
    }
    if (position > 0 && spec[-1].constant_id >= spec->constant_id) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_SPEC, list, "ascending ids");
    }
}

static void kl_read_limit(struct kl_reader *reader, const unsigned char *words, void *element,
                          size_t list, size_t position) {
    struct mf_dim_limit *limit = element;
    (void)position;
    limit->dim = kl_text_of(reader, MF_PACK_LIMITS, list, words, KL_TEXT_IDENTIFIER);
    limit->max = mf_pack_u32(words + 4);
    limit->multiple = mf_pack_u32(words + 8);
    if (limit->max == 0 || limit->multiple == 0) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_LIMITS, list, "limits from 1");
    }
}

static void kl_read_factor(struct kl_reader *reader, const unsigned char *words, void *element,
                           size_t list, size_t position) {
    struct mf_grid_factor *factor = element;
    (void)position;
    factor->dim = kl_text_of(reader, MF_PACK_FACTORS, list, words, KL_TEXT_IDENTIFIER);
    factor->tile = mf_pack_u32(words + 4);
    if (factor->tile == 0) {
        kl_fail(reader, KILN_ERR_FORMAT, MF_PACK_FACTORS, list, "a tile from 1");
    }
}

/* An empty list after a failure. */
struct kl_list kl_list_of(struct kl_reader *reader, enum mf_pack_section section, size_t index,
                          enum mf_pack_section lists, const unsigned char *word) {
    uint32_t number = mf_pack_u32(word);
    if (!reader->failed && number >= reader->sections[lists].count) {
        kl_fail(reader, KILN_ERR_FORMAT, section, index, "the number of a list");
    }
    return reader->failed ? (struct kl_list){NULL, 0} : reader->lists[lists][number];
}

enum kiln_result kl_pack_index_read(const unsigned char *bytes, size_t size_bytes,
                                    const char *label, struct mf_manifest *manifest,
                                    struct kl_pack_index *index, struct kiln_error *error) {
    static const struct {
        enum mf_pack_section section;
        size_t element_bytes;
        kl_read_element read;
    } lists[] = {{MF_PACK_TEXT_LISTS, sizeof(const char *), kl_read_text_element},
                 {MF_PACK_AXES, sizeof(struct mf_axis), kl_read_axis},
                 {MF_PACK_BINDINGS, sizeof(struct mf_binding), kl_read_binding},
                 {MF_PACK_PUSH, sizeof(struct mf_push), kl_read_push},
                 {MF_PACK_SPEC, sizeof(struct mf_spec_constant), kl_read_spec},
                 {MF_PACK_LIMITS, sizeof(struct mf_dim_limit), kl_read_limit},
                 {MF_PACK_FACTORS, sizeof(struct mf_grid_factor), kl_read_factor}};
    struct kl_reader reader = {.bytes = bytes,
                               .size_bytes = size_bytes,
                               .label = label,
                               .manifest = manifest,
                               .error = error};
    *manifest = (struct mf_manifest){0};
    *index = (struct kl_pack_index){0};
    reader.failed = kl_check_header(&reader);
    if (!reader.failed) {
        kl_read_contents(&reader);
    }
    if (!reader.failed) {
        kl_read_texts(&reader);
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !reader.failed; i++) {
        kl_read_lists(&reader, lists[i].section, lists[i].element_bytes, lists[i].read);
    }
    if (!reader.failed) {
        kl_pack_read_rows(&reader, index);
    }
    if (reader.failed) {
        mf_manifest_release(manifest);
    }
    return reader.failed;
}
