#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report
# core: yes
# speedscope in Chromium reads --speedscope, all weights and all names, and --perf-script.
. tests/consumers/lib.sh
command -v chromium >/dev/null && command -v python3 >/dev/null || skip 'needs chromium and python3'
consumer speedscope
make_traces
export TZ=UTC PYTHONDONTWRITEBYTECODE=1

gz=
# write NAME TRACE [OPTION...]: what speedscope shall read, and what it shall find there.
write() {
	local name=$1 trace=$2
	shift 2
	run probee report "$TMP/$trace.pbz" "$@" --speedscope="$TMP/$name.speedscope.json$gz"; exits 0
	run probee report "$TMP/$trace.pbz" "$@" --perf-script="$TMP/$name.perf"; exits 0
	run probee report "$TMP/$trace.pbz" "$@" --json="$TMP/$name.want"; exits 0
}
write plain plain --lines --offsets
write hostile hostile
write two two
write apart apart
write faults events --event page-faults
write bytes events --event alloc
write wall events --weight wall
gz=.gz write one plain --tid 101
[ "$failures" = 0 ] || finish
python3 tests/consumers/speedscope_test.py "$modules" "$TMP" || failures=1
finish
