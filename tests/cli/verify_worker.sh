#!/bin/sh
# SPDX-License-Identifier: MIT
# A driver that crashes, hangs or loses its device costs one case, not the run. On a real driver, with injected faults.
. tests/cli/common.sh
. toolchain/lane.sh
: "${VERIFY:=${BUILD:-build}/verify}"
[ -n "${VK_DRIVER_FILES-}" ] || lane_lavapipe || skip_all "no lavapipe at $VK_DRIVER_FILES"
bundle=$TMPDIR/bundle
expect "a bundle builds" "$GENSHADERS" build --quiet --templates tests/fixtures/verify_faults --out "$bundle" \
  --cache "$TMPDIR/cache"

# injected KIND REASON: of the sound kernel's two cases both fail for that reason; two other kernels are not touched by it
injected() {
  KILN_VERIFY_INJECT=$1:matvec__f32_f32__any__none__portable "$VERIFY" --bundle "$bundle" --timeout 2 \
    --filter '*__none__*' --filter '*__unfolded__*' --filter '*__window__*' --json "$TMPDIR/json" >"$TMPDIR/out" 2>&1
  status=$?
  if [ $status -ne 1 ] || ! grep -q '^4 pass, 2 fail, 0 skip' "$TMPDIR/out" ||
    [ "$(grep -c "\"reason\": \"$2" "$TMPDIR/json")" -ne 2 ]; then
    echo "# exit status $status, expected 1 and two times '$2':"
    sed 's/^/# /' "$TMPDIR/out"
    return 1
  fi
}
expect "a crash is the case's" injected crash 'crash (signal 11'
expect "a hang is the case's" injected hang 'timeout after 2 s'
expect "a lost device is the case's" injected lost 'device lost: VK_ERROR_DEVICE_LOST'
expect "with one worker, too" injected crash 'crash (signal 11' --jobs 1

# A kernel that never ends: the worker gives up after its time and is replaced.
endless() {
  "$VERIFY" --bundle "$bundle" --timeout 2 --filter '*__endless__*' --filter '*__none__*' --json "$TMPDIR/json" \
    >"$TMPDIR/out" 2>&1
  grep -q '^2 pass, 2 fail, 0 skip' "$TMPDIR/out" && grep -q '"reason": "run: .*TIMEOUT' "$TMPDIR/json"
}
expect "a kernel that never ends is that kernel's failure" endless

# Stopping the verifier leaves no worker behind.
no_orphans() {
  KILN_VERIFY_INJECT=hang:matvec__f32_f32__any__none__portable "$VERIFY" --bundle "$bundle" --filter '*__none__*' \
    >/dev/null 2>&1 &
  parent=$!
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.5
    workers=$(cat "/proc/$parent/task/$parent/children" 2>/dev/null)
    [ -z "$workers" ] || break
  done
  sleep 1
  workers=$(cat "/proc/$parent/task/$parent/children")
  kill -TERM $parent
  wait $parent 2>/dev/null
  sleep 0.5
  [ -n "$workers" ] || return 1
  for worker in $workers; do
    if [ -e "/proc/$worker" ] && ! grep -q '^State:.*Z' "/proc/$worker/status"; then
      kill "$worker"
      return 1
    fi
  done
}
expect "a stopped verifier leaves no worker" no_orphans
finish
