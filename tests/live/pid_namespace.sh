#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/proc src/capture
# probee inside a PID namespace: it shows the threads of that namespace and those below, with the numbers of that namespace,
# and counts the others. The result is compared with ps in the same namespace.
. "$(dirname "$0")/lib.sh"

unshare -pf --mount-proc true 2>/dev/null || skip "no PID namespaces here"
peers() { python3 -S "$LIVE/peers.py" "$@"; }
child_of() { pgrep -o -P "$1"; }

# Two namespaces, one in the other. Their first processes are shells that wait for orphans. All ends with the outer one.
reaper="sleep 1000 & wait"
background unshare -pf --mount-proc --kill-child bash -c "$reaper"
until_true 10 child_of "$PID"
one=$(child_of "$PID")

# "${enter[@]}" INIT COMMAND...: nsenter, whose child is the command
enter=(nsenter -p -m --wd="$T" -t)
"${enter[@]}" "$one" unshare -pf --mount-proc bash -c "$reaper" &
until_true 10 sh -c "pgrep -P \$(pgrep -P $!)"
waiter=$(child_of $!)
two=$(child_of "$waiter")

# begin INIT NAME ARG...: a workload in the namespace; PID is its number there, GLOBAL the number outside.
begin() {
	"${enter[@]}" "$1" "$WORKLOADS/$2" "${@:3}" >"$2.ready" &
	GLOBAL=$!
	until_true 10 grep -q ^ready "$2.ready" || check "workload $2 gets ready" false
	GLOBAL=$(child_of "$GLOBAL")
	read -r _ PID READY <"$2.ready"
}
# within INIT ARG...: probee in the namespace, like snapshot() and sample().
within() {
	timeout -k 5 "$TIME_LIMIT" "${enter[@]}" "$1" "$PROBEE" "${@:2}" 2>"$T/err"
	RC=$?
}
# same_as_ps INIT NAME: the threads with rows are exactly those in the namespace.
same_as_ps() {
	within "$1" snapshot -a -i 1 -o "$2.pbz"
	check "$2: exit status" equal "$RC" 0
	"${enter[@]}" "$1" ps -eLo tid=,pid=,comm= | awk '$3 != "ps" { print $1, $2, $3 }' | sort >"$2.ps"
	# Helper processes of probee run during the scan only.
	csv -q "$2.pbz" | awk -F'|' '$4 !~ /^probee-/ { print $2, $3, $4 }' | sort >"$2.rows"
	check "$2: more than the shell" at_least "$(wc -l <"$2.rows")" 4
	check "$2: the threads of ps" diff "$2.ps" "$2.rows"
	csv -q "$2.pbz" >"$2.csv"
	check "$2: whole" stacks rooted "$2.csv"
}

begin "$two" waits deadlock 2
waits=$GLOBAL
begin "$one" threads 5
threads=$PID
same_as_ps "$one" outer
same_as_ps "$two" inner
outside='from inside a PID namespace: [0-9,]+ threads of the machine are outside of it and left out'
check "those outside are counted" grep -qE "$outside\$" err
check "under a report, too" sh -c "'$PROBEE' report outer.pbz --collapse 2>&1 >/dev/null | grep -qE '$outside\$'"
count=$("$PROBEE" info outer.pbz | sed -n 's/.*pid_namespace.outside = threads=\([0-9]*\)$/\1/p')
check "this shell is one of them" at_least "${count:-0}" 1

# --- targets
within "$one" snapshot -p "$threads" -F 5 -i 2 -o target.pbz
csv target.pbz >target.csv
check "-p: rows" equal "$(stacks rows target.csv "$threads")" 12
check "-p: nobody else, so nobody else is counted" not grep -q "from inside" err
tid=$("${enter[@]}" "$one" ps -Lo tid= -p "$threads" | tail -1 | tr -d ' ')
within "$one" snapshot -t "$tid" -F 5 -i 3 -o tid.pbz
check "-t: rows" equal "$(csv -q tid.pbz | grep -c "|$tid|$threads|threads|")" 3
within "$one" snapshot -p $$ -i 1 -o none.pbz
check "-p with a number from outside: exit status" equal "$RC" 1
check "-p with a number from outside: nobody" grep -q "process $$: No such" err

# --- samples of a loop inside, beside one outside; in a scan it is on a CPU
"$WORKLOADS/brief" 100000 >/dev/null &
STARTED+=($!)
"${enter[@]}" "$one" "$WORKLOADS/brief" 100000 &
sleep 0.3
brief=$("${enter[@]}" "$one" pgrep -x brief)
within "$one" record -a -F 499 -d 2 --snap-freq 10 -o loop.pbz
check "record: exit status" equal "$RC" 0
csv -q loop.pbz --weight cpu | grep '|brief|' >loop.csv
check "record: samples of the loop inside" at_least "$(wc -l <loop.csv)" 60
check "record: and of no other" equal "$(cut -d'|' -f2,3 loop.csv | sort -u)" "$brief|$brief"
folded loop.pbz >loop.folded
check "record: whole" stacks share loop.folded "main;brief_outer;brief_leaf" --comm brief
check "record: samples outside are counted" grep -qE "$outside, with [0-9]{3,} samples" err
csv -q loop.pbz --weight wall | grep "|$brief|RUN\|$brief|brief|RUN" >running.csv
check "walks meet it on a CPU" at_least "$(wc -l <running.csv)" 10
check "and have its stack" at_least "$(grep -c 'brief_leaf+.*brief_outer+.*main+' running.csv)" 10
check "busy CPUs: no walk is held against the whole machine" not grep -q "differ by more than chance" err

# --- a process that enters from outside, so that its parent is invisible; and processes that come and go
within "$one" sample -a -F 499 -d 2 -o joined.pbz &
recorder=$!
sleep 1
"${enter[@]}" "$one" "$WORKLOADS/brief" 600 >/dev/null
wait "$recorder"
csv -q joined.pbz | awk -F'|' -v old="$brief" '$4 == "brief" && $3 != old' >joined.csv
check "who joins has samples" at_least "$(wc -l <joined.csv)" 15
check "and names" at_least "$(grep -c 'brief_leaf+.*brief_outer+.*main+' joined.csv)" $(($(wc -l <joined.csv) * 9 / 10))
within "$one" sample -F 999 -o kids.pbz -- "$WORKLOADS/kids" now exec 40 "$WORKLOADS/brief" 5 >/dev/null
check "-- CMD: tells its exit status" grep -q 'status 7' err
folded kids.pbz >kids.folded
check "-- CMD: short-lived children" stacks share kids.folded "main;brief_outer;brief_leaf" --comm brief --min 40 --percent 60

# --- waits: a deadlock of the inner namespace from both outer ones, a fifo whose writer is outside
within "$one" snapshot -a -F 4 -i 2 -o lock.pbz
"$PROBEE" report -q lock.pbz --waits >lock.txt
check "a deadlock one level down" equal "$(grep -c '^DEADLOCK.*2 threads wait for each other' lock.txt)" 1
inner=$("${enter[@]}" "$one" pgrep -x waits)
check "by our numbers" grep -qE " ($inner|$((inner + 1))) .* ring_wait" lock.txt
snapshot -p "$waits" -F 4 -i 2 -o far.pbz
"$PROBEE" report -q far.pbz --waits >far.txt
check "two levels down" equal "$(grep -c '^DEADLOCK.*2 threads wait for each other' far.txt)" 1
mkfifo fifo
sleep 1000 >fifo &
STARTED+=($!)
"${enter[@]}" "$one" cat <fifo >/dev/null &
until_true 5 "${enter[@]}" "$one" pgrep -x cat
within "$one" snapshot -a -F 4 -i 2 -o fifo.pbz
"$PROBEE" report -q fifo.pbz --waits-json >fifo.json
check "a fifo held outside: one holder without a number" peers holders fifo.json "$("${enter[@]}" "$one" pgrep -x cat)" 1
"$PROBEE" report -q fifo.pbz --waits >fifo.txt
check "a fifo held outside: in words" grep -q " cat .*  a process outside of the PID namespace" fifo.txt

# A pipe that no other process holds. Outside is a process whose first thread has ended, with its descriptors.
start leaderless
"${enter[@]}" "$one" bash -c 'sleep 1000 | tr a b' >/dev/null &
until_true 5 "${enter[@]}" "$one" pgrep -x tr
until_true 5 "${enter[@]}" "$one" pgrep -x sleep
within "$one" snapshot -a -F 4 -i 2 -o pipe.pbz
"$PROBEE" report -q pipe.pbz --waits-json >pipe.json
check "a pipe inside: its one other end" peers comms pipe.json tr sleep "$("${enter[@]}" "$one" pgrep -x tr)"

# A parent that waits for the one child, which it knows by the number in its own namespace.
snapshot -p "$waiter,$two" -i 1 -o child.pbz
"$PROBEE" report -q child.pbz --waits-json >child.json
check "wait4 in a namespace: the child by our number" peers edge child.json "$waiter" child "$two"

# --- refusals: cases in which numbers would be of another namespace
for what in "--fork:/proc shows another" ":processes that probee starts would be"; do
	for how in "snapshot -a -i 1" "sample -a -d 1" "record -- true"; do
		# shellcheck disable=SC2086
		unshare -p ${what%%:*} "$PROBEE" ${how%% *} -o refused.pbz ${how#* } 2>refused
		check "unshare -p ${what%%:*}, $how: exit status" equal $? 77
		check "unshare -p ${what%%:*}, $how: one line" one_line refused
		check "unshare -p ${what%%:*}, $how: says why" grep -q "${what#*:}.*Try: " refused
		check "unshare -p ${what%%:*}, $how: no trace" not test -e refused.pbz
	done
done
done_testing
