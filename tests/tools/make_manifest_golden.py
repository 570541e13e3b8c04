#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes manifest.json and artifact.json in tests/fixtures/manifest/ for tests/unit/test_manifest*.c.

An implementation of FORMAT.md apart from the C code: the text comes from Python's json module and
the interface hash from the shared libxxhash, called with the fields that FORMAT.md lists.
Run it in the checkout's root; it prints nothing.
"""
import ctypes
import json
import struct


class Digest(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh3_128(data, domain):
    library = ctypes.CDLL("libxxhash.so.0")
    function = library.XXH3_128bits_withSeed
    function.restype = Digest
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    digest = function(data, len(data), int.from_bytes(domain, "big"))
    return f"{digest.high:016x}{digest.low:016x}"


def field(value):
    data = value.encode() if isinstance(value, str) else struct.pack("<Q", value)
    return struct.pack("<Q", len(data)) + data


def interface_hash(a):
    fields = [1, len(a["bindings"])]
    for b in a["bindings"]:
        fields += [b["set"], b["binding"], b["name"], b["access"], b["element"], b["stride"]]
    fields += [len(a["push"])]
    for p in a["push"]:
        fields += [p["name"], p["offset"], p["size"], p["type"]]
    fields += [len(a["spec"])]
    for s in a["spec"]:
        fields += [s["id"], s["name"], s["type"], int(s["default"], 16)]
    fields += [len(a["dims"])] + a["dims"] + [len(a["limits"])]
    for limit in a["limits"]:
        fields += [limit["dim"], limit["max"], limit["multiple"]]
    for axis in "xyz":
        fields += [len(a["grid"][axis])]
        for factor in a["grid"][axis]:
            fields += [factor["dim"], factor["tile"]]
    fields += [int(a["grid"]["fold"])]
    r = a["requires"]
    fields += [int(n) for key in ("vulkan", "spirv") for n in r[key].split(".")]
    fields += r["local_size"] + [r["workgroup_bytes"], r["push_bytes"], r["subgroup_size"]]
    for key in ("subgroup_operations", "features", "extensions", "capabilities"):
        fields += [len(r[key])] + r[key]
    return xxh3_128(b"".join(map(field, fields)), b"kilnifac")


def binding(number, name, access, element, stride):
    return {"set": 0, "binding": number, "name": name, "access": access, "element": element,
            "stride": stride}


def push(name, offset, kind="u32"):
    return {"name": name, "offset": offset, "size": 4, "type": kind}


def add():
    return {
        "name": "add__f32_f32__any__flat_w256__portable", "family": "add", "kernel": "add",
        "dtypes": ["f32", "f32"], "shape": "any", "schedule": "flat_w256", "tier": "portable",
        "size": 20, "recipe": "00000000000000000000000000000001", "axes": {},
        "content": xxh3_128(b"add", b"kilncont"),
        "requires": {
            "vulkan": "1.1", "spirv": "1.3", "local_size": [256, 1, 1], "workgroup_bytes": 0,
            "push_bytes": 0, "subgroup_size": 0, "subgroup_operations": [], "features": [],
            "extensions": [], "capabilities": ["Shader"]},
        "bindings": [binding(0, "a", "read", "f32", 4), binding(1, "y", "write", "f32", 4)],
        "push": [], "spec": [], "dims": [], "limits": [],
        "grid": {"x": [], "y": [], "z": [], "fold": False},
        "reference": "", "tolerance": {"exact": True}}


def matmul():
    return {
        "name": "matmul__q4_k_f16__any__mma_16x16x16w128__coopmat", "family": "matmul",
        "kernel": "matmul_coopmat", "dtypes": ["q4_k", "f16", "f32"], "shape": "any",
        "schedule": "mma_16x16x16w128", "tier": "coopmat", "size": 123456,
        "recipe": "fedcba98765432100123456789abcdef", "content": xxh3_128(b"matmul", b"kilncont"),
        "axes": {"tuple": "16x16x16", "dtype": "q4_k", "label": "größe \"q\" \\ 2"},
        "requires": {
            "vulkan": "1.3", "spirv": "1.6", "local_size": [128, 2, 1], "workgroup_bytes": 16384,
            "push_bytes": 20, "subgroup_size": 32,
            "subgroup_operations": ["arithmetic", "basic", "shuffle"],
            "features": ["cooperativeMatrix", "shaderFloat16", "vulkanMemoryModel"],
            "extensions": ["VK_KHR_cooperative_matrix"],
            "capabilities": ["CooperativeMatrixKHR", "Float16", "Shader", "VulkanMemoryModel"]},
        "bindings": [binding(0, "weights", "read", "u32", 4), binding(1, "x", "read", "f16", 8),
                     binding(2, "y", "read_write", "f32", 16),
                     {"set": 1, "binding": 0, "name": "ids", "access": "read", "element": "struct",
                      "stride": 12}],
        "push": [push("t", 0), push("nout", 4), push("k", 8), push("eps", 16, "f32")],
        "spec": [
            {"id": 0, "name": "workgroup", "type": "u32", "default": "0x00000080"},
            {"id": 1, "name": "", "type": "f64", "default": "0xbff0000000000000"},
            {"id": 7, "name": "fast", "type": "bool", "default": "0x00000001"},
            {"id": 9, "name": "half_one", "type": "f16", "default": "0x3c00"}],
        "dims": ["t", "nout", "k"],
        "limits": [{"dim": "t", "max": 4294967295, "multiple": 7},
                   {"dim": "k", "max": 65536, "multiple": 256}],
        "grid": {"x": [{"dim": "nout", "tile": 64}],
                 "y": [{"dim": "t", "tile": 64}, {"dim": "k", "tile": 4294967295}], "z": [],
                 "fold": False},
        "reference": "matmul",
        "tolerance": {"max_abs": 0.3, "rel": 1e-05, "scale": 0.01, "ulp_f16": 1}}


def matvec():
    return {
        "name": "matvec__q4_k_f32__any__row_w64r2__subgroup", "family": "matvec",
        "kernel": "matvec", "dtypes": ["q4_k", "f32"], "shape": "any", "schedule": "row_w64r2",
        "tier": "subgroup", "size": 4096, "recipe": "0123456789abcdef0123456789abcdef",
        "content": xxh3_128(b"matvec", b"kilncont"), "axes": {"workgroup": "64", "rows": "2"},
        "requires": {
            "vulkan": "1.1", "spirv": "1.3", "local_size": [64, 1, 1], "workgroup_bytes": 256,
            "push_bytes": 8, "subgroup_size": 0, "subgroup_operations": ["arithmetic", "basic"],
            "features": [], "extensions": [],
            "capabilities": ["GroupNonUniform", "GroupNonUniformArithmetic", "Shader"]},
        "bindings": [binding(0, "weights", "read", "u32", 4), binding(1, "x", "read", "f32", 4),
                     binding(2, "y", "write", "f32", 4)],
        "push": [push("nout", 0), push("k", 4)], "spec": [], "dims": ["nout", "k"], "limits": [],
        "grid": {"x": [{"dim": "nout", "tile": 2}], "y": [], "z": [], "fold": True},
        "reference": "matvec", "tolerance": {"max_abs": 0.001, "rel": 0.001}}


def complete(a):
    a["iface"] = interface_hash(a)
    a["file"] = f"{a['name']}.{a['content'][:8]}.spv"
    return a


def main():
    artifacts = [complete(a) for a in (add(), matmul(), matvec())]
    manifest = {
        "format": 1, "abi": 1,
        "toolchain": {"glslang": "15.1.0", "spirv_tools": "v2025.1", "spirv_cross": "0.64.0",
                      "pipeline": "1", "signature": "glslang 15.1.0; spirv-tools v2025.1; kiln 1"},
        "artifacts": artifacts,
        "excluded": [
            {"name": "matmul__q8_0_f16__any__mma_8x8x8__coopmat2",
             "reason": "no GL_NV_cooperative_matrix2: \"templates\\x.comp\":3 – unknown"},
            {"name": "matvec__iq1_s_f32__any__row_w64r2__dp4a", "reason": "codes exceed int8"}]}
    with open("tests/fixtures/manifest/manifest.json", "w", encoding="utf-8", newline="\n") as out:
        json.dump(manifest, out, indent=2, sort_keys=True, ensure_ascii=False)
        out.write("\n")
    with open("tests/fixtures/manifest/artifact.json", "w", encoding="utf-8", newline="\n") as out:
        json.dump(artifacts[1], out, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


main()
