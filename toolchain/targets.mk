# SPDX-License-Identifier: MIT
# The targets that run on the host. Those that need the toolchain are in module.mk and spv.mk.
.PHONY: $(outer)

root: ; @toolchain/root.sh
dev-root: ; @toolchain/root.sh --dev

# A failure here is a result, the lane's absence is not: native.sh says in one line why it is left out (status 77).
native:
	+@toolchain/native.sh; status=$$?; [ $$status -ne 77 ] || exit 0; [ $$status -eq 0 ] || exit $$status; \
	  $(MAKE) --no-print-directory config=native where=here lib programs shared

verify: ; +@toolchain/verify.sh
bench: ; +@toolchain/bench.sh
quickstart: ; +@toolchain/quickstart.sh
check: ; +@tests/check.sh $(CHECK)
check-asan: ; +@tests/check.sh asan
check-tsan: ; +@tests/check.sh tsan
install: ; +@toolchain/install.sh
format: ; @toolchain/format.sh

# spv/README.md is kept. The toolchain root is in the cache directory and stays.
clean:
	rm -rf $(BUILD)
	find spv -mindepth 1 ! -name README.md -delete

help:
	@sed -n 's/^#: //p' toolchain/targets.mk

#: make quickstart       set up, build, generate spv/, verify on every Vulkan device, summary and report
#: make check            set up, run all tests (CHECK=smoke: the short version); ends with the counts
#: make                  build the libraries and programs: build/genshaders, build/verify
#: make spv              generate the artifacts into spv/ (only what changed)
#: make pack             the same as one file: spv/kernels.kiln
#: make embed            the pack as an object file: build/embed/kiln_embed.o, kiln_embed.h
#: make bundle           the release archive, the same bytes everywhere: build/bundle/
#: make verify           run every artifact and compare with the CPU reference (SUITE=quick|seeds|full, VERIFY_ARGS=…)
#: make bench            check and time the artifacts on a table of problems (TABLE=FILE, BENCH_ARGS=…)
#: make bench-build      time the generator beside glslc, in processor time an artifact
#: make unit             unit tests (config=debug|release|asan|tsan)
#: make check-asan       unit tests under AddressSanitizer and UBSan; check-tsan: under ThreadSanitizer
#: make lint             the rules on sources
#: make format           clang-format on all C sources
#: make golden           the CPU decoders and quantisers against the golden vectors
#: make regen-check      prove that the tree still generates exactly manifest/artifacts.lock
#: make lock             rewrite manifest/artifacts.lock from the tree
#: make native           the verifier and the loader built by the host's own compiler: build/native/
#: make install          headers, libraries, package files and the bundle (PREFIX, DESTDIR)
#: make root             make the toolchain root now; make dev-root: one with the development packages, too
#: make shell            a shell inside the toolchain
#: make clean            remove build/ and the generated files of spv/
#:
#: Variables: config=debug|release|asan|tsan  JOBS=N  V=1  DEVELOPER=1 (warnings are errors)  BUILD=DIR
#:            KILN_CACHE=DIR (toolchain root, caches)  MIRROR=URL (Debian archive)  KILN_TOOLCHAIN=host|root
