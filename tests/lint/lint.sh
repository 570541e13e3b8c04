#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/lint/lint.sh [TREE]: the rules on sources, each breach as `file:line: rule: message`; exit status 1 if there is one.
#
#   spdx             the first line (or the one after #!) names the licence
#   file-length      at most 800 lines, or `lint: table` in the first 10
#   function-length  at most 80 lines
#   banned           strcpy strcat sprintf strtok gets atoi gmtime
#   tab, blank       no tabs in C, no trailing blanks, a line break at the end
#   direction        manifest <- genshaders; manifest <- loader <- verify, and verify sees the loader's public headers only
#   foreign          each foreign library in one source file only, and in the layer it belongs to
#   header           each header compiles alone as C; the public ones as C++, too
#   host, path       no host of a package registry, no path of one machine
#   shell            shellcheck, where it is installed
set -u
here=$(cd "${0%/*}" && pwd -P)
cd "${1:-$here/../..}" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
found=$scratch/found
: >"$found"
compiler=${CC:-gcc}

find . \( -name .git -o -path ./build -o -path ./spv -o -name '*.spv' \) -prune -o -type f -print |
    sed 's|^\./||' | LC_ALL=C sort >"$scratch/files"
grep -E '\.[ch]$' "$scratch/files" >"$scratch/c"

each() {
    # The names have no line breaks: every rule here would trip over one.
    while IFS= read -r file; do
        "$@"
    done
}

rule_spdx() {
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' || echo "$file:1: spdx: no SPDX-License-Identifier: MIT"
}
grep -E '(\.(c|h|cpp|sh|mk|awk|py|comp|glsl)|(^|/)Makefile)$' "$scratch/files" | each rule_spdx >>"$found"

rule_text() {
    awk -v file="$file" -f "$here/lint.awk" "$file"
    [ -z "$(tail -c 1 "$file")" ] || echo "$file:1: blank: no line break at the end"
}
each rule_text <"$scratch/c" >>"$found"

# --- includes: one list `file line name` for the rules below; <> and "" alike ---
rule_includes() {
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]\([^>"]*\)[>"].*/\1/;T;=;p' "$file" |
        paste - - | sed "s|^|$file	|"
}
each rule_includes <"$scratch/c" >"$scratch/includes"

awk -F'\t' -v layers="manifest genshaders loader verify" '
    function layer_of(path) {
        if (path ~ /^loader\/include\//) return "loader/include"
        sub(/\/.*/, "", path)
        return path
    }
    BEGIN {
        allowed["manifest"] = " manifest "
        allowed["genshaders"] = " manifest genshaders "
        allowed["loader"] = " manifest loader loader/include "
        allowed["loader/include"] = " manifest loader/include "
        allowed["verify"] = " manifest loader/include verify "
    }
    FNR == NR { name = $0; sub(/.*\//, "", name); if ($0 ~ /\.h$/ && $0 !~ /^tests\//) where[name] = layer_of($0); next }
    {
        layer = layer_of($1)
        name = $3
        sub(/.*\//, "", name)
        if (!(layer in allowed) || !(name in where)) next
        if (index(allowed[layer], " " where[name] " ") == 0)
            printf "%s:%d: direction: %s may not include %s of %s\n", $1, $2, layer, name, where[name]
    }' "$scratch/files" "$scratch/includes" >>"$found"

# library, pattern of its headers, layers that may have it, in how many files
foreign() {
    awk -F'\t' -v library="$1" -v pattern="$2" -v layers=" $3 " -v limit="$4" '
        $1 ~ /^(tests|toolchain)\// || $3 !~ pattern { next }
        {
            layer = $1
            sub(/\/.*/, "", layer)
            if (index(layers, " " layer " ") == 0)
                printf "%s:%d: foreign: %s does not belong into %s\n", $1, $2, library, layer
            if (!($1 in seen)) { seen[$1] = $2; files++; if (first == "") first = $1
                else if (files > limit) printf "%s:%d: foreign: %s is already included by %s\n", $1, $2, library, first }
        }' "$scratch/includes" >>"$found"
}
foreign glslang '^glslang/' genshaders 1
foreign SPIRV-Tools '^spirv-tools/' genshaders 1
foreign SPIRV-Cross '^(spirv_cross/)?spirv_cross' genshaders 1
foreign libyaml '^yaml\.h$' genshaders 1
foreign jansson '^jansson\.h$' manifest 1
foreign xxHash '^xxhash\.h$' manifest 1
foreign zstd '^zstd\.h$' manifest 1
foreign Vulkan '^vulkan/' 'loader' 1000

# --- headers alone; without Vulkan's headers those that need them are left out ---
without_vulkan=
printf '#include <vulkan/vulkan_core.h>\n' >"$scratch/header.c"
"$compiler" -fsyntax-only "$scratch/header.c" 2>/dev/null || without_vulkan=yes
header_fault() {
    [ -z "$without_vulkan" ] || ! grep -q 'vulkan/vulkan.*No such file' "$scratch/errors" || return 0
    echo "$file:1: header: $1: $(sed -n '/error/{s/.*error: //p;q;}' "$scratch/errors")"
}
rule_header() {
    printf '#include "%s"\n#include "%s"\n' "$file" "$file" >"$scratch/header.c"
    cp "$scratch/header.c" "$scratch/header.cpp"
    set -- -fsyntax-only -D_GNU_SOURCE -I. -Imanifest -Igenshaders -Iloader/include -Iloader/src -Iverify -Itests/unit
    "$compiler" -std=c11 -Wall -Wextra -Wpedantic "$@" "$scratch/header.c" 2>"$scratch/errors" ||
        header_fault "does not compile alone"
    case $file in
    loader/include/* | manifest/kiln_result.h)
        "${CXX:-g++}" -std=c++17 -Wall -Wextra "$@" "$scratch/header.cpp" 2>"$scratch/errors" ||
            header_fault "does not compile as C++"
        ;;
    esac
}
if command -v "$compiler" >/dev/null; then
    grep '\.h$' "$scratch/c" | each rule_header >>"$found"
    [ -z "$without_vulkan" ] || echo "lint: no Vulkan headers here, so headers that need them were not compiled" >&2
else
    echo "lint: no C compiler, so headers were not compiled" >&2
fi

# --- hosts and paths; the patterns are written so that they do not match themselves ---
texts() {
    grep -vE '\.(json|bin|png)$|^tests/golden/' "$scratch/files" | tr '\n' '\0' | xargs -0 grep -nIE "$1" /dev/null
}
texts '(debian|ubuntu|npmjs|pypi|crates|golang)[.](org|com|io|net)|registry[.][a-z-]+[.](com|org|io|dev)|proxy[.]golang' |
    sed -E 's/^([^:]*:[0-9]*):.*/\1: host: host name of a package registry/' >>"$found"
texts '(^|[^A-Za-z0-9_.$}{*-])/(work|root)/[a-z.]' |
    sed -E 's/^([^:]*:[0-9]*):.*/\1: path: path of one machine/' >>"$found"

if command -v shellcheck >/dev/null; then
    grep '\.sh$' "$scratch/files" | tr '\n' '\0' | xargs -0 shellcheck -s sh -S warning -x -P . -f gcc 2>&1 |
        sed -E 's/^([^:]*:[0-9]*):[0-9]*: /\1: shell: /' >>"$found"
fi

if [ -s "$found" ]; then
    LC_ALL=C sort -t: -k1,1 -k2,2n "$found"
    echo "lint: $(wc -l <"$found") breaches" >&2
    exit 1
fi
echo "lint: $(wc -l <"$scratch/files") files keep the rules"
