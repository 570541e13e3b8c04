#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/cli/schema.sh [MANIFEST...]: each manifest fits manifest/manifest.schema.json and has the canonical bytes that
# another JSON implementation (Python's) writes. Without arguments: the golden manifest, and spv/manifest.json if built.
. tests/cli/common.sh
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not installed"

if [ $# -eq 0 ]; then
  set -- tests/fixtures/manifest/manifest.json
  if [ -f spv/manifest.json ]; then
    set -- "$@" spv/manifest.json
  fi
fi

cat >"$TMPDIR/check.py" <<'PYTHON'
import copy, json, sys
import jsonschema

schema = json.load(open("manifest/manifest.schema.json", encoding="utf-8"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)


def validate():
    errors = list(validator.iter_errors(manifest))
    for error in errors[:20]:
        print("#", "/".join(map(str, error.absolute_path)) + ":", error.message[:300])
    return not errors


def canonical():
    return text == json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def strict():
    """Each change to the last artifact must be refused, or the schema checks nothing."""
    changes = [(("file",), "../a.spv"), (("file",), "/a.spv"), (("file",), "a"), (("size",), 21), (("size",), "20"),
               (("name",), "a___b"), (("content",), "0" * 31), (("dtypes",), []), (("extra",), 1), (("tier",), "A"),
               (("requires", "local_size"), [1, 1]), (("requires", "vulkan"), "1"), (("requires", "more"), 1),
               (("grid", "fold"), 0), (("tolerance", "rel"), -1), (("bindings",), [{}]), (("axes",), {"a": 1})]
    accepted = []
    for path, value in changes:
        changed = copy.deepcopy(manifest)
        target = changed["artifacts"][-1]
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value
        if validator.is_valid(changed):
            accepted.append((path, value))
    for format_version in (0, 2, "1"):
        if validator.is_valid({**manifest, "format": format_version}):
            accepted.append(("format", format_version))
    for change in accepted:
        print("# accepted:", *change)
    return not accepted


text = open(sys.argv[2], encoding="utf-8", newline="").read()
manifest = json.loads(text)
sys.exit(not {"validate": validate, "canonical": canonical, "strict": strict}[sys.argv[1]]())
PYTHON

for manifest; do
  expect "$manifest fits the schema" python3 "$TMPDIR/check.py" validate "$manifest"
  expect "$manifest is canonical" python3 "$TMPDIR/check.py" canonical "$manifest"
done
expect "the schema refuses wrong fields" python3 "$TMPDIR/check.py" strict tests/fixtures/manifest/manifest.json
finish
