# SPDX-License-Identifier: MIT
# One non-recursive make; `make help` lists the targets. On a host without the toolchain a target that needs it is run
# again inside the pinned root (toolchain/enter.sh), so the same commands work everywhere.
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules --no-builtin-variables
.SUFFIXES:
.DELETE_ON_ERROR:

config ?= release
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SUITE ?= quick
CHECK ?= full
export BUILD PREFIX DESTDIR JOBS SUITE CHECK VERIFY_ARGS TABLE BENCH_ARGS MIRROR DEVELOPER

# Run where the toolchain is.
inner := all lib programs spv pack embed bundle lock unit unit-build lint regen-check bench-build golden shell
# Run on the host, and enter the root for parts of their work.
outer := quickstart check check-asan check-tsan verify bench native install format clean root dev-root help

# Where the toolchain is: here (inside the root, or on a host that has everything), or in the root.
ifneq ($(wildcard /etc/kiln-root),)
  where := here
else ifeq ($(config),native)
  where := here
else ifneq ($(KILN_TOOLCHAIN),)
  where := $(if $(filter host,$(KILN_TOOLCHAIN)),here,root)
else ifneq ($(filter-out clean help format root dev-root,$(or $(MAKECMDGOALS),all)),)
  # The answer holds for one system: a checkout may be used from a host and from a container in turn.
  ifneq ($(firstword $(file <$(BUILD)/toolchain.mk)),\#$(shell stat -c %d:%i /))
    $(shell rm -f $(BUILD)/toolchain.mk)
  endif
  include $(BUILD)/toolchain.mk
endif
export where

# Asked again when something was installed or removed on the host.
$(BUILD)/toolchain.mk: toolchain/probe.sh toolchain/probe.c \
  $(wildcard /var/lib/dpkg/status /usr/include /usr/local/include /usr/share/vulkan/icd.d)
	@mkdir -p $(@D) && toolchain/probe.sh $@

ifeq ($(where),here)
include toolchain/module.mk
else ifeq ($(where),root)
# One at a time: two of them would build the same files. The make inside has the jobs.
.NOTPARALLEL:
again = +@toolchain/enter.sh make --no-print-directory $(if $(findstring -j,$(MAKEFLAGS))$(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) $@
.PHONY: $(inner)
$(inner):
	$(again)
$(BUILD)/release/%: FORCE
	$(again)
$(BUILD)/genshaders $(BUILD)/verify: FORCE
	$(again)
FORCE:
endif

include toolchain/targets.mk
