#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# chains.sh N: N scans of 8 threads that alternate between two call chains, for each kind of thread (those that spin, sleep
# for 20 us, yield, hand a turn to another one by a futex or by a pipe) and each length of a chain: 200 N rows, and 80 N by
# frame pointers. A stack that mixes the chains or leaves a frame out is wrong, and so is a kind of which more than 1 % are
# marked as having no stack. By frame pointers a stack that lacks a frame must have a guess in it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scans=$1
failed=0

# kind NAME WORKLOAD UNWIND NSPIN NSLEEP NYIELD NFUTEX NPIPE
kind() {
	local name=$1 workload=$2 unwind=$3 rounds pid fd word skips=
	shift 3
	[ "$unwind" != fp ] || skips=--allow-skips
	: >"$name.csv"
	for rounds in 0 20 200 2000 20000; do
		exec {fd}< <(exec "$WORKLOADS/$workload" $rounds "$@")
		pid=$!
		read -r -t 30 -u "$fd" word _ && [ "$word" = ready ] || { echo "  twochains did not get ready"; exit 1; }
		"$PROBEE" snapshot -q -p $pid -F 800 -i "$scans" --unwind "$unwind" -o rows.pbz 2>>"$name.err" || failed=1
		kill -KILL $pid
		exec {fd}<&-
		"$PROBEE" report rows.pbz --csv -q >>"$name.csv" || failed=1
		"$PROBEE" report rows.pbz --json -q >rows.json || failed=1
		python3 -S "$here/../live/stacks.py" unmarked rows.json >unmarked || { cat unmarked; failed=1; }
	done
	printf '%s: ' "$name"
	python3 -S "$here/../live/stacks.py" chains "$name.csv" $skips --marked 1 || failed=1
	rm -f "$name.csv"
}

kind spin twochains dwarf 8 0 0 0 0
kind sleep twochains dwarf 0 8 0 0 0
kind yield twochains dwarf 0 0 8 0 0
kind futex twochains dwarf 0 0 0 8 0
kind pipe twochains dwarf 0 0 0 0 8
kind fp twochains_fp fp 8 0 0 0 0
kind leaf twochains_leaf fp 5 3 0 0 0
exit $failed
