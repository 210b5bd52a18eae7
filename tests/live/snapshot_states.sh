#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/base/task_state.c src/capture
# core: yes
# beside: live
# Scheduler states are those that ps shows, and each kind of thread has the stacks that it should.
. "$(dirname "$0")/lib.sh"

start states
main=$PID
pids=
declare -A of
for pair in $READY; do
	of[${pair%=*}]=${pair#*=}
	pids+=${pair#*=},
	STARTED+=("${pair#*=}")
done
snapshot -p "$main,${pids%,}" -F 10 -i 5 -o states.pbz
check "exit status" equal "$RC" 0
csv states.pbz >states.csv
want=()
for letter in "${!of[@]}"; do want+=("${of[$letter]}=$letter"); done
check "states" stacks states states.csv "$main=S" "${want[@]}"
for letter in R S T t D; do
	check "$letter: row in each walk" equal "$(stacks rows states.csv "${of[$letter]}")" 5
done
for letter in S T t D; do
	check "$letter: to the root" stacks rooted states.csv "${of[$letter]}"
done
check "R: to the root" stacks rooted states.csv "${of[R]}"
check "Z: row in each walk" equal "$(stacks rows states.csv "${of[Z]}")" 5
check "Z: no user frames" not grep -q "|${of[Z]}|.*|state_zombie" states.csv

# user LETTER NAME: the stack of that child goes through NAME.
user() { awk -F'|' -v pid="${of[$1]}" -v name="$2" '
	$3 == pid { n++; if ((";" $6) ~ (";" name "\\+0x")) ok++ }
	END { print ok + 0 " of " n; exit !(n && ok == n) }' states.csv; }
check "R: stack" user R state_running
check "S: stack" user S state_sleeping
check "T: stack" user T state_stopped
check "t: stack" user t state_traced
check "D: stack" user D state_disk
for letter in S T t D; do
	check "$letter: kernel stack" stacks kstacks states.csv "${of[$letter]}" 100
done
finish "$main"

# Kernel threads: rows without a user stack, with a kernel stack.
snapshot -a -i 1 --include-idle -o kthreads.pbz
csv kthreads.pbz >kthreads.csv
check "kernel thread: kthreadd" grep -qE '^[^|]*\|2\|2\|kthreadd\|[^|]*\|\[[^|]*\]\|[^|]+' kthreads.csv
snapshot -a -i 1 -o no-kthreads.pbz
csv no-kthreads.pbz >no-kthreads.csv
check "idle kernel threads when asked for" at_least "$(grep -c '^[^|]*|[^|]*|[^|]*|[^|]*|IDLE|' kthreads.csv)" 5
check "idle kernel threads only then" equal "$(grep -c '^[^|]*|[^|]*|[^|]*|[^|]*|IDLE|' no-kthreads.csv)" 0

# A thread that has called exec, and a process whose leader has ended.
start leaderless
snapshot -p "$PID" -F 10 -i 3 -o leaderless.pbz
csv leaderless.pbz >leaderless.csv
check "leader is dead: both threads" equal "$(stacks tids leaderless.csv "$PID" | wc -l)" 2
check "leader is dead: Z" stacks states leaderless.csv "$PID=Z"
check "leader is dead: the other one's stack" \
	grep -q 'orphan_leaf+0x.*;orphan_main+0x' leaderless.csv
done_testing
