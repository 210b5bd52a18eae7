#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rubies.sh: prints the Rubies of this machine that tests can use, "MAJOR.MINOR COMMAND" on a line each: those in RUBIES (a list
# of commands), of the system, and of fetch.sh. The last line, "missing: VERSION...", says which of those that are known are not
# there.
set -u
known="2.7 3.0 3.1 3.2 3.3 3.4"
seen=
add() {
	local v
	v=$("$1" --disable-gems -e 'print RUBY_ENGINE, " ", RUBY_VERSION[/\d+\.\d+/]' 2>/dev/null) || return 0
	[ "${v% *}" = ruby ] || return 0
	v=${v#* }
	case " $known " in *" $v "*) ;; *) return 0 ;; esac
	# The file behind a link is what runs; twice the same is no other test.
	case "$seen" in *" $v:$(readlink -f "$1") "*) return 0 ;; esac
	seen="$seen $v:$(readlink -f "$1") "
	echo "$v $1"
}
for r in ${RUBIES:-} ~/.rbenv/versions/*/bin/ruby /usr/bin/ruby /usr/local/bin/ruby "${PROBEE_RUBIES:-/var/tmp/probee-rubies}"/*/ruby; do
	[ ! -x "$r" ] || add "$r"
done
missing=
for v in $known; do
	case "$seen" in *" $v:"*) ;; *) missing="$missing $v" ;; esac
done
echo "missing:$missing"
