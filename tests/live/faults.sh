#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/capture
# beside: live
# Threads in unusual conditions: held by a tracer or a freezer, 32-bit, of io_uring, in other namespaces. Each has its rows
# with the state that /proc shows, and its stack is whole or says why not.
# timeout: 200
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"
. "$LIVE/accounting.sh"

letter_of() { sed 's/.*) //; s/ .*//' "/proc/$1/stat"; }

rests() { [ "$(letter_of "$1")" != R ]; }

# looks NAME PID SCANS: snapshots of one process; each scan has its row, with the state of /proc. Makes NAME.csv.
looks() {
	local name=$1 pid=$2 walks=$3 letter
	until_true 5 rests "$pid"	# "ready" is said before it sleeps
	letter=$(letter_of "$pid")
	snapshot -p "$pid" -i "$walks" -F 5 -o "$name.pbz"
	check "$name: exit status" equal "$RC" 0
	csv "$name.pbz" >"$name.csv"
	check "$name: a row in each walk" equal "$(grep -c "|$pid|$pid|" "$name.csv")" "$walks"
	check "$name: $letter as in /proc" stacks states "$name.csv" "$pid=$letter"
}

# --- held by a tracer
for how in attach seize syscall; do
	start traced $how
	looks "ptrace-$how" "$READY" 3
	STARTED+=("$READY")
	check "ptrace-$how: is traced" stacks states "ptrace-$how.csv" "$READY=t"
	check "ptrace-$how: to the root" stacks rooted "ptrace-$how.csv" "$READY"
	check "ptrace-$how: its stack" equal "$(grep -c 'traced_sleep+.*main+' "ptrace-$how.csv")" 3
	finish "$PID"
done

start chain30 sleep
target=$PID
if command -v gdb >/dev/null; then
	mkfifo gdb.in
	hold() { exec gdb -q -nx -iex 'set debuginfod enabled off' -p "$target" <gdb.in >gdb.out 2>&1; }
	background hold
	gdb=$PID
	exec 7>gdb.in
	traced() { [ "$(letter_of "$target")" = t ]; }
	check "gdb: holds it" until_true 20 traced
	looks gdb "$target" 3
	check "gdb: whole" stacks rooted gdb.csv
	check "gdb: its stack" equal "$(grep -c 'f30+.*;f1+' gdb.csv)" 3
	exec 7>&-
	finish $gdb TERM
	until_true 5 not traced
else
	skip_part "gdb is not installed"
fi
if command -v strace >/dev/null; then
	start storm procs 2
	storm=$PID
	background strace -f -qq -o /dev/null -p "$storm"
	strace=$PID
	until_true 10 grep -q "TracerPid:.[1-9]" "/proc/$storm/status"
	all_threads before.tids "$storm"
	snapshot -p "$storm" -F 20 -i 30 -o strace.pbz
	csv strace.pbz >strace.csv
	check "strace: exit status" equal "$RC" 0
	check "strace: who stays has a row in each walk" accounted before.tids strace.csv 30 "$storm"
	check "strace: the three that stay are whole" equal "$(grep -c "|$storm|.*;stay+.*staying" strace.csv)" 90
	finish $strace TERM
	finish "$storm"
else
	skip_part "strace is not installed"
fi

# --- stopped by SIGSTOP, and frozen by a cgroup of the second version
kill -STOP "$target"
looks stopped "$target" 3
check "stopped: is T" stacks states stopped.csv "$target=T"
check "stopped: whole" stacks rooted stopped.csv
kill -CONT "$target"

cgroup2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -z "$cgroup2" ]; then
	mkdir -p mnt && mount -t cgroup2 none mnt 2>/dev/null && cgroup2=$T/mnt
fi
group=$cgroup2/probee-test-$$
frozen() { grep -qx 'frozen 1' "$group/cgroup.events"; }
if [ -n "$cgroup2" ] && mkdir "$group" 2>/dev/null && [ -e "$group/cgroup.freeze" ]; then
	start threads 20 sleep
	crowd=$PID
	echo "$target" >"$group/cgroup.procs"
	echo "$crowd" >"$group/cgroup.procs"
	echo 1 >"$group/cgroup.freeze"
	check "cgroup v2: frozen" until_true 5 frozen
	looks frozen2 "$target" 3
	check "cgroup v2: whole" stacks rooted frozen2.csv
	snapshot -p "$crowd" -F 5 -i 2 -o crowd2.pbz
	csv crowd2.pbz >crowd2.csv
	check "cgroup v2: 21 frozen threads" equal "$(stacks rows crowd2.csv)" 42
	check "cgroup v2: all whole" stacks rooted crowd2.csv
	echo 0 >"$group/cgroup.freeze"
	finish "$crowd"
	echo $$ >"$cgroup2/cgroup.procs"
else
	skip_part "no cgroup v2 that can be frozen here"
fi
finish "$target"
rmdir "$group" 2>/dev/null

# --- 32-bit
if [ -x "$WORKLOADS/compat32" ] && timeout 1 "$WORKLOADS/compat32" 2>/dev/null | head -1 | grep -q ready; then
	start compat32
	looks compat32 "$PID" 2
	check "32-bit: says so, and has its kernel stack" equal \
		"$(grep -cE '\|compat32\|SLEEP\|\[compat32\]\|[^|]*pause[^|]*;' compat32.csv)" 2
	sample -p "$PID" -d 1 -o sample32.pbz
	check "32-bit: sample does not stumble" equal "$RC" 0
	finish "$PID"
else
	skip_part "no 32-bit programs here"
fi

# --- a worker of io_uring: a thread of the process that was never in user space
if timeout 1 "$WORKLOADS/uring" 2>/dev/null | head -1 | grep -q ready; then
	start uring
	snapshot -p "$PID" -F 5 -i 3 -o uring.pbz
	csv uring.pbz >uring.csv
	check "io_uring: the worker's rows" equal "$(grep -c "|$READY|$PID|iou-wrk" uring.csv)" 3
	check "io_uring: without user stack, with the kernel's" equal \
		"$(grep "|$READY|$PID|" uring.csv | grep -cE '\|\[kthread\]\|[^|]*io_w[^|]*;')" 3
	check "io_uring: state as in /proc" stacks states uring.csv "$READY=$(letter_of "$READY")"
	check "io_uring: the thread itself is whole" equal "$(grep -c "|$PID|$PID|.*own_thread+.*main+" uring.csv)" 3
	finish "$PID"
else
	skip_part "no io_uring here"
fi

# --- a program in another mount namespace and root; this namespace has another file at the same path
mkdir -p jail
cp "$WORKLOADS/twochains" jail/program
in_jail() {
	exec unshare -m bash -c "mount -t tmpfs none '$T/jail' && cp '$WORKLOADS/chain30_static' '$T/jail/program' &&
		exec chroot '$T/jail' /program sleep"
}
if unshare -m mount -t tmpfs none jail 2>/dev/null; then
	background in_jail >jail.out
	jailed=$PID
	check "mount namespace: starts" until_true 10 grep -q ready jail.out
	looks jail "$jailed" 2
	check "mount namespace: names of its own file" equal "$(grep -c 'f30+.*;f1+.*main+' jail.csv)" 2
	check "mount namespace: whole" stacks rooted jail.csv
	sample -a -F 999 -d 1 -o jail2.pbz
	check "mount namespace: sample beside it" equal "$RC" 0
	finish "$jailed"
	# Its file is reached through /proc/PID/map_files or, without the right to that, through /proc/PID/root.
	background unshare -m bash -c "mount -t tmpfs none '$T/jail' && cp '$WORKLOADS/brief' '$T/jail/hidden' &&
		exec '$T/jail/hidden' 100000" >/dev/null
	until_true 10 grep -qx hidden "/proc/$PID/comm"
	check "mount namespace: its file is nowhere else" not test -e jail/hidden
	few=-all,+bpf,+perfmon,+sys_ptrace,+dac_read_search,+syslog
	for rights in "" "setpriv --bounding-set=$few --inh-caps=$few"; do
		# shellcheck disable=SC2086
		$rights "$PROBEE" sample -p "$PID" -F 499 -d 1 -o hidden.pbz 2>err
		check "mount namespace: sample${rights:+ without more rights}" equal $? 0
		folded hidden.pbz >hidden.folded
		check "mount namespace: names of samples" stacks share hidden.folded "main;brief_outer;brief_leaf" --comm hidden --min 20
	done
	finish "$PID"
else
	skip_part "no mount namespaces here"
fi

# --- another time namespace, whose clocks differ; the clocks of this one count
if unshare -T --boottime 1000000 --monotonic 1000000 --fork true 2>/dev/null; then
	background unshare -T --boottime 1000000 --monotonic 1000000 --fork --kill-child "$WORKLOADS/chain30" sleep >/dev/null
	until_true 5 pgrep -P "$PID" -x chain30
	inside=$(pgrep -P "$PID" -x chain30)
	sleep 0.2
	looks time "$inside" 3
	check "time namespace: whole" stacks rooted time.csv
	check "time namespace: dates are ours" equal "$(grep -c "^$(date +%Y-%m-)" time.csv)" 3
	finish "$PID"
else
	skip_part "no time namespaces here"
fi

# --- every thread's state against /proc, zombies and idle kernel threads among them
start states
for pair in $READY; do STARTED+=("${pair#*=}"); done
states=$PID
for try in 1 2 3; do
	python3 "$LIVE/letters.py" stats "$(basename "$HIDDEN")" >before.txt
	snapshot -a --include-idle -i 1 -o letters.pbz
	python3 "$LIVE/letters.py" stats "$(basename "$HIDDEN")" >after.txt
	csv letters.pbz >letters.csv
	python3 "$LIVE/letters.py" judge before.txt after.txt letters.csv >judged && break
done
check "all threads: the letters of /proc" python3 "$LIVE/letters.py" judge before.txt after.txt letters.csv
for letter in R S T t D Z I; do
	check "all threads: $letter is among them" grep -q " $letter\$" before.txt
done
grep -q ' P$' before.txt || skip_part "no parked thread on this machine"
finish "$states"

# With -a idle kernel threads are left out and counted; threads that sleep or wait for the disk are not left out.
kthreads_in_d() { awk 'FNR == 1 { d = 0 } /^State:.D/ { d = 1 } /^PPid:.2$/ && d { print FILENAME }' /proc/[0-9]*/status \
	2>/dev/null | cut -d/ -f3 | sort; }
kthreads_in_d >d.before
snapshot -a -i 1 -o idle.pbz
csv idle.pbz >idle.csv
hidden=$("$PROBEE" info idle.pbz | sed -nE 's/.* ([0-9]+) idle kernel threads .*/\1/p')
check "idle kernel threads: none has a row" equal "$(grep -c '|IDLE|' idle.csv)" 0
check "idle kernel threads: counted" at_least "$hidden" 5
check "idle kernel threads: as many as /proc has (of $hidden)" at_most \
	"$(($(grep -c ' I$' after.txt) - hidden > 0 ? $(grep -c ' I$' after.txt) - hidden : hidden - $(grep -c ' I$' after.txt)))" 3
check "kernel threads that are not idle have rows" at_least "$(grep -cE '\|(SLEEP|DISK)\|\[kthread\]\|' idle.csv)" 1
kthreads_in_d >d.after
comm -12 d.before d.after >d.tids
if [ -s d.tids ]; then
	d=$(head -1 d.tids)
	check "kernel threads in D have rows" grep -qE "\|$d\|$d\|[^|]*\|DISK\|\[kthread\]\|" idle.csv
else
	skip_part "no kernel thread in D on this machine"
fi
done_testing
