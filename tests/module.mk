# SPDX-License-Identifier: MIT
# tests/unit/test_<topic>.c is one program each, linked with every library.
ifneq ($(config),native)
unit_sources := $(wildcard tests/unit/test_*.c)
unit_helpers := $(filter-out $(unit_sources),$(wildcard tests/unit/*.c))
ifeq ($(config),asan)
unit_helpers += tests/sanitize/keep_loaded.c
endif
unit_programs := $(patsubst tests/unit/%.c,$(B)/unit/%,$(unit_sources))
unit_objects := $(patsubst %.c,$(B)/obj/%.o,$(unit_sources) $(unit_helpers))
objects += $(unit_objects)
$(unit_objects): private includes := manifest genshaders loader/include loader/src verify tests/unit
$(unit_objects): private flags := -ffp-contract=off

$(unit_programs): $(B)/unit/%: $(B)/obj/tests/unit/%.o $(patsubst %.c,$(B)/obj/%.o,$(unit_helpers)) $(libraries)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CXX) $(ldflags) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	  $(genshaders_libs) -lcmocka -ldl

.PHONY: unit-build unit
unit-build: $(unit_programs)
unit: unit-build
	@tests/run.sh $(unit_programs)
endif
