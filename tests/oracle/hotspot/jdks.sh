#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# jdks.sh: prints the JVMs (HotSpot) of this machine that tests can use, "MAJOR COMMAND" on a line each, one of each major version:
# of JDKS (a list of java commands), of /usr/lib/jvm, and of fetch.sh. The last line, "missing: MAJOR...", says which of those that
# are known are not there.
set -u
seen=
for j in ${JDKS:-} /usr/lib/jvm/*/bin/java "${PROBEE_JDKS:-/var/tmp/probee-jdks}"/*/bin/java; do
	[ -x "$j" ] || continue
	lib=$(readlink -f "$j")
	[ -e "${lib%/bin/java}/lib/server/libjvm.so" ] || continue
	v=$("$j" -version 2>&1 | sed -n 's/^.* version "\([0-9]*\).*/\1/p' | head -n 1)
	case " 11 17 21 25 " in *" $v "*) ;; *) continue ;; esac
	case "$seen " in *" $v "*) continue ;; esac
	seen="$seen $v"
	echo "$v $j"
done
missing=
for v in 11 17 21 25; do
	case "$seen " in *" $v "*) ;; *) missing="$missing $v" ;; esac
done
echo "missing:$missing"
