#!/bin/sh
# SPDX-License-Identifier: MIT
# Verifying under the Khronos validation layer reports nothing: the API use of libkiln and verify on one layout of every data
# type, and with GPU assistance, which sees each access to a storage buffer outside its range, on kernels of every shape of block.
# time limit: 600 s
set -eu
. toolchain/lane.sh
lane_lavapipe || {
    echo "no lavapipe at $VK_DRIVER_FILES"
    exit 77
}
[ -e /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ] || {
    echo "the validation layer is not installed"
    exit 77
}
export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation

# validated NAME FEATURE SIGN FILTER…: SIGN is a message that the layer always gives with that feature on; without it the
# layer was not there, and its silence means nothing.
validated() {
    name=$1
    sign=$3
    VK_LAYER_ENABLES=$2
    export VK_LAYER_ENABLES
    shift 3
    filters=
    for filter in "$@"; do
        filters="$filters --filter $filter"
    done
    set -f
    # shellcheck disable=SC2086
    "${BUILD:-build}/release/bin/verify" --bundle spv --suite quick --timeout 200 --require-device $filters >"$TMPDIR/$name.log" 2>&1 || {
        tail -n 20 "$TMPDIR/$name.log"
        return 1
    }
    set +f
    grep -q "$sign" "$TMPDIR/$name.log" || {
        echo "$name: no message at all: the layer was not active"
        return 1
    }
    if grep -E 'Validation Error|VUID-' "$TMPDIR/$name.log"; then
        return 1
    fi
    echo "$name: $(tail -n 1 "$TMPDIR/$name.log"), the layer reports no error"
}

if [ "${CHECK:-full}" = full ]; then
    validated core VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT BestPractices '*w64r2__subgroup' 'dequant__*_f32__*'
    validated gpu VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT GPU-Assisted \
        'matvec__q6_k_f32__any__row_w32r4__portable' 'matvec__mxfp4_*_w64r2__subgroup' \
        'matvec__iq2_s_*_w64r1__subgroup' 'dequant__q5_0_f16__*'
else
    validated core VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT BestPractices 'matvec__q4_k_*_w64r2__*'
fi
