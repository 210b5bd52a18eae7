#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that end within a millisecond of their last sample, and whose files are deleted at that moment, keep names and lines;
# also when there are hundreds a second, and more of them than files may be open. The kernel counts what all recordings of a user hold.
# needs: quiet
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$T/cache

copies() { python3 -S "$ROOT/tests/workloads/own_ids.py" "$WORKLOADS/mayfly" "$1" "$2"; }
# judge TRACE OF-HOW-MANY: nine in ten of their stacks in work() are named, with lines. Those that the kernel side met before their
# mappings were known have no frame to name.
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
sys.exit(len(comms) < int(sys.argv[1]) or bare * 10 > whole)' "$2"
}

# --- each program is another file, and lives for three samples
copies each 120
sample -F 999 -o each.pbz -- "$WORKLOADS/mayfly" start each 120 100 120 3000 delete
check "3 ms of each of 120 files: exit status" equal "$RC" 0
check "3 ms of each of 120 files" judge each.pbz 90

# --- one file, as fast as the machine can
copies one 1
sample -F 999 -o one.pbz -- "$WORKLOADS/mayfly" start one 1 1000 1500 300
check "1,500 processes of one file" judge one.pbz 1

# --- more files than may be open
copies many 350
(ulimit -n 380 && sample -F 999 -o many.pbz -- "$WORKLOADS/mayfly" start many 350 50 350 3000 delete; echo "$RC" >rc)
check "350 files beside 100 others, 380 may be open: exit status" equal "$(cat rc)" 0
check "350 files beside 100 others, 380 may be open" judge many.pbz 330
done_testing
