# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What it costs to scan for a long time: the whole machine once a second, where all threads sleep except those of its
# daemons; and 20,000 sleeping threads. CPU time of probee and all of its processes, without start-up.

SECONDS_LONG=${SECONDS_LONG:-60}

# cpu_of ARGUMENTS...: CPU ms of `probee snapshot ARGUMENTS`.
cpu_of() {
	launched life "$PROBEE" snapshot -q "$@" -o forever.pbz
	wait $LAUNCH
	of life cpu_ms
}

# spent PID: CPU ns of all its threads, and of its reader's.
spent() {
	local p
	for p in "$1" $(pgrep -P "$1"); do cat "/proc/$p"/task/*/schedstat; done 2>/dev/null | awk '{ ns += $1 } END { printf "%d\n", ns }'
}

# once_a_second METRIC: measured in the middle of its life.
once_a_second() {
	local before
	launched life "$PROBEE" snapshot -q -a -F 1 -o forever.pbz
	sleep 5
	before=$(spent "$TOOL_PID")
	sleep "$SECONDS_LONG"
	record "$1" probee "$(calc "($(spent "$TOOL_PID") - $before) / 1e7 / $SECONDS_LONG")"
	kill -INT "$TOOL_PID"
	wait $LAUNCH
}

threads_now() { awk '{ split($4, n, "/"); print n[2] }' /proc/loadavg; }

start threads_fp 200 sleep
few=$PID
for round in $(seq "$ROUNDS"); do
	once_a_second "$(threads_now) threads, 1 Hz: % of a CPU"
done
finish "$few"

start threads_fp 20000 sleep
many=$PID
for round in $(seq "$ROUNDS"); do
	short=$(cpu_of -a -F 4 -i 2)
	long=$(cpu_of -a -F 4 -i 22)
	record "20,000 threads: CPU ms of a later walk" probee "$(calc "($long - $short) / 20")"
	rows=$("$PROBEE" report forever.pbz --csv -q | awk -F'|' -v tgid="$many" '$3 == tgid' | wc -l)
	record "20,000 threads: rows lost in 22 walks" probee "$(calc "22 * 20001 - $rows")"
done
finish "$many"
