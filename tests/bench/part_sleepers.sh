# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# BPF time of a scan for each of 12,000 threads that sleep. Every one is unwound again each time (--walk-all), four scans a second.
# BEFORE=FILE: another probee to compare with, in turns.

echo 1 >/proc/sys/kernel/bpf_stats_enabled
start threads 12000 sleep
many=$PID

# sleepers NAME PROBEE
sleepers() {
	local before after
	launched life "$2" snapshot -q --walk-all -F 4 -p "$many" -o sleepers.pbz --force
	wait_for_scans
	before=$(figure bpf "$TOOL_PID" 26)		# tracing programs, of which the iterator is one
	sleep "${SLEEPERS_S:-3}"
	after=$(figure bpf "$TOOL_PID" 26)
	kill -INT "$TOOL_PID"
	wait $LAUNCH
	record "12,000 sleeping threads, BPF us for each" "$1" \
		"$(awk '{ print ($4 - $1) / ($5 - $2) / 1e3 }' <<<"$before $after")"
}

# Until the iterator has been through all threads once.
wait_for_scans() {
	local tries=200
	until [ "$(figure bpf "$TOOL_PID" 26 2>/dev/null | awk '{ print $2 + 0 }')" -gt 12000 ] 2>/dev/null || [ $((tries--)) = 0 ]; do
		sleep 0.1
	done
}

for round in $(seq "$ROUNDS"); do
	[ -z "${BEFORE:-}" ] || sleepers before "$BEFORE"
	sleepers probee "$PROBEE"
done
finish "$many"
echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
