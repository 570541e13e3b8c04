#!/bin/sh
# SPDX-License-Identifier: MIT
# Entry points become `main`: `genshaders normalise` and `genshaders split` on modules of glslang and
# of the assembler, judged by spirv-val and spirv-dis.
. tests/cli/common.sh
fixtures=tests/fixtures/spirv
for tool in spirv-as spirv-dis spirv-val glslangValidator; do
  command -v "$tool" >/dev/null || skip_all "$tool is not installed"
done

# compile NAME OUT [OPTION...]: a fixture's GLSL with this entry point name
compile() {
  compile_name=$1
  compile_out=$2
  shift 2
  glslangValidator --quiet -V --target-env vulkan1.1 -e "$compile_name" --source-entrypoint main \
    "$@" -o "$compile_out" "$fixtures/helper_main.comp"
}

listing() {
  spirv-dis --no-indent --raw-id "$1"
}

# only_main FILE: exactly one entry point, called main, and valid
only_main() {
  spirv-val --target-env vulkan1.3 --scalar-block-layout --allow-localsizeid "$1" || return 1
  [ "$(listing "$1" | grep -c '^OpEntryPoint')" -eq 1 ] || return 1
  listing "$1" | grep -q '^OpEntryPoint GLCompute %[0-9]* "main"'
}

# same_but_names A B: equal listings apart from OpName and the entry point's name
same_but_names() {
  for same_file in "$1" "$2"; do
    listing "$same_file" | sed -e '/^OpName/d' -e '/^OpEntryPoint/s/"[^"]*"/NAME/'
  done >"$TMPDIR/both"
  lines=$(($(wc -l <"$TMPDIR/both") / 2))
  head -n "$lines" "$TMPDIR/both" >"$TMPDIR/first"
  tail -n "$lines" "$TMPDIR/both" | cmp - "$TMPDIR/first"
}

# refuses MESSAGE IN: exit 1, "IN: ...MESSAGE..." on stderr, nothing on stdout, no output file
refuses() {
  rm -f "$TMPDIR/refused.spv"
  "$GENSHADERS" normalise "$2" "$TMPDIR/refused.spv" >"$TMPDIR/stdout" 2>"$TMPDIR/stderr"
  [ $? -eq 1 ] || return 1
  [ ! -e "$TMPDIR/refused.spv" ] && [ ! -s "$TMPDIR/stdout" ] || return 1
  grep -q "^$2: .*$1" "$TMPDIR/stderr" || {
    sed 's/^/# /' "$TMPDIR/stderr"
    return 1
  }
}

for name in m abc mains square_all kernel__with__a__longer__name; do
  in=$TMPDIR/$name.spv
  out=$TMPDIR/$name.out.spv
  compile "$name" "$in" || exit 1
  expect "$name: is not main before" sh -c "! spirv-dis '$in' | grep -q '\"main\"'"
  expect "$name: normalise succeeds" "$GENSHADERS" normalise "$in" "$out"
  expect "$name: is main after, and valid" only_main "$out"
  expect "$name: all but the names is kept" same_but_names "$in" "$out"
  expect "$name: the function's name is main" \
    sh -c "spirv-dis --raw-id '$out' | grep -q 'OpName %[0-9]* \"main\"'"
  expect "$name: a second time changes nothing" "$GENSHADERS" normalise "$out" "$out.2"
  expect "$name: bit for bit" cmp "$out" "$out.2"
done

compile main "$TMPDIR/already.spv" || exit 1
expect "a module with main is taken" \
  "$GENSHADERS" normalise "$TMPDIR/already.spv" "$TMPDIR/already.out"
expect "and comes back as it was" cmp "$TMPDIR/already.spv" "$TMPDIR/already.out"

compile with_debug "$TMPDIR/debug.spv" -g || exit 1
expect "a module with debug information is taken" \
  "$GENSHADERS" normalise "$TMPDIR/debug.spv" "$TMPDIR/debug.out"
expect "its source text still has its own main" \
  sh -c "spirv-dis '$TMPDIR/debug.out' | grep -q 'void main()'"
expect "and it is valid" only_main "$TMPDIR/debug.out"

compile stripped "$TMPDIR/stripped.spv" -g0 || exit 1
expect "a module without names is taken" \
  "$GENSHADERS" normalise "$TMPDIR/stripped.spv" "$TMPDIR/stripped.out"
expect "it is main after" only_main "$TMPDIR/stripped.out"
expect "and has got no names" sh -c "! spirv-dis '$TMPDIR/stripped.out' | grep -q OpName"

# A module assembled from text whose entry point is called $1, and a second function, $2.
assemble() {
  cat >"$TMPDIR/text" <<END
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %entry "$1"
OpExecutionMode %entry LocalSize 1 1 1
OpName %entry "$1"
OpName %helper "$2"
%void = OpTypeVoid
%fn = OpTypeFunction %void
%helper = OpFunction %void None %fn
%label1 = OpLabel
OpReturn
OpFunctionEnd
%entry = OpFunction %void None %fn
%label2 = OpLabel
%call = OpFunctionCall %void %helper
OpReturn
OpFunctionEnd
END
  spirv-as --target-env spv1.3 -o "$3" "$TMPDIR/text"
}
long=$(head -c 262000 /dev/zero | tr '\0' n)
assemble "$long" main "$TMPDIR/long.spv" || exit 1
expect "a name of 262,000 bytes is taken" \
  "$GENSHADERS" normalise "$TMPDIR/long.spv" "$TMPDIR/long.out"
expect "the module is 523,992 bytes smaller" \
  [ $(($(wc -c <"$TMPDIR/long.spv") - $(wc -c <"$TMPDIR/long.out"))) -eq $((2 * (262004 - 8))) ]
expect "it is main after" only_main "$TMPDIR/long.out"
expect "the helper that was main is called main_<id>" \
  sh -c "spirv-dis --raw-id '$TMPDIR/long.out' | grep -q 'OpName %\\([0-9]*\\) \"main_\\1\"'"

word() {
  od -An -tx4 -j "$(($2 * 4))" -N 4 "$1"
}
expect "the generator word is kept" \
  [ "$(word "$TMPDIR/square_all.spv" 2)" = "$(word "$TMPDIR/square_all.out.spv" 2)" ]

expect "two entry points are refused" refuses "2 entry points" $fixtures/two_entries.spv
expect "no entry point is refused" refuses "0 entry points" $fixtures/no_entry.spv
expect "a fragment shader is refused" refuses "execution model 4" $fixtures/fragment.spv
printf "; SPIR-V text 24 bytes.." >"$TMPDIR/text.spv"
expect "text is refused" refuses "magic" "$TMPDIR/text.spv"
head -c 400 $fixtures/interface.spv >"$TMPDIR/cut.spv"
expect "a cut module is refused" refuses "word" "$TMPDIR/cut.spv"
: >"$TMPDIR/empty.spv"
expect "an empty file is refused" refuses "0 bytes" "$TMPDIR/empty.spv"
expect "a missing file is refused" refuses "" "$TMPDIR/missing.spv"
od -An -v -tx1 -w4 $fixtures/helper_main.spv | awk '{ printf "\\x%s\\x%s\\x%s\\x%s", $4, $3, $2, $1 }' \
  >"$TMPDIR/swapped.hex"
env printf "$(cat "$TMPDIR/swapped.hex")" >"$TMPDIR/swapped.spv"
expect "the swapped copy has the size of the original" \
  [ "$(wc -c <"$TMPDIR/swapped.spv")" -eq "$(wc -c <$fixtures/helper_main.spv)" ]
expect "the other byte order is refused" refuses "other byte order" "$TMPDIR/swapped.spv"

expect "split succeeds" "$GENSHADERS" split $fixtures/two_entries.spv "$TMPDIR/parts"
expect "it writes one module an entry point" [ "$(ls "$TMPDIR/parts")" = "0.spv
1.spv" ]
for part in 0 1; do
  expect "part $part has one entry point, main, and is valid" only_main "$TMPDIR/parts/$part.spv"
done
expect "part 0 has its own local size" \
  sh -c "spirv-dis '$TMPDIR/parts/0.spv' | grep -q 'OpExecutionMode .* LocalSize 8 1 1'"
expect "part 1 has its own local size" \
  sh -c "spirv-dis '$TMPDIR/parts/1.spv' | grep -q 'OpExecutionMode .* LocalSize 4 2 1'"
expect "the helper main is renamed around the taken name" \
  sh -c "spirv-dis --raw-id '$TMPDIR/parts/0.spv' | grep -q 'OpName %4 \"main_4_1\"'"
finish
