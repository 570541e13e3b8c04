#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/check.sh full|smoke|asan|tsan: what `make check` runs. Builds, then the tests that belong inside the toolchain, then
# those that belong on the host, then the counts. $where (from make) says where the toolchain is: here or root.
set -u
cd "${0%/*}/.." || exit 1
kind=${1:-full}
build=${BUILD:-build}
results=$build/check.results
DEVELOPER=${DEVELOPER-1}
export DEVELOPER CHECK="$kind"
# The makes below get their own jobs; variables of the command line are in the environment, too.
unset MAKEFLAGS MFLAGS MAKELEVEL
started=$(date +%s)

case $kind in
full | smoke) config=release ;;
asan | tsan) config=$kind ;;
*)
    echo "check: CHECK is full or smoke, not '$kind'" >&2
    exit 2
    ;;
esac

if [ "$config" = asan ]; then
    LSAN_OPTIONS=suppressions=tests/sanitize/leaks.txt:print_suppressions=0
    export LSAN_OPTIONS
elif [ "$config" = tsan ]; then
    TSAN_OPTIONS=suppressions=$PWD/tests/sanitize/races.txt:print_suppressions=0
    export TSAN_OPTIONS
fi

in_toolchain() {
    if [ "${where-}" = root ]; then
        toolchain/enter.sh "$@"
    else
        "$@"
    fi
}

step() {
    printf '\n== %s (%s s)\n' "$1" $(($(date +%s) - started))
}

finish() {
    tests/run.sh --sum "$results" >"$build/check.summary"
    status=$?
    # The closing line stays alone and last.
    sed '$d' "$build/check.summary"
    echo "(check $kind: $(($(date +%s) - started)) s)"
    tail -n 1 "$build/check.summary"
    exit $status
}

mkdir -p "$build" && : >"$results" || exit 1

step build
# recorded NAME COMMAND…: runs the command and counts it as a test.
recorded() {
    name=$1
    shift
    if "$@"; then
        printf 'pass\t%s\t\n' "$name" >>"$results"
    else
        printf 'fail\t%s\tsee its output above\n' "$name" >>"$results"
        return 1
    fi
}
recorded "build ($config)" in_toolchain make -j"${JOBS:-2}" config="$config" all unit-build || finish
[ "$config" != release ] || recorded "make spv" in_toolchain make spv

step "tests inside the toolchain"
set --
for test in tests/lint/test_lint.sh tests/steps/*.sh "$build/$config"/unit/test_* tests/cli/*.sh; do
    if [ ! -x "$test" ] || [ -d "$test" ]; then
        continue
    fi
    case $config:$test in
    release:* | asan:*/unit/* | tsan:*/unit/*) set -- "$@" "$test" ;;
    esac
done
in_toolchain tests/run.sh --results "$results" "$@"

if [ "$config" = release ]; then
    step "tests on the host"
    recorded "build (native)" make --no-print-directory -j"${JOBS:-2}" native
    set --
    for test in tests/toolchain/*.sh; do
        [ ! -x "$test" ] || set -- "$@" "$test"
    done
    [ $# -eq 0 ] || tests/run.sh --results "$results" "$@"
fi
finish
