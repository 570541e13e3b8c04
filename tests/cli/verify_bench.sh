#!/bin/sh
# SPDX-License-Identifier: MIT
# `verify bench`: tables, what it times, and that it times nothing that is wrong.
. tests/cli/common.sh
. toolchain/lane.sh
: "${VERIFY:=${BUILD:-build}/verify}"
bundle=$TMPDIR/bundle
expect "a bundle builds" "$GENSHADERS" build --quiet --templates tests/fixtures/verify_faults --out "$bundle" \
  --cache "$TMPDIR/cache"

# table LINE...: writes the table; gives STATUS PATTERN [OPTION...]: runs it
table() {
  printf '%s\n' "$@" >"$TMPDIR/table"
}
gives() {
  wanted=$1
  pattern=$2
  shift 2
  "$VERIFY" bench "$TMPDIR/table" --bundle "$bundle" --rounds 3 "$@" >"$TMPDIR/out" 2>&1 </dev/null
  status=$?
  if [ $status -ne "$wanted" ] || ! grep -qE "$pattern" "$TMPDIR/out"; then
    echo "# exit status $status, expected $wanted; expected '$pattern' in:"
    sed 's/^/# /' "$TMPDIR/out" | head -10
    return 1
  fi
}

# --- tables ---
refused() {
  table 'matvec f32 nout=64,k=64 warm -' "$2"
  gives 2 "table:2: expected $1"
}
expect "too few fields" refused 'OPS DTYPE DIMS' 'matvec f32 nout=64,k=64 warm'
expect "too many fields" refused 'OPS DTYPE DIMS' 'matvec f32 nout=64,k=64 warm - -'
expect "a dimension without a value" refused 'NAME=NUMBER.*nout' 'matvec f32 nout,k=64 warm -'
expect "a negative dimension" refused 'NAME=NUMBER' 'matvec f32 nout=-1,k=64 warm -'
expect "nine dimensions" refused 'NAME=NUMBER, at most 8' 'matvec f32 a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1 warm -'
expect "five families" refused 'at most 4 families' 'a,b,c,d,e f32 nout=64,k=64 warm -'
expect "weights neither warm nor cold" refused 'warm or cold' 'matvec f32 nout=64,k=64 hot -'
expect "a peer of no time" refused 'microseconds or -' 'matvec f32 nout=64,k=64 warm 0'
expect "a ceiling that nobody knows" refused 'read_gbps=' 'ceiling gbps=5'
expect "an infinite ceiling" refused 'read_gbps=' 'ceiling read_gbps=inf'
table '# nothing'
expect "a table without cells" gives 2 'table: it has no cells'
rm "$TMPDIR/table"
expect "no table" gives 2 'cannot open'
table 'matvec f32 nout=64,k=64 warm -'
expect "rounds out of range" gives 2 'number from 1 to 32' --rounds 33
expect "a bundle that is none" gives 4 'nowhere' --bundle "$TMPDIR/nowhere"
no_device() {
  (
    VK_DRIVER_FILES=/nonexistent/icd.json
    VK_ICD_FILENAMES=$VK_DRIVER_FILES
    export VK_DRIVER_FILES VK_ICD_FILENAMES
    gives "$@"
  )
}
expect "no device is no failure" no_device 0 'verify: '
expect "unless one is required" no_device 3 'verify: ' --require-device

# --- with a device ---
if [ -n "${VK_DRIVER_FILES-}" ] || lane_lavapipe; then
  table '# rows and columns that are no multiple of a period' 'ceiling read_gbps=1000' \
    'matvec f32 nout=1100,k=96 warm 1000000'
  expect "a right kernel is timed" gives 0 'matvec +f32 .*nout=1100 k=96.* peer 1000000.0 x[1-9].*__none__' \
    --filter '*__none__*' --json "$TMPDIR/bench.json"
  expect "and counted" grep -q '^1 cells, 0 without a time, 0 candidates failed' "$TMPDIR/out"
  expect "the JSON has the cell" python3 - "$TMPDIR/bench.json" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1], encoding="utf-8"))
(cell,) = report["cells"]
assert cell["dims"] == {"nout": 1100, "k": 96} and cell["status"] == "pass", cell
assert cell["artifact"] == "matvec__f32_f32__any__none__portable" and cell["peer_us"] == 1000000.0, cell
(variant,) = cell["variants"]
assert len(variant["warm_us"]) == 3 and sorted(variant["warm_us"])[1] == cell["ours_us"], variant
bytes_moved = 4 * (1100 * 96 + 96 + 1100)
assert abs(cell["gbps"] - bytes_moved / cell["ours_us"] / 1e3) < 1e-9 * cell["gbps"], cell
assert abs(cell["share"] - cell["gbps"] / 1000) < 1e-9, cell
PYTHON
  wrong() {
    gives 1 "$1__portable +FAILED: .*" --filter "*$1*" && ! grep -q 'us .*GB/s' "$TMPDIR/out"
  }
  for fault in unwritten short scaled single; do
    expect "a kernel with the fault $fault is not timed" wrong "__${fault}"
  done
  table 'matvec f32 rows=5,k=96 warm -' 'nothing f32 nout=5,k=96 warm -'
  expect "dimensions of another family" gives 0 'line 1: matvec has 2 dimensions, one of them nout' --variants
  expect "and no candidates" grep -q '2 cells, 2 without a time, 0 candidates failed' "$TMPDIR/out"
fi
finish
