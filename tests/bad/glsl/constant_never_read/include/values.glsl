// SPDX-License-Identifier: MIT
#define TIER_PORTABLE 0
