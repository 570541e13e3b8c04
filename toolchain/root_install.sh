#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs inside a root that is being made: installs what the package lists in /kiln-setup name, then removes what is not
# needed. Sources are already in /etc/apt/sources.list.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
unset TMPDIR
setup=/kiln-setup

list() {
    sed 's/#.*//; /^[[:space:]]*$/d' "$setup/$1"
}

# Sync after every file doubles the time, and an unfinished root is thrown away anyway.
echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/kiln
printf 'path-exclude=/usr/share/%s/*\n' doc man info locale lintian >> /etc/dpkg/dpkg.cfg.d/kiln
printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d

install() {
    apt-get -q -y -o APT::Install-Recommends=false -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0 "$@"
}

install update
if [ "${1-}" = dev ]; then
    # shellcheck disable=SC2046
    install install $(list packages.dev)
else
    # shellcheck disable=SC2046
    install install $(list packages.base)
    # shellcheck disable=SC2046
    install -t "$2" install $(list packages.backports)
    # A locale with a decimal comma, so that tests see what it does to numbers.
    localedef -i de_DE -f UTF-8 de_DE.UTF-8
    scratch=/kiln-setup/extract
    mkdir -p "$scratch"
    list packages.extract | while read -r package pattern directory; do
        if [ ! -d "$scratch/$package" ]; then
            (cd "$scratch" && install download "$package" && dpkg-deb -x "$package"_*.deb "$package")
        fi
        found=$(find "$scratch/$package" -path "$pattern" -type f)
        [ -n "$found" ] || { echo "no file $pattern in package $package" >&2; exit 1; }
        mkdir -p "$directory"
        cp "$found" "$directory/"
    done
fi

apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log /var/cache/debconf/*-old /kiln-setup
