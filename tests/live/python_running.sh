#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf src/capture/session
# core: yes
# timeout: 300
# beside: live
# Python frames in samples of a running program whose stacks prove themselves: names, lines, and where native frames are between
# (python_judge.py). All versions that are found.
. "$(dirname "$0")/lib.sh"
judge() { timeout 100 python3 "$ROOT/tests/live/python_judge.py" tree "$@"; }
export PROBEE
found=0
while read -r version python; do
	[ "$version" != missing: ] || { [ ! "$python" ] || skip_part "Python $python" "not on this machine"; continue; }
	found=1
	check "Python $version: stacks are paths of the tree of calls ($python)" judge "$python" "${SECONDS_EACH:-3}"
	[ "${version#3.}" -ge 12 ] && "$python" -S -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' || continue
	printf '#!/bin/sh\nexec %s -X perf "$@"\n' "$python" >"perf$version"
	chmod +x "perf$version"
	check "Python $version -X perf: the same, and each function once" judge "$T/perf$version" "${SECONDS_EACH:-2}" perf
done < <("$ROOT/tests/oracle/python/pythons.sh")
[ $found = 1 ] || skip "no Python that is known"
done_testing
