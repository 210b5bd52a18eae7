#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pythons.sh: prints the CPythons of this machine that tests can use, "3.MINOR COMMAND" on a line each: those in PYTHONS (a list
# of commands), of pyenv, of the system, and of fetch.sh. The last line, "missing: 3.MINOR...", says which of those that are
# known are not there.
set -u
cd "$(dirname "$0")" || exit 1
seen=
add() {
	local v
	# The file behind a link is what runs; twice the same is no other test.
	v=$("$1" -S -c 'import sys; print("%d.%d %s" % (*sys.version_info[:2], sys.implementation.name))' 2>/dev/null) || return 0
	[ "${v#* }" = cpython ] || return 0
	v=${v% *}
	case " 3.8 3.9 3.10 3.11 3.12 3.13 3.14 " in *" $v "*) ;; *) return 0 ;; esac
	case "$seen" in *" $v:$(readlink -f "$1") "*) return 0 ;; esac
	seen="$seen $v:$(readlink -f "$1") "
	echo "$v $1"
}
for p in ${PYTHONS:-} ~/.pyenv/versions/3.*/bin/python3.[0-9] ~/.pyenv/versions/3.*/bin/python3.[0-9][0-9] /opt/pyenv/versions/3.*/bin/python3.[0-9]* \
	/usr/bin/python3.[0-9] /usr/bin/python3.[0-9][0-9] /usr/local/bin/python3.[0-9] /usr/local/bin/python3.[0-9][0-9] \
	"${PROBEE_PYTHONS:-/var/tmp/probee-pythons}"/*/python; do
	[ ! -x "$p" ] || add "$p"
done
missing=
for v in 3.8 3.9 3.10 3.11 3.12 3.13 3.14; do
	case "$seen" in *" $v:"*) ;; *) missing="$missing $v" ;; esac
done
echo "missing:$missing"
