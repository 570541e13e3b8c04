# SPDX-License-Identifier: MIT
# Targets that run the generator and tests where the toolchain is.
.PHONY: spv pack embed bundle lock regen-check bench-build lint golden shell
generator := $(bin)/genshaders

# The generator looks at every input itself and does nothing when nothing changed.
spv: $(generator) launchers
	@$(generator) build --templates templates --out spv --cache $(BUILD)/cache --jobs $(JOBS)

# The manifest keeps its time where nothing changed.
pack: spv
	@$(MAKE) -s --no-print-directory spv/kernels.kiln
spv/kernels.kiln: spv/manifest.json $(generator)
	@$(generator) pack --bundle spv --out $@

# For programs that want no files (loader/include/kiln/kiln_embed.h).
embed: pack
	@$(MAKE) -s --no-print-directory $(BUILD)/embed/kiln_embed.o $(BUILD)/embed/kiln_embed.h
$(BUILD)/embed/kiln_embed.c: spv/kernels.kiln $(generator)
	@mkdir -p $(@D) && $(generator) embed spv/kernels.kiln $@
$(BUILD)/embed/kiln_embed.o: $(BUILD)/embed/kiln_embed.c
	$(call say,CC $<)
	$(Q)$(CC) -std=c11 -O0 -fPIC -c -o $@ $<
$(BUILD)/embed/kiln_embed.h: loader/include/kiln/kiln_embed.h
	@mkdir -p $(@D) && cp $< $@

# The release archive.
bundle: spv
	@toolchain/bundle.sh spv $(BUILD)/bundle $(generator)

lock: spv
	@$(generator) lock --manifest spv/manifest.json --write manifest/artifacts.lock

regen-check: $(generator)
	@CHECK=full tests/steps/regen_check.sh --strict

bench-build: $(generator)
	@tests/bench/build.py $(generator)

golden: $(bin)/verify
	@$(bin)/verify golden tests/golden

lint:
	@tests/lint/lint.sh

shell:
	@$${SHELL:-/bin/bash}
