#!/bin/sh
# SPDX-License-Identifier: MIT
# matmul's kernel of tier coopmat2, which few devices can run, with its tensor operations in plain GLSL
# (tests/fixtures/tensors): tiles, tails, windows and decoding. On lavapipe, or whatever VK_DRIVER_FILES selects.
# time limit: 600 s
. tests/cli/common.sh
. toolchain/lane.sh
: "${VERIFY:=${BUILD:-build}/verify}"
[ -n "${VK_DRIVER_FILES-}" ] || lane_lavapipe || skip_all "no lavapipe at $VK_DRIVER_FILES"
tree=$TMPDIR/templates
bundle=$TMPDIR/bundle

mkdir -p "$tree/matmul"
cp -R templates/include "$tree"
cp templates/matmul/matmul_coopmat2.comp templates/matmul/*.glsl "$tree/matmul"
cp tests/fixtures/tensors/* "$tree/matmul"
expect "the kernel builds in plain GLSL" "$GENSHADERS" build --quiet --templates "$tree" --out "$bundle" \
  --cache "$TMPDIR/cache"
expect "every product is right" "$VERIFY" --bundle "$bundle" --suite quick --timeout 100 --require-device

# The cases of the full suite that a slow kernel can afford.
replayed() {
  "$VERIFY" --bundle "$bundle" --suite full --timeout 100 --require-device --replay "$1" >"$TMPDIR/out" 2>&1 &&
    grep -q '^1 pass, 0 fail, 0 skip' "$TMPDIR/out"
}
for load in tensor_8x12x64w1 stage_6x16x24w16; do
  name=matmul__q4_0_f16__any__${load}__coopmat2
  expect "$load: one result" replayed "$name/1x1x32"
  expect "$load: nothing to compute" replayed "$name/5x0x256"
  expect "$load: a folded grid" replayed "$name/130x512x256-groups7"
  expect "$load: windows of rows" replayed "$name/2x4099x256-windows3"
done
finish
