#!/bin/sh
# SPDX-License-Identifier: MIT
# `make verify`: brings spv/ up to date, runs the suite on lavapipe (of the toolchain) and on the host's own drivers (by
# the native verifier), and merges what they wrote into build/verify.json.
# SUITE=quick|seeds|full; VERIFY_ARGS are passed on.
set -u
here=$(cd "${0%/*}" && pwd -P) || exit 1
cd "$here/.." || exit 1
build=${BUILD:-build}
suite=${SUITE:-quick}
make --no-print-directory spv || exit 1
make --no-print-directory native || exit 1
rm -f "$build"/verify.json "$build"/verify.*.json
worst=0

# lane NAME COMMAND…
lane() {
    lane=$1
    shift
    echo "== $lane"
    # VERIFY_ARGS is shell text, so that a pattern can be quoted.
    set -- "$@" --bundle spv --suite "$suite" --json "$build/verify.$lane.json"
    eval "set -- \"\$@\" ${VERIFY_ARGS-}" || exit 2
    "$@"
    status=$?
    [ $status -le $worst ] || worst=$status
}

lane toolchain "$build/verify"
# A lane without a device would fill the report with skips.
if [ -x "$build/native/verify" ]; then
    devices=$("$build/native/verify" devices 2>&1)
    case $devices in
    *'No Vulkan device'*) echo "== native: left out. $devices" ;;
    *) lane native "$build/native/verify" ;;
    esac
fi
set --
for json in "$build"/verify.toolchain.json "$build"/verify.native.json; do
    [ ! -s "$json" ] || set -- "$@" "$json"
done
[ $# -gt 0 ] || exit $worst
"$build/verify" merge "$build/verify.json" "$@" || exit 1
exit $worst
