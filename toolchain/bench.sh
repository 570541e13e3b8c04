#!/bin/sh
# SPDX-License-Identifier: MIT
# `make bench`: brings spv/ up to date and times it on the problems of TABLE (default: tests/bench/small.txt), with the
# native verifier where it has a device, else on lavapipe. The report is build/bench.json; BENCH_ARGS are passed on.
set -u
here=$(cd "${0%/*}" && pwd -P) || exit 1
cd "$here/.." || exit 1
build=${BUILD:-build}
table=${TABLE:-tests/bench/small.txt}
make --no-print-directory spv || exit 1
make --no-print-directory native || exit 1
verify=$build/verify
if [ -x "$build/native/verify" ]; then
    case $("$build/native/verify" devices 2>&1) in
    *'No Vulkan device'*) ;;
    *) verify=$build/native/verify ;;
    esac
fi
# BENCH_ARGS is shell text, so that a pattern can be quoted.
eval "set -- ${BENCH_ARGS-}" || exit 2
exec "$verify" bench "$table" --bundle spv --json "$build/bench.json" "$@"
