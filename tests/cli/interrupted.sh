#!/bin/sh
# SPDX-License-Identifier: MIT
# kill -9 at random moments of a build, over an older bundle: the manifest in place always describes
# modules that are there and whole, and the next build ends as a clean one.
. tests/cli/common.sh
tree=$TMPDIR/tree
cp -r tests/fixtures/tree "$tree"
build_json "$TMPDIR/old" "$TMPDIR/cache-old" || skip_all "the fixture tree does not build"
sed -i 's/value + 1.0/value + 3.0/' "$tree/include/sum.glsl"
sed -i 's/0.25/0.125/' "$tree/blend/local.glsl"
start=$(date +%s%N)
build_json "$TMPDIR/clean" "$TMPDIR/cache-clean"
expect "a clean build" summary_is failed 0
span_ms=$((($(date +%s%N) - start) / 1000000 + 20))
echo "# a clean build takes $span_ms ms; moments come from seed ${KILL_SEED:=$$}"

# whole_bundle DIR: every file that the manifest names exists, with the size it states
whole_bundle() {
  # six spaces: the artifact's own fields, not those of its push constants
  sed -n 's/^ \{6\}"file": "\(.*\)",$/\1/p; s/^ \{6\}"size": \([0-9]*\),*$/\1/p' "$1/manifest.json" |
    while read -r file && read -r size; do
      [ "$(stat -c %s "$1/$file" 2>/dev/null)" = "$size" ] || {
        echo "# $1/$file is missing or not $size bytes"
        exit 1
      }
    done
}
expect "the old bundle is whole" whole_bundle "$TMPDIR/old"

moments=${KILL_MOMENTS:-20}
killed=0
bad=0
unlike=0
state=$KILL_SEED
for _ in $(seq "$moments"); do
  rm -rf "$TMPDIR/out" "$TMPDIR/cache"
  cp -r "$TMPDIR/old" "$TMPDIR/out"
  state=$(((state * 1103515245 + 12345) % 2147483648))
  delay_ms=$((state / 65536 % span_ms))
  "$GENSHADERS" build --templates "$tree" --out "$TMPDIR/out" --cache "$TMPDIR/cache" --quiet &
  pid=$!
  sleep "$(printf '%d.%03d' $((delay_ms / 1000)) $((delay_ms % 1000)))"
  kill -9 "$pid" 2>/dev/null && killed=$((killed + 1))
  wait "$pid" 2>/dev/null
  whole_bundle "$TMPDIR/out" || bad=$((bad + 1))
  build_json "$TMPDIR/out" "$TMPDIR/cache" || bad=$((bad + 1))
  same_tree "$TMPDIR/clean" "$TMPDIR/out" || unlike=$((unlike + 1))
done
echo "# $killed of $moments builds were killed"
expect "some builds were killed before their end" [ "$killed" -gt 0 ]
expect "a killed build leaves a whole bundle" [ "$bad" -eq 0 ]
expect "the build after it equals a clean one" [ "$unlike" -eq 0 ]
finish
