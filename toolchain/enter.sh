#!/bin/sh
# SPDX-License-Identifier: MIT
# toolchain/enter.sh COMMAND [ARGUMENT…]: runs the command inside the toolchain root (made first if need be), in the same
# directory, with the same files at the same paths, and with its exit status.
#
# Three ways, the first that this host allows:
#   mount   a private mount namespace with this host's directories bound into the root (as root, or in a user namespace)
#   bwrap   the same by bubblewrap
#   copy    where nothing may be mounted: the checkout is copied into the root, and build/, spv/ and the lock back
# KILN_ENTER=mount|bwrap|copy forces one.
#
# The root sees of this host: every top-level directory that is not part of the system, the checkout, the cache directory,
# /dev, /proc, /sys. Of the environment it gets the variables named below.
set -u
if [ -e /etc/kiln-root ]; then
    exec "$@"
fi

names='HOME LANG LC_ALL LC_CTYPE LC_NUMERIC LC_COLLATE LANGUAGE TERM COLUMNS NO_COLOR USER LOGNAME TZ TMPDIR
MAKEFLAGS MAKELEVEL MFLAGS MAKE_TERMOUT MAKE_TERMERR CI BUILD CHECK DEVELOPER JOBS SUITE V VERIFY_ARGS SOURCE_DATE_EPOCH
CMOCKA_MESSAGE_OUTPUT CMOCKA_TEST_FILTER CMOCKA_XML_FILE ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS
AMDGPU_GPU_ID NOUVEAU_CHIPSET FD_GPU_ID'
prefixes='KILN_|VK_|LP_|MESA_|RADV_|NVK_|ACO_|GALLIVM_'


# Directories of the system, which the root has itself.
is_system() {
    case $1 in
    /bin | /sbin | /lib | /lib32 | /lib64 | /libx32 | /usr | /etc | /var | /proc | /sys | /dev | /run | /boot | /opt | \
        /lost+found | /bin/* | /sbin/* | /lib/* | /lib32/* | /lib64/* | /usr/* | /etc/* | /var/* | /proc/* | /sys/* | \
        /dev/* | /run/* | /boot/* | /opt/*) return 0 ;;
    esac
    return 1
}

# The mounts are collected as lines of an fstab, for one mount command is several times faster than one a directory.
table=
newline='
'
bind() {
    [ -d "$1" ] || return 0
    [ -d "$root$1" ] || mkdir -p "$root$1" || exit 125
    case $1$root in
    *[[:space:]\\]*)
        escaped=$(printf '%s\n' "$1" "$root$1" | sed 's/\\/\\134/g; s/ /\\040/g; s/\t/\\011/g' | tr '\n' ' ')
        table="$table$escaped none rbind 0 0$newline"
        ;;
    *) table="$table$1 $root$1 none rbind 0 0$newline" ;;
    esac
}

# What is to be seen inside although it lies below a directory of the system.
extra_binds() {
    for extra in "$checkout" "$cache" "$directory" "${HOME:-/root}" "${TMPDIR:-/tmp}" /var/tmp; do
        case $extra in
        /*/*) if is_system "$extra"; then "$@" "$extra"; fi ;;
        esac
    done
}

# Runs in the new mount namespace.
inside() {
    root=$1 checkout=$2 cache=$3 directory=$4
    shift 4
    for top in /*; do
        is_system "$top" || bind "$top"
    done
    extra_binds bind
    bind /dev
    if [ -e /proc/self ]; then
        bind /proc
    else
        mount -t proc proc /proc 2>/dev/null && bind /proc
    fi
    bind /sys
    fstab=$(mktemp) && printf '%s' "$table" > "$fstab" && mount -a -T "$fstab" || exit 125
    rm "$fstab"
    exec chroot "$root" /usr/bin/env -i --chdir="$directory" "$@"
}
if [ "${1-}" = --inside ]; then
    shift
    inside "$@"
fi

here=${0%/*}
[ "$here" != "$0" ] || here=.
here=$(cd "$here" && pwd -P) || exit 125
# shellcheck source=toolchain/common.sh
. "$here/common.sh"
checkout=${here%/*}
directory=$(pwd -P)
[ "$#" -gt 0 ] || die "usage: enter.sh COMMAND [ARGUMENT…]"
[ -e "$root/etc/kiln-root" ] || "$here/root.sh" ${KILN_ROOT_KIND:+"--$KILN_ROOT_KIND"} || exit 125

# In a chroot whose / is no mount point the mounts of a new namespace cannot be made private. They may be all the same:
# mount something there and see whether it comes through to here.
stays_inside() {
    before=$(stat -c %d "$root/mnt")
    unshare --mount --propagation unchanged mount -t tmpfs kiln-probe "$root/mnt" 2>/dev/null || return 1
    [ "$(stat -c %d "$root/mnt")" = "$before" ] && return 0
    umount "$root/mnt"
    return 1
}

choose() {
    case ${KILN_ENTER-} in
    '' | mount)
        for options in --mount '--user --map-root-user --mount'; do
            # shellcheck disable=SC2086
            unshare $options /bin/true 2>/dev/null && way=mount && return 0
        done
        options='--mount --propagation unchanged'
        stays_inside && way=mount && return 0
        ;;
    esac
    case ${KILN_ENTER-} in
    '' | bwrap) bwrap --bind / / true 2>/dev/null && way=bwrap && return 0 ;;
    esac
    case ${KILN_ENTER-} in
    '' | copy) [ "$(id -u)" = 0 ] && way=copy && return 0 ;;
    esac
    die "cannot enter the toolchain root $root: this host allows neither mounts nor user namespaces (KILN_ENTER=${KILN_ENTER-}). Run as root, or install bubblewrap."
}

by_bwrap() {
    set -- -- /usr/bin/env -i "$@"
    for top in /*; do
        is_system "$top" || [ ! -d "$top" ] || set -- --bind "$top" "$top" "$@"
    done
    exec bwrap --die-with-parent --bind "$root" / --dev-bind /dev /dev --proc /proc --ro-bind /sys /sys \
        --bind "$checkout" "$checkout" --bind-try "$cache" "$cache" --chdir "$directory" "$@"
}

copy_back() {
    for part in build spv manifest/artifacts.lock; do
        [ -e "$inner/$part" ] || continue
        rm -rf "$checkout/$part.new" "$checkout/$part.old"
        cp -a "$inner/$part" "$checkout/$part.new" || return 1
        [ ! -e "$checkout/$part" ] || mv -T "$checkout/$part" "$checkout/$part.old"
        mv -T "$checkout/$part.new" "$checkout/$part" || return 1
        rm -rf "$checkout/$part.old"
    done
}

by_copy() {
    case $directory/ in
    "$checkout"/*) ;;
    *) die "nothing may be mounted here, so only the checkout can be seen inside: run this in $checkout, not in $directory" ;;
    esac
    exec 8>"$cache/copy.lock" && flock 8 || exit 125
    inner=$root$checkout
    mkdir -p "$inner" && rm -rf "${inner:?}"/* || exit 125
    tar -C "$checkout" --exclude=./.git -cf - . | tar -C "$inner" -xf - || die "copying the checkout into $root failed"
    # A command in the background would get no standard input.
    exec 7<&0
    chroot "$root" /usr/bin/env -i --chdir="$directory" "$@" <&7 7<&- 8>&- &
    child=$!
    trap 'kill -TERM $child' TERM
    trap 'kill -INT $child' INT
    wait $child
    status=$?
    while kill -0 $child 2>/dev/null; do
        wait $child
        status=$?
    done
    copy_back || die "copying build/ and spv/ back from $inner failed"
    exit $status
}

choose
[ "$way" != copy ] || unset TMPDIR
# Only names are read from env: a value with line breaks cannot bring in others, as they must be set under that name.
for name in $names $(env | sed -nE "s/^(($prefixes)[A-Za-z0-9_]*)=.*/\1/p"); do
    eval "[ -z \"\${$name+set}\" ] || set -- \"$name=\$$name\" \"\$@\""
done
[ -n "${LANG+set}" ] || set -- LANG=C.UTF-8 "$@"
set -- PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"

case $way in
mount)
    # shellcheck disable=SC2086
    exec unshare $options -- /bin/sh "$here/enter.sh" --inside "$root" "$checkout" "$cache" "$directory" "$@"
    ;;
bwrap) by_bwrap "$@" ;;
copy) by_copy "$@" ;;
esac
