# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Recorders attached to one spinning process, 30 deep, at 999 Hz. Tools that use frame pointers get the build with them.

RATE=999
# perf wakes up only when a buffer is half full: a short window would see nothing of its work.
SETTLE_S=1.5 WINDOW_S=8

# tool_command NAME PID FILE: prints the words, one a line.
tool_command() {
	case $1 in
	'perf -g') printf '%s\n' perf record -q -k CLOCK_MONOTONIC -F $RATE -g -p "$2" -o "$3" ;;
	'perf dwarf') printf '%s\n' perf record -q -k CLOCK_MONOTONIC -F $RATE --call-graph dwarf -p "$2" -o "$3" ;;
	'probee fp') printf '%s\n' "$PROBEE" sample -q -F $RATE --unwind fp -p "$2" -o "$3" ;;
	'probee dwarf') printf '%s\n' "$PROBEE" sample -q -F $RATE --unwind dwarf -p "$2" -o "$3" ;;
	esac
}

# trace_samples TOOL FILE: the number of samples, first and last time in ns (of the tool's own clock).
trace_samples() {
	case $1 in
	perf*) perf script -i "$2" -F time -G 2>/dev/null | tr -d ' :' |
		awk 'NR == 1 { a = $1 } { z = $1 } END { printf "%d %.0f %.0f\n", NR, a * 1e9, z * 1e9 }' ;;
	*) "$PROBEE" report "$2" --csv -q | python3 -S -c '
import datetime, sys
t = [datetime.datetime.fromisoformat(x.split("|", 1)[0]).timestamp() for x in sys.stdin]
print(len(t), int(min(t) * 1e9), int(max(t) * 1e9))' ;;
	esac
}

rooted_share() {
	case $1 in
	perf*) perf script -i "$2" -F ip,sym 2>/dev/null | awk '
		NF == 0 { if (inside) { n++; ok += last == "_start" } inside = 0; next }
		{ inside = 1; last = $2 }
		END { if (inside) { n++; ok += last == "_start" } printf "%.2f\n", n ? 100 * ok / n : 0 }' ;;
	*) "$PROBEE" report "$2" --collapse | awk '
		{ n += $NF } /;_start;/ { ok += $NF } END { printf "%.2f\n", n ? 100 * ok / n : 0 }' ;;
	esac
}

# one TOOL WORKLOAD ROUND
one() {
	local tool=$1 words samples first last began cpu1 cpu2 bpf_ns clock
	rm -f trace	# probee does not replace what another tool wrote
	start "$2"
	local target=$PID
	mapfile -t words < <(tool_command "$tool" "$target" trace)
	launched life "${words[@]}"
	sleep $SETTLE_S
	cpu1=$(figure cpu "$TOOL_PID")
	sleep $WINDOW_S
	cpu2=$(figure cpu "$TOOL_PID")
	record "peak RSS, MiB" "$tool" "$(calc "$(figure rss "$TOOL_PID") / 1024")"
	read -r bpf_ns _ < <(figure bpf "$TOOL_PID")
	began=$(date +%s%N)
	kill -INT "$TOOL_PID"
	wait $LAUNCH
	record "time to stop, ms" "$tool" "$(calc "($(date +%s%N) - $began) / 1e6")"
	finish "$target"
	read -r samples first last < <(trace_samples "$tool" trace)
	[ "${samples:-0}" -gt 100 ] || { say "$tool: ${samples:-0} samples"; head -3 launched.err >&2; return; }
	case $tool in
	perf*) clock=mono_ns ;;
	*)
		clock=real_ns
		record "BPF us per sample" "$tool" "$(calc "$bpf_ns / 1e3 / $samples")"
		;;
	esac
	record "recorder CPU ms per 1,000 samples, while running" "$tool" \
		"$(calc "($cpu2 - $cpu1) / 1e6 / ($samples * $WINDOW_S / (($last - $first) / 1e9)) * 1000")"
	record "CPU ms of its whole life" "$tool" "$(of life cpu_ms)"
	record "exec to first sample, ms" "$tool" "$(calc "($first - $(of life $clock)) / 1e6")"
	record "samples per second" "$tool" "$(calc "$samples / (($last - $first) / 1e9)")"
	record "bytes per sample" "$tool" "$(calc "$(stat -c %s trace) / $samples")"
	[ "$3" -gt 1 ] || record "stacks that reach _start, %" "$tool" "$(rooted_share "$tool" trace)"
}

echo 1 >/proc/sys/kernel/bpf_stats_enabled
for round in $(seq "$ROUNDS"); do
	if have perf; then
		one 'perf -g' chain30_fp "$round"
		one 'probee fp' chain30_fp "$round"
		one 'perf dwarf' chain30 "$round"
	else
		one 'probee fp' chain30_fp "$round"
	fi
	one 'probee dwarf' chain30 "$round"
done
echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
