#!/bin/sh
# SPDX-License-Identifier: MIT
# The CPU decoders and quantisers against the golden vectors, and the dequantising artifacts on lavapipe.
# time limit: 600 s
set -eu
. toolchain/lane.sh
lane_lavapipe || echo "no lavapipe here: the CPU part only"
exec "${BUILD:-build}/release/bin/verify" golden tests/golden
