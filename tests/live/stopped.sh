#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base src/recording src/capture src/helpers
# light: yes
# probee itself is stopped for a while, as by Ctrl-Z or a debugger. It then continues, and reports no process as hanging.
# beside: live
# timeout: 200
. "$(dirname "$0")/lib.sh"

declare -A t
times() {
	local pair
	t=()
	for pair in $(python3 "$LIVE/walk_times.py" "$1"); do t[${pair%%=*}]=${pair#*=}; done
}
have_zstd() { command -v zstd >/dev/null; }

# adds_up WHAT FILE: scans that were due meanwhile are counted, and later scans begin at multiples of the period again.
adds_up() {
	have_zstd || { skip_part "zstd is not installed: times of walks are not looked at"; return; }
	times "$2"
	check "$1: every period has its walk or is counted" at_most $((t[walks] + t[left_out] - t[span] - 1)) 1
	check "$1: and no period twice" equal "${t[periods_hit_twice]}" 0
	check "$1: most of 10 s at 10 Hz are left out" at_least "${t[left_out]}" 90
	check "$1: they lie where the walks are missing" equal "${t[gaps_wrong]}" 0
	check "$1: walks begin at multiples before and after (us)" at_most "${t[off_us]}" 40000
}

start threads 100 sleep
threads=$PID
"$PROBEE" snapshot -p "$threads" -F 10 -d 17 -o stopped.pbz --csv=live.csv 2>err &
probee=$!
STARTED+=($probee)
check "the reader is there" until_true 20 pgrep -P $probee -x probee-reader
reader=$(pgrep -P $probee -x probee-reader)
sleep 0.5
kill -STOP $probee "$reader"
sleep 10
kill -CONT $probee "$reader"
sleep 0.5
kill -STOP "$reader"
sleep 3
kill -CONT "$reader"
wait $probee
check "probee stopped for 10 s: exit status" equal $? 0
"$PROBEE" report stopped.pbz --csv >stopped.csv
check "probee stopped for 10 s: nobody is blamed" not grep -q hangs err
check "probee stopped for 10 s: rows of whole walks" equal "$(($(stacks rows stopped.csv) % 101))" 0
check "probee stopped for 10 s: at least 10 walks" at_least "$(($(stacks rows stopped.csv) / 101))" 10
check "probee stopped for 10 s: what was written meanwhile is the report" cmp live.csv stopped.csv
adds_up "probee stopped for 10 s" stopped.pbz

# --- a sampler that is stopped: its ring fills, and what does not fit is counted
start chain30 spin
spinner=$PID
# counted FILE ERR: each sample that the kernel took is in the trace or counted as lost.
counted() {
	local taken rows lost
	taken=$(sed -nE 's/.* ([0-9]+) submitted, ([0-9]+) refused.*/\1 \2/p' "$2")
	rows=$(csv "$1" -q --weight "${3:-cpu}" | wc -l)
	lost=$("$PROBEE" info "$1" | awk '$2 == "ring-full" { print $1 }')
	echo "$rows rows, ${lost:-0} lost; submitted and refused $taken"
	# The ring fills only if the spinning thread got most of a CPU.
	[ "$rows ${lost:-0}" = "$taken" ] && { [ "${lost:-0}" -ge "$4" ] || [ "$rows" -lt 40000 ]; }
}
# Stopped within its time, and beyond its end: then the ring is full when the last samples are taken.
declare -A sampler
before=$(date +%s%N)
for time in 8 13; do
	"$PROBEE" sample -v -p "$spinner" -F 4999 -d "$time" -o "sample$time.pbz" 2>"err$time" &
	sampler[$time]=$!
	STARTED+=($!)
done
sleep 1.5
kill -STOP "${sampler[@]}"
sleep 10
kill -CONT "${sampler[@]}"
for time in 8 13; do
	wait "${sampler[$time]}"
	check "sample -d $time stopped for 10 s: exit status" equal $? 0
	check "sample -d $time stopped for 10 s: ends in time" at_most $((($(date +%s%N) - before) / 1000000)) 25000
	check "sample -d $time stopped for 10 s: each sample is there or counted" counted "sample$time.pbz" "err$time" cpu 1000
done
check "sample stopped: the stacks are whole" stacks share <("$PROBEE" report -q sample8.pbz --collapse 2>/dev/null) \
	"main;f1" --of f1 --min 50

"$PROBEE" record -v -p "$threads,$spinner" -F 99 --snap-freq 10 -d 13 -o record.pbz 2>err &
probee=$!
STARTED+=($probee)
sleep 2
reader=$(pgrep -P $probee -x probee-reader)
kill -STOP $probee "$reader"
sleep 10
kill -CONT $probee "$reader"
wait $probee
check "record stopped for 10 s: exit status" equal $? 0
check "record stopped for 10 s: each sample is there or counted" counted record.pbz err cpu 0
adds_up "record stopped for 10 s" record.pbz
finish "$spinner"

# The reader of tasks is killed: another one goes on. More of this is in stop.sh.
"$PROBEE" snapshot -p "$threads" -F 10 -i 20 -o killed.pbz 2>err &
probee=$!
STARTED+=($probee)
until_true 20 pgrep -P $probee -x probee-reader
sleep 0.7
pkill -KILL -P $probee -x probee-reader
wait $probee
check "reader killed: exit status" equal $? 0
check "reader killed: it is said" grep -q "was killed. Another one goes on" err
check "reader killed: the trace has all snapshots" bash -c "'$PROBEE' info killed.pbz | grep -q '^snapshots 20:'"
done_testing
