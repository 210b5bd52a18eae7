#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh VERSION...: PHPs of other Debian releases, into PROBEE_PHPS (default /var/tmp/probee-phps)/VERSION, where phps.sh finds them.
# See ../debian.sh.
# shellcheck source=tests/oracle/debian.sh disable=SC2034
. "$(dirname "$0")/../debian.sh"
into=${PROBEE_PHPS:-/var/tmp/probee-phps} name=php
releases=([7.4]=bullseye [8.4]=trixie)
declare -A libraries=([7.4]="libicu67 libssl1.1" [8.4]="libicu76 libssl3t64 libcrypt1 libcap-ng0")
packages() {
	echo "php$1-cli php$1-opcache libedit2 libargon2-1 libsodium23 zlib1g libxml2 libpcre2-8-0 libsystemd0 liblzma5 libgcc-s1" \
		"libstdc++6 libtinfo6 libbsd0 libmd0 liblz4-1 libzstd1 libcap2 libgcrypt20 libgpg-error0 ${libraries[$1]}"
}
run() { echo "$2/usr/bin/php$1 -n"; }
about() { "$1" -r 'echo PHP_VERSION, " from ", $argv[1], "\n";' "$2"; }
fetch "$@"
