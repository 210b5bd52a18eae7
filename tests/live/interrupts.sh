#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/collectors src/capture/waits
# core: yes
# Time in handlers of interrupts (-e irq): as much as bpftrace finds, as many as the kernel counts, at the right places.
. "$(dirname "$0")/lib.sh"

# Packets from this machine to itself are received in soft interrupts.
cat >packets.py <<'E2'
import socket, sys, time
r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
r.bind(("127.0.0.1", 0))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.monotonic() + float(sys.argv[1])
n = 0
while time.monotonic() < end:
    for _ in range(64):
        s.sendto(b"x" * 1000, r.getsockname())
    n += 64
    time.sleep(0.001)
print(n)
E2

# folded NAME [OPTION]...: stacks by vector, as "NAME-OF-VECTOR;function;..." microseconds.
folded() { "$PROBEE" report "$1.pbz" --event irq --collapse "${@:2}" 2>>"$T/err" | sed 's/^interrupt;//'; }
# of_vector FILE VECTOR: the sum of its stacks, in microseconds.
of_vector() { awk -v v="$2" 'index($0, v ";") == 1 || index($0, v " ") == 1 { s += $NF } END { printf "%.0f\n", s }' "$1"; }
# The same to the nanosecond.
exact() { "$PROBEE" report "$1.pbz" --event irq --json 2>>"$T/err" | python3 -c 'import json, sys; print("all", json.load(sys.stdin)["value"])'; }
meta() { "$PROBEE" info "$1.pbz" --json 2>>"$T/err" | python3 -c 'import json, sys
print(dict(w.split("=") for w in json.load(sys.stdin)["meta"]["irq"].split())[sys.argv[1]])' "$2"; }

softirqs() { awk -v v="$1:" '$1 == v { for (i = 2; i <= NF; i++) s += $i } END { printf "%.0f\n", s }' /proc/softirqs; }

# What bpftrace says of the same time. It is there before and after, but packets come only in between.
if [ -r /sys/kernel/tracing/events/irq ] || [ -r /sys/kernel/debug/tracing/events/irq ]; then
	command -v bpftrace >/dev/null && background bpftrace -q --unsafe -o peer.out -e 'interval:ms:200 { system("touch begun"); }
		tracepoint:irq:softirq_entry { @at[cpu] = nsecs; }
		tracepoint:irq:softirq_exit /@at[cpu]/ { @us[args->vec] = sum((nsecs - @at[cpu]) / 10); @runs[args->vec] = count(); delete(@at[cpu]); }'
	PEER=$PID
	until_true 20 test -e begun || PEER=
	sleep 0.5
fi
before=$(softirqs NET_RX)
sample -a -e irq -v -o net.pbz -- python3 packets.py 2 >net.out
after=$(softirqs NET_RX)
cp "$T/err" net.err
[ -z "${PEER:-}" ] || finish "$PEER" INT
check "exit status" equal "$RC" 0
check "nothing lost" not grep -q ' lost' net.err
folded net >net.folded
check "soft interrupts by their names" grep -q '^softirq NET_RX;' net.folded
check "where in the handler" grep -q '^softirq NET_RX;.*;net_rx_action_\[k\];.*process_backlog_\[k\];' net.folded
check "the path to it" grep -q '^softirq NET_RX;entry_SYSCALL_64.*sendto.*;do_softirq' net.folded
check "interrupts of the timer" grep -q '^irq local_timer;' net.folded
check "those that only probee has caused are told apart" grep -q '^irq local_timer (ticks of probee);' net.folded
check "of a hardware interrupt, no part of what it interrupted" not grep -q '^irq [^;]*;[^ ]*\(entry_SYSCALL_64\|do_idle\|cpu_startup_entry\)' net.folded
check "the weights are all of the time" equal "$(exact net | awk '{ printf "%.0f", $2 / 1000 }')" "$(awk -v n="$(meta net ns)" 'BEGIN { printf "%.0f", n / 1000 }')"
check "each run is counted" equal "$(meta net runs)" $(($(meta net counted) + $(meta net of_others)))
packets=$(cat net.out)
# A handler may take several packets at once; there is one for at least each 64 of them.
check "as many runs as the kernel counts, or more because of others" awk -v runs="$(meta net counted)" -v kernel=$((after - before)) -v packets="$packets" \
	'BEGIN { printf "%d runs of all, %d of NET_RX by the kernel, %d packets", runs, kernel, packets; exit !(runs >= kernel * 0.98 && kernel > packets / 64) }'
if [ -n "${PEER:-}" ]; then
	# Sums of tens of nanoseconds, which are whole numbers there; a stolen CPU counts for both.
	theirs=$(awk '$1 == "@us[3]:" { printf "%.0f\n", $2 / 100 }' peer.out)
	check "as much time as bpftrace finds" awk -v ours="$(of_vector net.folded 'softirq NET_RX')" -v theirs="$theirs" \
		'BEGIN { printf "%d us, bpftrace %d us", ours, theirs; exit !(ours > theirs * 0.6 && ours < theirs * 1.25) }'
fi

sample -e irq -v -o mine.pbz -- python3 packets.py 1 >/dev/null
check "of one process: those that interrupted it" awk -v c="$(meta mine counted)" -v o="$(meta mine of_others)" 'BEGIN { printf "%d, %d of others", c, o; exit !(c > 0 && o > 0) }'
sample -a -e irq,cpu-clock -F 199 -o both.pbz -- python3 packets.py 1 >/dev/null
check "beside samples of the CPU" grep -q 'cpu-clock' <("$PROBEE" info both.pbz 2>>"$T/err")
check "both are in the trace" awk -v s="$("$PROBEE" report both.pbz --event cpu-clock --collapse 2>/dev/null | wc -l)" -v i="$("$PROBEE" report both.pbz --event irq --collapse | wc -l)" \
	'BEGIN { exit !(s > 0 && i > 0) }'
sample -a -e irq -C 0 -d 1 -o cpu0.pbz
check "-C: only those of this CPU" equal "$("$PROBEE" report cpu0.pbz --by cpu --collapse 2>>"$T/err" | cut -d';' -f1 | sort -u | tr '\n' ' ')" "CPU 0 "
check "and the weights are their time" equal "$(exact cpu0 | awk '{ printf "%.0f", $2 / 1000 }')" "$(awk -v n="$(meta cpu0 ns)" 'BEGIN { printf "%.0f", n / 1000 }')"
sample -a -e cpu-clok -d 1 -o none.pbz
check "it is in the list of events" grep -q 'or one of .*, irq$' "$T/err"
