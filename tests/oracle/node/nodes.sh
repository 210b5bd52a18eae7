#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# nodes.sh: prints the nodes of this machine that tests can use, "MAJOR COMMAND" on a line each: those in NODES (a list of commands),
# that of the system, and those of fetch.sh. The last line, "missing: MAJOR...", says which of those that are known are not there.
set -u
seen=
add() {
	local v
	v=$("$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null) || return 0
	case " 18 20 22 24 " in *" $v "*) ;; *) return 0 ;; esac
	case "$seen" in *" $v "*) return 0 ;; esac
	seen="$seen $v "
	echo "$v $1"
}
for p in ${NODES:-} /usr/bin/node /usr/local/bin/node "${PROBEE_NODES:-/var/tmp/probee-nodes}"/*/node; do
	[ ! -x "$p" ] || add "$(readlink -f "$p")"
done
missing=
for v in 18 20 22 24; do
	case "$seen" in *" $v "*) ;; *) missing="$missing $v" ;; esac
done
echo "missing:$missing"
