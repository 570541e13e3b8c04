#!/bin/sh
# SPDX-License-Identifier: MIT
# Copied to build/genshaders and build/verify: runs the program of the same name in build/<config>/bin, inside the
# toolchain root when the host lacks the toolchain. In the root the verifier runs on lavapipe unless VK_DRIVER_FILES says
# otherwise.
me=$(readlink -f "$0") || exit 1
build=${me%/*}
program=$build/${KILN_CONFIG:-release}/bin/${me##*/}
checkout=${build%/*}
# With BUILD=DIR elsewhere make has written down where the checkout is.
[ -x "$checkout/toolchain/enter.sh" ] || read -r checkout <"$build/checkout"
if [ ! -e /etc/kiln-root ] && [ "${KILN_TOOLCHAIN-}" != host ] && ! grep -qs '^where := here' "$build/toolchain.mk"; then
    exec "$checkout/toolchain/enter.sh" "$me" "$@"
fi
if [ -e /etc/kiln-root ] && [ "${me##*/}" = verify ] && [ -z "${VK_DRIVER_FILES-}" ]; then
    # shellcheck source=toolchain/lane.sh
    . "$checkout/toolchain/lane.sh"
    lane_lavapipe
fi
exec "$program" "$@"
