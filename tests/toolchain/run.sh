#!/bin/sh
# SPDX-License-Identifier: MIT
# The test runner itself: what it counts as passed, failed and skipped.
set -u
run=$(cd "${0%/*}/.." && pwd -P)/run.sh
number=0
cd "$TMPDIR" || exit 1

script() {
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod 755 "$1"
}

# counts NAME LINE STATUS TEST…
counts() {
    name=$1 line=$2 status=$3
    shift 3
    number=$((number + 1))
    output=$("$run" "$@" 2>&1)
    got=$?
    if [ "$(printf '%s\n' "$output" | tail -n 1)" = "$line" ] && [ $got -eq "$status" ]; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        printf 'status %s\n%s\n' "$got" "$output" | sed 's/^/# /'
    fi
}

script pass 'exit 0'
script fail 'exit 3'
script skip 'echo "no device here"; exit 77'
script mute 'exit 77'
script tap 'echo "1..3"; echo "ok 1 - a"; echo "not ok 2 - b"; echo "ok 3 - c # SKIP no c"; exit 1'
script short 'echo "1..3"; echo "ok 1 - a"'
script crash 'echo "1..1"; echo "ok 1 - a"; kill -SEGV $$'
script slow '# time limit: 1 s
sleep 20'
# shellcheck disable=SC2016
script own 'mkdir "$TMPDIR/x" && [ "$(ls "$TMPDIR")" = x ]'
script unreasoned 'echo "1..1"; echo "ok 1 - a # SKIP"'
script "with space" 'exit 0'

counts "exit status 0" "1 passed, 0 failed, 0 skipped" 0 ./pass
counts "another exit status" "0 passed, 1 failed, 0 skipped" 1 ./fail
counts "77 with a reason" "1 passed, 0 failed, 1 skipped" 0 ./skip ./pass
counts "77 without a reason is a failure" "0 passed, 1 failed, 0 skipped" 1 ./mute
counts "TAP points count one by one" "1 passed, 1 failed, 1 skipped" 1 ./tap
counts "a TAP skip without a reason is a failure" "0 passed, 1 failed, 0 skipped" 1 ./unreasoned
script cmocka 'echo "1..2"; echo "# no device"; echo "ok 1 # SKIP test_a"; echo "ok 2 - b"'
script cmocka_mute 'echo "1..2"; echo "# x"; echo "ok 1 - b"; echo "ok 2 # SKIP test_a"'
counts "a cmocka skip with the reason before it" "1 passed, 0 failed, 1 skipped" 0 ./cmocka
counts "and without" "1 passed, 1 failed, 0 skipped" 1 ./cmocka_mute
script all 'echo "1..0 # SKIP no device"; exit 77'
counts "a TAP plan of none, skipped with a reason" "0 passed, 0 failed, 1 skipped" 0 ./all
counts "a plan not fulfilled" "1 passed, 1 failed, 0 skipped" 1 ./short
counts "a crash after good points" "1 passed, 1 failed, 0 skipped" 1 ./crash
counts "the time limit" "0 passed, 1 failed, 0 skipped" 1 ./slow
counts "a scratch directory each" "2 passed, 0 failed, 0 skipped" 0 ./own ./own
counts "a test that is not there" "0 passed, 1 failed, 0 skipped" 1 ./missing
counts "a name with a blank" "1 passed, 0 failed, 0 skipped" 0 "./with space"
counts "no test at all" "run.sh: no tests given" 1
"$run" --results r ./pass ./fail ./skip >/dev/null 2>&1
counts "sums of earlier runs" "1 passed, 1 failed, 1 skipped" 1 --sum r
echo "1..$number"
