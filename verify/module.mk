# SPDX-License-Identifier: MIT
# References are compared bit for bit: no contraction of a*b+c.
verify_sources := $(filter-out verify/vf_main.c,$(wildcard verify/*.c))
$(eval $(call library,verify,$(verify_sources),manifest loader/include verify,-ffp-contract=off))

ifneq ($(wildcard verify/vf_main.c),)
objects += $(B)/obj/verify/vf_main.o
$(B)/obj/verify/vf_main.o: private includes := manifest loader/include verify
$(B)/obj/verify/vf_main.o: private flags := -ffp-contract=off
programs += $(bin)/verify
$(bin)/verify: $(B)/obj/verify/vf_main.o $(B)/libverify.a $(B)/libkiln.a $(B)/libmanifest.a
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) $(ldflags) -o $@ $^ $(loader_libs)
endif
