# SPDX-License-Identifier: MIT
manifest_sources := $(wildcard manifest/*.c)
$(eval $(call library,manifest,$(manifest_sources),manifest))
