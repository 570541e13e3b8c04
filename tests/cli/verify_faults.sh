#!/bin/sh
# SPDX-License-Identifier: MIT
# A kernel and copies of it with one fault each (tests/fixtures/verify_faults): the verifier passes the one and rejects all
# the others, each for its own reason (the endless
# one is verify_worker.sh's). On lavapipe, or whatever VK_DRIVER_FILES selects.
# time limit: 600 s
. tests/cli/common.sh
. toolchain/lane.sh
: "${VERIFY:=${BUILD:-build}/verify}"
[ -n "${VK_DRIVER_FILES-}" ] || lane_lavapipe || skip_all "no lavapipe at $VK_DRIVER_FILES"
bundle=$TMPDIR/bundle

expect "the faulty kernels build" "$GENSHADERS" build --quiet --templates tests/fixtures/verify_faults --out "$bundle" \
  --cache "$TMPDIR/cache"
"$VERIFY" --bundle "$bundle" --filter '*__any__[!e]*' --suite full --require-device --tap "$TMPDIR/tap" --json "$TMPDIR/json" \
  >"$TMPDIR/out" 2>"$TMPDIR/err"
status=$?
expect "the exit status says that there are failures" test $status -eq 1

# points FAULT STATE: the TAP points of that kernel in that state ("ok", "not ok")
points() {
  grep -c "^$2 [0-9]* - matvec__f32_f32__any__$1__portable/" "$TMPDIR/tap"
}

expect "the sound kernel passes" test "$(points none ok)" -ge 10
expect "and fails nowhere" test "$(points none 'not ok')" -eq 0

# rejected FAULT REASON: at least one case fails, and for that reason
rejected() {
  awk -v name="__$1__portable/" -v reason="$2" '
    /^(not )?ok / { failed = /^not ok/ && index($0, name) }
    failed && /^  message: / && $0 ~ reason { found = 1 }
    END { exit !found }' "$TMPDIR/tap" || {
    echo "# of $1:"
    grep -A2 "^not ok .*__$1__portable" "$TMPDIR/tap" | head -12 | sed 's/^/# /'
    return 1
  }
}
expect "groups numbered by x alone" rejected unfolded "never written"
expect "row_first ignored" rejected window "never written"
expect "a write behind the output" rejected overrun "guard overwritten 0 bytes after"
expect "a read behind the weights" rejected padding "second run .* differs"
expect "a changed input" rejected input "weights: input changed at byte 0"
expect "shared memory read before it is written" rejected shared "not finite"
expect "a missing barrier" rejected barrier "not finite|max_abs|second run"
expect "a row left out" rejected unwritten "1 of [0-9]+ words were never written"
expect "an output that is added to" rejected accumulate "not finite"
expect "a product left out" rejected short "max_abs"
expect "a wrong factor" rejected scaled "rel 0.002"
expect "one wrong element" rejected single "max_abs 0.002.* first at 2:"

# A fault that shows under injected limits shows nowhere else
expect "the fault of folding shows only where grids fold" test "$(points unfolded 'not ok')" -eq 2
expect "the fault of windows shows only with windows" test "$(points window 'not ok')" -eq 1
expect "too much shared memory is a skip with the numbers" \
  grep -q 'unlimited__portable/512x256 .* # SKIP .*workgroup bytes [0-9]* > [0-9]*' "$TMPDIR/tap"

# The replay line of a failure, run as it stands, fails again and runs nothing else.
line=$(sed -n '/^FAIL .*__window__/{n;n;s/^  verify //p;q;}' "$TMPDIR/out")
replayed() {
  eval "\"$VERIFY\" $line" >"$TMPDIR/replay" 2>/dev/null
  [ $? -eq 1 ] && grep -q '^0 pass, 1 fail, 0 skip' "$TMPDIR/replay"
}
expect "a replay line repeats its failure" replayed

# An injected falsified result is noticed in the sound kernel
injected_wrong() {
  KILN_VERIFY_INJECT=wrong:matvec__f32_f32__any__none__portable \
    "$VERIFY" --bundle "$bundle" --filter '*__none__*' >"$TMPDIR/wrong" 2>/dev/null
  [ $? -eq 1 ] && grep -q '^0 pass, 2 fail, 0 skip' "$TMPDIR/wrong"
}
expect "one flipped bit in a result is noticed" injected_wrong
finish
