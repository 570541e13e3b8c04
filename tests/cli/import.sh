#!/bin/sh
# SPDX-License-Identifier: MIT
# `genshaders inspect` and `genshaders import` on modules assembled from text: what is taken comes out
# whole and valid, what is refused says so by type, and one refusal leaves everything as it was.
. tests/cli/common.sh
for tool in spirv-as spirv-dis spirv-val; do
  command -v "$tool" >/dev/null || skip_all "$tool is not installed"
done
modules=$TMPDIR/modules
mkdir "$modules"

# assemble NAME: $modules/NAME.spv from the text on standard input
assemble() {
  spirv-as --preserve-numeric-ids --target-env spv1.3 -o "$modules/$1.spv" - || exit 1
}

# The declarations of a kernel that stores a value, with this entry point name and local size.
store() {
  cat <<END
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %f "$1"
OpExecutionMode %f LocalSize $2 1 1
OpName %data "data"
OpName %spec "offset"
OpMemberName %push_s 0 "value"
OpDecorate %array ArrayStride 4
OpDecorate %s Block
OpMemberDecorate %s 0 Offset 0
OpDecorate %push_s Block
OpMemberDecorate %push_s 0 Offset 0
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 0
OpDecorate %spec SpecId 7
%void = OpTypeVoid
%ft = OpTypeFunction %void
%u = OpTypeInt 32 0
%n0 = OpConstant %u 0
%n16 = OpConstant %u 16
%spec = OpSpecConstant %u 3
%array = OpTypeRuntimeArray %u
%s = OpTypeStruct %array
%push_s = OpTypeStruct %u
%shared_a = OpTypeArray %u %n16
%ps = OpTypePointer StorageBuffer %s
%pu = OpTypePointer StorageBuffer %u
%pps = OpTypePointer PushConstant %push_s
%ppu = OpTypePointer PushConstant %u
%pw = OpTypePointer Workgroup %shared_a
%pwu = OpTypePointer Workgroup %u
%data = OpVariable %ps StorageBuffer
%push = OpVariable %pps PushConstant
%shared = OpVariable %pw Workgroup
%f = OpFunction %void None %ft
%l = OpLabel
%vp = OpAccessChain %ppu %push %n0
%v = OpLoad %u %vp
%w = OpAccessChain %pwu %shared %n0
OpStore %w %v
%at = OpAccessChain %pu %data %n0 %spec
OpStore %at %v
OpReturn
OpFunctionEnd
END
}

store "Store::One" 8 | assemble "Good-1"
store main 64 | assemble good_2
sed 's/^ *//' >"$TMPDIR/kernel.text" <<'END'
  OpCapability Kernel
  OpCapability Addresses
  OpMemoryModel Physical32 OpenCL
  OpEntryPoint Kernel %f "k"
  %void = OpTypeVoid
  %ft = OpTypeFunction %void
  %f = OpFunction %void None %ft
  %l = OpLabel
  OpReturn
  OpFunctionEnd
END
assemble kernel <"$TMPDIR/kernel.text"
sed -e 's/^OpMemoryModel/OpCapability Linkage\n&/' -e '/^OpEntryPoint/d' -e '/^OpExecutionMode/d' \
  -e 's/^OpDecorate %array.*/&\nOpDecorate %f LinkageAttributes "f" Export/' >"$TMPDIR/library.text" <<END
$(store main 8)
END
assemble library <"$TMPDIR/library.text"
cp tests/fixtures/spirv/fragment.spv "$modules/fragment.spv"
store main 8 | sed -e 's/^OpDecorate %s Block/& \nOpDecorate %u_s Block\nOpMemberDecorate %u_s 0 Offset 0\nOpDecorate %uni DescriptorSet 0\nOpDecorate %uni Binding 1/' \
  -e 's/^%data = .*/&\n%u_s = OpTypeStruct %u\n%pus = OpTypePointer Uniform %u_s\n%uni = OpVariable %pus Uniform/' |
  assemble uniform
store main 8 | sed 's/^OpStore %at %v/%x = OpIAdd %u %v %void\n&/' | assemble invalid
head -c 500 "$modules/good_2.spv" >"$modules/cut.spv"
printf 'no module at all, thank you.' >"$modules/text.spv"
good="$modules/Good-1.spv $modules/good_2.spv"
out=$TMPDIR/out

# only FILE: the one module of a bundle whose name begins with that
only() {
  set -- "$out/$1"*.spv
  [ $# -eq 1 ] && [ -e "$1" ] && echo "$1"
}

# shellcheck disable=SC2086
expect "two good modules are imported" "$GENSHADERS" import $good --out "$out"
expect "as two files" [ "$(find "$out" -name '*.spv' | wc -l)" -eq 2 ]
first=$(only good_1__u32__any__store_one_w8x1x1__imported.)
expect "named by file, buffers, entry point and local size" [ -n "$first" ]
second=$(only good_2__u32__any__main_w64x1x1__imported.)
for file in "$first" "$second"; do
  expect "$(basename "$file" | cut -d. -f1): valid" spirv-val --target-env vulkan1.1 "$file"
  expect "its entry point is main" sh -c "spirv-dis '$file' | grep -q 'OpEntryPoint GLCompute.* \"main\"'"
  expect "its instructions are those of the file" \
    sh -c "[ \"\$(spirv-dis --no-header --raw-id '$file' | grep -cE 'OpLoad|OpStore|OpAccessChain')\" -eq 6 ]"
done
expect "the file's name has its content's hash" sh -c "
  grep -q '\"content\": \"\\(xxh3-128:\\)\\{0,1\\}$(basename "$first" | cut -d. -f2)' '$out/manifest.json'"
expect "the manifest tells the binding, the push and the specialisation constant" sh -c "
  grep -q '\"name\": \"data\"' '$out/manifest.json' && grep -q '\"name\": \"value\"' '$out/manifest.json' &&
  grep -q '\"name\": \"offset\"' '$out/manifest.json'"
cp -r "$out" "$TMPDIR/before"
# shellcheck disable=SC2086
expect "again: nothing changes" "$GENSHADERS" import $good --out "$out"
expect "bit for bit" same_tree "$TMPDIR/before" "$out"

# refuses TYPE WORDS NAME...: with good modules on either side exit 1, that type for the last named, and nothing written
refuses() {
  refuse_type=$1
  refuse_words=$2
  refuse_name=$3
  rm -rf "$TMPDIR/none"
  # shellcheck disable=SC2086
  for refuse_out in "$TMPDIR/none" "$out"; do
    "$GENSHADERS" import "$modules/good_2.spv" "$modules/$refuse_name" "$modules/Good-1.spv" --out "$refuse_out" \
      >"$TMPDIR/stdout" 2>"$TMPDIR/stderr"
    [ $? -eq 1 ] && [ ! -s "$TMPDIR/stdout" ] || return 1
  done
  [ ! -e "$TMPDIR/none" ] || return 1
  same_tree "$TMPDIR/before" "$out" || return 1
  [ "$(grep -c refused "$TMPDIR/stderr")" -eq 2 ] || return 1
  grep -q "^$modules/$refuse_name: refused ($refuse_type): .*$refuse_words" "$TMPDIR/stderr" || {
    sed 's/^/# /' "$TMPDIR/stderr"
    return 1
  }
}
expect "an OpenCL kernel is refused" refuses unsupported "OpenCL kernel" kernel.spv
expect "a library is refused" refuses unsupported "Linkage" library.spv
expect "a fragment shader is refused" refuses not-found "no entry point of a compute shader" fragment.spv
expect "a uniform buffer is refused" refuses interface "uniform buffer" uniform.spv
expect "an invalid module is refused" refuses invalid "" invalid.spv
expect "a cut module is refused" refuses malformed "word" cut.spv
expect "text is refused" refuses malformed "magic" text.spv
expect "a missing file is refused" refuses not-found "cannot open" missing.spv
expect "the same module twice is refused" refuses duplicate "another one is already" good_2.spv
mkdir "$modules/empty"
expect "a directory without modules is refused" refuses not-found "no \*.spv" empty
expect "a directory with bad modules is refused" sh -c "
  ! '$GENSHADERS' import '$modules' --out '$out' 2>'$TMPDIR/stderr' && [ \$(grep -c 'refused (' '$TMPDIR/stderr') -eq 7 ]"
expect "and leaves the bundle as it was" same_tree "$TMPDIR/before" "$out"

mkdir "$modules/two"
# shellcheck disable=SC2086
cp $good tests/fixtures/spirv/two_entries.spv "$modules/two"
expect "a directory of good modules is imported" "$GENSHADERS" import "$modules/two" --out "$out" --recipe performance
expect "each entry point is an artifact" [ "$(find "$out" -name '*.spv' | wc -l)" -eq 4 ]
expect "fill_zero with its local size" [ -n "$(only two_entries__u32__any__fill_zero_w8x1x1__imported.)" ]
expect "fill_one with its own" [ -n "$(only two_entries__u32__any__fill_one_w4x2x1__imported.)" ]
for file in "$out"/*.spv; do
  expect "$(basename "$file" | cut -d. -f1): valid" spirv-val --target-env vulkan1.1 "$file"
done
expect "an unknown recipe is a usage error" sh -c "'$GENSHADERS' import '$modules/two' --out '$out' --recipe fast; [ \$? -eq 2 ]"
expect "no --out is a usage error" sh -c "'$GENSHADERS' import '$modules/two'; [ \$? -eq 2 ]"

# tells WORDS: a line of the last inspection
tells() {
  grep -q -- "$1" "$TMPDIR/inspection" || {
    sed 's/^/# /' "$TMPDIR/inspection"
    return 1
  }
}
expect "inspect takes a module" sh -c "'$GENSHADERS' inspect '$modules/Good-1.spv' >'$TMPDIR/inspection'"
for line in 'SPIR-V 1\.3, ' '^  Store::One: GLCompute$' '^    local size: 8 1 1$' '^    workgroup memory: 64 bytes$' \
  '^      0\.0 data: read_write, u32, stride 4$' '^      0 value: u32, 4 bytes$' \
  '^      7 offset: u32, default bits 0x3$' '^    features: none$' '^    Vulkan: 1\.1$' '^  Shader$' \
  "^ *3 OpAccessChain$" "^instructions: $(spirv-dis --no-header "$modules/Good-1.spv" | grep -c Op), functions: 1$"; do
  expect "inspect tells $line" tells "$line"
done
expect "inspect takes what import refuses" sh -c "'$GENSHADERS' inspect '$modules/kernel.spv' >'$TMPDIR/inspection'"
expect "and tells its model" tells '^  k: Kernel$'
expect "and its capability" tells '^  Addresses$'
expect "inspect refuses a cut module" sh -c "'$GENSHADERS' inspect '$modules/cut.spv'; [ \$? -eq 1 ]"

for command in build list expand lock inspect import normalise split version; do
  expect "$command --help is help" sh -c "
    '$GENSHADERS' $command --help 2>'$TMPDIR/stderr' | grep -q '^usage: genshaders $command' && [ ! -s '$TMPDIR/stderr' ]"
done
finish
