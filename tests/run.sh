#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/run.sh [--results FILE] [--jobs N] TEST…    run test programs and scripts and count
# tests/run.sh --sum FILE…                          list what earlier runs wrote with --results, and count
#
# A test is an executable. It prints TAP, and then each point counts, or else its exit status counts: 0 passed, 77 skipped
# (the last line it printed is the reason, and there must be one), anything else failed. A TAP plan that is not fulfilled
# and an exit status other than 0 with no failed point are failures, too.
# Each test gets an empty directory of its own as $TMPDIR, no standard input, and the checkout as working directory, and
# is stopped after 300 s, or what a line `# time limit: N s` among the first 20 of a script says.
# Closes with the line `N passed, N failed, N skipped`; the exit status is 1 when a test failed or none ran.
set -u
self=$(cd "${0%/*}" && pwd -P)/run.sh
tab=$(printf '\t')

# result STATUS NAME REASON: one line of the results.
result() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$(printf '%s' "$3" | tr '\t\n' '  ')"
}

# tap NAME STATUS OUTPUT: the results of a program that printed TAP.
read_tap() {
    awk -v test="$1" -v status="$2" -v plan=-1 '
        function result(what, name, why) { printf "%s\t%s\t%s\n", what, name, why }
        /^[[:space:]]*1\.\.[0-9]+/ { sub(/^[[:space:]]*1\.\./, ""); plan = $1 + 0
            if (plan == 0) result("skip", test, /#/ ? substr($0, index($0, "#") + 2) : "") ; next }
        /^# / { word = substr($0, 3) }
        /^(not )?ok([[:space:]]|$)/ {
            points++
            failed = /^not ok/
            line = $0
            why = ""
            if (match(line, /[[:space:]]#[[:space:]]*[Ss][Kk][Ii][Pp]/)) {
                why = substr(line, RSTART + RLENGTH)
                sub(/^[a-zA-Z]*[[:space:]:]*/, "", why)
                line = substr(line, 1, RSTART - 1)
                skipped = 1
            } else skipped = 0
            sub(/^(not )?ok[[:space:]]*[0-9]*[[:space:]]*(-[[:space:]]*)?/, "", line)
            name = test ": " (line == "" ? points : line)
            # cmocka prints `ok N # SKIP name`; the reason is the `# ` line before it.
            if (skipped && line == "" && why != "") { name = test ": " why; why = word }
            word = ""
            if (failed) { bad++; result("fail", name, "") }
            else if (skipped && why == "") { bad++; result("fail", name, "skipped without a reason") }
            else if (skipped) result("skip", name, why)
            else result("pass", name, "")
        }
        /^Bail out!/ { bad++; result("fail", test, $0) }
        END {
            if (plan >= 0 && plan != points) { result("fail", test, "ran " points + 0 " of " plan " planned"); bad++ }
            if (status != 0 && !bad && !(status == 77 && plan == 0)) result("fail", test, "exit status " status)
        }' "$3"
}

time_limit() {
    limit=$(head -c 4000 "$1" | head -n 20 | LC_ALL=C sed -n 's/^# time limit: \([0-9]*\) s$/\1/p' 2>/dev/null)
    echo "${limit:-300}"
}

# Runs one test; its results go to a file, and what a person wants to see is printed in one piece.
run_one() {
    results=$1 test=$2
    name=${test#./}
    work=$(mktemp -d "$results.d/XXXXXX") || exit 1
    mkdir "$work/tmp"
    limit=$(time_limit "$test")
    started=$(date +%s)
    TMPDIR=$work/tmp CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 10 "$limit" "$test" >"$work/output" 2>&1 </dev/null
    status=$?
    seconds=$(($(date +%s) - started))
    # Nothing may be left mounted or running in there; what cannot be removed is told.
    rm -rf "$work/tmp" 2>/dev/null || result fail "$name" "left files that cannot be removed in $work/tmp" >"$work/results"
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        result fail "$name" "stopped after the time limit of $limit s" >>"$work/results"
    elif LC_ALL=C grep -qaE '^(ok|not ok)( |$)|^1\.\.[0-9]+' "$work/output"; then
        read_tap "$name" $status "$work/output" >>"$work/results"
    elif [ $status -eq 0 ]; then
        result pass "$name" "" >>"$work/results"
    elif [ $status -eq 77 ]; then
        reason=$(tail -n 1 "$work/output")
        if [ -n "$reason" ]; then
            result skip "$name" "$reason" >>"$work/results"
        else
            result fail "$name" "skipped without a reason" >>"$work/results"
        fi
    else
        result fail "$name" "exit status $status" >>"$work/results"
    fi
    {
        show "$work/results" | sed "1s/\$/  ($seconds s)/"
        if grep -q "^fail$tab" "$work/results"; then
            echo "  --- output of $name (last 60 lines)"
            tail -n 60 "$work/output" | sed 's/^/  | /'
        fi
    } >"$work/shown"
    cat "$work/shown"
}

show() {
    awk -F'\t' '{ printf "%-4s  %s%s\n", ($1 == "fail" ? "FAIL" : $1 == "skip" ? "skip" : "ok"), $2, ($3 == "" ? "" : "  # " $3) }' "$@"
}

count() {
    awk -F'\t' '
        { n[$1]++ }
        END {
            printf "%d passed, %d failed, %d skipped\n", n["pass"], n["fail"], n["skip"]
            exit n["fail"] > 0 || n["pass"] + n["skip"] == 0
        }' "$@"
}

case ${1-} in
--one)
    run_one "$2" "$3"
    exit 0
    ;;
--sum)
    shift
    echo
    echo "Failed and skipped:"
    cat "$@" 2>/dev/null | grep -v "^pass$tab" | show
    echo
    cat "$@" 2>/dev/null | count
    exit
    ;;
esac

results=
jobs=2
while :; do
    case ${1-} in
    --results) results=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || {
    echo "run.sh: no tests given" >&2
    exit 1
}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
mkdir "$scratch/run.d"
printf '%s\0' "$@" | xargs -0 -n 1 -P "$jobs" "$self" --one "$scratch/run"
cat "$scratch"/run.d/*/results >"$scratch/all" 2>/dev/null
ran=$(find "$scratch/run.d" -name results | wc -l)
[ "$ran" -eq $# ] || result fail "run.sh" "$ran of $# tests gave a result" >>"$scratch/all"
if [ -n "$results" ]; then
    cat "$scratch/all" >>"$results"
    ! grep -q "^fail$tab" "$scratch/all"
else
    count "$scratch/all"
fi
