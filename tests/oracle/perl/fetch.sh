#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh VERSION...: Perls of other Debian releases, into PROBEE_PERLS (default /var/tmp/probee-perls)/VERSION, where perls.sh finds them.
# See ../debian.sh.
# shellcheck source=tests/oracle/debian.sh disable=SC2034
. "$(dirname "$0")/../debian.sh"
into=${PROBEE_PERLS:-/var/tmp/probee-perls} name=perl
releases=([5.32]=bullseye [5.40]=trixie)
packages() { echo "perl-base libperl$1 libcrypt1"; }
run() {
	echo "$2/usr/bin/perl $(find "$2" -type d -path '*perl*' \( -name "$1" -o -name "$1.*" -o -name perl-base \) | sed 's/^/-I/' | paste -sd' ')"
}
about() { "$1" -e 'printf "%vd from %s\n", $^V, $ARGV[0]' "$2"; }
fetch "$@"
