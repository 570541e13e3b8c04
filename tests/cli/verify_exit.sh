#!/bin/sh
# SPDX-License-Identifier: MIT
# The verifier's exit statuses and what it says: wrong usage, refused bundles, no device, damaged golden vectors.
. tests/cli/common.sh
. toolchain/lane.sh
: "${VERIFY:=${BUILD:-build}/verify}"
bundle=$TMPDIR/bundle
expect "a bundle builds" "$GENSHADERS" build --quiet --templates tests/fixtures/verify_faults --out "$bundle" \
  --cache "$TMPDIR/cache"

# gives STATUS PATTERN ARGUMENT...: exit status, and a line of either output that matches
gives() {
  wanted=$1
  pattern=$2
  shift 2
  "$VERIFY" "$@" >"$TMPDIR/out" 2>&1 </dev/null
  status=$?
  if [ $status -ne "$wanted" ] || ! grep -qE "$pattern" "$TMPDIR/out"; then
    echo "# exit status $status, expected $wanted; expected '$pattern' in:"
    sed 's/^/# /' "$TMPDIR/out" | head -10
    return 1
  fi
}

expect "help" gives 0 '^Usage: verify' --help
expect "version" gives 0 '^verify \(kiln\) [0-9]+\.[0-9]+' --version
full_output() {
  "$VERIFY" --bundle "$bundle" --list >/dev/full 2>"$TMPDIR/errors"
  [ $? -eq 1 ] && grep -q 'cannot write to standard output' "$TMPDIR/errors"
}
expect "output that cannot be written" full_output
expect "an unknown option" gives 2 "unknown option '--fast'" --fast
expect "an unknown suite" gives 2 "expected quick, seeds or full, got 'fast'" --suite fast
expect "an unknown command" gives 2 "got 'gloden'" gloden tests/golden
expect "filters that match nothing" gives 2 'no artifact of the bundle matches' --bundle "$bundle" --filter 'nothing*'
expect "the list of cases" gives 0 '^matvec__f32_f32__any__none__portable/512x256-groups7$' --bundle "$bundle" --list \
  --suite full

# --- refused bundles ---
expect "no bundle" gives 4 'bundle refused: .*nowhere' --bundle "$TMPDIR/nowhere"
damage() {
  rm -rf "$TMPDIR/damaged"
  cp -r "$bundle" "$TMPDIR/damaged"
  module=$(find "$TMPDIR/damaged" -name '*__none__*.spv')
}
damage
printf '\001' | dd of="$module" bs=1 seek=64 conv=notrunc 2>/dev/null
expect "a flipped byte in a module" gives 4 'bundle refused: .*none.*hash' --bundle "$TMPDIR/damaged"
damage
truncate -s -4 "$module"
expect "a truncated module" gives 4 'bundle refused: .*none' --bundle "$TMPDIR/damaged"
damage
rm "$module"
expect "a missing module" gives 4 'bundle refused: .*none' --bundle "$TMPDIR/damaged"
expect "which does not matter where it is not chosen" gives 0 . --bundle "$TMPDIR/damaged" --filter '*__input__*' --list
damage
sed -i 's/"format": 1/"format": 2/' "$TMPDIR/damaged/manifest.json"
expect "a newer format" gives 4 'bundle refused: .*format' --bundle "$TMPDIR/damaged"
damage
echo '{' >"$TMPDIR/damaged/manifest.json"
expect "a broken manifest" gives 4 'bundle refused: .*manifest.json' --bundle "$TMPDIR/damaged"

# A row that no reference covers is a failure, with or without a device.
damage
sed -i 's/"reference": "matvec"/"reference": "nothing"/' "$TMPDIR/damaged/manifest.json"
expect "rows without a reference fail" gives 1 '0 pass, 15 fail, 0 skip' --bundle "$TMPDIR/damaged"
expect "and say so" gives 1 "there is no CPU reference 'nothing'" --bundle "$TMPDIR/damaged"

# --- no device ---
without_device() {
  (
    VK_DRIVER_FILES=/nonexistent/icd.json
    VK_ICD_FILENAMES=$VK_DRIVER_FILES
    export VK_DRIVER_FILES VK_ICD_FILENAMES
    gives "$@"
  )
}
expect "no device is no failure" without_device 0 'No Vulkan device to run on \(.+\): nothing was run' --bundle "$bundle" \
  --json "$TMPDIR/none.json"
expect "every row is a skip in the JSON" grep -q '"skip": 30' "$TMPDIR/none.json"
expect "unless one is required" without_device 3 'require-device' --bundle "$bundle" --require-device
expect "listing devices says so" without_device 0 'No Vulkan device: ' devices
expect "golden vectors need no device" without_device 0 '^[0-9]+ pass, 0 fail, 0 skip \(29 types' golden tests/golden \
  --bundle "$bundle"

# --- golden vectors ---
cp -r tests/golden "$TMPDIR/golden"
printf '\001' | dd of="$TMPDIR/golden/q4_k/rand/blocks.bin" bs=1 seek=9 conv=notrunc 2>/dev/null
expect "a damaged golden vector" without_device 1 '^fail q4_k +rand +files' golden "$TMPDIR/golden" --bundle "$bundle"
rm "$TMPDIR/golden/index.json"
expect "no golden vectors" without_device 1 'index.json' golden "$TMPDIR/golden" --bundle "$bundle"

# --- with a device ---
if [ -n "${VK_DRIVER_FILES-}" ] || lane_lavapipe; then
  expect "a device that is not there" gives 2 "no device matches 'nonsense'; 0: " --bundle "$bundle" --device nonsense
  expect "the device list" gives 0 '^0  ' devices
  expect "one case by its replay name" gives 0 '^1 pass, 0 fail, 0 skip' --bundle "$bundle" --device 0 \
    --replay matvec__f32_f32__any__none__portable/3x512
  expect "a case that does not exist" gives 1 "it has no case '3x513'" --bundle "$bundle" \
    --replay matvec__f32_f32__any__none__portable/3x513
  expect "injected limits" gives 0 '^2 pass, 0 fail, 0 skip' --bundle "$bundle" --filter '*__none__*' --limits groups=11
  expect "are obeyed" gives 1 'never written' --bundle "$bundle" --filter '*__unfolded__*' --limits groups=11
fi
finish
