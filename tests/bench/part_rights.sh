# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What it costs to give up rights and to leave foreign files to helper processes: start, CPU time and memory of all processes of
# a recording, beside those of another program, BEFORE=path of the probee to compare with.

# family PID: the process and all that it started.
family() {
	local p
	echo "$1"
	for p in $(cat /proc/"$1"/task/*/children 2>/dev/null); do family "$p"; done
}

# All CPU time in clock ticks, and all memory (its share of shared pages counted once) in KiB.
family_cpu() { for p in $(family "$1"); do sed 's/.*) //' "/proc/$p/stat"; done 2>/dev/null | awk '{ n += $12 + $13 + $14 + $15 } END { printf "%.0f\n", n }'; }
family_pss() { for p in $(family "$1"); do cat "/proc/$p/smaps_rollup"; done 2>/dev/null | awk '/^Pss:/ { n += $2 } END { printf "%.0f\n", n }'; }

# one TOOL PROGRAM
one_recording() {
	local ticks
	rm -f trace
	launched life "$2" sample -q -a -F 99 -o trace
	sleep 2
	ticks=$(family_cpu "$TOOL_PID")
	sleep 5
	record "all processes, CPU ms in 5 s" "$1" "$(calc "($(family_cpu "$TOOL_PID") - $ticks) * 10")"
	record "all processes, PSS MiB" "$1" "$(calc "$(family_pss "$TOOL_PID") / 1024")"
	kill -INT "$TOOL_PID"
	wait $LAUNCH
	"$PROBEE" report trace --csv >trace.csv
	record "exec to first sample, ms" "$1" "$(figure first-csv trace.csv "$(of life real_ns)")"
}

start chain30 spin
for round in $(seq "$ROUNDS"); do
	[ -z "${BEFORE:-}" ] || one_recording before "$BEFORE"
	one_recording probee "$PROBEE"
	for kind in "report trace --collapse" "info trace"; do
		for tool in ${BEFORE:+before} probee; do
			program=$PROBEE
			[ $tool = probee ] || program=$BEFORE
			begin=$(date +%s%N)
			for i in 1 2 3 4 5; do "$program" $kind >/dev/null 2>&1; done
			record "probee ${kind%% *} of 7 s, ms" $tool "$(calc "($(date +%s%N) - $begin) / 5e6")"
		done
	done
done
for p in "${STARTED[@]}"; do finish "$p"; done
STARTED=()
