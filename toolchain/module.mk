# SPDX-License-Identifier: MIT
# The build proper: flags, the rules common to all directories, and the directories.
CC := $(if $(filter native,$(config)),$(firstword $(shell command -v gcc cc clang)),gcc)
CXX := g++
AR := ar
B := $(BUILD)/$(config)
bin := $(if $(filter native,$(config)),$(B),$(B)/bin)

warnings := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings
opt_release := -O2 -g
opt_native := -O2 -g
opt_debug := -O0 -g3
opt_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
opt_tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
ifeq ($(opt_$(config)),)
  $(error config=$(config) is not one of debug release asan tsan)
endif
# Every object can go into the shared library; paths in debug information are relative to the checkout.
cflags := -std=c11 -D_GNU_SOURCE -fPIC -ffile-prefix-map="$$PWD"=. \
  $(opt_$(config)) $(warnings) $(if $(DEVELOPER),-Werror) $(CFLAGS)
ldflags := $(opt_$(config)) $(LDFLAGS)
# The host's own build: Vulkan headers from the root, libraries unpacked by native.sh.
ifeq ($(config),native)
  system_includes := -isystem $(B)/include -isystem $(B)/deps/include
  ldflags += -L$(B)/deps/lib
endif

# stamp FILE,TEXT: rewrite FILE only when TEXT differs from what it holds; what depends on it is then made again.
empty :=
same = $(if $(subst x$(strip $1)x,,x$(strip $2)x)$(subst x$(strip $2)x,,x$(strip $1)x),,yes)
stamp = $(if $(and $(wildcard $1),$(call same,$(file <$1),$2)),,$(shell mkdir -p $(dir $1))$(file >$1,$(strip $2)))

root_key := $(file </etc/kiln-root)
$(call stamp,$(B)/flags,$(CC) $(CXX) $(cflags) $(ldflags) $(root_key))

# library NAME,SOURCES,INCLUDES,FLAGS
define library
$1_objects := $$(patsubst %.c,$(B)/obj/%.o,$2)
$$($1_objects): private includes := $3
$$($1_objects): private flags := $4
$$(call stamp,$(B)/$1.list,$$($1_objects))
$(B)/lib$1.a: $$($1_objects) $(B)/$1.list
	@rm -f $$@
	$$(Q)$$(AR) rcsD $$@ $$($1_objects)
objects += $$($1_objects)
libraries += $(B)/lib$1.a
endef

# V=1 shows the command lines.
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $1")

objects :=
libraries :=
programs :=
include $(wildcard manifest/module.mk loader/module.mk genshaders/module.mk verify/module.mk tests/module.mk)

$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(cflags) $(flags) $(addprefix -I,$(includes)) $(system_includes) -MMD -MP -c -o $@ $<

-include $(objects:.o=.d)

.PHONY: all lib programs
all: programs
lib: $(libraries)
programs: lib $(programs) launchers

# The launchers find the checkout from their own place, so it may be moved; KILN_CONFIG picks another configuration.
.PHONY: launchers
launchers: $(patsubst $(B)/bin/%,$(BUILD)/%,$(filter $(B)/bin/%,$(programs)))
ifneq ($(config),native)
$(BUILD)/genshaders $(BUILD)/verify: $(BUILD)/%: toolchain/launcher.sh | $(B)/bin/%
	@echo "$$PWD" >$(BUILD)/checkout
	@cp $< $@.new && chmod 755 $@.new && mv $@.new $@

include toolchain/spv.mk
endif
