#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/tables src/capture/stacks src/elf_unwind src/parse
# needs: quiet
# timeout: 240
# Hundreds of processes with hundreds of different libraries: all stacks are whole, and the trace says what the tables
# take. Copies of a file share one table. With room for few tables some are evicted all the time, and no stack is
# unwound by a wrong one. (tests/bench/part_scale.sh does the first part with 3,000 of each.)
. "$(dirname "$0")/lib.sh"

N=300
chain="main;child;many_outer;many_middle;many_inner;wait_here"

# tables TRACE WORD: a figure of META unwind.tables.
tables() { zstd -dcq "$1" | grep -ao 'rows=[a-z0-9= ]*' | tr ' ' '\n' | sed -n "s/^$2=//p"; }
# spread FOLDED: in how many stacks the chain begins at a root, and in how many it does not.
right() { awk -v chain="$chain" '/^many;/ && index($0, chain) { n += $NF } END { printf "%.0f\n", n }' "$1"; }
wrong() {
	awk -v chain="$chain" '/^many;/ && /_start;/ && !/;main;pause|;main;__GI___libc_pause|truncated/ && !index($0, chain) {
		print; bad = 1 } END { exit !bad }' "$1"
}
copies() { "$ROOT/tests/workloads/many_copies.py" "$@"; }
libs=("$WORKLOADS"/many_lib_{64,200,1024}.so)

mapfile -t files < <(copies "$T/different" $N "${libs[@]}")
start many $N 10 "${files[@]}"
mapfile -t children < <(pgrep -P "$PID")
check "as many children" equal ${#children[@]} $N

snapshot -a -i 2 -o all.pbz
folded all.pbz >all.folded
check "-a: every stack is whole" equal "$(right all.folded)" $((2 * N))
check "-a: a table for each library in a stack" at_least "$(tables all.pbz tables)" $N
check "-a: less than 140 MiB" at_most "$(tables all.pbz bytes)" $((140 << 20))
check "-a: nothing thrown out or refused" equal "$(tables all.pbz evicted) $(tables all.pbz refused)" "0 0"

snapshot -p "$(IFS=,; echo "${children[*]}")" -i 2 -o targets.pbz
folded targets.pbz >targets.folded
check "targets: every stack is whole" equal "$(right targets.folded)" $((2 * N))
check "targets: mappings of all of them" at_least "$(tables targets.pbz mappings)" $((N * 12))
check "targets: rows" at_least "$(tables targets.pbz rows)" $((N * 9000))
finish "$PID"

mapfile -t files < <(copies "$T/alike" 50 same "${libs[0]}")
snapshot -a -i 1 -o others.pbz		# the files of the rest of the machine have tables, too
others=$(tables others.pbz tables)
start many 50 1 "${files[@]}"
snapshot -a -i 1 -o alike.pbz
folded alike.pbz >alike.folded
check "copies: every stack is whole" equal "$(right alike.folded)" 50
check "copies: share a table" at_least "$(tables alike.pbz shared)" 49
check "copies: which is built once" at_most "$(tables alike.pbz tables)" $((others + 10))
finish "$PID"

# The same program with room for libc and ten of the libraries.
check "a program with room for little" build_small
mapfile -t files < <(copies "$T/few" 40 "${libs[@]}")
start many 40 1 "${files[@]}"
PROBEE=$T/small snapshot -p "$(pgrep -d, -P "$PID")" --walk-all -F 10 -d 10 -o small.pbz
check "room for little: exit status" equal "$RC" 0
check "room for little: tables are thrown out" at_least "$(tables small.pbz evicted)" 10
check "room for little: and named, once" equal "$(grep -c 'is full: thrown out' err)" 1
folded small.pbz >small.folded
check "room for little: whole stacks" at_least "$(right small.folded)" 50
check "room for little: no wrong ones" not wrong small.folded
done_testing
