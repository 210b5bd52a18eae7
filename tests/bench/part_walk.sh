# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The time to unwind one stack in the kernel, by depth: a recursion of 5, 30, 100 and 500 frames. The thread spins on a CPU
# of its own under the sampler (it gets every tick there), or sleeps under the task iterator (which visits only this thread).
# Times are run_time_ns / run_cnt of the BPF programs. The cost of a frame is the difference between two depths.

DEPTHS='5 30 100 500'
LAST_CPU=$(($(nproc) - 1))
PERF_EVENT=7 TRACING=26

# ran TYPE: ns and runs of the tool's programs since it began, and their verified instructions.
ran() { figure bpf "$TOOL_PID" "$1"; }

# window NAME DEPTH TYPE SECONDS: ns of one run, measured in the middle of the tool's life.
window() {
	local t1 n1 t2 n2 insns
	read -r t1 n1 _ < <(ran "$3")
	sleep "$4"
	read -r t2 n2 insns < <(ran "$3")
	[ "$n2" -gt "$n1" ] || { say "$1: the program did not run"; return 1; }
	cost=$(calc "($t2 - $t1) / ($n2 - $n1)")
	record "$2 frames, ns a walk" "$1" "$cost"
	record "verified instructions" "$1" "$insns"
}

# per_frame NAME: from the costs at depths 100 and 500.
per_frame() { record "ns a frame, between depths 100 and 500" "$1" "$(calc "($cost_500 - $cost_100) / 400")"; }

# sampled UNWIND WORKLOAD
sampled() {
	local depth cost
	for depth in $DEPTHS; do
		start "$2" "$depth" spin
		taskset -p -c "$LAST_CPU" "$PID" >/dev/null
		launched life "$PROBEE" sample -q -U -C "$LAST_CPU" -F 3999 -e cpu-clock --unwind "$1" -p "$PID" -o walk.pbz
		sleep 1.2
		window "sampler $1" "$depth" $PERF_EVENT 2 && eval "cost_$depth=$cost"
		kill -INT "$TOOL_PID"
		wait $LAUNCH
		finish "$PID"
	done
	per_frame "sampler $1"
}

# visited UNWIND WORKLOAD
visited() {
	local depth cost
	for depth in $DEPTHS; do
		start "$2" "$depth" sleep
		launched life "$PROBEE" snapshot -q -U --walk-all -F 500 -t "$PID" --unwind "$1" -o walk.pbz
		sleep 1.2
		window "iterator $1" "$depth" $TRACING 2 && eval "cost_$depth=$cost"
		kill -INT "$TOOL_PID"
		wait $LAUNCH
		finish "$PID"
	done
	per_frame "iterator $1"
}

have taskset || cannot "taskset is not installed"
echo 1 >/proc/sys/kernel/bpf_stats_enabled
for round in $(seq "$ROUNDS"); do
	sampled dwarf deep
	sampled fp deep_fp
	visited dwarf deep
	visited fp deep_fp
done
echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
