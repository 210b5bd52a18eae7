#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/trace src/capture/session
# light: yes
# A chunk in the middle of a long recording is damaged: threads that never run have rows again soon after it.
. "$(dirname "$0")/lib.sh"

start threads 1000 sleep
snapshot -p "$PID" -F 50 -i 500 -o whole.pbz
check "exit status" equal "$RC" 0
check "whole: rows" equal "$(csv whole.pbz -q | tee whole.csv | wc -l)" 500500
size=$(stat -c %s whole.pbz)
quiet=$("$PROBEE" info whole.pbz | sed -nE 's/^size.*, ([0-9.]+) bytes a sample.*/\1/p')
check "whole: bytes per thread and walk, the first one included" awk "BEGIN { print $quiet; exit !($quiet < 0.25) }"

# The damage is behind the names, which take a third of the file, with as many scans after it.
cp whole.pbz hurt.pbz
printf '\377\377\377\377' | dd of=hurt.pbz bs=1 seek=$((size * 7 / 10)) conv=notrunc 2>/dev/null
"$PROBEE" report hurt.pbz -q --no-inline --csv >hurt.csv 2>hurt.err
check "damaged: the report says so" grep -q 'chunk damaged' hurt.err
rows=$(wc -l <hurt.csv)
check "damaged: rows are missing" at_most "$rows" 500499
# It takes at most 128 scans until each thread has a row of its own, and the chunk, which is one second.
check "damaged: but not for long" at_least "$rows" $((500500 - (128 + 60) * 1001))
check "damaged: the last 100 walks are whole" cmp <(tail -n $((100 * 1001)) whole.csv) <(tail -n $((100 * 1001)) hurt.csv)
done_testing
