#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/session src/capture/stacks
# core: yes
# A thread that has not run is not unwound again. Its rows must equal those that unwinding again gives.
. "$(dirname "$0")/lib.sh"

# stacks_of TRACE: tid, state and stacks of each row, without what differs between scans.
stacks_of() {
	csv "$1" -q | cut -d'|' -f2,5- | sort
}

start threads 300 sleep
snapshot -p "$PID" -F 10 -i 6 -o same.pbz
check "unchanged threads: exit status" equal "$RC" 0
snapshot -p "$PID" -F 10 -i 6 --walk-all -o all.pbz
check "--walk-all: exit status" equal "$RC" 0
stacks_of same.pbz >same.txt
stacks_of all.pbz >all.txt
check "one row per thread and walk" equal "$(wc -l <same.txt)" $((6 * 301))
check "the rows are those of --walk-all" cmp same.txt all.txt
finish "$PID"

# Threads that run all the time are never taken for unchanged: both chains appear again and again.
start twochains 3000 2 3
snapshot -p "$PID" -F 50 -i 100 -o mixed.pbz
csv mixed.pbz >mixed.csv
check "spinning threads: none impossible" stacks chains mixed.csv
spinning=$(grep -cE 'a3|b3' mixed.csv)
different=$(grep -E 'a3|b3' mixed.csv | cut -d'|' -f2,6- | sort -u | wc -l)
check "spinning threads: $different different stacks in $spinning rows" test "$different" -ge 4
finish "$PID"

# A stopped thread has not run since it was stopped; its state is read again each time.
start threads 20 sleep
run_limited snapshot -p "$PID" -F 10 -i 25 -o stop.pbz --csv=stop.live &
until_true 20 grep -q '|SLEEP' stop.live
kill -STOP "$PID"
wait $!
csv stop.pbz >stop.csv
check "before: sleeping" grep -q '|SLEEP' stop.csv
check "stopped between walks: seen" grep -q '|STOPPED|' stop.csv
kill -CONT "$PID"
finish "$PID"
done_testing
