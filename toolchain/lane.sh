# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced: the environment in which software drivers run.
# lane_lavapipe, lane_swiftshader: select that driver in this shell; status 1 when it is not there.

lane_lavapipe() {
    VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json
    # Cooperative matrices are right at this width only.
    LP_NATIVE_VECTOR_WIDTH=256
    lane_export
}

lane_swiftshader() {
    VK_DRIVER_FILES=/opt/swiftshader/vk_swiftshader_icd.json
    lane_export
}

# Kept between runs: some kernels take seconds to compile.
lane_export() {
    VK_ICD_FILENAMES=$VK_DRIVER_FILES
    MESA_SHADER_CACHE_DIR=${MESA_SHADER_CACHE_DIR:-${KILN_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kiln}/shaders}
    export VK_DRIVER_FILES VK_ICD_FILENAMES LP_NATIVE_VECTOR_WIDTH MESA_SHADER_CACHE_DIR
    [ -e "$VK_DRIVER_FILES" ] && mkdir -p "$MESA_SHADER_CACHE_DIR"
}
