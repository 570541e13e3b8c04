# SPDX-License-Identifier: MIT
loader_sources := $(wildcard loader/src/*.c)
$(eval $(call library,kiln,$(loader_sources),manifest loader/include loader/src))
loader_libs := -ljansson -lxxhash -lzstd -lpthread -ldl -lm

# The shared library shows nothing but the public interface. It links the shared jansson and xxHash, for the static ones
# of a distribution are not made to go into another library.
.PHONY: shared
shared: $(B)/libkiln.so $(B)/install/libkiln.a

# For those who link statically: one archive, with the manifest layer in it.
$(B)/install/libkiln.a: $(kiln_objects) $(manifest_objects)
	@mkdir -p $(@D) && rm -f $@
	$(Q)$(AR) rcsD $@ $^

$(B)/libkiln.so: $(kiln_objects) $(manifest_objects) loader/libkiln.map
	$(call say,LD $@)
	$(Q)$(CC) $(if $(filter native,$(config)),-L$(B)/deps/shared) $(ldflags) -shared -Wl,--as-needed -Wl,-soname,libkiln.so.0 -Wl,--version-script=loader/libkiln.map -Wl,-z,defs \
	  -o $@ $(filter %.o,$^) $(loader_libs)
