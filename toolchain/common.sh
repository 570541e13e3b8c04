# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2034
# Sourced by the other scripts, which set $here (the directory toolchain/) first. Defines:
#   cache        where toolchain roots and unpacked packages are kept, outside the checkout
#   root         the root for this checkout's package lists: complete if and only if it exists under this name
#   build        the build directory
#   say, die     messages on standard error

# Raise this when root.sh or root_install.sh would make a different root from the same lists.
maker_version=1
suite=trixie

# chroot and mount are there, which a user's PATH often leaves out.
PATH=$PATH:/usr/sbin:/sbin
export PATH

cache=${KILN_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kiln}
case $cache in
/*) ;;
*) cache=$PWD/$cache ;;
esac

build=${BUILD:-build}
case $build in
/*) ;;
*) build=$here/../$build ;;
esac

root_key() {
    { echo "$maker_version $suite"; uname -m; cat "$here/packages.base" "$here/packages.backports" \
        "$here/packages.extract"; } | sha256sum
}

dev_key() {
    { root_key; cat "$here/packages.dev"; } | sha256sum
}

if [ "${KILN_ROOT_KIND-}" = dev ]; then
    key=$(dev_key)
    root=$cache/root-${key%"${key#????????????????}"}-dev
else
    key=$(root_key)
    root=$cache/root-${key%"${key#????????????????}"}
fi

# One package name a line, comments dropped.
list() {
    sed 's/#.*//; /^[[:space:]]*$/d' "$1"
}

say() {
    printf 'kiln: %s\n' "$*" >&2
}

die() {
    say "$@"
    exit 1
}
