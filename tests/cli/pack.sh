#!/bin/sh
# SPDX-License-Identifier: MIT
# Packs: equal bytes for equal bundles, the same bundle to the verifier and to a reader that knows FORMAT.md only, and
# what is said of damaged ones.
. tests/cli/common.sh
. toolchain/lane.sh
: "${VERIFY:=${BUILD:-build}/verify}"
bundle=$TMPDIR/bundle
pack=$TMPDIR/kernels.kiln
expect "a bundle builds" "$GENSHADERS" build --quiet --templates tests/fixtures/verify_faults --out "$bundle" \
  --cache "$TMPDIR/cache"

# --- writing ---
expect "a pack of it" "$GENSHADERS" pack --quiet --bundle "$bundle" --out "$pack"
mkdir "$TMPDIR/Åäö ß"
cp -r "$bundle" "$TMPDIR/Åäö ß/b"
again() {
  (
    umask 077
    LC_ALL=tr_TR.UTF-8 TZ=Pacific/Kiritimati
    export LC_ALL TZ
    "$GENSHADERS" pack --quiet --bundle "$TMPDIR/Åäö ß/b/" --out "$TMPDIR/Åäö ß/k"
  ) && cmp "$pack" "$TMPDIR/Åäö ß/k" && [ "$(stat -c %a "$TMPDIR/Åäö ß/k")" = 644 ]
}
expect "again, from another directory, locale and umask: the same bytes" again

# refuses PATTERN ARGUMENT...: exit status 1, and a line that matches
refuses() {
  pattern=$1
  shift
  "$GENSHADERS" pack "$@" >"$TMPDIR/out" 2>&1
  status=$?
  if [ $status -ne 1 ] || ! grep -qE "$pattern" "$TMPDIR/out"; then
    echo "# exit status $status, expected 1; expected '$pattern' in: $(cat "$TMPDIR/out")"
    return 1
  fi
}
cp -r "$bundle" "$TMPDIR/damaged"
module=$(find "$TMPDIR/damaged" -name '*__none__*.spv')
printf '\001' | dd of="$module" bs=1 seek=64 conv=notrunc 2>/dev/null
expect "a damaged module is not packed" refuses 'none__portable: its bytes are not' --bundle "$TMPDIR/damaged" \
  --out "$TMPDIR/none"
expect "and no file is left" test ! -e "$TMPDIR/none"
expect "no bundle" refuses 'nowhere' --bundle "$TMPDIR/nowhere" --out "$TMPDIR/none"
expect "no directory to write into" refuses 'nowhere' --bundle "$bundle" --out "$TMPDIR/nowhere/k"
usage() {
  "$GENSHADERS" pack --fast >/dev/null 2>&1
  [ $? -eq 2 ]
}
expect "an unknown option is wrong usage" usage

# In the bundle's directory: builds keep it as long as it is the manifest's.
cp -r tests/fixtures/tree "$TMPDIR/tree"
rebuild() {
  "$GENSHADERS" build --quiet --templates "$TMPDIR/tree" --out "$TMPDIR/in" --cache "$TMPDIR/cache"
}
stays() {
  rebuild && "$GENSHADERS" pack --quiet --bundle "$TMPDIR/in" --out "$TMPDIR/in/kernels.kiln" && rebuild &&
    rm -r "$TMPDIR/cache/runs" && rebuild && [ -e "$TMPDIR/in/kernels.kiln" ]
}
expect "a pack in the bundle's directory stays" stays
goes() {
  sed -i 's/max_abs: 1e-6/max_abs: 2e-6/' "$TMPDIR/tree/scale/scale.yaml" && rebuild &&
    [ ! -e "$TMPDIR/in/kernels.kiln" ]
}
expect "until the manifest is another" goes

# --- reading ---
read_pack() {
  python3 tests/tools/read_pack.py "$@" >"$TMPDIR/out" 2>&1 || {
    sed 's/^/# /' "$TMPDIR/out"
    return 1
  }
}
if command -v python3 >/dev/null; then
  expect "a reader by FORMAT.md finds the same manifest and modules" read_pack "$pack" "$bundle"
  expect "and reads the golden pack" read_pack tests/fixtures/pack/golden.kiln
fi

# gives STATUS PATTERN ARGUMENT...
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
lists() {
  "$VERIFY" --bundle "$1" --suite full --list >"$TMPDIR/list$2" && [ -s "$TMPDIR/list$2" ]
}
expect "the list of cases" lists "$bundle" 1
expect "of the pack" lists "$pack" 2
expect "is the same" cmp "$TMPDIR/list1" "$TMPDIR/list2"

damage() {
  cp "$pack" "$TMPDIR/damaged.kiln"
}
damage
printf '\001' | dd of="$TMPDIR/damaged.kiln" bs=1 seek=1000 conv=notrunc 2>/dev/null
expect "a damaged pack is refused" gives 4 'bundle refused: .*damaged.kiln: damaged' --bundle "$TMPDIR/damaged.kiln"
damage
truncate -s -16 "$TMPDIR/damaged.kiln"
expect "so is a cut one" gives 4 'bundle refused: .*header states' --bundle "$TMPDIR/damaged.kiln"
damage
printf '\002' | dd of="$TMPDIR/damaged.kiln" bs=1 seek=8 conv=notrunc 2>/dev/null
expect "and a newer one" gives 4 'bundle refused: .*format 2' --bundle "$TMPDIR/damaged.kiln"
expect "and another file" gives 4 'bundle refused: .*not a kiln pack' --bundle "$bundle/manifest.json"

# --- with a device: the same results, crashes and failures among them ---
if [ -n "${VK_DRIVER_FILES-}" ] || lane_lavapipe; then
  results() {
    "$VERIFY" --bundle "$1" --suite quick --filter '*__none__*' --filter '*__scaled__*' --filter '*__unwritten__*' \
      --json "$TMPDIR/json$2" >/dev/null 2>&1
    [ $? -eq 1 ] && grep -q '"pass": 2' "$TMPDIR/json$2"
  }
  expect "the results of the directory" results "$bundle" 1
  expect "and those of the pack" results "$pack" 2
  expect "are the same" cmp "$TMPDIR/json1" "$TMPDIR/json2"
fi
finish
