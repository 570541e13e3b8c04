#!/bin/sh
# SPDX-License-Identifier: MIT
# `make format`: clang-format on all C sources, by the host's own or that of the development root.
set -u
here=$(cd "${0%/*}" && pwd -P) || exit 1
cd "$here/.." || exit 1
files=$(find manifest genshaders loader verify tests -name '*.[ch]' ! -path '*/fixtures/*')
for tool in clang-format clang-format-19 clang-format-14; do
    if command -v $tool >/dev/null; then
        # shellcheck disable=SC2086
        exec $tool -i $files
    fi
done
# shellcheck disable=SC2086
KILN_ROOT_KIND=dev exec "$here/enter.sh" clang-format -i $files
