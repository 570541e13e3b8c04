#!/bin/sh
# SPDX-License-Identifier: MIT
# `make install` into a DESTDIR, then a program outside the checkout is built against it, in C and C++, statically and
# shared, and opens the installed bundle.
set -u
cd "${0%/*}/../.." || exit 1
[ -e spv/manifest.json ] || {
    echo "no bundle: make spv failed or was not run"
    exit 77
}
destination="$TMPDIR/image å"
prefix=/opt/kiln
number=0

check() {
    number=$((number + 1))
    if [ "$2" = 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        sed 's/^/# /' "$TMPDIR/out"
    fi
}

DESTDIR=$destination PREFIX=$prefix make --no-print-directory install >"$TMPDIR/out" 2>&1
check "make install" $?
at=$destination$prefix
cmp spv/manifest.json "$at/share/kiln/spv/manifest.json" >"$TMPDIR/out" 2>&1
check "the bundle is there" $?
[ "$(find spv -maxdepth 1 -name '*.spv' | wc -l)" -eq "$(find "$at/share/kiln/spv" -name '*.spv' | wc -l)" ]
check "with all its artifacts" $?
grep -q "^prefix=$prefix\$" "$at/lib/pkgconfig/kiln.pc"
check "kiln.pc names the prefix, not the DESTDIR" $?
! grep -rIl -e "$TMPDIR" -e "$PWD" "$at/lib/pkgconfig" "$at/lib/cmake" "$at/include" >"$TMPDIR/out"
check "no path of this build in what was installed" $?
DESTDIR=$destination PREFIX=relative make --no-print-directory install >"$TMPDIR/out" 2>&1
[ $? -ne 0 ] && grep -q 'PREFIX must be an absolute path' "$TMPDIR/out"
check "a relative PREFIX is refused" $?

build=${BUILD:-build}
if ! command -v gcc >/dev/null || [ ! -d "$build/native/include" ]; then
    number=$((number + 1))
    echo "ok $number - consumer # SKIP no compiler on the host"
    echo "1..$number"
    exit 0
fi
cat >"$TMPDIR/consumer.c" <<'END'
#include <kiln/kiln.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    struct kiln_error error;
    memset(&error, 0, sizeof error);
    struct kiln_bundle *bundle = NULL;
    enum kiln_result result = kiln_bundle_open_directory(argc > 1 ? argv[1] : "", &bundle, &error);
    printf("%d\n", (int)result);
    kiln_bundle_close(&bundle);
    return result == KILN_OK ? 0 : 1;
}
END
cp "$TMPDIR/consumer.c" "$TMPDIR/consumer.cpp"
set -- -I"$at/include" -I"$at/include/kiln" -isystem "$build/native/include"
deps=$build/native/deps
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror "$@" -o "$TMPDIR/static" "$TMPDIR/consumer.c" "$at/lib/libkiln.a" -L"$deps/lib" \
    -ljansson -lxxhash -lzstd -lpthread -ldl -lm >"$TMPDIR/out" 2>&1 && "$TMPDIR/static" "$at/share/kiln/spv" >>"$TMPDIR/out" 2>&1
check "a static consumer opens the bundle" $?
"$TMPDIR/static" "$TMPDIR" >"$TMPDIR/out" 2>&1
[ $? -eq 1 ]
check "and not a directory without one" $?
gcc -std=c11 "$@" -o "$TMPDIR/shared" "$TMPDIR/consumer.c" -L"$at/lib" -lkiln -Wl,-rpath-link,"$deps/shared" >"$TMPDIR/out" 2>&1 &&
    LD_LIBRARY_PATH="$at/lib:$deps/shared" "$TMPDIR/shared" "$at/share/kiln/spv" >>"$TMPDIR/out" 2>&1
check "a shared consumer, too" $?
if command -v g++ >/dev/null; then
    g++ -std=c++17 -Wall -Wextra "$@" -o "$TMPDIR/cpp" "$TMPDIR/consumer.cpp" -L"$at/lib" -lkiln \
        -Wl,-rpath-link,"$deps/shared" >"$TMPDIR/out" 2>&1 &&
        LD_LIBRARY_PATH="$at/lib:$deps/shared" "$TMPDIR/cpp" "$at/share/kiln/spv" >>"$TMPDIR/out" 2>&1
    check "and one in C++" $?
fi
if command -v pkg-config >/dev/null; then
    [ "$(PKG_CONFIG_PATH="$at/lib/pkgconfig" pkg-config --define-prefix --libs kiln 2>"$TMPDIR/out" | grep -c -- -lkiln)" -eq 1 ]
    check "pkg-config knows it" $?
fi
echo "1..$number"
