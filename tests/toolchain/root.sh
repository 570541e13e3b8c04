#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2319
# Making the toolchain root: who cannot gets one message; a maker killed in the middle leaves nothing taken for whole, and
# what it left is removed by the next. debootstrap is replaced by a small script, so nothing is downloaded here.
set -u
here=$(cd "${0%/*}/../.." && pwd -P)
[ -e /etc/kiln-root ] && {
    echo "already inside the toolchain root"
    exit 77
}
number=0

check() {
    number=$((number + 1))
    if [ "$2" = 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        sed 's/^/# /' "$TMPDIR/err" 2>/dev/null
    fi
}

skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH="$1" HOME="$TMPDIR/home" TMPDIR="$TMPDIR/home" \
        KILN_CACHE="$TMPDIR/home/cache" MIRROR=http://localhost:9/ "$here/toolchain/root.sh" >"$TMPDIR/out" 2>"$TMPDIR/err"
}

# A PATH with the usual tools but without those that make a root.
bare=$TMPDIR/bare
mkdir "$bare"
for tool in sh sed awk id cat cut uname sha256sum dirname basename mkdir rm env flock tar unshare grep date tail head mv \
    sync chmod true mount umount cp sleep ls find touch; do
    ln -s "$(command -v $tool)" "$bare/$tool"
done

# --- no rights ---
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    above=$TMPDIR
    while [ "$above" != /tmp ] && [ -n "$above" ]; do
        chmod a+rx "$above"
        above=${above%/*}
    done
    mkdir "$TMPDIR/home" && chmod 777 "$TMPDIR/home"
    if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$here/toolchain/root.sh"; then
        as_nobody "$bare"
        status=$?
        [ $status -eq 1 ]
        check "without rights and tools: exit status 1" $?
        grep -q 'mmdebstrap uidmap' "$TMPDIR/err" && grep -q 'not root' "$TMPDIR/err"
        check "the message names what to install" $?
        [ "$(wc -l <"$TMPDIR/err")" -eq 4 ] && [ ! -s "$TMPDIR/out" ]
        check "and is one message of four lines" $?
        [ -z "$(find "$TMPDIR/home/cache" -name 'root-*' 2>/dev/null)" ]
        check "nothing half-made is left" $?
    else
        skip "without rights" "the checkout is not readable to others"
    fi
else
    skip "without rights" "setpriv is missing or this is not root"
fi

# --- as root, with a debootstrap that does as little as possible ---
if [ "$(id -u)" != 0 ]; then
    skip "as root" "this is not root"
    echo "1..$number"
    exit 0
fi
fake=$TMPDIR/fake
mkdir "$fake"
cat >"$fake/debootstrap" <<'END'
#!/bin/sh
# debootstrap OPTIONS SUITE TARGET MIRROR
for target; do case $target in /*tmp.*) break ;; esac; done
mkdir -p "$target/etc/apt" "$target/proc" "$target/bin"
echo started >"$KILN_CACHE/started"
sleep "${FAKE_SLEEP:-0}"
[ -z "${FAKE_FAIL-}" ] || { echo "E: the archive said no"; exit 1; }
END
# The chroot cannot run anything in there; installing is taken as done.
printf '#!/bin/sh\nexit 0\n' >"$fake/chroot"
chmod 755 "$fake/debootstrap" "$fake/chroot"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ ! -e $keyring ]; then
    skip "as root" "no $keyring on this host"
    echo "1..$number"
    exit 0
fi

KILN_CACHE="$TMPDIR/cache å ä"
export KILN_CACHE
make_root() {
    PATH="$fake:$PATH" MIRROR=http://localhost:9/ "$here/toolchain/root.sh" >"$TMPDIR/out" 2>"$TMPDIR/err"
}
root=$("$here/toolchain/root.sh" --path)

FAKE_FAIL=1 make_root
status=$?
[ $status -eq 1 ] && grep -q 'the archive said no' "$TMPDIR/err" && grep -q 'debootstrap failed' "$TMPDIR/err"
check "a failure says what failed and shows the end of the log" $?
[ ! -e "$root" ] && [ -z "$(find "$KILN_CACHE" -maxdepth 1 -name '*.tmp.*')" ]
check "and leaves no tree" $?

rm -f "$KILN_CACHE/started"
PATH="$fake:$PATH" MIRROR=http://localhost:9/ FAKE_SLEEP=30 "$here/toolchain/root.sh" >/dev/null 2>&1 &
maker=$!
tries=0
while [ ! -e "$KILN_CACHE/started" ] && [ $tries -lt 50 ]; do
    sleep 0.2
    tries=$((tries + 1))
done
kill -KILL $maker
wait $maker 2>/dev/null
[ ! -e "$root" ] && [ -n "$(find "$KILN_CACHE" -maxdepth 1 -name '*.tmp.*')" ]
check "killed in the middle: there is no root, only a temporary tree" $?
started=$(date +%s)
make_root
status=$?
[ $status -eq 0 ] && [ -e "$root/etc/kiln-root" ]
check "the next maker makes it" $?
grep -q 'an interrupted run left' "$TMPDIR/err" && [ -z "$(find "$KILN_CACHE" -maxdepth 1 -name '*.tmp.*')" ]
check "having removed what was left" $?
[ $(($(date +%s) - started)) -lt 20 ]
check "without waiting for the killed one's children" $?

make_root && [ ! -s "$TMPDIR/err" ]
check "a root that is there is not made again, without a word" $?

rm -rf "$root" "$KILN_CACHE/started"
FAKE_SLEEP=3 make_root &
first=$!
sleep 1
PATH="$fake:$PATH" MIRROR=http://localhost:9/ "$here/toolchain/root.sh" >"$TMPDIR/out2" 2>"$TMPDIR/err2"
second=$?
wait $first
first=$?
[ $first -eq 0 ] && [ $second -eq 0 ] && grep -q waiting "$TMPDIR/err2" && ! grep -q ready "$TMPDIR/err2"
check "of two makers one waits and then has nothing to do" $?
! grep -qF "$TMPDIR" /proc/self/mountinfo
check "nothing is mounted" $?
echo "1..$number"
