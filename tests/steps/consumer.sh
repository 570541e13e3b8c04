#!/bin/sh
# SPDX-License-Identifier: MIT
# The program of the README: an engine in the small, built against libkiln, runs a kernel of the bundle on lavapipe and on
# SwiftShader and gets the numbers it says it expects.
set -eu
. toolchain/lane.sh
build=${BUILD:-build}/release
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iloader/include -Imanifest -o "$TMPDIR/matvec" tests/consumers/matvec.c \
    "$build/libkiln.a" "$build/libmanifest.a" -ljansson -lxxhash -lzstd -lpthread -ldl -lm
ran=0
for lane in lane_lavapipe lane_swiftshader; do
    if "$lane"; then
        [ "$("$TMPDIR/matvec" spv)" = "496 -992" ]
        ran=$((ran + 1))
    fi
done
[ $ran -gt 0 ] || {
    echo "neither lavapipe nor SwiftShader is here"
    exit 77
}
# Without any driver it says so, with the status that it reserves for that.
status=0
VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent "$TMPDIR/matvec" spv 2>"$TMPDIR/errors" || status=$?
[ $status -eq 77 ] && [ -s "$TMPDIR/errors" ]
