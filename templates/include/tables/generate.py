#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the codebook tables of the IQ types as GLSL.

usage: generate.py TABLES.json [OUTPUT_DIRECTORY]

TABLES.json maps a table's name to {"element_bits": n, "values": ["0x...", ...]}, one value per
codebook entry with its lowest byte first. The build does not run this: the results are committed.

A word costs 20 bytes of SPIR-V, and a codebook entry is 8 bytes (iq1, iq2) or 4 bytes (iq3) of very
few different values, so they are packed:

iq2, iq3  16 bits of codes an entry, two entries a word, the even one in the low half
  iq2*      8 codes of 2 bits, byte = 8 25 43
  iq3*      4 codes of 4 bits (3 used), byte = 4 12 20 28 36 44 52 62 or 1 3 5 .. 15
iq1s      an entry is the number of eight base-3 digits value + 1, the first value the lowest digit;
          the entries are in ascending order with small steps, so four are one word: bits 0..12 the
          first entry, then the differences of the other three from it, 6 bits each
"""

import json
import pathlib
import sys

IQ2_BYTES = [8, 25, 43]
TABLES = {
    # name: (byte value of each code, bits of a code)
    "iq2xxs_grid": (IQ2_BYTES, 2),
    "iq2xs_grid": (IQ2_BYTES, 2),
    "iq2s_grid": (IQ2_BYTES, 2),
    "iq3xxs_grid": ([4, 12, 20, 28, 36, 44, 52, 62], 4),
    "iq3s_grid": (list(range(1, 16, 2)), 4),
}
WORDS_PER_LINE = 7


def pack_entry(value: int, byte_count: int, bytes_of_codes: list, code_bits: int) -> int:
    packed = 0
    for i in range(byte_count):
        code = bytes_of_codes.index(value >> (8 * i) & 0xFF)
        packed |= code << (code_bits * i)
    return packed


def pack_table(table: dict, bytes_of_codes: list, code_bits: int) -> list:
    byte_count = table["element_bits"] // 8
    entries = [pack_entry(int(v, 16), byte_count, bytes_of_codes, code_bits)
               for v in table["values"]]
    return [low | high << 16 for low, high in zip(entries[0::2], entries[1::2])]


def pack_iq1_table(table: dict) -> list:
    entries = []
    for text in table["values"]:
        values = int(text, 16).to_bytes(8, "little")
        entries.append(sum([255, 0, 1].index(b) * 3 ** i for i, b in enumerate(values)))
    words = []
    for i in range(0, len(entries), 4):
        first, *others = entries[i:i + 4]
        word = first
        for j, entry in enumerate(others):
            if not 0 <= entry - first < 64:
                raise ValueError(f"iq1s_grid: entry {i + j + 1} is not within 63 above entry {i}")
            word |= (entry - first) << (13 + 6 * j)
        words.append(word)
    return words


def format_table(name: str, words: list) -> str:
    macro = name.upper()
    lines = [
        "// SPDX-License-Identifier: MIT",
        "// Written by tables/generate.py; see there for the packing. Not `const`: a constant array is",
        "// copied anew at each access by drivers that keep it on the stack, this one once at the start.",
        f"#ifndef {macro}_GLSL",
        f"#define {macro}_GLSL",
        "",
        f"uint {macro}[{len(words)}] = uint[{len(words)}](",
    ]
    for i in range(0, len(words), WORDS_PER_LINE):
        row = ", ".join(f"0x{w:08X}u" for w in words[i:i + WORDS_PER_LINE])
        lines.append(f"    {row}" + ("," if i + WORDS_PER_LINE < len(words) else ");"))
    return "\n".join(lines + ["", "#endif", ""])


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    tables = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    directory = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else pathlib.Path(__file__).parent)
    packed = {name: pack_table(tables[name], *packing) for name, packing in TABLES.items()}
    packed["iq1s_grid"] = pack_iq1_table(tables["iq1s_grid"])
    for name, words in packed.items():
        (directory / f"{name}.glsl").write_text(format_table(name, words), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
