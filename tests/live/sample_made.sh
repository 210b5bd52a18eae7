#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind src/capture/stacks bpf
# beside: live
# timeout: 120
# Code made at run time, without unwind information: its windows are read while it runs. Stacks must be whole, no function may
# be left out, and what is guessed must be marked; also where the code changes in place, is unmapped and mapped anew, stands
# among bytes that lead everywhere, or at the address at which another process has other code. gdb, which is told of the
# unwind information, says the same. Who makes code without end keeps nobody else from being read.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "code is only read on x86-64"

# number TRACE REGEX: prints the group of REGEX in the output of `info`, without commas.
number() { "$PROBEE" info "$1" | sed -nE "s/$2.*/\\1/p" | head -n 1 | tr -d ,; }

# whole FOLDED PERCENT: so many of its stacks, and 10 or more, reach the outermost frame.
whole() {
	awk -v p="$2" '{ all += $NF } !/;\[truncated/ { ok += $NF }
		END { printf "%d of %d\n", ok, all; exit !(all >= 10 && ok * 100 >= all * p) }' "$1"
}

# The code shows as [jit] between run and what it calls. A stack that is not whole may only end there.
grammar='[^;]+(;[^;]+){0,3};main(;outer(;run(;[a-z_][^;]*(;[^;]+)*|;\[jit\](;called)?)?)?)?|\[truncated: jit\];\[jit\](;called)?'

# judge NAME PID TRACE WHOLE LIKE: what TRACE has of a process; percentages.
judge() {
	folded "$3" -p "$2" >"$1.folded"
	check "$1: whole stacks" whole "$1.folded" "$4"
	check "$1: no function is left out" stacks like "$1.folded" "$grammar" --percent "$5"
}

declare -A pid
for mode in rbx fp blocks hostile patched anew; do
	start made "$mode"
	pid[$mode]=$PID
done
start made rbx 96
pid[other]=$PID
all=$(IFS=,; echo "${pid[*]}")
sample -p "$all" -F 999 -d 3 -o all.pbz
for mode in rbx fp blocks hostile other; do
	judge "$mode" "${pid[$mode]}" all.pbz 90 97
done
# What changes is read again 20 times a second; until then a rule may lead nowhere, or astray.
judge patched "${pid[patched]}" all.pbz 60 75
judge anew "${pid[anew]}" all.pbz 60 75
check "guesses are marked" at_least "$(number all.pbz '^user stacks with a guessed frame \(([0-9,]+)')" 100

snapshot -p "$all" -F 20 -d 1 -o snap.pbz
folded snap.pbz >snap.folded
check "snapshots: whole stacks" whole snap.folded 85
check "snapshots: no function is left out" stacks like snap.folded "$grammar" --percent 85
for mode in "${!pid[@]}"; do
	finish "${pid[$mode]}"
done

# One that makes code without end, and one that does not.
start made maker
maker=$PID
start made rbx 48
for _ in 1 2 3 4; do	# on a busy machine it may make too little in 2 s
	sample -p "$maker,$PID" -F 4999 -d 2 -o maker.pbz
	grep -q "makes code faster" "$T/err" && break
done
check "maker: it is said" grep -q "makes code faster than it is read" "$T/err"
check "maker: it is counted" at_least "$(zstd -dc maker.pbz | strings | sed -nE 's/.*parsed=.* refused=([0-9]+).*/\1/p' | head -n 1)" 1
judge "beside it" "$PID" maker.pbz 90 97
finish "$maker"
finish "$PID"

WORKLOADS=$WORKLOADS PROBEE=$PROBEE python3 "$LIVE/made_gdb.py" "$T" 8 >"$T/gdb" 2>&1
rc=$?
[ "$rc" = 77 ] && echo "# without gdb: not compared"
[ "$rc" = 77 ] || check "$(tail -n 1 "$T/gdb"): what gdb says" equal "$rc" 0
done_testing
