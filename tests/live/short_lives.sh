#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/processes src/foreign src/parse
# Processes that end within a millisecond of their last sample, and whose files are deleted at that moment, keep names and lines;
# also when there are hundreds a second, and more of them than files may be open. The kernel counts what all recordings of a user hold.
# needs: quiet
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$T/cache

copies() { python3 -S "$ROOT/tests/workloads/own_ids.py" "$WORKLOADS/mayfly" "$1" "$2"; }
# recorded WHAT TRACE PROGRAMS COMMAND...: records, and looks meanwhile at how well the machine keeps up. Files that exist for 3 ms
# cannot be read by a program that gets no CPU for 5 ms: where a fiftieth of the time was stalls, half of the names are enough.
recorded() {
	local what=$1 trace=$2 programs=$3 stalls watcher
	shift 3
	exec 8> >(exec "$WORKLOADS/stalls" >stalls)
	watcher=$!
	sample -F 999 -o "$trace" -- "$@" 8>&-
	exec 8>&-
	wait "$watcher"
	stalls=$(cat stalls)
	check "$what: exit status" equal "$RC" 0
	if [ "$stalls" -ge 20 ]; then
		echo "# $what: the machine stalled for $stalls of 1,000 ms"
		check "$what" judge "$trace" $((programs / 2)) 1
	else
		check "$what" judge "$trace" $((programs * 9 / 10)) 10
	fi
}

# judge TRACE PROGRAMS N: of their stacks in work() at most one is not named, with lines, for every N that are; and those are of so
# many programs. Those that the kernel side met before their mappings were known have no frame to name.
judge() {
	"$PROBEE" report "$1" -q --collapse --lines 2>>report.err | python3 -S -c '
import re, sys
whole = bare = 0
comms = set()
for line in sys.stdin:
    stack, _, n = line.rpartition(" ")
    comm = stack.partition(";")[0]
    if not comm.isdigit():
        continue
    if re.search(r";main:\d+;live:\d+;work:\d+;twice:\d+_\[i\];norm:\d+_\[i\]", stack):
        whole += int(n)
        comms.add(comm)
    elif re.search(r";\[\d+\+0x", stack) or re.search(r";work(;|$)", stack):
        bare += int(n)
print(f"{whole} stacks of {len(comms)} programs are named with lines, {bare} are not")
sys.exit(len(comms) < int(sys.argv[1]) or bare * int(sys.argv[2]) > whole)' "$2" "$3"
}

# --- each program is another file, and lives for three samples
copies each 120
recorded "3 ms of each of 120 files" each.pbz 100 "$WORKLOADS/mayfly" start each 120 100 120 3000 delete

# --- one file, as fast as the machine can
copies one 1
recorded "1,500 processes of one file" one.pbz 2 "$WORKLOADS/mayfly" start one 1 1000 1500 300

# --- more files than may be open
copies many 350
ulimit -S -n 380
recorded "350 files beside 100 others, 380 may be open" many.pbz 350 "$WORKLOADS/mayfly" start many 350 50 350 3000 delete
done_testing
