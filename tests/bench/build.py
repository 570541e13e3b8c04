#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the generator beside glslc, in processor time, on the same expanded sources in one run.

usage: build.py GENSHADERS [--templates DIR] [--sample N]

The generator builds the whole bundle from nothing, on one thread, then once more with nothing
changed. glslc -O (or $KILN_GLSLC; without one glslang's compiler and spirv-opt -O) compiles N of the
expanded sources (default 48), evenly spaced over all. The glslc runs come in two halves, before
and after the generator's, so that a machine that grows busier treats both alike.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time


def processor_seconds(command):
    """Runs the command; its processor time and peak memory in KiB. Its output is not shown."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"build.py: {command[0]} failed: {messages.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def reference_command():
    """What to compare with: its name and, for a source, the commands that compile it."""
    glslc = os.environ.get("KILN_GLSLC") or shutil.which("glslc")
    if glslc:
        return "glslc -O", lambda source, target, out: [
            [glslc, "-O", "-fshader-stage=compute", f"--target-env={target}", source, "-o", out]
        ]
    if not shutil.which("glslangValidator") or not shutil.which("spirv-opt"):
        sys.exit("build.py: neither glslc nor glslangValidator and spirv-opt are here")
    return "glslangValidator and spirv-opt -O", lambda source, target, out: [
        ["glslangValidator", "-V", "--target-env", target, source, "-o", out],
        ["spirv-opt", "-O", out, "-o", out],
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("genshaders")
    parser.add_argument("--templates", default="templates")
    parser.add_argument("--sample", type=int, default=int(os.environ.get("KILN_BENCH_SAMPLE", 48)))
    options = parser.parse_args()
    name, compile_commands = reference_command()
    with tempfile.TemporaryDirectory() as scratch:
        expanded = os.path.join(scratch, "expanded")
        listing = subprocess.run(
            [options.genshaders, "expand", "--templates", options.templates, "--out", expanded],
            check=True, capture_output=True, text=True).stdout.split("\n")
        variants = [line.split() for line in listing if line]
        count = max(1, min(options.sample, len(variants)))
        sample = [variants[i * len(variants) // count] for i in range(count)]

        def compile_sample(part):
            seconds = 0.0
            for variant, target in part:
                source = os.path.join(expanded, variant + ".comp")
                for command in compile_commands(source, target, os.path.join(scratch, "out.spv")):
                    seconds += processor_seconds(command)[0]
            return seconds

        build = [options.genshaders, "build", "--templates", options.templates, "--jobs", "1",
                 "--quiet", "--out", os.path.join(scratch, "spv"),
                 "--cache", os.path.join(scratch, "cache")]
        other = compile_sample(sample[0::2])
        ours, peak_kib = processor_seconds(build)
        other += compile_sample(sample[1::2])
        started = time.monotonic()
        processor_seconds(build)
        warm = time.monotonic() - started
        ours /= len(variants)
        other /= count
        print(f"genshaders build, all {len(variants)} artifacts from nothing: "
              f"{ours:.4f} CPU-s per artifact, {peak_kib / 1024:.0f} MiB at most")
        print(f"the same, nothing changed: {1000 * warm:.0f} ms")
        print(f"{name}, {count} of the same sources: {other:.3f} CPU-s per artifact")
        print(f"ratio {other / ours:.1f}, {ours:.3f} CPU-s per artifact")


if __name__ == "__main__":
    main()
