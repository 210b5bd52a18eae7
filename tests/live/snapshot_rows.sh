#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/capture
# core: yes
# Each thread has one row with its whole stack, however many threads there are.
. "$(dirname "$0")/lib.sh"

threads_of() { ls "/proc/$1/task" | sort -n | sort; }

# rows COUNT WORKLOAD UNWIND
rows() {
	local file=rows-$1-$3
	start "$2" "$1" sleep
	threads_of "$PID" | sort -n >want
	snapshot -p "$PID" -i 2 -F 5 --unwind "$3" -o $file.pbz
	check "$1 threads, $3: exit status" equal "$RC" 0
	csv $file.pbz >$file.csv
	check "$1 threads, $3: two rows each" equal "$(stacks rows $file.csv "$PID")" $((2 * ($1 + 1)))
	stacks tids $file.csv "$PID" >got
	check "$1 threads, $3: the same as in /proc" cmp want got
	check "$1 threads, $3: kernel stacks" stacks kstacks $file.csv "$PID" 99
	# pause() has no frame, so the frame pointer does not lead to its caller, and libc keeps no frame pointers.
	last=14
	if [ "$3" != fp ]; then
		last=15
		check "$1 threads, $3: to the root" stacks rooted $file.csv "$PID"
	fi
	folded $file.pbz >$file.folded
	chain="thread_main"
	for i in $(seq $last); do chain+=";t$i"; done
	check "$1 threads, $3: the chain" stacks share $file.folded "$chain" --of t$last --min $(($1 * 2))
	check "$1 threads, $3: leaf" at_least "$(grep -c '^[^|]*|[^|]*|[^|]*|[^|]*|[^|]*|[^|;]*pause+' $file.csv)" \
		$(($1 * 2))
	check "$1 threads, $3: nothing lost" not grep -qE ' [1-9][0-9]* lost' "$T/err"
	finish "$PID"
}

rows 1000 threads dwarf
rows 1000 threads_fp fp
rows 12000 threads auto

# The whole machine with 12,000 threads on it.
start threads 12000 sleep
snapshot -a -i 1 -o all.pbz
csv all.pbz >all.csv
check "-a: rows of the 12,001" equal "$(stacks rows all.csv "$PID")" 12001
check "-a: no thread twice" equal "$(stacks rows all.csv)" "$(stacks tids all.csv | wc -l)"
check "-a: other processes are there" grep -q "|$$|" all.csv
done_testing
