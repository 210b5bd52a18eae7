#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind src/elf_unwind src/capture/stacks bpf
# beside: live
# Stacks that are hard to unwind: signal handlers on both kinds of stack, realigned frames, code made at run time, leaves
# without a frame, a process without its leader, a library that is opened late and again and again.
. "$(dirname "$0")/lib.sh"

for how in alt same; do
	start sigalt $how
	sample -p "$PID" -F 499 -d 1 -o signal.pbz
	folded signal.pbz >signal.folded
	check "$how stack: handler" stacks share signal.folded "on_signal;handler_mid;handler_leaf"
	check "$how stack: below the trampoline" stacks share signal.folded "main;outer;inner" --of handler_leaf
	check "$how stack: _start" stacks share signal.folded _start --of handler_leaf
	finish "$PID"
	start sigalt_fp $how
	snapshot --unwind fp -p "$PID" -F 100 -i 60 -o signal.pbz
	folded signal.pbz >signal.folded
	check "$how stack, by frame pointers: what the signal interrupted is there" stacks like signal.folded \
		".*main;outer;inner;[^;]*;on_signal;handler_mid;handler_leaf" --of handler_leaf --percent 90
	finish "$PID"
done

# Return addresses that no call pushed; and behind a call that is the last instruction of its function. The number of rows
# of a snapshot does not depend on how busy the machine is.
first_byte() {
	start firstbyte "$1"
	snapshot -p "$PID" -F 100 -i 60 -o first.pbz
	folded first.pbz >first.folded
	check "first byte: $1" stacks like first.folded "$2" --of spin --percent 90
	finish "$PID"
}
if [ "$(uname -m)" = x86_64 ]; then
	for how in plain close cfi; do
		first_byte $how "_start;.*;main;by_restorer;interrupted;${how}_restorer;on_signal;inner;spin"
	done
	first_byte thread "stack_end;body;inner;spin"
	first_byte noreturn "_start;.*;main;dies;spin"
fi
start coroutine
sample -p "$PID" -F 1999 -d 1 -o coroutine.pbz
folded coroutine.pbz >coroutine.folded
check "coroutine: libc's code behind makecontext" stacks like coroutine.folded \
	"(__start_context|\[libc.so.6\+0x[0-9a-f]*[048c]\]);body;inner;spin_a" --of spin_a
finish "$PID"

start drap
sample -p "$PID" -F 499 -d 1 -o drap.pbz
folded drap.pbz >drap.folded
seven="realigned;realigned;realigned;realigned;realigned;realigned;realigned"
check "realigned frames" stacks share drap.folded "main;$seven;drap_leaf"
check "realigned frames: _start" stacks share drap.folded _start --of drap_leaf
finish "$PID"

# Stacks through _dl_runtime_resolve, and while the unwinder of C++ discards frames.
for workload in lazy throws; do
	[ "$(uname -m)" = x86_64 ] || break
	start $workload
	sample -p "$PID" -F 499 -d 2 -o $workload.pbz
	folded $workload.pbz >$workload.folded
	check "$workload: whole" stacks like $workload.folded '_start;.*;main(;(bind|day).*)?' --percent 99.5
	finish "$PID"
done

start leaderless
sample -p "$PID" -F 499 -d 1 -o leaderless.pbz
folded leaderless.pbz >leaderless.folded
check "leader is dead" stacks share leaderless.folded "orphan_main;orphan_leaf"
finish "$PID"

start late "$WORKLOADS/plugin.so"
(sleep 1.5; kill -USR1 "$PID") &
sample -p "$PID" -F 499 -d 4 -o late.pbz
folded late.pbz >late.folded
check "opened late" stacks share late.folded "main;host_call;plugin_entry;plugin_mid;plugin_leaf" \
	--percent 97
check "before that" stacks share late.folded "main;before_open"
finish "$PID"

start late "$WORKLOADS/plugin.so" again
kill -USR1 "$PID"
sample -p "$PID" -F 499 -d 2 -o again.pbz
folded again.pbz >again.folded
check "opened again and again" stacks share again.folded \
	"main;host_call;plugin_entry;plugin_mid;plugin_leaf" --percent 90
finish "$PID"

# What is remembered of one (unwind/unwind_memo.h) is wrong for the other: then it is half of the stacks that end there.
start late "$WORKLOADS/plugin_mid_1000.so" again "$WORKLOADS/plugin_mid_2000.so"
kill -USR1 "$PID"
sample -p "$PID" -F 999 -d 2 -o turns.pbz
folded turns.pbz >turns.folded
check "two libraries by turns at the same addresses" stacks share turns.folded \
	"main;host_call;plugin_entry;plugin_mid;plugin_leaf" --percent 85
finish "$PID"

if [ "$(uname -m)" = x86_64 ]; then
	# Code without unwind tables that spends its time in prologues, epilogues and functions without a frame.
	calls='framed(;inside)?|(direct|through_pointer)(;(add|mix|twice))?|direct;branch(;(add|mix))?'
	for workload in leaves leaves_frameless leaves_endbr leaves_O1; do
		for unwind in auto fp; do
			start $workload
			sample -p "$PID" -F 999 -d 1 --unwind $unwind -o leaves.pbz
			folded leaves.pbz >leaves.folded
			finish "$PID"
			check "$workload $unwind: no caller is lost, none invented" \
				stacks like leaves.folded "([^;]*;){0,3}main;work(;($calls))?"
		done
	done

	start jit
	sample -p "$PID" -F 499 -d 1 -o jit.pbz
	folded jit.pbz >jit.folded
	check "run-time code: its caller is found" stacks share jit.folded "main;run_jit" --of run_jit
	check "run-time code is named" stacks share jit.folded "main;run_jit;jit_spin"
	finish "$PID"
	rm -f "/tmp/perf-$PID.map"

	sample -F 999 -o stackless.pbz -- "$WORKLOADS/stackless" 3
	check "no memory where the stack should be: exit status" equal "$RC" 0
	check "no memory where the stack should be: sampled" at_least \
		"$("$PROBEE" info stackless.pbz | sed -n 's/^ *\([0-9]*\) .* read-fp .*/\1/p' | head -n 1)" 100
	check "no memory where the stack should be: nothing lost" bash -c "grep -q 'stacks whole' '$T/err' && ! grep -q 'losses: [0-9,]* sample' '$T/err'"
fi
# Compiled Java has no frame pointers: frame sizes come from its prologues.
if [ "$(uname -m)" != x86_64 ] || [ ! -e "$WORKLOADS/Deep.class" ] || ! command -v java >/dev/null; then
	skip_part "no Java here, or not x86-64"
else
	# Without the first compiler, whose code has more frames, and without waiting for the second one, which a busy machine delays.
	start "$(command -v java)" -XX:-TieredCompilation -Xbatch -cp "$WORKLOADS" Deep
	sample -p "$PID" -F 499 -d 2 -o java.pbz
	whole=$(sed -n 's/.* \([0-9]*\)[.0-9]* % of user stacks whole.*/\1/p' "$T/err")
	check "compiled Java: per cent of whole stacks" at_least "${whole:-0}" 98
	folded java.pbz --offsets >java.folded
	# One level of the recursion is inlined, 10 are left: a frame that calls itself nine times and is interrupted.
	check "compiled Java: the recursion" awk '
		{ n = split($0, f, ";"); run = 1; best = 1
		  for (i = 2; i < n; i++) { run = f[i] == f[i - 1] ? run + 1 : 1; best = run > best ? run : best }
		  if (best == 9) deep += $NF; if (best > 9) deeper += $NF }
		END { print deep " samples in it, " deeper + 0 " deeper"; exit !(deep >= 20 && deeper * 100 <= deep) }' java.folded
	finish "$PID"
fi
done_testing
