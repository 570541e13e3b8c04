/* SPDX-License-Identifier: MIT */
#include "mf_relative.h"

#include <stdbool.h>

#define HEADER_WORDS 5
#define TO_END UINT16_MAX

/*
 * Where ids stand in the instructions of a range of opcodes, by word number (0 is length and
 * opcode). Part of the pack format: a change is a new format. From the instruction layouts of the
 * SPIR-V specification, section 3; ids that seldom differ (types, imports, scopes) are left out.
 */
struct layout {
    uint16_t first, last; /* opcodes */
    uint16_t result;      /* word of the result id, 0: none */
    uint16_t begin, end;  /* words [begin, end) are ids; begin 0: none */
};
static const struct layout layouts[] = {
    {1, 1, 2, 0, 0},          {11, 11, 1, 0, 0},      {12, 12, 2, 5, TO_END},
    {16, 16, 0, 1, 2},        {19, 22, 1, 0, 0},      {23, 24, 1, 2, 3},
    {28, 28, 1, 2, 4},        {29, 29, 1, 2, 3},      {30, 30, 1, 2, TO_END},
    {32, 32, 1, 3, 4},        {33, 33, 1, 2, TO_END}, {41, 43, 2, 0, 0},
    {44, 44, 2, 3, TO_END},   {46, 46, 2, 0, 0},      {48, 50, 2, 0, 0},
    {51, 51, 2, 3, TO_END},   {52, 52, 2, 4, TO_END}, {54, 54, 2, 4, 5},
    {55, 55, 2, 0, 0},        {57, 57, 2, 3, TO_END}, {59, 59, 2, 0, 0},
    {61, 61, 2, 3, 4},        {62, 62, 0, 1, 3},      {65, 66, 2, 3, TO_END},
    {68, 68, 2, 3, 4},        {71, 72, 0, 1, 2},      {77, 78, 2, 3, TO_END},
    {79, 79, 2, 3, 5},        {80, 80, 2, 3, TO_END}, {81, 81, 2, 3, 4},
    {82, 82, 2, 3, 5},        {83, 84, 2, 3, 4},      {109, 191, 2, 3, TO_END},
    {194, 205, 2, 3, TO_END}, {224, 225, 0, 1, 4},    {227, 242, 2, 3, TO_END},
    {245, 245, 2, 3, TO_END}, {246, 246, 0, 1, 3},    {247, 247, 0, 1, 2},
    {248, 248, 1, 0, 0},      {249, 249, 0, 1, 2},    {250, 250, 0, 1, 4},
    {251, 251, 0, 1, 3},      {254, 254, 0, 1, 2},    {333, 348, 2, 3, TO_END},
    {349, 366, 2, 5, TO_END}, {4450, 4455, 2, 3, 5},  {4456, 4456, 1, 2, 7},
    {4457, 4457, 2, 3, 6},    {4458, 4458, 0, 1, 5},  {4459, 4459, 2, 3, 6},
};

/* Sorted by opcode: binary search. An opcode that is not listed has no ids. */
static struct layout find_layout(uint32_t opcode) {
    size_t low = 0;
    size_t high = sizeof layouts / sizeof layouts[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (opcode > layouts[middle].last) {
            low = middle + 1;
        } else if (opcode < layouts[middle].first) {
            high = middle;
        } else {
            return layouts[middle];
        }
    }
    return (struct layout){0};
}

/* One instruction of `count` words; `last` is the id that was defined last. */
static void convert(uint32_t *words, size_t count, uint32_t *last, bool decode) {
    struct layout layout = find_layout(words[0] & 0xffff);
    size_t end = layout.end < count ? layout.end : count;
    for (size_t i = layout.begin; layout.begin > 0 && i < end; i++) {
        words[i] = *last - words[i]; /* its own inverse */
    }
    if (layout.result > 0 && layout.result < count) {
        uint32_t word = words[layout.result];
        uint32_t id = decode ? *last + word : word;
        words[layout.result] = decode ? id : word - *last;
        *last = id;
    }
}

/* Stops where an instruction has no length or reaches behind the end: the rest stays as it is. */
static void convert_all(uint32_t *words, size_t word_count, bool decode) {
    uint32_t last = 0;
    for (size_t i = HEADER_WORDS; i < word_count;) {
        size_t count = words[i] >> 16;
        if (count == 0 || count > word_count - i) {
            return;
        }
        convert(words + i, count, &last, decode);
        i += count;
    }
}

void mf_relative_encode(uint32_t *words, size_t word_count) {
    convert_all(words, word_count, false);
}

void mf_relative_decode(uint32_t *words, size_t word_count) {
    convert_all(words, word_count, true);
}
