#!/bin/sh
# SPDX-License-Identifier: MIT
# toolchain/bundle.sh BUNDLE OUT GENERATOR (`make bundle`): OUT/kiln-bundle-VERSION.tar.gz, made of the bundle directory
# BUNDLE and of the checkout. The same inputs give the same bytes, wherever, whenever and by whomever it is made. In the
# archive:
#   kernels.kiln, spv/    the pack, and the same as a directory
#   include/kiln/         the public headers
#   FORMAT.md, manifest.schema.json, LICENSE, NOTICE
#   provenance.json       the toolchain's packages, and the SHA-256 of every source that decides what the bundle holds
#   SHA256SUMS            of every other file
set -eu
LC_ALL=C
export LC_ALL
umask 022
cd "${0%/*}/.."
bundle=${1:?usage: bundle.sh BUNDLE OUT GENERATOR}
out=${2:?usage: bundle.sh BUNDLE OUT GENERATOR}
generator=${3:?usage: bundle.sh BUNDLE OUT GENERATOR}
# shellcheck source=toolchain/release.sh
. toolchain/release.sh
name=kiln-bundle-$version
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
stage=$scratch/$name

mkdir -p "$stage/spv" "$stage/include/kiln"
# What the manifest lists and nothing else.
sed -n 's/^      "file": "\(.*\)",$/\1/p' "$bundle/manifest.json" >"$scratch/files"
while read -r file; do
    cp "$bundle/$file" "$stage/spv/$file"
done <"$scratch/files"
cp "$bundle/manifest.json" "$stage/spv/"
cp FORMAT.md manifest/manifest.schema.json LICENSE NOTICE "$stage/"
for header in $(headers); do
    cp "$header" "$stage/include/kiln/"
done

# Made here of what is in the archive, so the two are the same bundle; damaged modules are refused.
"$generator" pack --quiet --bundle "$stage/spv" --out "$stage/kernels.kiln"

# members KEY: the lines "NAME VALUE" of standard input as an object of texts
members() {
    printf '  "%s": {' "$1"
    sort | sed 's/^\([^ ]*\) \(.*\)$/    "\1": "\2"/; 1s/^/\n/; $!s/$/,/; $s/$/\n  /'
    printf '}'
}
# Of the packages that the toolchain is made of, those that are here; nothing where there is no dpkg.
packages() {
    command -v dpkg-query >/dev/null || return 0
    sed 's/#.*//; /^[[:space:]]*$/d' toolchain/packages.base toolchain/packages.backports | while read -r package; do
        dpkg-query -W -f '${Package} ${Version}\n' "$package" 2>/dev/null || true
    done
}
sources() {
    find templates genshaders manifest -type f \( -name '*.[ch]' -o -name '*.comp' -o -name '*.glsl' -o -name '*.yaml' \
        -o -name artifacts.lock \) -exec sha256sum {} + | sed 's/^\([^ ]*\)  \(.*\)$/\2 \1/'
}
agrees=false
! "$generator" lock --manifest "$bundle/manifest.json" --compare manifest/artifacts.lock >/dev/null 2>&1 || agrees=true
{
    printf '{\n  "artifacts_lock_agrees": %s,\n' "$agrees"
    packages | members packages
    printf ',\n'
    sources | members sources
    printf ',\n  "toolchain": "%s",\n' "$(sed -n 's/^    "signature": "\(.*\)",\{0,1\}$/\1/p' "$bundle/manifest.json")"
    printf '  "version": "%s"\n}\n' "$version"
} >"$stage/provenance.json"

(cd "$stage" && find . -type f | sed 's|^\./||' | sort | xargs sha256sum) >"$scratch/sums"
mv "$scratch/sums" "$stage/SHA256SUMS"
# 1980: the earliest date that every archive format can hold.
tar --create --directory "$scratch" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --mtime=@315532800 "$name" | gzip -n -9 >"$scratch/archive"
mv "$scratch/archive" "$out/$name.tar.gz"
echo "kiln: $out/$name.tar.gz, $(wc -l <"$scratch/files") artifacts, $(wc -c <"$out/$name.tar.gz") bytes"
