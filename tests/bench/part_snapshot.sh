# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# One process with 1,000 and then 10,000 threads blocked 15 to 20 deep (frame pointers): a scan of all of them. "walk" is
# the scan alone; "whole command" starts the tool, scans once and ends, names included.

build_ancestor || say "the ancestor's method could not be built"

# walk_us TRACE: mean time of a scan, in us, from its receipts.
walk_us() {
	"$PROBEE" info "$1" | sed -n 's/.*[ ;]\([0-9.]*\) \(ns\|us\|ms\|s\) each.*/\1 \2/p' | awk '
		{ unit["ns"] = 1e-3; unit["us"] = 1; unit["ms"] = 1e3; unit["s"] = 1e6; print $1 * unit[$2] }'
}

# probee_walks TOOL UNWIND COUNT
probee_walks() {
	"$PROBEE" snapshot -q -p "$many" --unwind "$2" -F 4 -i 1 -o first.pbz 2>walk.err
	record "$threads threads: first walk, us per thread" "$1" "$(calc "$(walk_us first.pbz) / $threads")"
	"$PROBEE" snapshot -q -p "$many" --unwind "$2" -F 4 -i "$3" -o walks.pbz 2>walk.err
	# The mean of N scans includes the first one, in which nothing is known yet.
	record "$threads threads: walk of unchanged threads, us per thread" "$1" \
		"$(calc "($(walk_us walks.pbz) * $3 - $(walk_us first.pbz)) / ($3 - 1) / $threads")"
	launched life "$PROBEE" snapshot -q -p "$many" --unwind "$2" -i 1 -o once.pbz
	wait $LAUNCH
	record "$threads threads: whole command, wall ms" "$1" "$(of life wall_ms)"
	record "$threads threads: whole command, CPU ms" "$1" "$(of life cpu_ms)"
	record "$threads threads: rows" "$1" "$("$PROBEE" report once.pbz --csv -q | wc -l)"
	record "$threads threads: bytes" "$1" "$(stat -c %s once.pbz)"
}

ancestor_walks() {
	"$bin/ancestor_walk" "$bin/ancestor_walk.bpf.o" "$many" 5 >ancestor.out || return
	record "$threads threads: first walk, us per thread" "2 x 8-byte reads" \
		"$(calc "$(figure median ancestor.out walk_us) / $(figure median ancestor.out rows)")"
	record "$threads threads: rows" "2 x 8-byte reads" "$(figure median ancestor.out rows)"
}

for threads in 1000 10000; do
	start threads_fp $threads sleep
	many=$PID
	for round in $(seq "$ROUNDS"); do
		[ ! -x "$bin/ancestor_walk" ] || ancestor_walks
		probee_walks 'probee fp' fp 6
		probee_walks 'probee dwarf' dwarf 6
	done
	if have eu-stack; then
		launched life eu-stack -p "$many"
		wait $LAUNCH
		record "$threads threads: whole command, wall ms" eu-stack "$(of life wall_ms)"
		record "$threads threads: whole command, CPU ms" eu-stack "$(of life cpu_ms)"
		record "$threads threads: rows" eu-stack "$(grep -c '^TID' launched.out)"
	fi
	finish "$many"
done
