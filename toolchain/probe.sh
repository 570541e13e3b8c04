#!/bin/sh
# SPDX-License-Identifier: MIT
# toolchain/probe.sh FILE: finds out whether this host can build and verify by itself, and writes a make fragment that
# says so: `where := here`, or `where := root` with the reason in a comment. Versions and names are not looked at; a
# program linked like ours is built and run.
here=${0%/*}
out=${1:?usage: probe.sh FILE}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
lavapipe=/usr/share/vulkan/icd.d/lvp_icd.json

answer() {
    { echo "#$(stat -c %d:%i /) Written by toolchain/probe.sh for the system with this root directory."; [ -z "$2" ] || echo "# why: $2"; \
        echo "where := $1"; } > "$out.new" && mv "$out.new" "$out"
    exit
}

for tool in gcc g++ ar git python3 pkgconf; do
    command -v "$tool" >/dev/null || answer root "$tool is not installed"
done
gcc -std=c11 -O0 -c -o "$scratch/probe.o" "$here/probe.c" 2> "$scratch/errors" ||
    answer root "$(sed -n 's/.*\(fatal \)\{0,1\}error: //p' "$scratch/errors" | head -n 1)"
g++ -o "$scratch/probe" "$scratch/probe.o" -lglslang -lglslang-default-resource-limits -lSPIRV-Tools-opt -lSPIRV-Tools \
    -lspirv-cross-c-shared -lyaml -ljansson -lxxhash -lzstd -lcmocka -lvulkan -lpthread -lm 2> "$scratch/errors" ||
    answer root "its libraries do not link: $(sed -n '/undefined\|cannot find/{s/.*ld: //;p;q;}' "$scratch/errors")"
[ -e "$lavapipe" ] || answer root "there is no lavapipe ($lavapipe)"
why=$(VK_DRIVER_FILES=$lavapipe VK_ICD_FILENAMES=$lavapipe timeout 60 "$scratch/probe" 2>/dev/null) ||
    answer root "${why:-a program using the toolchain crashes}"
python3 -c 'import jsonschema' 2>/dev/null || answer root "python3-jsonschema is not installed"
answer here
