#!/bin/sh
# SPDX-License-Identifier: MIT
# The portable artifacts on SwiftShader, which has no optional feature at all.
# time limit: 1200 s
set -eu
. toolchain/lane.sh
lane_swiftshader || {
    echo "no SwiftShader at $VK_DRIVER_FILES"
    exit 77
}
set -- --bundle spv --timeout 200 --suite quick --require-device --json "$TMPDIR/verify.json"
if [ "${CHECK:-full}" = full ]; then
    set -- "$@" --filter '*__portable'
else
    set -- "$@" --filter '*q4_0*__portable' --filter '*q4_k*__portable'
fi
exec "${BUILD:-build}/release/bin/verify" "$@"
