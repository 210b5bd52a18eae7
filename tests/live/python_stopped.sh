#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf src/capture/session
# timeout: 300
# beside: live
# Python frames in snapshots of stopped processes: equal to what the interpreter itself says of the same threads, in function, file
# and line (python_judge.py). All versions that are found. PROCESSES=N, ROUNDS=N: how many, and how often.
. "$(dirname "$0")/lib.sh"
judge() { timeout 100 python3 "$ROOT/tests/live/python_judge.py" stopped "$@"; }
export PROBEE
found=0
while read -r version python; do
	[ "$version" != missing: ] || { [ ! "$python" ] || skip_part "Python $python" "not on this machine"; continue; }
	found=1
	check "Python $version: stacks of stopped threads are what faulthandler says ($python)" \
		judge "$python" "${PROCESSES:-12}" "${ROUNDS:-3}"
	[ "$version" != 3.11 ] || check "Python $version: of threads that sleep, too" judge "$python" 6 1 --asleep
	[ "$version" != 3.13 ] || { printf '#!/bin/sh\nexec %s -X perf "$@"\n' "$python" >perf && chmod +x perf &&
		check "Python $version -X perf: the same" judge "$T/perf" 6 2; }
	[ "$version" != 3.12 ] || check "Python $version: names of functions that come and go are not mistaken" judge "$python" 12 3 --exec
done < <("$ROOT/tests/oracle/python/pythons.sh")
[ $found = 1 ] || skip "no Python that is known"
done_testing
