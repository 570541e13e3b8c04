#!/bin/sh
# SPDX-License-Identifier: MIT
# Prepares build/native/ for a build by the host's own compiler, whose programs can load the host's own drivers:
#   include/   vulkan/ and vk_video/ from the toolchain root (never its other headers)
#   deps/      headers and libraries (static: lib/, shared: shared/) of jansson, xxHash and zstd: from the host's archive,
#              downloaded and unpacked in the cache, not installed; where that fails, the host's installed ones
# Exit status 77 and one line when this host cannot have it.
set -u
here=$(cd "${0%/*}" && pwd -P) || exit 1
# shellcheck source=toolchain/common.sh
. "$here/common.sh"
native=$build/native
packages='libjansson-dev libxxhash-dev libzstd-dev libjansson4 libxxhash0 libzstd1'

left_out() {
    say "native verifier left out: $*"
    exit 77
}

cc=$(command -v gcc || command -v cc || command -v clang) || left_out "this host has no C compiler"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
printf '#include <stdio.h>\nint main(void) { return puts("x") < 0; }\n' > "$scratch/x.c"
"$cc" -o "$scratch/x" "$scratch/x.c" 2>/dev/null || left_out "$cc does not compile a C program on this host"

# --- headers ---
headers=/usr/include
if [ "${where-}" = root ]; then
    [ -e "$root/etc/kiln-root" ] || "$here/root.sh" || exit 1
    headers=$root/usr/include
fi
if [ "$(cat "$native/include/from" 2>/dev/null)" != "$headers" ]; then
    rm -rf "$native/include"
    mkdir -p "$native/include"
    cp -r "$headers/vulkan" "$headers/vk_video" "$native/include/" || exit 1
    echo "$headers" > "$native/include/from"
fi

# --- libraries ---
release=$(. /etc/os-release 2>/dev/null && echo "${ID-}-${VERSION_ID-}")
store=$cache/unpacked-$release-$(uname -m)

uses() {
    printf '%s\n' '#include <jansson.h>' '#include <xxhash.h>' '#include <zstd.h>' \
        'int main(void) { return json_object() == NULL || !XXH64("", 0, 0) || !ZSTD_compressBound(1); }' > "$scratch/l.c"
    "$cc" "$@" -o "$scratch/l" "$scratch/l.c" ${1:+"$2"} -ljansson -lxxhash -lzstd 2>/dev/null && "$scratch/l"
}

# The files land flat in include/ and lib/, for the names of the directories differ from host to host.
fetch() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    mkdir -p "$store.new.$$/include" "$store.new.$$/lib" "$store.new.$$/shared" "$scratch/debs" || return 1
    cd "$scratch/debs" || return 1
    # shellcheck disable=SC2086
    apt-get -q download $packages >"$scratch/log" 2>&1 || {
        [ "$(id -u)" = 0 ] && apt-get -q update >>"$scratch/log" 2>&1 && apt-get -q download $packages >>"$scratch/log" 2>&1
    } || return 1
    for deb in *.deb; do
        dpkg-deb -x "$deb" "$scratch/tree" || return 1
    done
    find "$scratch/tree/usr/include" -name '*.h' -exec cp {} "$store.new.$$/include/" \; &&
        find "$scratch/tree" -name '*.a' -exec cp {} "$store.new.$$/lib/" \; &&
        find "$scratch/tree" -name '*.so*' -exec cp -P {} "$store.new.$$/shared/" \; || return 1
    rm -rf "$store"
    mv -T "$store.new.$$" "$store"
}

mkdir -p "$cache" || exit 1
if [ ! -d "$store" ] && ! (fetch); then
    rm -rf "$store.new.$$"
    uses || left_out "jansson, xxHash and zstd are neither installed for development nor to be had from this host's archive"
    rm -rf "$native/deps"
    mkdir -p "$native/deps/include" "$native/deps/lib" "$native/deps/shared"
    exit 0
fi
uses -I"$store/include" -L"$store/lib" || left_out "the unpacked libraries in $store do not link"
if [ "$(cat "$native/deps/from" 2>/dev/null)" != "$store" ]; then
    rm -rf "$native/deps"
    mkdir -p "$native/deps"
    cp -r "$store/include" "$store/lib" "$store/shared" "$native/deps/" && echo "$store" > "$native/deps/from"
fi
