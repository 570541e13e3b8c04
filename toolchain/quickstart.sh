#!/bin/sh
# SPDX-License-Identifier: MIT
# `make quickstart`: everything from nothing, with a summary.
set -u
here=$(cd "${0%/*}" && pwd -P) || exit 1
cd "$here/.." || exit 1
build=${BUILD:-build}
started=$(date +%s)

[ "${where-}" != root ] || toolchain/root.sh || exit 1
make --no-print-directory all || exit 1
make --no-print-directory verify
status=$?
echo
if [ $status -eq 0 ]; then
    echo "kiln: all passed ($(($(date +%s) - started)) s)"
else
    echo "kiln: verify ended with status $status ($(($(date +%s) - started)) s)"
fi
echo "  artifacts   $(find spv -name '*.spv' | wc -l) in spv/, described by spv/manifest.json"
echo "  report      $build/verify.json"
echo "  next        build/verify --help, build/genshaders --help, make help"
exit $status
