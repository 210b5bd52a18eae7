#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording src/capture
# Scans begin at multiples of their period. A scan that takes longer leaves multiples out and says how many; later scans are
# not shifted.
# needs: quiet
# timeout: 200
. "$(dirname "$0")/lib.sh"
command -v zstd >/dev/null || skip "zstd is not installed"

declare -A t
times() {
	local pair
	t=()
	for pair in $(python3 "$LIVE/walk_times.py" "$1"); do t[${pair%%=*}]=${pair#*=}; done
}

# adds_up WHAT: each multiple has a scan or is counted as left out.
adds_up() {
	check "$1: every period has its walk or is counted" equal $((t[walks] + t[left_out])) $((t[span] + 1 + ${2:-0}))
	check "$1: no two walks in one period" equal "${t[periods_hit_twice]}" 0
	check "$1: none begins before the other has ended" equal "${t[overlaps]}" 0
	check "$1: what LOST says lies where the walks are missing" equal "${t[gaps_wrong]}" 0
}

# --- a machine that keeps up: nothing is left out, and 300 scans later the times have not drifted
start threads 200 sleep
snapshot -p "$PID" -F 50 -i 300 -o quick.pbz
times quick.pbz
check "50 Hz, 200 threads: walks" equal "${t[walks]}" 300
adds_up "50 Hz, 200 threads"
check "50 Hz, 200 threads: no drift (us)" at_most "${t[drift_us]#-}" 5000
finish "$PID"

# --- thousands of threads, all unwound in each scan: this takes longer than a period
for rate in 200:5000 1000:1000; do
	hz=${rate%:*} us=${rate#*:}
	start threads 4000 sleep
	snapshot -p "$PID" -F "$hz" -d 3 --walk-all -o slow.pbz
	check "$hz Hz, 4000 threads: exit status" equal "$RC" 0
	times slow.pbz
	check "$hz Hz, 4000 threads: a walk takes longer than its period (us)" at_least "${t[longest_us]}" "$us"
	check "$hz Hz, 4000 threads: walks are left out" at_least "${t[left_out]}" 10
	# Scans that were due after the last one are among those left out.
	tail=$((t[walks] + t[left_out] - t[span] - 1))
	adds_up "$hz Hz, 4000 threads" "$tail"
	check "$hz Hz, 4000 threads: those behind the last walk are few" at_most "$tail" $((t[longest_us] / us + 50))
	check "$hz Hz, 4000 threads: 3 s are $((3 * hz)) periods" equal $((t[walks] + t[left_out])) $((3 * hz))
	check "$hz Hz, 4000 threads: no drift (us)" at_most "${t[drift_us]#-}" $((us > 5000 ? us / 2 : 5000))
	check "$hz Hz, 4000 threads: rows of whole walks" equal "$(csv slow.pbz -q | wc -l)" $((t[walks] * 4001))
	check "$hz Hz, 4000 threads: who recorded is told" grep -q "${t[left_out]} snapshots were left out" "$T/err"
	for how in --text --svg --collapse --csv --json; do
		"$PROBEE" report slow.pbz $how >out 2>warning
		check "$hz Hz, 4000 threads: report $how says so" grep -qE "snapshots? w[a-z]+ left out" warning
	done
	check "$hz Hz, 4000 threads: the picture says so" bash -c "'$PROBEE' report -q slow.pbz --svg 2>/dev/null | grep -qE 'snapshots? w[a-z]+ left out'"
	check "$hz Hz, 4000 threads: info says so" bash -c "'$PROBEE' info slow.pbz | grep -qE '${t[left_out]} .*walks-left-out'"
	finish "$PID"
done

# --- record: samples, and scans that take longer than their period
start threads 4000 sleep
run_limited record -p "$PID" -F 99 --snap-freq 200 -d 4 -o both.pbz
times both.pbz
tail=$((t[walks] + t[left_out] - t[span] - 1))
adds_up "record, 200 Hz" "$tail"
check "record, 200 Hz: those behind the last walk are few" at_most "$tail" 60
finish "$PID"

# --- two scans that fit their periods: nothing is lost under --strict
start threads 100 sleep
snapshot -p "$PID" -F 5 -i 5 --strict -o strict.pbz
check "quiet: exit status under --strict" equal "$RC" 0
times strict.pbz
check "quiet: none left out" equal "${t[left_out]}" 0
check "quiet: the trace is as its page says" python3 "$ROOT/tests/spec/decode.py" --check strict.pbz
done_testing
