#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""read_pack.py PACK [DIRECTORY]: reads a pack by FORMAT.md alone and compares it with a bundle directory.

Another implementation than the C code: the table of relative words is taken from FORMAT.md, hashes and frames from the
shared libxxhash and libzstd. Without DIRECTORY the modules' content hashes are checked only. Prints the number of
artifacts; any difference is an assertion. Run it in the checkout's root.
"""
import ctypes
import json
import struct
import sys

SECTIONS = ["texts", "text lists", "axes", "bindings", "push", "spec", "limits", "factors", "grids", "requires",
            "tolerances", "toolchain", "artifacts", "excluded", "blobs", "dictionary", "data"]
SCALARS = "u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64 bool struct".split()
BYTES = dict(u8=1, i8=1, u16=2, i16=2, u32=4, i32=4, u64=8, i64=8, f16=2, f32=4, f64=8, bool=4)
ACCESS = ["read", "write", "read_write"]


class Digest(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh3_128(data, domain):
    function = ctypes.CDLL("libxxhash.so.0").XXH3_128bits_withSeed
    function.restype = Digest
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    digest = function(data, len(data), int.from_bytes(domain, "big"))
    return f"{digest.high:016x}{digest.low:016x}"


def expand(frame, size, dictionary):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_createDCtx.restype = ctypes.c_void_p
    function = library.ZSTD_decompress_usingDict
    function.restype = ctypes.c_size_t
    function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
                         ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(size)
    context = ctypes.c_void_p(library.ZSTD_createDCtx())
    assert function(context, out, size, frame, len(frame), dictionary, len(dictionary)) == size
    library.ZSTD_freeDCtx(context)
    return out.raw


def read_layouts():
    """The table of FORMAT.md: opcode -> result, begin, end."""
    text = open("FORMAT.md").read().split("### Relative words")[1].split("```")[1]
    layouts = {}
    for line in text.strip().splitlines()[1:]:
        opcodes, result, begin, end = line.split()
        first, last = (opcodes.split("-") * 2)[:2]
        for opcode in range(int(first), int(last) + 1):
            assert opcode not in layouts
            layouts[opcode] = int(result), int(begin), 1 << 16 if end == "all" else int(end)
    return layouts


def absolute(data, layouts):
    words = list(struct.unpack(f"<{len(data) // 4}I", data))
    last, at = 0, 5
    while at < len(words):
        count = words[at] >> 16
        if count == 0 or at + count > len(words):
            break
        result, begin, end = layouts.get(words[at] & 0xFFFF, (0, 0, 0))
        for i in range(begin, min(end, count)) if begin else ():
            words[at + i] = (last - words[at + i]) & 0xFFFFFFFF
        if 0 < result < count:
            last = words[at + result] = (last + words[at + result]) & 0xFFFFFFFF
        at += count
    return struct.pack(f"<{len(words)}I", *words)


class Pack:
    def __init__(self, data):
        assert data[:8] == b"\x89KILN\r\n\x1a"
        version, self.abi, size, count, zero = struct.unpack_from("<IIQII", data, 8)
        assert (version, size, count, zero) == (1, len(data), len(SECTIONS), 0)
        assert xxh3_128(data[:-16], b"kilnpack") == data[-16:].hex()
        self.section, self.count = {}, {}
        position = 32 + 24 * count
        for i, name in enumerate(SECTIONS):
            kind, self.count[name], offset, size = struct.unpack_from("<IIQQ", data, 32 + 24 * i)
            assert kind == i + 1 and offset % 16 == 0 and not any(data[position:offset]) and offset - position < 16
            self.section[name] = data[offset:offset + size]
            position = offset + size
        self.texts = [text.decode() for text in self.section["texts"].split(b"\0")[:-1]]
        assert len(self.texts) == self.count["texts"]
        self.lists = {name: self.read_lists(name, words) for name, words in
                      dict(zip(SECTIONS[1:8], (1, 2, 6, 4, 5, 3, 2))).items()}

    def read_lists(self, name, words):
        numbers = struct.unpack(f"<{len(self.section[name]) // 4}I", self.section[name])
        lists, at = [], 0
        while at < len(numbers):
            count = numbers[at]
            lists.append([numbers[at + 1 + i * words:at + 1 + (i + 1) * words] for i in range(count)])
            at += 1 + count * words
        assert len(lists) == self.count[name]
        return lists

    def rows(self, name, form):
        rows = list(struct.iter_unpack("<" + form, self.section[name]))
        assert len(rows) == self.count[name]
        return rows

    def text_list(self, number):
        return [self.texts[text] for text, in self.lists["text lists"][number]]

    def manifest(self):
        t = self.texts
        toolchain, = self.rows("toolchain", "5I")
        keys = ("glslang", "spirv_tools", "spirv_cross", "pipeline", "signature")
        return {"format": 1, "abi": self.abi, "toolchain": {k: t[n] for k, n in zip(keys, toolchain)},
                "artifacts": [self.artifact(row) for row in self.rows("artifacts", "18I16s16s")],
                "excluded": [{"name": t[n], "reason": t[r]} for n, r in self.rows("excluded", "2I")]}

    def artifact(self, row):
        t = self.texts
        (name, family, kernel, shape, schedule, tier, reference, dtypes, dims, axes, bindings, push, spec, limits, grid,
         requires, tolerance, blob, recipe, iface) = row
        _, size, content = self.rows("blobs", "2I16s")[blob]
        x, y, z, fold = self.rows("grids", "4I")[grid]
        r = self.rows("requires", "14I")[requires]
        exact, ulp, *bounds = self.rows("tolerances", "2I3d")[tolerance]
        factors = [[{"dim": t[d], "tile": n} for d, n in self.lists["factors"][axis]] for axis in (x, y, z)]
        gates = {k: v for k, v in zip(("max_abs", "rel", "scale"), bounds) if v >= 0}
        gates |= {"exact": True} if exact else {}
        gates |= {"ulp_f16": ulp} if ulp else {}
        return {
            "name": t[name], "family": t[family], "kernel": t[kernel], "shape": t[shape], "schedule": t[schedule],
            "tier": t[tier], "reference": t[reference], "dtypes": self.text_list(dtypes), "dims": self.text_list(dims),
            "file": f"{t[name]}.{content.hex()[:8]}.spv", "size": size, "recipe": recipe.hex(), "iface": iface.hex(),
            "content": content.hex(), "axes": {t[k]: t[v] for k, v in self.lists["axes"][axes]},
            "bindings": [{"set": s, "binding": b, "name": t[n], "access": ACCESS[a], "element": SCALARS[e], "stride": w}
                         for s, b, n, a, e, w in self.lists["bindings"][bindings]],
            "push": [{"name": t[n], "offset": o, "size": s, "type": SCALARS[k]}
                     for n, o, s, k in self.lists["push"][push]],
            "spec": [{"id": i, "name": t[n], "type": SCALARS[k],
                      "default": f"0x{low | high << 32:0{2 * BYTES[SCALARS[k]]}x}"}
                     for i, n, k, low, high in self.lists["spec"][spec]],
            "limits": [{"dim": t[d], "max": most, "multiple": m} for d, most, m in self.lists["limits"][limits]],
            "grid": {"x": factors[0], "y": factors[1], "z": factors[2], "fold": fold == 1},
            "requires": {
                "vulkan": f"{r[0]}.{r[1]}", "spirv": f"{r[2]}.{r[3]}", "local_size": list(r[4:7]),
                "workgroup_bytes": r[7], "push_bytes": r[8], "subgroup_size": r[9],
                "subgroup_operations": self.text_list(r[10]), "features": self.text_list(r[11]),
                "extensions": self.text_list(r[12]), "capabilities": self.text_list(r[13])},
            "tolerance": gates}

    def modules(self):
        """Content hash -> bytes."""
        layouts = read_layouts()
        dictionary = expand(self.section["dictionary"], self.count["dictionary"], b"")
        found, at = {}, 0
        for packed, size, content in self.rows("blobs", "2I16s"):
            module = absolute(expand(self.section["data"][at:at + packed], size, dictionary), layouts)
            assert xxh3_128(module, b"kilncont") == content.hex()
            found[content.hex()] = module
            at = (at + packed + 15) // 16 * 16
        assert len(found) == self.count["data"]
        return found


def main():
    pack = Pack(open(sys.argv[1], "rb").read())
    manifest, modules = pack.manifest(), pack.modules()
    if len(sys.argv) > 2:
        assert manifest == json.load(open(f"{sys.argv[2]}/manifest.json"))
        for artifact in manifest["artifacts"]:
            assert modules[artifact["content"]] == open(f"{sys.argv[2]}/{artifact['file']}", "rb").read()
    print(len(manifest["artifacts"]))


main()
