// SPDX-License-Identifier: MIT
#include "values.glsl"
#define TIER_PORTABLE 0
