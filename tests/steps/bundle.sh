#!/bin/sh
# SPDX-License-Identifier: MIT
# The release archive: from two checkouts that differ in directory, times, modes, umask, locale and what else lies about, the same
# bytes; what is in it; and that a damaged bundle gives none.
set -eu
generator=$PWD/${BUILD:-build}/release/bin/genshaders

# checkout DIRECTORY: what the archive is made of, with a small bundle
checkout() {
    mkdir -p "$1"
    cp -r toolchain templates genshaders manifest loader FORMAT.md LICENSE NOTICE "$1/"
    "$generator" build --quiet --templates tests/fixtures/tree --out "$1/spv" --cache "$TMPDIR/cache"
}
checkout "$TMPDIR/a"
"$TMPDIR/a/toolchain/bundle.sh" spv out "$generator" >/dev/null
other="$TMPDIR/Å b/c"
checkout "$other"
find "$other" -type f -exec touch -d 2001-02-03 {} +
find "$other" -type f ! -name '*.sh' -exec chmod 600 {} +
echo left over >"$other/spv/notes.txt"
(
    umask 077
    LC_ALL=tr_TR.UTF-8 TZ=Pacific/Kiritimati
    export LC_ALL TZ
    "$other/toolchain/bundle.sh" spv "$other/o ut" "$generator" >/dev/null
)
archive=$(find "$TMPDIR/a/out" -type f)
cmp "$archive" "$other/o ut/${archive##*/}"

mkdir "$TMPDIR/x"
tar -xzf "$archive" -C "$TMPDIR/x"
cd "$TMPDIR"/x/*
sha256sum --quiet -c SHA256SUMS
# Everything but the sums has one.
[ "$(find . -type f | wc -l)" -eq $(($(wc -l <SHA256SUMS) + 1)) ]
[ ! -e spv/notes.txt ]
for file in kernels.kiln spv/manifest.json FORMAT.md manifest.schema.json LICENSE NOTICE include/kiln/kiln.h \
    include/kiln/kiln_embed.h include/kiln/mf_manifest.h; do
    [ -s "$file" ] || {
        echo "$file is not in the archive"
        exit 1
    }
done
"$generator" pack --quiet --bundle "$TMPDIR/a/spv" --out "$TMPDIR/kernels.kiln"
cmp kernels.kiln "$TMPDIR/kernels.kiln"
diff -r spv "$TMPDIR/a/spv"
python3 - <<'PYTHON'
import hashlib, json, os
provenance = json.load(open("provenance.json"))
assert set(provenance) == {"artifacts_lock_agrees", "packages", "sources", "toolchain", "version"}
assert provenance["artifacts_lock_agrees"] is False
assert provenance["toolchain"] == json.load(open("spv/manifest.json"))["toolchain"]["signature"]
tree = os.environ["TMPDIR"] + "/a/"
for path, digest in provenance["sources"].items():
    assert hashlib.sha256(open(tree + path, "rb").read()).hexdigest() == digest, path
assert "manifest/artifacts.lock" in provenance["sources"] and "genshaders/gs_build.c" in provenance["sources"]
PYTHON
if grep -rIl -e "$TMPDIR" .; then
    exit 1
fi
cd "$TMPDIR"

# A module that is not the manifest's.
module=$(find "$TMPDIR/a/spv" -name '*.spv' | head -n 1)
printf '\001' | dd of="$module" bs=1 seek=64 conv=notrunc 2>/dev/null
status=0
"$TMPDIR/a/toolchain/bundle.sh" spv out2 "$generator" >/dev/null 2>"$TMPDIR/errors" || status=$?
[ $status -eq 1 ]
grep -q 'its bytes are not those' "$TMPDIR/errors"
[ ! -e "$TMPDIR/a/out2/${archive##*/}" ]
