# SPDX-License-Identifier: MIT
# glslang and SPIRV-Tools are static C++: g++ links.
ifneq ($(config),native)
genshaders_sources := $(filter-out genshaders/gs_main.c,$(wildcard genshaders/*.c))
$(eval $(call library,genshaders,$(genshaders_sources),manifest genshaders))
genshaders_libs := -lglslang -lglslang-default-resource-limits -lSPIRV-Tools-opt -lSPIRV-Tools -lspirv-cross-c-shared \
  -lyaml -ljansson -lxxhash -lzstd -lpthread -lm

ifneq ($(wildcard genshaders/gs_main.c),)
objects += $(B)/obj/genshaders/gs_main.o
$(B)/obj/genshaders/gs_main.o: private includes := manifest genshaders
programs += $(bin)/genshaders
$(bin)/genshaders: $(B)/obj/genshaders/gs_main.o $(B)/libgenshaders.a $(B)/libmanifest.a
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CXX) $(ldflags) -o $@ $^ $(genshaders_libs)
endif
endif
