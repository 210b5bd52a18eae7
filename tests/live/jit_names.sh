#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/processes src/symbolize src/capture/session
# light: yes
# Names of code made at run time, from /tmp/perf-PID.map: of live processes, of ended ones, and in containers; and map
# files that must not be read.
. "$(dirname "$0")/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the workload makes code for x86-64 only"
child_of() { pgrep -P "$1"; }
remove_maps() { rm -f "/tmp/perf-$PID.map" "/tmp/perf-$PID.map.other"; }

# record MODE: records samples of the workload and its child while the workload lives.
record() {
	local child
	start jit "$@"
	[ "$1" != fork ] || until_true 5 child_of "$PID"
	child=$(child_of "$PID")
	sample -p "$PID${child:+,$child}" -F 499 -d 1 -o "$1.pbz"
	folded "$1.pbz" >"$1.folded"
	finish "$PID"
	remove_maps
}

chain="main;run_jit;jit_spin"
for mode in plain moved fork; do
	record "$mode"
	check "$mode: named" stacks share "$mode.folded" "$chain" --of run_jit --percent 95
	check "$mode: no other name" not grep -q 'old_\|\[jit\]' "$mode.folded"
done

# A map that is written after the recording has ended is not read: there is one name then, not one for each address.
for mode in silent shared; do
	record "$mode"
	check "$mode: without a map it is one function" equal "$(grep -o '\[jit[^; ]*' "$mode.folded" | sort -u)" '[jit]'
	"$PROBEE" report "$mode.pbz" --csv >"$mode.csv"
	check "$mode: rows have the addresses" grep -qE '\|\[jit\]\+0x[0-9a-f]{6,};run_jit' "$mode.csv"
done

# Names of a process that runs are written while it is recorded, so they are there when the recorder is killed.
start jit plain
"$PROBEE" sample -p "$PID" -F 499 -o killed.pbz 2>killed.err &
recorder=$!
STARTED+=("$recorder")
named() { "$PROBEE" report killed.pbz --collapse | grep -q "$chain"; }
check "killed: named while it runs" until_true 20 named
finish "$recorder"
folded killed.pbz >killed.folded 
check "killed: named" stacks share killed.folded "$chain" --of run_jit --percent 95
finish "$PID"
remove_maps

# The rest of the map of a process is read when the process ends, so it may be removed before the recording ends.
sample -a -F 499 -d 6 -o ended.pbz &
recorder=$!
sleep 2
"$WORKLOADS/jit" shared 1 >ended.ready
read -r _ PID <ended.ready
sleep 1.5
remove_maps
wait "$recorder"
folded ended.pbz >ended.folded
check "ended: named" stacks share ended.folded "$chain" --of run_jit --percent 95

# A process in PID and mount namespaces of its own, which end with it.
if unshare -mpf --mount-proc true 2>/dev/null; then
	sample -a -F 499 -d 5 -o inside.pbz &
	recorder=$!
	sleep 2
	unshare -mpf --mount-proc sh -c 'exec 9<"$1" && mount -t tmpfs none /tmp && /proc/self/fd/9 plain 1; exit 0' sh "$WORKLOADS/jit" >inside.ready
	wait "$recorder"
	read -r _ PID <inside.ready
	check "inside: the map has the number of its namespace" at_most "$PID" 9
	folded inside.pbz >inside.folded
	check "inside: named" stacks share inside.folded "$chain" --of run_jit --percent 95
else
	skip_part "no namespaces"
fi

# Only a regular file of the process's user or of root is read; anything else does not delay the recording.
for mode in foreign fifo link null; do
	record "$mode"
	check "$mode: recorded" at_least "$(grep -c run_jit "$mode.folded")" 1
	check "$mode: not believed" not grep -q jit_spin "$mode.folded"
	check "$mode: said so" grep -q "perf-PID.map is not a regular file of its user" "$T/err"
done
record huge
check "huge: the latest names are read" stacks share huge.folded "$chain" --of run_jit --percent 95

# A map larger than the limit, in whose end the code has no name: a message says that names are missing.
start jit silent
truncate -s 300M "/tmp/perf-$PID.map"
sample -p "$PID" -F 499 -d 1 -o cut.pbz
check "cut: said so" grep -q "too large, only the latest names are read" "$T/err"
check "cut: status" equal "$RC" 0
finish "$PID"
remove_maps

done_testing
