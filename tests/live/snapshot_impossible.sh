#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/capture/stacks
# Threads alternate between two call chains while they are unwound. A stack that mixes the two cannot exist, so a single one
# in some 20,000 rows is a failure. Rows that could not be read must be marked, and they must be few.
. "$(dirname "$0")/lib.sh"

# walks WORKLOAD UNWIND COUNT HZ ROUNDS NSPIN NSLEEP [NYIELD NFUTEX NPIPE]
walks() {
	local name=$1 unwind=$2 count=$3 hz=$4 file=$1-$2-$5-$# skips= threads=1 nr
	local what="$1 $2, rounds and threads ${*:5}"
	shift 4
	[ "$unwind" != fp ] || skips=--allow-skips
	for nr in "${@:2}"; do threads=$((threads + nr)); done
	start "$name" "$@"
	snapshot -p "$PID" -F "$hz" -i "$count" --unwind "$unwind" -o "$file.pbz"
	check "$what: exit status" equal "$RC" 0
	csv "$file.pbz" >"$file.csv"
	"$PROBEE" report -q "$file.pbz" --json >"$file.json"
	finish "$PID"
	check "$what: no memo of a kernel stack is doubted" equal "$(grep -c 'one met before' "$T/err")" 0
	check "$what: none impossible" stacks chains "$file.csv" $skips --marked 100
	check "$what: at most 1 % marked" stacks chains "$file.csv" $skips --marked 1
	check "$what: no frame is lost without a mark" stacks unmarked "$file.json"
	check "$what: one row per thread and walk" equal "$(stacks rows "$file.csv")" $((count * threads))
}

walks twochains dwarf 1200 400 3000 2 3
walks twochains dwarf 600 400 30000 4 3
walks twochains dwarf 300 400 300000 2 3
walks twochains auto 400 200 100 3 2
walks twochains_fp fp 200 200 30000 2 3
# Preempted in leaves without a frame, in system calls of such leaves, and where frames come and go.
walks twochains_leaf fp 200 200 30000 6 4
walks twochains_fp fp 400 400 0 6 0
# More of one kind than CPUs, so that each of them runs a moment after it was met off a CPU.
walks twochains dwarf 300 400 20 0 0 8 0 0
walks twochains dwarf 200 400 20 0 0 0 8 0
walks twochains dwarf 200 400 20 0 0 0 0 8
done_testing
