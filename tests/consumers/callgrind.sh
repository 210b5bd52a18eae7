#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report
# callgrind_annotate reads --callgrind: all functions with their own weights and those of all that they call.
. tests/consumers/lib.sh
command -v callgrind_annotate >/dev/null && command -v python3 >/dev/null || skip 'needs callgrind_annotate (valgrind) and python3'
make_traces
export TZ=UTC PYTHONDONTWRITEBYTECODE=1

# reads NAME TRACE [OPTION...]
reads() {
	local name=$1 trace=$2
	shift 2
	run probee report "$TMP/$trace.pbz" "$@" -o "$TMP/callgrind.out.$name"; exits 0
	run probee report "$TMP/$trace.pbz" "$@" --json="$TMP/$name.json"; exits 0
	run callgrind_annotate --inclusive=yes --threshold=100 --auto=no "$TMP/callgrind.out.$name"; exits 0; silent
	cp "$TMP/stdout" "$TMP/$name.inclusive"
	run callgrind_annotate --threshold=100 --auto=no "$TMP/callgrind.out.$name"; exits 0; silent
	cp "$TMP/stdout" "$TMP/$name.self"
	python3 tests/consumers/callgrind_test.py "$TMP/$name" || wrong "$name differs"
}
reads plain plain
reads recursive recursive
reads hostile hostile
reads two two
reads faults events --event page-faults
reads wall events --weight wall
reads by two --by process,state
reads merged plain --merge line

grep -q "main'2$" "$TMP/callgrind.out.recursive" || wrong 'no second activation'
finish
