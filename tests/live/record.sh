#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording src/capture
# core: yes
# Samples and scans in one recording: two kinds of rows that no report adds together.
. "$(dirname "$0")/lib.sh"

total() { stacks total "$1"; }
shows() { "$PROBEE" info "$1" | grep -qE "$2"; }

start threads 50 sleep
sleepers=$PID
start chain30 spin
spinner=$PID
run_limited record -p "$sleepers,$spinner" -F 199 --snap-freq 10 -d 2 -o both.pbz
check "exit status" equal "$RC" 0
folded both.pbz >cpu.txt
folded both.pbz --weight cpu >cpu2.txt
folded both.pbz --weight wall >wall.txt
check "the default is CPU time" cmp cpu.txt cpu2.txt
check "CPU time: the spinner's samples" at_least "$(total cpu.txt)" 15
check "CPU time: nothing of the sleepers" not grep -q '^threads' cpu.txt
declare -A amount=([cpu]="s of CPU time in $(total cpu.txt) samples" [wall]=" $(total wall.txt) thread states")
for weight in cpu wall; do
	"$PROBEE" report both.pbz --weight "$weight" --text | sed '/^samples/s/,//g' >both.txt
	check "$weight time: nothing was filtered" grep -q "^samples .*${amount[$weight]}; 0 lost" both.txt
done
"$PROBEE" report both.pbz --text >both.txt
check "the report says what else there is" grep -q '^shown .*CPU time (cpu-clock, 199 Hz). Also recorded: snapshot' both.txt
"$PROBEE" report both.pbz --event snapshot --no-inline --collapse >event.txt
check "--event snapshot is --weight wall" cmp wall.txt event.txt
walks=$("$PROBEE" info both.pbz | sed -n 's/^snapshots *\([0-9]*\):.*/\1/p')
check "walks" at_least "${walks:-0}" 10
check "wall time: each thread in each walk" equal "$(total wall.txt)" $((${walks:-0} * 52))
check "wall time: the spinner's stack is whole" grep -qE '^chain30;.*main;' wall.txt
check "info names both events: CPU time" shows both.pbz "^ +$(total cpu.txt) .* cpu-clock +cpu-clock +ns, 199 Hz"
check "info names both events: wall time" shows both.pbz "^ +$(total wall.txt) .* snapshot +snapshot +ns, 10 Hz"
check "info holds samples against /proc/stat" shows both.pbz '^cpus .*by samples, .*by /proc/stat'
sample -p "$spinner" -F 199 -d 1 -o one.pbz
folded one.pbz >one.txt
run_limited report one.pbz --weight wall --collapse
check "--weight wall of samples alone: no" equal "$RC" 1
check "--weight wall of samples alone: what there is" grep -q 'samples of: cpu-clock' "$T/err"
check "--weight cpu of samples alone: all" equal "$(folded one.pbz --weight cpu | wc -l)" "$(wc -l <one.txt)"
check "--waits: its rows without being told" grep -q '^Snapshot ' <("$PROBEE" report both.pbz --waits -q)
run_limited report both.pbz --weight time --collapse
check "an unknown weight" equal "$RC" 2
sleep 600 &
STARTED+=($!)
sample -p $! -d 1 -o none.pbz
check "nothing ran: no error" equal "$RC" 0
check "nothing ran: it says why" grep -q 'nothing was recorded: .* its threads did not run. Try: probee snapshot' "$T/err"
finish "$sleepers"
finish "$spinner"
done_testing
