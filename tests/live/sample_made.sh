#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 240
# Code made at run time without frame pointers: its windows are read while it runs. Stacks must be whole, no function may be
# left out, and what is guessed must be marked; also where the code changes in place, is spread over a thousand windows, or
# stands among octets that lead everywhere.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "code is only read on x86-64"

# number TRACE REGEX: prints the group of REGEX in the output of `info`, without commas.
number() { "$PROBEE" info "$1" | sed -nE "s/$2.*/\\1/p" | head -n 1 | tr -d ,; }

# At least P per mille of the stacks of a trace, and 10 or more, reach the outermost frame.
whole() {
	local share of
	share=$(number "$1" '^stacks +([0-9.]+) %')
	of=$(number "$1" '^stacks .* of ([0-9,]+) user stacks')
	echo "$share % of $of"
	awk -v s="${share:-0}" -v n="${of:-0}" -v p="$2" 'BEGIN { exit !(n >= 10 && s * 10 >= p) }'
}

# The code shows as [jit] between run and what it calls. A stack that is not whole may only end there.
grammar='[^;]+(;[^;]+){0,3};main(;outer(;run(;make_[a-z]+|;\[jit\](;called)?)?)?)?|\[truncated: jit\];\[jit\](;called)?'

# The first windows are read while samples come; on a busy machine these may not wait long enough.
declare -A least=([rbx]=900 [blocks]=850 [patched]=600 [many]=0 [hostile]=900)

for mode in rbx blocks patched many hostile; do
	start made "$mode"
	sample -p "$PID" -F 499 -d 4 -o "$mode.pbz"
	folded "$mode.pbz" >"$mode.folded"
	check "$mode: whole stacks" whole "$mode.pbz" "${least[$mode]}"
	check "$mode: no function is left out" stacks like "$mode.folded" "$grammar" --percent 97
	check "$mode: guesses are marked" at_least "$(number "$mode.pbz" '^user stacks with a guessed frame \(([0-9,]+)')" 1
	finish "$PID"
done

start made rbx
snapshot -p "$PID" -F 50 -d 2 -o snap.pbz
folded snap.pbz >snap.folded
check "snapshots: whole stacks" whole snap.pbz 980
check "snapshots: no function is left out" stacks like snap.folded "$grammar" --percent 97
finish "$PID"
done_testing
