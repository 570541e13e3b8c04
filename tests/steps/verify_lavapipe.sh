#!/bin/sh
# SPDX-License-Identifier: MIT
# Every artifact on lavapipe.
# time limit: 1200 s
set -eu
. toolchain/lane.sh
lane_lavapipe || {
    echo "no lavapipe at $VK_DRIVER_FILES"
    exit 77
}
set -- --bundle spv --timeout 200 --suite quick --require-device --json "$TMPDIR/verify.json"
[ "${CHECK:-full}" = full ] || set -- "$@" --filter '*q4_0*' --filter '*q4_k*' --filter '*iq2_xxs*'
exec "${BUILD:-build}/release/bin/verify" "$@"
