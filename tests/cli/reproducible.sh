#!/bin/sh
# SPDX-License-Identifier: MIT
# Clean builds that differ in directory, threads, locale, umask and environment give equal bytes.
. tests/cli/common.sh
tree=$TMPDIR/tree
cp -r tests/fixtures/tree "$tree"
expect "a reference build" build_json "$TMPDIR/out" "$TMPDIR/cache" --jobs 1

odd="$TMPDIR/a b/Åäö ß/$(printf 'x%.0s' 1 2 3 4 5 6 7 8 9)"
mkdir -p "$odd"
cp -r tests/fixtures/tree "$odd/trée"
tree="$odd/trée"
expect "spaces and letters beyond ASCII in every path" build_json "$odd/o ut" "$odd/ca che" --jobs 7
expect "give the same bytes" same_tree "$TMPDIR/out" "$odd/o ut"

umask 077
LC_ALL=tr_TR.UTF-8 TZ=Pacific/Kiritimati HOME=/nonexistent USER=nobody
export LC_ALL TZ HOME USER
tree=$TMPDIR/tree
expect "another umask, locale, time zone and user name" build_json "$TMPDIR/out3" "$TMPDIR/cache3"
umask 022
expect "give the same bytes" same_tree "$TMPDIR/out" "$TMPDIR/out3"
modes() { find "$1" -type f -exec stat -c '%a' {} + | sort -u; }
expect "and the same modes" [ "$(modes "$TMPDIR/out")" = "$(modes "$TMPDIR/out3")" ]

here=$PWD
case $GENSHADERS in /*) ;; *) GENSHADERS=$here/$GENSHADERS ;; esac
relative_build() {
  cd "$TMPDIR" && "$GENSHADERS" build --templates ./tree/ --out out4/ --cache cache4/ --quiet
}
(relative_build)
expect "relative paths with slashes behind them" [ $? -eq 0 ]
expect "give the same bytes" same_tree "$TMPDIR/out" "$TMPDIR/out4"

twice() {
  build_json "$TMPDIR/out5" "$TMPDIR/cache5" &
  first=$!
  "$GENSHADERS" build --templates "$tree" --out "$TMPDIR/out5" --cache "$TMPDIR/cache5" --quiet &
  second=$!
  wait "$first" && wait "$second"
}
expect "two builds at once on one output both succeed" twice
expect "and leave the same bytes" same_tree "$TMPDIR/out" "$TMPDIR/out5"
finish
