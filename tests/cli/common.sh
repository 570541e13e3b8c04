# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Shared by the scripts of this directory: `. tests/cli/common.sh` from the checkout's root.
# GENSHADERS is the program under test; TMPDIR the script's own scratch directory.
: "${GENSHADERS:=build/genshaders}"
: "${TMPDIR:=/tmp}"
test_failures=0
test_count=0

# expect DESCRIPTION COMMAND...: one TAP line, by the command's exit status
expect() {
  description=$1
  shift
  test_count=$((test_count + 1))
  if "$@"; then
    echo "ok $test_count - $description"
  else
    echo "not ok $test_count - $description"
    test_failures=$((test_failures + 1))
  fi
}

finish() {
  echo "1..$test_count"
  [ "$test_failures" -eq 0 ]
  exit
}

skip_all() {
  echo "1..0 # SKIP $*"
  exit 77
}

# build_json OUT CACHE [OPTION...]: builds $tree, leaves the summary in $TMPDIR/summary
build_json() {
  build_out=$1
  build_cache=$2
  shift 2
  "$GENSHADERS" build --templates "$tree" --out "$build_out" --cache "$build_cache" --json "$@" \
    >"$TMPDIR/summary"
}

# summary_is KEY VALUE: of the last build_json
summary_is() {
  grep -q "\"$1\": \"\\{0,1\\}$2\"\\{0,1\\}[,}]" "$TMPDIR/summary" || {
    echo "# expected $1 = $2 in:"
    sed 's/^/# /' "$TMPDIR/summary"
    return 1
  }
}

same_tree() {
  diff -r "$1" "$2" >"$TMPDIR/diff" 2>&1 || {
    sed 's/^/# /' "$TMPDIR/diff" | head -5
    return 1
  }
}
