#!/bin/sh
# SPDX-License-Identifier: MIT
# `make install`: $DESTDIR$PREFIX gets
#   include/kiln/             the public headers and those of manifest/ that they include
#   lib/libkiln.a, libkiln.so the host's own build where there is one, otherwise the toolchain's
#   lib/pkgconfig, lib/cmake  kiln.pc, kilnConfig.cmake
#   share/kiln/spv            the bundle, also as one file: kernels.kiln
set -u
here=$(cd "${0%/*}" && pwd -P) || exit 1
cd "$here/.." || exit 1
build=${BUILD:-build}
prefix=${PREFIX:-/usr/local}
target=${DESTDIR-}$prefix
# shellcheck source=toolchain/release.sh
. toolchain/release.sh
case $prefix in
/*) ;;
*)
    echo "install: PREFIX must be an absolute path, not '$prefix'" >&2
    exit 2
    ;;
esac

make --no-print-directory pack || exit 1
make --no-print-directory native || exit 1
libraries=$build/native
if [ ! -e "$libraries/libkiln.so" ]; then
    libraries=$build/release
    make --no-print-directory "$libraries/libkiln.so" "$libraries/install/libkiln.a" || exit 1
fi

set -e
umask 022
mkdir -p "$target/include/kiln" "$target/lib/pkgconfig" "$target/lib/cmake/kiln" "$target/share/kiln/spv"
for header in $(headers); do
    install -m 644 "$header" "$target/include/kiln/"
done

install -m 644 "$libraries/install/libkiln.a" "$target/lib/libkiln.a"
install -m 755 "$libraries/libkiln.so" "$target/lib/libkiln.so.$version"
ln -sf libkiln.so.$version "$target/lib/libkiln.so.0"
ln -sf libkiln.so.0 "$target/lib/libkiln.so"

cat >"$target/lib/pkgconfig/kiln.pc" <<END
prefix=$prefix
Name: kiln
Description: loader for kiln bundles of SPIR-V compute kernels
Version: $version
Cflags: -I\${prefix}/include -I\${prefix}/include/kiln
Libs: -L\${prefix}/lib -lkiln
Libs.private: -ljansson -lxxhash -lzstd -lpthread -ldl -lm
END
cat >"$target/lib/cmake/kiln/kilnConfig.cmake" <<'END'
get_filename_component(kiln_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET kiln::kiln)
  add_library(kiln::kiln SHARED IMPORTED)
  set_target_properties(kiln::kiln PROPERTIES
    IMPORTED_LOCATION "${kiln_prefix}/lib/libkiln.so"
    INTERFACE_INCLUDE_DIRECTORIES "${kiln_prefix}/include;${kiln_prefix}/include/kiln")
endif()
set(kiln_BUNDLE_DIR "${kiln_prefix}/share/kiln/spv")
END
cat >"$target/lib/cmake/kiln/kilnConfigVersion.cmake" <<END
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
END
find spv -maxdepth 1 -type f ! -name README.md -exec install -m 644 {} "$target/share/kiln/spv/" \;
echo "kiln: installed in $target"
