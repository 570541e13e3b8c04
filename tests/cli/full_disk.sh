#!/bin/sh
# SPDX-License-Identifier: MIT
# No space for the bundle or the cache: a clear message, a non-zero exit, and the old bundle whole.
. tests/cli/common.sh
if [ "${FULL_DISK_INSIDE:-}" != 1 ]; then
  # In a chroot whose / is no mount point the propagation cannot be changed; the trap below unmounts.
  FULL_DISK_INSIDE=1
  export FULL_DISK_INSIDE
  unshare --mount true 2>/dev/null && exec unshare --mount sh "$0"
  unshare --mount --propagation unchanged true 2>/dev/null &&
    exec unshare --mount --propagation unchanged sh "$0"
  skip_all "a private mount namespace is not permitted here"
fi
small=$TMPDIR/small
mkdir "$small"
mount -t tmpfs -o size=512k tmpfs "$small" || skip_all "mounting a small tmpfs is not permitted here"
trap 'umount "$small"' EXIT
tree=$TMPDIR/tree
cp -r tests/fixtures/tree "$tree"

expect "a build into the small file system" build_json "$small/out" "$TMPDIR/cache"
cp -r "$small/out" "$TMPDIR/before"
sed -i 's/value + 1.0/value + 3.0/' "$tree/include/sum.glsl"
sed -i 's/subgroupAdd(value)/subgroupMul(value)/' "$tree/include/sum_subgroup.glsl"
dd if=/dev/zero of="$small/filler" bs=1k 2>/dev/null
failing() {
  "$GENSHADERS" build --templates "$tree" --out "$1" --cache "$2" 2>"$TMPDIR/errors"
  [ $? -eq 1 ]
}
expect "a full disk under the bundle fails with status 1" failing "$small/out" "$TMPDIR/cache"
sed 's/^/# /' "$TMPDIR/errors"
expect "and says so with the path" grep -q "$small/out/.*No space left" "$TMPDIR/errors"
expect "the old bundle is untouched" same_tree "$TMPDIR/before" "$small/out"
expect "a full disk under the cache fails with status 1" failing "$TMPDIR/out2" "$small/cache"
expect "and says so with the path" grep -q "$small/cache.*No space left" "$TMPDIR/errors"
expect "no bundle was begun" [ ! -e "$TMPDIR/out2/manifest.json" ]
rm "$small/filler"
expect "with space again the build succeeds" build_json "$small/out" "$TMPDIR/cache"
expect "a clean build elsewhere" build_json "$TMPDIR/clean" "$TMPDIR/cache-clean"
expect "has the same bytes" same_tree "$TMPDIR/clean" "$small/out"

summary_full() {
  "$GENSHADERS" build --templates "$tree" --out "$small/out" --cache "$TMPDIR/cache" --json \
    >/dev/full 2>/dev/null
  [ $? -eq 1 ]
}
expect "a summary that cannot be written fails" summary_full
finish
