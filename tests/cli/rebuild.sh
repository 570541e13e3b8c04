#!/bin/sh
# SPDX-License-Identifier: MIT
# What is compiled again after which change, by the counts that the build itself reports.
. tests/cli/common.sh
tree=$TMPDIR/tree
cp -r tests/fixtures/tree "$tree"
out=$TMPDIR/out
cache=$TMPDIR/cache

expect "a clean build succeeds" build_json "$out" "$cache"
expect "it compiles all 24 variants" summary_is compiled 24
expect "2 are excluded" summary_is excluded 2

expect "a second build succeeds" build_json "$out" "$cache"
expect "it compiles none" summary_is compiled 0
expect "it writes nothing" summary_is written 0

find "$tree" -type f -exec touch {} +
expect "after a touch of every file a build succeeds" build_json "$out" "$cache"
expect "it compiles none" summary_is compiled 0

sed -i 's/return subgroupAdd/return 2.0 * subgroupAdd/' "$tree/include/sum_subgroup.glsl"
expect "after a changed token in an include a build succeeds" build_json "$out" "$cache"
expect "it compiles exactly the 11 variants that include it" summary_is compiled 11
expect "it removes their 11 old modules" summary_is removed 11

printf '\n// a comment\n\n' >>"$tree/include/sum_subgroup.glsl"
sed -i '3i // another, above the code' "$tree/include/sum_subgroup.glsl"
expect "after changed comments a build succeeds" build_json "$out" "$cache"
expect "it compiles none" summary_is compiled 0

sed -i 's/workgroup: \[32, 64\]/workgroup: [32, 64, 128]/' "$tree/blend/blend.yaml"
expect "after a new axis value a build succeeds" build_json "$out" "$cache"
expect "it compiles the new variant only" summary_is compiled 1

sed -i 's/tolerance: {exact: true}/tolerance: {max_abs: 0.5}/' "$tree/blend/blend.yaml"
expect "after a changed tolerance a build succeeds" build_json "$out" "$cache"
expect "it compiles none" summary_is compiled 0
expect "the manifest has the new tolerance" grep -q '"max_abs": 0.5' "$out/manifest.json"

sed -i 's/^family: scale/recipe: size\nfamily: scale/' "$tree/scale/scale.yaml"
expect "after another optimiser recipe a build succeeds" build_json "$out" "$cache"
expect "it compiles that kernel's 22 variants" summary_is compiled 22

printf '#include "params.glsl"\n#if K_TIER == TIER_PORTABLE\n#endif\n' >"$tree/scale/sum.glsl"
printf 'float sum(float value) { return value - 1.0; }\n' >>"$tree/scale/sum.glsl"
expect "a new file that hides an include is seen" build_json "$out" "$cache"
expect "it replaces every module that looked there first" summary_is removed 22
rm "$tree/scale/sum.glsl"
expect "its removal is seen" build_json "$out" "$cache"
expect "the earlier modules come from the cache" summary_is compiled 0

module=$(find "$out" -name 'blend*.spv' | sort | head -1)
printf 'x' >>"$module"
expect "a damaged module is mended" build_json "$out" "$cache"
expect "without compiling" summary_is compiled 0
expect "by writing one file" summary_is written 1
rm "$out"/scale*w32r1*.spv
expect "missing modules are restored" build_json "$out" "$cache"
expect "both of them" summary_is written 2

# Each of these is hidden by the record of the last run, the short way of a build without changes.
rm -r "$cache/runs"
find "$cache/objects" -name '*.spv' -exec sh -c 'printf x >>"$1"' sh {} \;
expect "a damaged cache is no obstacle" build_json "$out" "$cache"
expect "everything is compiled again" summary_is compiled 25
expect "to the same bytes" summary_is written 0
rm -r "$cache/runs"
for file in "$cache"/stamps/*; do printf 'kiln-stamp 1\nbuild 00' >"$file"; done
expect "damaged stamps are no obstacle" build_json "$out" "$cache"
expect "nothing is compiled" summary_is compiled 0

for damage in '1,$d' '$d' 's/inputs 0*/inputs 1/' 's/^counts .*/counts x/' 's/^file ./file x/' '1s/1/2/'; do
  sed -i "$damage" "$cache"/runs/*
  expect "a damaged run record ($damage) is no obstacle" build_json "$out" "$cache"
  expect "nothing is compiled" summary_is compiled 0
done
mkdir "$tree/extra"
expect "an empty directory changes nothing" build_json "$out" "$cache"
expect "nothing is written" summary_is written 0
rmdir "$tree/extra"

mkdir "$TMPDIR/foreign"
echo '{"name": "something else"}' >"$TMPDIR/foreign/manifest.json"
cp -r "$TMPDIR/foreign" "$TMPDIR/foreign-before"
foreign() {
  "$GENSHADERS" build --templates "$tree" --out "$TMPDIR/foreign" --cache "$cache" 2>"$TMPDIR/errors"
  [ $? -eq 1 ] && grep -q 'foreign/manifest.json: expected a kiln manifest or none' "$TMPDIR/errors"
}
expect "somebody else's manifest is not replaced" foreign
expect "and nothing is put beside it" same_tree "$TMPDIR/foreign-before" "$TMPDIR/foreign"
mkdir "$TMPDIR/cut"
head -c 11 "$out/manifest.json" >"$TMPDIR/cut/manifest.json"
expect "one of ours that was cut is" build_json "$TMPDIR/cut" "$cache"
expect "and whole again" same_tree "$out" "$TMPDIR/cut"

expect "a clean build elsewhere is the same" build_json "$TMPDIR/out2" "$TMPDIR/cache2"
expect "byte for byte" same_tree "$out" "$TMPDIR/out2"
finish
