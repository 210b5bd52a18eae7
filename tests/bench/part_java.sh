# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What a Java frame costs in the kernel: BPF time for each sample of a recursion 40 and 240 deep (JavaDeep), interpreted and compiled, each
# sample's number of native Java frames counted in the trace. The difference of the two is that of the frames.

JAVA_S=${JAVA_S:-6}

# java_window: samples process PID; prints "ns of BPF a sample, frames a sample".
java_window() {
	local tries before after
	rm -f trace
	launched life "$PROBEE" sample -q -F 999 -p "$PID" -o trace
	for tries in $(seq 100); do
		[ "$(figure bpf "$TOOL_PID" 2>/dev/null | awk '{ print $2 + 0 }')" -gt 100 ] 2>/dev/null && break
		sleep 0.1
	done
	before=$(figure bpf "$TOOL_PID" | awk '{ print $1 }')
	sleep "$JAVA_S"
	after=$(figure bpf "$TOOL_PID" | awk '{ print $1 }')
	kill -INT "$TOOL_PID"
	wait $LAUNCH
	"$PROBEE" report trace --csv -q | python3 -S -c '
import datetime, re, sys
t = []
for line in sys.stdin:
    c = line.split("|")
    frames = c[5].split(";")
    if len(frames) > 20:
        t.append((datetime.datetime.fromisoformat(c[0]).timestamp(), sum(not f.split("+")[0].endswith("_[i]") for f in frames)))
seconds = t[-1][0] - t[0][0]
print(int(sys.argv[1]) / (len(t) * float(sys.argv[2]) / seconds), sum(n for _, n in t) / len(t))' $((after - before)) "$JAVA_S"
}

# java_cost NAME ARG...: of JavaDeep with these options
java_cost() {
	local name=$1 few many
	shift
	start_command java "$@" -cp "$bin" JavaDeep 40
	few=$(java_window)
	finish "$PID"
	start_command java "$@" -cp "$bin" JavaDeep 240
	many=$(java_window)
	finish "$PID"
	record "BPF ns a frame" "$name" "$(awk "BEGIN { split(\"$few $many\", v); print (v[3] - v[1]) / (v[4] - v[2]) }")"
	record "BPF us a sample, 240 deep" "$name" "$(awk "BEGIN { split(\"$many\", v); print v[1] / 1e3 }")"
}

start_command() {
	local fd word
	exec {fd}< <(exec "$@")
	STARTED+=($!)
	read -r -t 60 -u "$fd" word PID _ || { say "$1 did not get ready"; exit 1; }
}

if have java && have javac && javac --release 11 -d "$bin" "$root/tests/workloads/JavaDeep.java"; then
	stats_were=$(cat /proc/sys/kernel/bpf_stats_enabled)
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	for round in $(seq "$ROUNDS"); do
		java_cost interpreted -Xint
		java_cost "compiled by C1" -XX:TieredStopAtLevel=1
		java_cost compiled
	done
	echo "$stats_were" >/proc/sys/kernel/bpf_stats_enabled
else
	say "java: no JDK"
fi
