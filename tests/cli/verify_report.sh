#!/bin/sh
# SPDX-License-Identifier: MIT
# The reports of one run, read by other programs: python3's JSON and XML parsers, and this suite's own TAP reader.
. tests/cli/common.sh
. toolchain/lane.sh
: "${VERIFY:=${BUILD:-build}/verify}"
[ -n "${VK_DRIVER_FILES-}" ] || lane_lavapipe || skip_all "no lavapipe at $VK_DRIVER_FILES"
command -v python3 >/dev/null || skip_all "no python3 to read the reports with"
bundle=$TMPDIR/bundle
expect "a bundle builds" "$GENSHADERS" build --quiet --templates tests/fixtures/verify_faults --out "$bundle" \
  --cache "$TMPDIR/cache"
"$VERIFY" --bundle "$bundle" --filter '*__any__[!e]*' --json "$TMPDIR/run.json" --tap "$TMPDIR/run.tap" --junit "$TMPDIR/run.xml" \
  >"$TMPDIR/out" 2>"$TMPDIR/err"
expect "the run has failures" test $? -eq 1

expect "the JSON has the contract's fields" python3 - "$TMPDIR/run.json" <<'PYTHON'
import json, math, sys
report = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit("constant " + c))
assert set(report) == {"summary", "cases", "devices", "seed", "suite", "bundle"}, set(report)
summary, cases = report["summary"], report["cases"]
assert set(summary) == {"pass", "fail", "skip"}
assert sum(summary.values()) == len(cases) == 28, (summary, len(cases))
fields = {"artifact", "family", "dtypes", "tier", "device", "dims", "status", "reason", "max_abs", "rel", "scale"}
for case in cases:
    assert set(case) == fields, set(case) ^ fields
    assert case["status"] in ("pass", "fail", "skip")
    assert summary[case["status"]] > 0
    assert set(case["dims"]) == {"nout", "k"}
    assert case["dtypes"] == ["f32", "f32"]
    for metric in ("max_abs", "rel", "scale"):
        assert case[metric] is None or math.isfinite(case[metric])
    if case["status"] == "pass":
        assert case["max_abs"] < 1e-3 and case["rel"] < 1e-3
    else:
        assert case["reason"]
for status in summary:
    assert summary[status] == sum(case["status"] == status for case in cases)
assert {case["device"] for case in cases} <= {device["device"] for device in report["devices"]}
PYTHON

expect "the JUnit XML is well formed and has the same counts" python3 - "$TMPDIR/run.json" "$TMPDIR/run.xml" <<'PYTHON'
import json, sys
import xml.etree.ElementTree as tree
report = json.load(open(sys.argv[1]))
root = tree.parse(sys.argv[2]).getroot()
assert root.tag == "testsuites" and int(root.get("tests")) == len(report["cases"])
assert len(list(root.iter("testcase"))) == len(report["cases"])
assert len(list(root.iter("failure"))) == report["summary"]["fail"] == int(root.get("failures"))
assert len(list(root.iter("skipped"))) == report["summary"]["skip"]
PYTHON

expect "the TAP has the same counts" python3 - "$TMPDIR/run.json" "$TMPDIR/run.tap" <<'PYTHON'
import json, re, sys
report = json.load(open(sys.argv[1]))
lines = open(sys.argv[2]).read().splitlines()
assert lines[0] == "TAP version 13" and lines[1] == "1..%d" % len(report["cases"])
points = [line for line in lines if re.match(r"(not )?ok \d+ - ", line)]
assert [int(re.search(r"\d+", point)[0]) for point in points] == list(range(1, len(points) + 1))
assert sum(point.startswith("not ok") for point in points) == report["summary"]["fail"]
assert sum(" # SKIP " in point for point in points) == report["summary"]["skip"]
PYTHON

expect "TAP on standard output stands alone" sh -c '
  "$1" --bundle "$2" --filter "*__none__*" --tap - 2>/dev/null >"$3" && head -1 "$3" | grep -qx "TAP version 13" &&
    ! grep -qv "^TAP\|^1\.\.2$\|^ok " "$3"' sh "$VERIFY" "$bundle" "$TMPDIR/tap.out"

# --- merge ---
"$VERIFY" --bundle "$bundle" --filter '*__none__*' --json "$TMPDIR/a.json" >/dev/null 2>&1
expect "reports can be joined" sh -c '"$1" merge "$2/m.json" "$2/a.json" "$2/run.json" >"$2/merge.out"; [ $? -eq 1 ]' sh \
  "$VERIFY" "$TMPDIR"
expect "the joined report has all cases" python3 - "$TMPDIR/m.json" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
assert len(report["cases"]) == 30 == sum(report["summary"].values()), len(report["cases"])
assert len(report["devices"]) == 1 and report["suite"] == "quick" and report["seed"] == 0
PYTHON
sed 's/"bundle": "./"bundle": "0/' "$TMPDIR/a.json" >"$TMPDIR/other.json"
expect "reports of different bundles cannot" sh -c '! "$1" merge "$2/n.json" "$2/run.json" "$2/other.json" 2>"$2/err" &&
  grep -q "other.json: bundle" "$2/err" && [ ! -e "$2/n.json" ]' sh "$VERIFY" "$TMPDIR"

# Equal seeds give equal reports, another seed gives other errors.
"$VERIFY" --bundle "$bundle" --filter '*__none__*' --json "$TMPDIR/b.json" >/dev/null 2>&1
expect "a run can be repeated" cmp "$TMPDIR/a.json" "$TMPDIR/b.json"
"$VERIFY" --bundle "$bundle" --filter '*__none__*' --seed 7 --json "$TMPDIR/c.json" >/dev/null 2>&1
expect "another seed is another run" sh -c '! cmp -s "$1/a.json" "$1/c.json"' sh "$TMPDIR"
finish
