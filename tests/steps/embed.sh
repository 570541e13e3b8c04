#!/bin/sh
# SPDX-License-Identifier: MIT
# A pack as an object file: a program that links it finds all artifacts and opens no file.
set -eu
build=${BUILD:-build}/release
generator=$build/bin/genshaders
"$generator" build --quiet --templates tests/fixtures/tree --out "$TMPDIR/spv" --cache "$TMPDIR/cache"
"$generator" pack --quiet --bundle "$TMPDIR/spv" --out "$TMPDIR/kernels.kiln"
"$generator" embed "$TMPDIR/kernels.kiln" "$TMPDIR/kiln_embed.c"
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -c -o "$TMPDIR/kiln_embed.o" "$TMPDIR/kiln_embed.c"
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iloader/include -Imanifest -o "$TMPDIR/embedded" tests/consumers/embedded.c \
    "$TMPDIR/kiln_embed.o" "$build/libkiln.a" "$build/libmanifest.a" -ljansson -lxxhash -lzstd -lpthread -ldl -lm
count=$(find "$TMPDIR/spv" -name '*.spv' | wc -l)
bytes=$(cat "$TMPDIR"/spv/*.spv | wc -c)
[ "$count" -gt 1 ]
# The bundle's files are gone by then.
rm -rf "$TMPDIR/spv" "$TMPDIR/kernels.kiln"
[ "$("$TMPDIR/embedded")" = "$count $bytes" ]

# A damaged pack is not embedded.
printf 'no pack' >"$TMPDIR/wrong"
status=0
"$generator" embed "$TMPDIR/wrong" "$TMPDIR/wrong.c" 2>"$TMPDIR/errors" || status=$?
[ $status -eq 1 ] && grep -q 'not a kiln pack' "$TMPDIR/errors" && [ ! -e "$TMPDIR/wrong.c" ]
