#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# chains.sh N: N scans of 8 threads that alternate between two call chains, for each kind of thread (those that spin, sleep
# for 20 us, yield, hand a turn to another one by a futex or by a pipe) and each length of a chain: 200 N rows. A stack that
# mixes the chains or leaves a frame out is wrong, and so is a kind of which more than 1 % are marked as having no stack.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scans=$1
failed=0

# kind NAME NSPIN NSLEEP NYIELD NFUTEX NPIPE
kind() {
	local name=$1 rounds pid fd word
	shift
	: >"$name.csv"
	for rounds in 0 20 200 2000 20000; do
		exec {fd}< <(exec "$WORKLOADS/twochains" $rounds "$@")
		pid=$!
		read -r -t 30 -u "$fd" word _ && [ "$word" = ready ] || { echo "  twochains did not get ready"; exit 1; }
		"$PROBEE" snapshot -q -p $pid -F 800 -i "$scans" --unwind dwarf -o rows.pbz 2>>"$name.err" || failed=1
		kill -KILL $pid
		exec {fd}<&-
		"$PROBEE" report rows.pbz --csv -q >>"$name.csv" || failed=1
	done
	printf '%s: ' "$name"
	python3 -S "$here/../live/stacks.py" chains "$name.csv" --marked 1 || failed=1
	rm -f "$name.csv"
}

kind spin 8 0 0 0 0
kind sleep 0 8 0 0 0
kind yield 0 0 8 0 0
kind futex 0 0 0 8 0
kind pipe 0 0 0 0 8
exit $failed
