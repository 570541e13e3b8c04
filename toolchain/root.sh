#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the toolchain root once: a minimal Debian 13 tree with the packages of packages.*, in the cache directory.
#
#   toolchain/root.sh [--dev]     make it if it is not there; prints nothing if it is
#   toolchain/root.sh --path      print where it is or will be
#   toolchain/root.sh --mirror    print the archive it is made from
#
# It is built under a temporary name and renamed when complete, so that whatever happens no half-made root is taken for a
# whole one; what a killed maker left behind is removed by the next. A lock keeps two makers apart.
#   KILN_CACHE   the cache directory (default: kiln in the user's cache directory)
#   MIRROR       the Debian archive to use (default: the one this host's apt uses)
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
self=$here/root.sh
case "${1-}" in
--dev | --dev-locked) KILN_ROOT_KIND=dev ;;
esac
# shellcheck source=toolchain/common.sh
. "$here/common.sh"
log=$root.log
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

uid=$(id -u)

# --- what this host can do -----------------------------------------------------------------------------------------

# The archive this host's apt uses for its own release; not the security archive, which has no full release.
apt_mirror() {
    codename=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME-}")
    [ "$(. /etc/os-release 2>/dev/null && echo "${ID-}")" = debian ] || return 1
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 2>/dev/null |
        awk -v want="$codename" '$2 == want && !seen { print $1; seen = 1 }' | grep .
}

find_mirror() {
    mirror=${MIRROR-}
    [ -n "$mirror" ] || mirror=$(apt_mirror) && return 0
    # A fresh machine has no package lists yet, and then apt does not tell.
    if [ "$uid" = 0 ] && command -v apt-get >/dev/null; then
        say "apt-get update (this host has no package lists yet, and the mirror is read from them)"
        apt-get -q update >>"$log" 2>&1 || tail -n 5 "$log" >&2
        mirror=$(apt_mirror) && return 0
    fi
    return 1
}

user_namespaces() {
    unshare --user --map-root-user --mount true 2>/dev/null
}

refuse() {
    reason=$(sed -n 's/^# why: //p' "$build/toolchain.mk" 2>/dev/null)
    cat >&2 <<END
kiln: the toolchain root (a minimal Debian 13 tree in $root)
kiln: is not there and cannot be made here: $1.
kiln: It is needed because this host's own tools do not suffice${reason:+ ($reason)}.
kiln: $2
END
    exit 1
}

check_tools() {
    for tool in flock sha256sum tar; do
        command -v $tool >/dev/null || refuse "$tool is not installed" "Install $tool (Debian: util-linux, coreutils, tar), then run make again."
    done
    if [ "$uid" = 0 ]; then
        command -v debootstrap >/dev/null && return
        command -v apt-get >/dev/null ||
            refuse "debootstrap is not installed and there is no apt-get to install it with" \
                "Install debootstrap and Debian's archive keyring, then run make again."
        return
    fi
    missing=
    command -v mmdebstrap >/dev/null || missing="$missing mmdebstrap"
    command -v newuidmap >/dev/null || missing="$missing uidmap"
    [ -z "$missing" ] ||
        refuse "you are not root, and without root it takes mmdebstrap and uidmap" \
            "As root run 'apt-get install$missing' and then make as you; or make as root; or, on Debian 13, install the packages of toolchain/packages.* on the host."
    user_namespaces ||
        refuse "you are not root, and this host does not let users make namespaces" \
            "Run make as root, or allow user namespaces, or, on Debian 13, install the packages of toolchain/packages.* on the host."
    grep -qs "^$(id -un):" /etc/subuid ||
        refuse "you are not root, and /etc/subuid has no range for $(id -un)" \
            "As root run 'usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $(id -un)', then make as you."
}

# --- making --------------------------------------------------------------------------------------------------------

failed() {
    say "$1. The end of $log:"
    tail -n 15 "$log" >&2
    rm -rf --one-file-system "$temporary"
    exit 1
}

# What killed makers left. Nothing may be mounted in there, or removing would reach through.
remove_stale() {
    for stale in "$cache"/root-*.tmp.*; do
        [ -e "$stale" ] || continue
        awk '{ print $5 }' /proc/self/mountinfo 2>/dev/null | while read -r mounted; do
            mounted=$(printf '%b' "$mounted")
            case $mounted in
            "$stale"/*) umount -l "$mounted" ;;
            esac
        done
        say "removing $stale, which an interrupted run left"
        rm -rf --one-file-system "$stale"
    done
}

sources() {
    echo "deb $mirror $suite main"
    echo "deb $mirror $suite-backports main"
}

copy_setup() {
    mkdir -p "$1/kiln-setup" && cp "$here"/packages.* "$here/root_install.sh" "$1/kiln-setup/"
}

make_with_debootstrap() {
    if ! command -v debootstrap >/dev/null; then
        say "installing debootstrap on this host (apt-get install debootstrap); nothing else on it is changed"
        { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends debootstrap; } \
            >>"$log" 2>&1 || failed "apt-get install debootstrap failed"
    fi
    [ -e $keyring ] || failed "no $keyring: install debian-archive-keyring"
    say "1/2 minimal Debian 13 (debootstrap)"
    debootstrap --variant=minbase --keyring=$keyring "$suite" "$temporary" "$mirror" >>"$log" 2>&1 ||
        failed "debootstrap failed"
    sources > "$temporary/etc/apt/sources.list"
    cp /etc/resolv.conf "$temporary/etc/resolv.conf" 2>/dev/null
    copy_setup "$temporary"
    say "2/2 the toolchain's packages"
    mount -t proc proc "$temporary/proc" 2>/dev/null
    chroot "$temporary" /bin/sh /kiln-setup/root_install.sh base "$suite-backports" >>"$log" 2>&1 ||
        failed "installing the packages failed"
    umount "$temporary/proc" 2>/dev/null
    return 0
}

# Without root rights: the tree is made in a user namespace and unpacked as the user's own files, which need no ids.
make_with_mmdebstrap() {
    say "minimal Debian 13 and the toolchain's packages (mmdebstrap)"
    mkdir -p "$temporary.setup" || failed "making a directory failed"
    cp "$here"/packages.* "$here/root_install.sh" "$temporary.setup/" || failed "copying failed"
    chmod -R a+rX "$temporary.setup"
    # shellcheck disable=SC2016
    sources | mmdebstrap --mode=unshare --variant=minbase --keyring=$keyring \
        --customize-hook='mkdir "$1/kiln-setup"' \
        --customize-hook="sync-in '$temporary.setup' /kiln-setup" \
        --customize-hook="chroot \"\$1\" /bin/sh /kiln-setup/root_install.sh base $suite-backports" \
        "$suite" "$temporary.tar" - >>"$log" 2>&1 || failed "mmdebstrap failed"
    mkdir -p "$temporary" || failed "making a directory failed"
    tar -C "$temporary" --no-same-owner --exclude='./dev/*' -xf "$temporary.tar" >>"$log" 2>&1 ||
        failed "unpacking failed"
    rm -rf "$temporary.tar" "$temporary.setup"
    chmod -R u+rwX "$temporary"
}

make_dev() {
    base=$(KILN_ROOT_KIND='' "$self" --path)
    say "copying the base root, then installing the packages of packages.dev"
    cp -a --reflink=auto "$base" "$temporary" >>"$log" 2>&1 || failed "copying failed"
    copy_setup "$temporary"
    mkdir -p "$temporary/dev/shm"
    if [ "$uid" = 0 ]; then
        chroot "$temporary" /bin/sh /kiln-setup/root_install.sh dev >>"$log" 2>&1 || failed "installing the packages failed"
    else
        unshare --user --map-auto --map-root-user --mount chroot "$temporary" /bin/sh /kiln-setup/root_install.sh dev \
            >>"$log" 2>&1 || failed "installing the packages failed"
    fi
}

make_root() {
    [ -e "$root/etc/kiln-root" ] && exit 0 # another maker was faster
    remove_stale
    temporary=$root.tmp.$$
    : > "$log" || exit 1
    find_mirror || refuse "no Debian archive is known" \
        "Set MIRROR to the address of a Debian archive (on Debian it is read from apt; run 'apt-get update' as root once)."
    say "making the toolchain root, once (about 1.4 GB, 2 to 4 minutes) in $root"
    started=$(date +%s)
    if [ "${KILN_ROOT_KIND-}" = dev ]; then
        make_dev
    elif [ "$uid" = 0 ]; then
        make_with_debootstrap
    else
        make_with_mmdebstrap
    fi
    basename "$root" > "$temporary/etc/kiln-root" || failed "writing failed"
    sync -f "$temporary" 2>/dev/null
    rm -rf --one-file-system "$root"
    mv -T "$temporary" "$root" || failed "renaming failed"
    say "the toolchain root is ready ($(($(date +%s) - started)) s)"
}

# In a mount and process namespace of its own where the host allows it: if this script dies, so does all it started, and
# nothing stays mounted.
make_contained() {
    mkdir -p "$cache" || die "cannot make the cache directory $cache (KILN_CACHE names another)"
    check_tools
    exec 9>"$cache/lock" || exit 1
    flock -n 9 || { say "waiting for another run that is making a toolchain root"; flock 9; }
    [ -e "$root/etc/kiln-root" ] && exit 0
    if [ "$uid" = 0 ] && unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
        exec unshare --mount --pid --fork --kill-child --mount-proc "$self" "$1"
    fi
    exec "$self" "$1"
}

case "${1-}" in
--path) echo "$root" ;;
--mirror)
    mkdir -p "$cache" && find_mirror && echo "$mirror"
    ;;
--locked | --dev-locked) make_root ;;
--dev)
    "$self" || exit
    [ -e "$root/etc/kiln-root" ] || make_contained --dev-locked
    ;;
'') [ -e "$root/etc/kiln-root" ] || make_contained --locked ;;
*) die "usage: root.sh [--dev | --path | --mirror]" ;;
esac
