#!/bin/sh
# SPDX-License-Identifier: MIT
# Template trees with one mistake each, tests/bad/<kind>/<case>/: the build must fail with status 1, print the line of
# `expected` first, and leave no bundle. Where `expected` is empty the tree is a good one that must build.
. tests/cli/common.sh

# first_error TREE: builds TREE; the first line on standard error must be that of TREE/expected.
first_error() {
  rm -rf "$TMPDIR/out" "$TMPDIR/cache"
  "$GENSHADERS" build --quiet --templates "$1" --out "$TMPDIR/out" --cache "$TMPDIR/cache" \
    >"$TMPDIR/stdout" 2>"$TMPDIR/stderr"
  build_status=$?
  head -n 1 "$TMPDIR/stderr" >"$TMPDIR/first"
  if [ ! -s "$1/expected" ]; then
    [ "$build_status" -eq 0 ] && [ -s "$TMPDIR/out/manifest.json" ] && return
    echo "# exit status $build_status of a tree without a mistake:"
    sed 's/^/#   /' "$TMPDIR/stderr"
    return 1
  fi
  if [ "$build_status" -ne 1 ]; then
    echo "# exit status $build_status, expected 1"
    return 1
  fi
  if [ -e "$TMPDIR/out/manifest.json" ]; then
    echo "# a bundle was left"
    return 1
  fi
  diff "$1/expected" "$TMPDIR/first" >"$TMPDIR/diff" && return
  sed 's/^/# /' "$TMPDIR/diff"
  return 1
}

for tree in tests/bad/*/*/; do
  tree=${tree%/}
  expect "${tree#tests/bad/}" first_error "$tree"
done
finish
