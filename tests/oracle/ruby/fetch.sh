#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh VERSION...: Rubies of other Debian releases (3.4: experimental, with the libraries of sid), into PROBEE_RUBIES (default
# /var/tmp/probee-rubies)/VERSION, where rubies.sh finds them. See ../debian.sh.
# shellcheck source=tests/oracle/debian.sh disable=SC2034
. "$(dirname "$0")/../debian.sh"
into=${PROBEE_RUBIES:-/var/tmp/probee-rubies} name=ruby
releases=([2.7]=bullseye [3.1]=bookworm [3.3]=trixie [3.4]="experimental sid")
packages() { echo "ruby$1 libruby$1 libgmp10 zlib1g libcrypt1 libgcc-s1"; }
environment() {
	echo "RUBYLIB=$(find "$2/usr/lib/ruby" -maxdepth 1 -name "$1.*" | head -n 1):$(
		find "$2/usr/lib" -path "*linux-gnu/ruby/$1.*" -maxdepth 3 | head -n 1) "
}
run() { echo "$2/usr/bin/ruby$1 --disable-gems"; }
about() { "$1" -e 'puts "#{RUBY_VERSION} from #{ARGV[0]}"' "$2"; }
fetch "$@"
