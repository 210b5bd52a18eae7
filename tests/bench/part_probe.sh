# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What a uprobe on a hot function and --off-cpu cost, and how many events a second one thread can have. A program calls a function as often as it can, 15 calls deep, or passes a byte
# to and fro between two threads of one CPU; "added" is what a call or a switch takes longer than without any tool. bpftrace keeps
# ustack (frame pointers: one or two frames here), and for switches kstack, too; probee whole stacks. "bare" is a uprobe whose BPF
# program does nothing: what the kernel's trap costs. "lost" is a share of all calls. bpftrace needs tracefs for switches.

gcc -std=gnu11 -O2 -fomit-frame-pointer -D_GNU_SOURCE "$here/pingpong.c" -lpthread -o "$bin/pingpong" || cannot "pingpong could not be built"
gcc -std=gnu11 -O2 -D_GNU_SOURCE "$here/bare_uprobes.c" -o "$bin/bare_uprobes" || cannot "bare_uprobes could not be built"
PROBE_S=${PROBE_S:-2}
hot=0x$(nm "$bin/pingpong" | awk '$3 == "hot" { print $1 }')

# ns WORD COMMAND...: what pingpong says below a tool.
ns() {
	local word=$1
	shift
	timeout 60 "$@" 2>tool.err | awk -v w="$word" '$1 == w { print $2 }'
}

# below_bpftrace SCRIPT ARG...: pingpong while the script runs.
below_bpftrace() {
	local script=$1 tries=100 pid
	shift
	bpftrace -e "$script" >bt.out 2>bt.err &
	pid=$!
	STARTED+=("$pid")
	until grep -q Attaching bt.out bt.err || [ $((tries--)) = 0 ]; do sleep 0.1; done
	sleep 1
	timeout 60 "$bin/pingpong" "$@"
	kill -INT "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

base=$(ns call_ns "$bin/pingpong" 1 call) switch=$(ns switch_ns "$bin/pingpong" 1)
for _ in $(seq "$ROUNDS"); do
	if have bpftrace; then
		v=$(below_bpftrace "uprobe:$bin/pingpong:hot { @[ustack] = count(); }" "$PROBE_S" call | awk '$1 == "call_ns" { print $2 }')
		[ -z "$v" ] || record 'uprobe: ns added to each call' bpftrace "$(calc "$v - $base")"
	fi
	v=$("$bin/bare_uprobes" "$bin/pingpong" "$hot" -- "$bin/pingpong" "$PROBE_S" call | awk '$1 == "call_ns" { print $2 }')
	[ -z "$v" ] || record 'uprobe: ns added to each call' bare "$(calc "$v - $base")"
	"$PROBEE" sample -v -e "u:$bin/pingpong:hot" -o hot.pbz -- "$bin/pingpong" "$PROBE_S" call >hot.out 2>hot.err
	record 'uprobe: ns added to each call' probee "$(calc "$(of hot.out call_ns) - $base")"
	record 'uprobe: calls a second' probee "$(calc "$(of hot.out calls) / $PROBE_S")"
	fired=$(sed -n 's/.*fired=\([0-9]*\).*/\1/p' hot.err) refused=$(sed -n 's/.*refused=\([0-9]*\).*/\1/p' hot.err)
	record 'uprobe: lost' probee "$(calc "$refused / $fired")"
	"$PROBEE" sample -v -e raw_tp:sys_enter -o sys.pbz -- "$bin/pingpong" "$PROBE_S" sys >sys.out 2>sys.err
	record 'raw_tp: events a second of one thread' probee "$(calc "$(of sys.out calls) / $PROBE_S")"
	refused=$(sed -n 's/.*refused=\([0-9]*\).*/\1/p' sys.err) fired=$(sed -n 's/.*fired=\([0-9]*\).*/\1/p' sys.err)
	record 'raw_tp: lost' probee "$(calc "$refused / $fired")"
	record 'raw_tp: added up in the kernel' probee "$(calc "$(sed -n 's/.*summed=\([0-9]*\).*/\1/p' sys.err) / $fired")"
	if have bpftrace; then
		v=$(below_bpftrace 'tracepoint:sched:sched_switch /comm == "pingpong"/ { @t[tid] = nsecs; @k[tid] = kstack; @u[tid] = ustack; }
			tracepoint:sched:sched_switch /@t[args->next_pid]/ { @[@k[args->next_pid], @u[args->next_pid]] = sum(nsecs - @t[args->next_pid]); delete(@t[args->next_pid]); }' \
			"$PROBE_S" | awk '$1 == "switch_ns" { print $2 }')
		[ -z "$v" ] || record 'off-cpu: ns added to each switch' bpftrace "$(calc "$v - $switch")"
	fi
	v=$(ns switch_ns "$PROBEE" sample --off-cpu --off-cpu-budget 100 -q -o off.pbz -- "$bin/pingpong" "$PROBE_S")
	record 'off-cpu: ns added to each switch' probee "$(calc "$v - $switch")"
	v=$(ns switch_ns "$PROBEE" sample --off-cpu -q -o off.pbz -- "$bin/pingpong" "$PROBE_S")
	record 'off-cpu: ns added to each switch' 'probee, usual budget' "$(calc "$v - $switch")"
done
