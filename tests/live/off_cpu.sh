#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/collectors src/capture/waits src/recording
# core: yes
# Time off the CPU (--off-cpu): as much as the threads themselves say, at the right places, all of it accounted for.
. "$(dirname "$0")/lib.sh"

# off_cpu NAME OPTION... -- COMMAND...: records; NAME.out has the command's own figures, NAME.err what probee said.
off_cpu() {
	local name=$1
	shift
	timeout -k 5 40 "$PROBEE" sample --off-cpu --off-cpu-budget 100 -o "$name.pbz" -v "$@" >"$name.out" 2>"$name.err"
	RC=$?
	cp "$name.err" "$T/err"
}

# microseconds NAME EVENT THREAD: the sum over all stacks of a thread; samples of cpu-clock.
microseconds() {
	"$PROBEE" report "$1.pbz" --event "$2" --by thread --collapse 2>>"$T/err" |
		awk -v t="$3" '{ split($0, f, ";"); n = f[1]; sub(/ \([0-9]*\)$/, "", n); if (n == t) sum += $NF } END { printf "%.0f\n", sum }'
}

# same_time NAME THREAD PERCENT: asleep and waiting for a CPU is what the thread says it was off the CPU.
same_time() {
	awk -v a="$(microseconds "$1" off-cpu "$2")" -v w="$(microseconds "$1" cpu-wait "$2")" -v s="$(awk -v t="$2" '$2 == t { print $3 }' "$1.out")" \
		-v most="$3" 'BEGIN { d = (a + w) / 1e6 - s; printf "%.4f s asleep, %.4f s waiting, %.4f s by its own clocks", a / 1e6, w / 1e6, s
			exit !(s > 0 && d * d <= (most / 100 * s + 0.006) ^ 2) }'
}

# identity NAME: what left the CPU is recorded, or counted as why not.
identity() {
	"$PROBEE" info "$1.pbz" --json 2>>"$T/err" | python3 -c '
import json, sys
text = [v for k, v in json.load(sys.stdin)["meta"].items() if k == "off_cpu"][0]
c = {k: int(v) for k, v in (w.split("=") for w in text.split())}
print(text)
left_out = c["idle"] + c["of_others"] + c["outside"] + c["not_chosen"] + c["passed_over"] + c["no_room"]
sys.exit(c["left"] != left_out + c["stacks"] or "misled" in c or c["back"] + c["out_of_limits"] > c["stacks"] + c["asleep_before"])'
}

off_cpu all -- "$WORKLOADS/naps" 3
check "exit status" equal "$RC" 0
# Each of its 3,000 stays is some 10 us longer to us than to the accounts of the kernel.
check "a thread that sleeps" same_time all napper 2
check "one that does not: no more than it says" awk -v w="$(microseconds all cpu-wait spinner)" -v s="$(awk '$2 == "spinner" { print $3 }' all.out)" \
	'BEGIN { printf "%.4f s of %.4f", w / 1e6, s; exit !(w > 0 && w / 1e6 <= s * 1.05 + 0.005) }'
check "every stay is accounted for" identity all
check "nothing lost" not grep -q 'losses:' all.err
"$PROBEE" report all.pbz --collapse --no-inline >all.folded 2>>"$T/err"
chain="descend$(printf ';descend%.0s' {1..20});take_a_nap"
check "20 calls deep" stacks share all.folded "$chain" --of descend --min 1000000
check "the lock that is waited for" stacks share all.folded "locker;hold" --of hold --min 1000000
# Stays that end before the tables of a new program are there may lack a few frames, and are counted.
check "to the root" python3 -S -c 'import json, subprocess, sys
stacks = json.loads(subprocess.check_output([sys.argv[1], "info", "all.pbz", "--json"]))["stacks"]
print(stacks)
assert stacks["user"] > 3000 and stacks["user"] - stacks["whole"] <= 10' "$PROBEE"
check "a report says the time of waiting for a CPU beside it" bash -c "'$PROBEE' report -q all.pbz --text 2>/dev/null | grep -qE '^time +.* s in .*; cpu-wait: .*s more'"
check "a sleep from the start to the end" awk -v us="$(microseconds all off-cpu late)" 'BEGIN { printf "%.3f s", us / 1e6; exit !(us > 2.8e6 && us < 3.3e6) }'

# The kernel's own account of how long threads waited for a CPU.
start naps 60
before=$(awk '{ sum += $2 } END { printf "%.0f\n", sum }' /proc/"$PID"/task/*/schedstat)
off_cpu busy -p "$PID" -d 2
after=$(awk '{ sum += $2 } END { printf "%.0f\n", sum }' /proc/"$PID"/task/*/schedstat)
check "waiting for a CPU: no more than the kernel says" awk -v k=$((after - before)) \
	-v ours="$("$PROBEE" report busy.pbz --event cpu-wait --collapse 2>/dev/null | awk '{ s += $NF } END { printf "%.0f\n", s }')" \
	'BEGIN { printf "%.1f ms of %.1f", ours / 1e3, k / 1e6; exit !(ours * 1e3 <= k * 1.05 + 2e6) }'

off_cpu long -p "$PID" -d 1 --min-block-time 3ms
"$PROBEE" report long.pbz --csv >long.csv 2>>"$T/err"
# A few naps of 1 ms become longer because the thread has to wait for a CPU.
check "--min-block-time: the short ones are left out" awk '/descend/ { d++ } /hold/ { h++ } END { print d + 0, "rows of naps,", h, "of locks"; exit !(h > 100 && d < h / 4) }' long.csv
off_cpu brief -p "$PID" -d 1 --max-block-time 3ms
"$PROBEE" report brief.pbz --collapse >brief.folded 2>>"$T/err"
# A thread may be pushed off its CPU just before it sleeps.
check "--max-block-time: the long ones are left out" awk '/hold;take_a_nap/ { h += $NF } { all += $NF } END { print h + 0, "us of", all; exit !(h < 0.02 * all) }' brief.folded
check "and the short ones are there" grep -q take_a_nap brief.folded
off_cpu disk -p "$PID" -d 1 --state D
check "--state D: nobody waits for a disk" grep -q "^probee: nothing was recorded" disk.err
off_cpu chance -p "$PID" -d 2 --off-cpu-prob 0.2
off_cpu whole -p "$PID" -d 2
check "--off-cpu-prob: a fifth of the stays stands for all" awk -v a="$(microseconds chance off-cpu napper)" -v b="$(microseconds whole off-cpu napper)" \
	'BEGIN { printf "%.3f s of %.3f", a / 1e6, b / 1e6; exit !(a > 0.7 * b && a < 1.3 * b) }'
check "those left out are counted, not lost" identity chance
check "nothing is lost" not grep -q 'losses:' chance.err
"$PROBEE" report whole.pbz --text 2>>"$T/err" >whole.txt
check "who waits for a lock is in the function that takes it, not in libc" grep -qE ' locker,.*most of .* in hold \(' whole.txt
finish "$PID"

# CPU samples beside it: both in one trace, and never added.
timeout -k 5 40 "$PROBEE" sample --off-cpu -e cpu-clock -F 499 -o both.pbz -q -- "$WORKLOADS/naps" 2 >both.out 2>"$T/err"
check "with CPU samples" equal $? 0
check "the clock is what is shown" bash -c "'$PROBEE' report both.pbz --text | grep -q 'cpu-clock.*Also recorded: .*off-cpu'"
"$PROBEE" report both.pbz --by thread --collapse >both.folded 2>>"$T/err"
check "on and off the CPU together are the time that has passed" awk -v off="$(microseconds both off-cpu napper)" -v wait="$(microseconds both cpu-wait spinner)" \
	-v on="$(microseconds both cpu-clock spinner)" 'BEGIN { on = on / 499 * 1e6; printf "spinner %.2f s on, %.2f s waiting", on / 1e6, wait / 1e6; s = (on + wait) / 1e6; exit !(s > 1.8 && s < 2.2) }'

# Who wakes them: a lock by the other of the two that take turns, a nap by the timer. What they sleep is what their wakers end.
off_cpu wakers --wakers -- "$WORKLOADS/naps" 2
wakeups() { "$PROBEE" report wakers.pbz --event wakeup --collapse --no-inline 2>>"$T/err"; }
check "wakers: exit status" equal "$RC" 0
wakeups >wakers.folded
check "a lock is given by the other one" stacks like wakers.folded '.*;locker;.*unlock.*;__lll_lock_wake' --of __lll_lock_wake --percent 99
check "a nap is ended by the timer, whoever ran then" awk '/^interrupt;.*;hrtimer_wakeup_\[k\]/ { t += $NF } /^interrupt/ { all += $NF } END {
	printf "%.3f of %.3f s", t / 1e6, all / 1e6; exit !(t > 1.5e6 && t > 0.9 * all) }' wakers.folded
interrupted='^interrupt;.*(entry_SYSCALL|asm_exc_|cpu_startup_entry.*;asm_)'
grep -E "$interrupted" wakers.folded >>"$T/err"
check "interrupts have no part of whom they interrupt" not grep -qE "$interrupted" wakers.folded
sum_of() { "$PROBEE" report wakers.pbz --event "$1" --collapse 2>>"$T/err" | awk '{ s += $NF } END { printf "%.0f\n", s }'; }
check "the time slept is the time ended" awk -v a="$(sum_of off-cpu)" -v b="$(sum_of wakeup)" 'BEGIN { printf "%.3f s slept, %.3f s ended", a / 1e6, b / 1e6; exit !(b > 0.5 * a && b <= a * 1.001) }'
check "wakers: the accounts" identity wakers

# The lock of a process's memory is given on at the end of a page fault, and a parent learns of a child that was killed at
# the end of an interrupt: both are the work of the thread, not of an interrupt.
# Another recording has programs at the same tracepoints, which the kernel then calls in another way.
"$PROBEE" sample --off-cpu -q -d 4 -p $$ -o other.pbz >/dev/null 2>&1 & other=$!
sleep 1
off_cpu faults --wakers -- "$WORKLOADS/map_lock" 2
wait $other
"$PROBEE" report faults.pbz --event wakeup --collapse --no-inline 2>>"$T/err" >faults.folded
check "a page fault gives a lock on" awk '/;touch;asm_exc_page_fault_\[k\];.*wake/ { t += $NF } END { printf "%.3f s", t / 1e6; exit !(t > 10000) }' faults.folded
check "beside another recording: stacks begin behind the function that wakes" not grep -q ';try_to_wake_up_\[k\] ' faults.folded
check "no page fault is an interrupt" not grep -qE "$interrupted" faults.folded
cat >kill.py <<'PY'
import os, signal, time
for i in range(20):
    child = os.fork()
    while not child:
        pass
    time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
PY
off_cpu kill --wakers -- python3 kill.py
"$PROBEE" report kill.pbz --event wakeup --collapse --no-inline 2>>"$T/err" >kill.folded
check "who is killed wakes its parent" awk '/^python3;.*;asm_sysvec_.*;do_exit_\[k\];do_notify_parent/ { own += $NF } /^interrupt;.*;do_exit_/ { other += $NF } END {
	printf "%.0f us, and %.0f of interrupts", own, other; exit !(own > 0 && !other) }' kill.folded

# A packet to oneself is received in a soft interrupt of the sender's own call, so the sender wakes the receiver.
cat >talk.py <<'PY'
import socket, threading, time
a = socket.create_server(("127.0.0.1", 0)); b = socket.create_connection(a.getsockname()); c, _ = a.accept()
def receive():
    while c.recv(1): pass
t = threading.Thread(target=receive); t.start()
for _ in range(200):
    time.sleep(0.005); b.send(b"x")
b.close(); t.join()
PY
off_cpu talk --wakers -- python3 talk.py
"$PROBEE" report talk.pbz --event wakeup --collapse --no-inline 2>>"$T/err" >talk.folded
check "who sends a packet wakes who waits for it" awk '/net_rx_action_\[k\]/ { all += $NF } /;(__libc_send|send|__send);.*net_rx_action_\[k\]/ { s += $NF } END {
	printf "%.3f of %.3f s", s / 1e6, all / 1e6; exit !(s > 0.7e6 && s > 0.9 * all) }' talk.folded

# Stays before there is an unwind table are handed out with memory of the stack: as much of it as of a sample.
cp "$WORKLOADS/large_frames" .
off_cpu large -- ./large_frames
"$PROBEE" report large.pbz --collapse >large.folded 2>>"$T/err"
check "large frames: stacks are whole from the first stay on" stacks like large.folded '.*;main;outer;middle;inner;nap;.*' --of nap --percent 100 --min 100000

# Threads that slept before the recording began: their time is there, at the stack that they sleep at, whether they wake or not.
start threads 20 sleep
off_cpu asleep -p "$PID" -d 2
check "slept before: threads" grep -q 'asleep_before=21,' asleep.err
"$PROBEE" report asleep.pbz --collapse --no-inline >asleep.folded 2>>"$T/err"
check "slept before: all of the time" awk -v d="$(sed -nE 's/.* threads? in ([0-9.]+) s,.*/\1/p' asleep.err)" '{ sum += $NF } END {
	printf "%.3f s of 21 threads in %.1f s", sum / 1e6, d; exit !(d && sum / 1e6 > 21 * (d - 0.06) && sum / 1e6 < 21 * (d + 0.06)) }' asleep.folded
check "slept before: at their stacks" stacks share asleep.folded "_start;__libc_start_main;__libc_start_call_main;main;wait_forever" --of wait_forever --min 1000000
check "slept before: whole" grep -q "100.0 % of user stacks whole" asleep.err
check "slept before: the accounts" identity asleep
finish "$PID"
background python3 -c 'import time; time.sleep(2.5); t = time.time() + 0.5; before = time.process_time()
while time.time() < t: pass
print(time.process_time() - before, file=open("ran", "w"))
time.sleep(60)'
sleep 0.3
timeout 20 "$PROBEE" record --off-cpu -e cpu-clock -F 499 --snap-freq 4 -p "$PID" -d 4 -v -o wakes.pbz >/dev/null 2>wakes.err
check "one that wakes under way: exit status" equal $? 0
on=$("$PROBEE" report wakes.pbz --event cpu-clock --collapse 2>>"$T/err" | awk '{ s += $NF } END { printf "%.0f\n", s }')
off=$(for e in off-cpu cpu-wait; do "$PROBEE" report wakes.pbz --event $e --collapse 2>/dev/null; done | awk '{ s += $NF } END { printf "%.0f\n", s }')
# The process has its CPU time from the kernel. A sample is worth the time since the last one, which on a busy machine is not the
# process's own.
check "on and off a CPU is all of its time" awk -v ran="$(cat ran)" -v off="$off" 'BEGIN { off /= 1e6
	printf "%.3f s on, %.3f s off", ran, off; exit !(ran > 0.02 && ran < 0.6 && ran + off > 3.93 && ran + off < 4.1) }'
check "and was sampled while on it" awk -v ran="$(cat ran)" -v on="$on" 'BEGIN { printf "%d samples in %.3f s", on, ran; exit !(on > 0.5 * 499 * ran) }'
all=$("$PROBEE" report wakes.pbz --event cpu-clock,off-cpu,cpu-wait --json 2>>"$T/err" | python3 -c 'import json, sys; print(json.load(sys.stdin)["value"])')
check "and is shown as one" awk -v ns="$all" -v on="$on" -v off="$off" 'BEGIN { sum = on / 499 + off / 1e6; printf "%.3f s of %.3f s", ns / 1e9, sum
	exit !((ns / 1e9 - sum) ^ 2 < 0.02 ^ 2) }'
"$PROBEE" report wakes.pbz --event cpu-clock,off-cpu,cpu-wait --by state --collapse >states.folded 2>>"$T/err"
check "by state: asleep and running" bash -c "grep -q '^sleeping' states.folded && grep -q '^running' states.folded"
check "and snapshots are as ever" bash -c "[ \$('$PROBEE' report wakes.pbz --event snapshot --csv -q | wc -l) -ge 11 ]"
finish "$PID"

for bad in "--state Q" "--off-cpu-prob 0" "--off-cpu-prob 2" "--min-block-time 3ms --max-block-time 2ms" "--off-cpu-budget 0"; do
	# shellcheck disable=SC2086
	"$PROBEE" sample --off-cpu $bad -d 1 -o bad.pbz 2>"$T/err"
	check "refused: $bad" equal $? 2
done
"$PROBEE" sample --wakers -d 1 -o bad.pbz 2>"$T/err"
check "--wakers is refused without --off-cpu" equal $? 2
"$PROBEE" sample --min-block-time 1ms -d 1 -o bad.pbz 2>"$T/err"
check "refused without --off-cpu" equal $? 2
done_testing
