#!/bin/sh
# SPDX-License-Identifier: MIT
# Two clean builds in different directories, with different users' settings, give identical bytes, and those that
# manifest/artifacts.lock names. When the lock was made with another toolchain only the first part can be shown: skipped, or
# with --strict (`make regen-check`) exit status 3.
# time limit: 600 s
set -eu
generator=$PWD/${BUILD:-build}/release/bin/genshaders
[ "${CHECK:-full}" = full ] || {
    echo "not part of CHECK=smoke"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
first=$scratch/first
second="$scratch/second tree, åäö"
mkdir "$first" "$second"
cp -r templates "$first/"
cp -r templates "$second/"

(cd "$first" && umask 022 && LC_ALL=C TZ=UTC "$generator" build --templates templates --out spv --cache cache --jobs 2)
(cd "$second" && umask 077 && LC_ALL=C.UTF-8 TZ=Asia/Kolkata HOME=/nonexistent \
    "$generator" build --templates templates --out "$second/spv" --cache "$second/cache" --jobs 1)
diff -r "$first/spv" "$second/spv"
echo "two clean builds are identical"
[ -e manifest/artifacts.lock ] || {
    echo "manifest/artifacts.lock is missing: 'make lock' writes it" >&2
    exit 1
}
status=0
"$generator" lock --manifest "$first/spv/manifest.json" --compare manifest/artifacts.lock || status=$?
if [ $status -eq 3 ] && [ "${1-}" != --strict ]; then
    echo "two clean builds are identical; the lock belongs to another toolchain"
    exit 77
fi
[ $status -eq 0 ] || exit $status
echo "they are what manifest/artifacts.lock names"
