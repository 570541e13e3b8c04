// SPDX-License-Identifier: MIT
#define TIER_PORTABLE 0
#if K_ROW > 1
#endif
