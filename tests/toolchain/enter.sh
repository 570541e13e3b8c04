#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016
# Entering the toolchain root: directory, arguments, environment, exit status, signals, nothing left mounted, by each of
# the ways this host has.
set -u
# A checkout of its own, for the copying way writes build/ and spv/ back into it.
mkdir -p "$TMPDIR/checkout/build" "$TMPDIR/checkout/spv" || exit 1
cp -r "${0%/*}/../../toolchain" "$TMPDIR/checkout/" || exit 1
here=$(cd "$TMPDIR/checkout" && pwd -P)
unset BUILD
above=$TMPDIR
while [ "$above" != /tmp ] && [ -n "$above" ]; do
    chmod a+rx "$above"
    above=${above%/*}
done
enter=$here/toolchain/enter.sh
if [ -e /etc/kiln-root ]; then
    echo "already inside the toolchain root"
    exit 77
fi
[ -e "$("$here/toolchain/root.sh" --path)/etc/kiln-root" ] || {
    echo "no toolchain root (this host has the toolchain itself)"
    exit 77
}
number=0

# is NAME WANTED GOT
is() {
    number=$((number + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        printf 'wanted: %s\ngot:    %s\n' "$2" "$3" | sed 's/^/# /'
    fi
}

skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

mounts() {
    awk '{ print $5 }' /proc/self/mountinfo | sort
}

cd "$here" || exit 1
before=$(mounts)
strange="$TMPDIR/a b, åäö 'q' \$x"
mkdir -p "$strange"

for way in mount copy; do
    KILN_ENTER=$way
    export KILN_ENTER
    if ! output=$("$enter" true 2>&1); then
        skip "$way" "not possible here: $output"
        continue
    fi
    is "$way: it is the root" "$(cat "$("$here/toolchain/root.sh" --path)/etc/kiln-root")" "$("$enter" cat /etc/kiln-root)"
    is "$way: exit status" 7 "$("$enter" sh -c 'exit 7'; echo $?)"
    is "$way: arguments" "a  b|'\"|å|" "$(cd "$here" && "$enter" printf '%s|' 'a  b' "'\"" å)"
    is "$way: directory" "$here" "$(cd "$here" && "$enter" pwd)"
    is "$way: a variable with a line break and quotes" "x
y \"'\$HOME" "$(KILN_X="x
y \"'\$HOME" "$enter" sh -c 'printf %s "$KILN_X"')"
    is "$way: others stay outside" "" "$(LD_LIBRARY_PATH=/x SECRET=1 "$enter" sh -c 'echo $LD_LIBRARY_PATH$SECRET')"
    is "$way: standard input" "in" "$(echo in | "$enter" cat)"
    is "$way: build/ and spv/ come back" "1 2" "$(cd "$here" && "$enter" sh -c 'echo 1 >build/x; echo 2 >spv/y' &&
        echo "$(cat build/x) $(cat spv/y)")"
    "$enter" sleep 60 &
    child=$!
    sleep 1
    kill -TERM $child
    wait $child
    is "$way: SIGTERM reaches the command" 143 $?
done

KILN_ENTER=mount
if "$enter" true 2>/dev/null; then
    is "a path with blanks, quotes and letters beyond ASCII" "$strange" "$(cd "$strange" && "$enter" sh -c 'pwd; touch made')"
    is "what is made inside is there outside" made "$(ls "$strange")"
    # A directory inside what the root has itself is bound by itself.
    odd=/var/tmp/kiln-test-$$
    mkdir -p "$odd"
    is "a checkout below /var" "$odd" "$(cd "$odd" && "$enter" sh -c 'pwd; touch made')"
    is "and its files" made "$(ls "$odd")"
    rm -r "$odd"
    is "/dev/shm is usable" 1 "$("$enter" sh -c 'echo 1 > /dev/shm/kiln-$$ && cat /dev/shm/kiln-$$ && rm /dev/shm/kiln-$$')"
    if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ] &&
        setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-root-user --mount true 2>/dev/null &&
        setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$("$here/toolchain/root.sh" --path)/etc/kiln-root"; then
        cache=$(dirname "$("$here/toolchain/root.sh" --path)")
        is "without root rights" 5 "$(cd / && KILN_CACHE=$cache setpriv --reuid=65534 --regid=65534 --clear-groups \
            env HOME=/tmp TMPDIR=/tmp PATH=/usr/bin:/bin "$enter" sh -c 'echo 5')"
    else
        skip "without root rights" "no user namespaces, or the root is not readable to others"
    fi
fi
is "nothing stays mounted" "$before" "$(mounts)"
echo "1..$number"
