# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
# Sourced by install.sh and bundle.sh in the checkout's root. Defines:
#   version    of the release
#   headers    prints the public headers: kiln_embed.h, and those reachable from kiln.h by quoted includes
version=0.1.0

headers() {
    todo="loader/include/kiln/kiln.h loader/include/kiln/kiln_embed.h"
    done=
    while [ -n "$todo" ]; do
        set -f
        # shellcheck disable=SC2086
        set -- $todo
        set +f
        todo=
        for header in "$@"; do
            case " $done " in
            *" $header "*) continue ;;
            esac
            done="$done $header"
            # shellcheck disable=SC2013
            for name in $(sed -n 's/^#[[:space:]]*include "\(.*\)".*/\1/p' "$header"); do
                for directory in loader/include/kiln manifest; do
                    [ ! -e "$directory/$name" ] || todo="$todo $directory/$name"
                done
            done
        done
    done
    echo "$done"
}
