#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/waits src/profile src/report src/waits bpf formats/render
# core: yes
# beside: live
# Threads that went to sleep long before the recording: since when and for what they wait. Deadlocks and convoys are named.
. "$(dirname "$0")/lib.sh"

waits() { python3 -S "$LIVE/waits.py" "$@"; }
nr() { printf '#include <sys/syscall.h>\nSYS_%s\n' "$1" | ${CC:-gcc} -E -P - | tail -1; }
# of KEY: prints its value in READY.
of() { local word; for word in $READY; do [ "${word%%=*}" != "$1" ] || echo "${word#*=}"; done; }
report() { "$PROBEE" report -q "$@" --waits || echo "report $1 --waits: exit $?" >>"$T/report-failed"; }
says() { grep -qE "$2" "$1" || { head -40 "$1"; return 1; }; }
# look NAME: makes a snapshot of PID, as NAME.rows and NAME.txt.
look() {
	snapshot -p "$PID" -i 1 -o "$1.pbz"
	check "$1: exit status" equal "$RC" 0
	waits rows "$1.pbz" >"$1.rows"
	report "$1.pbz" >"$1.txt"
}
futex=$(nr futex)

start waits others
others=$PID others_ready=$READY
start waits deadlock 2
two=$PID two_ready=$READY
start waits deadlock 3
three=$PID three_ready=$READY
start waits static
static=$PID static_ready=$READY
start waits shared
shared=$PID shared_ready=$READY
start waits again
again=$PID again_ready=$READY
start waits convoy 20
convoy=$PID convoy_ready=$READY
sleep 2		# they have slept for a while before anything of probee runs

# One of each kind.
PID=$others READY=$others_ready
look others
check "others: times" waits times others.rows "$READY"
check "others: calls as /proc has them" waits syscall others.rows "$PID"
owner=$(of owner)
for kind in pi robust recursive rdlock wrlock join; do
	check "$kind: in futex, held by the owner" waits row others.rows "$(of $kind)" "$futex" "$owner"
done
for kind in cond sem; do
	check "$kind: in futex, held by nobody" waits row others.rows "$(of $kind)" "$futex" 0
done
check "pi: address" waits row others.rows "$(of pi)" "$futex" "$owner" "$(of lock)"
check "nanosleep" waits row others.rows "$(of nanosleep)" "$(nr clock_nanosleep)" 0
check "read: descriptor plus 1" waits row others.rows "$(of pipe)" "$(nr read)" 0 $(($(of pipe_end) + 1))
check "accept" waits row others.rows "$(of accept)" "$(nr accept)" 0
check "wait4: the child" waits row others.rows "$(of wait4)" "$(nr wait4)" "$(of child)"
for kind in pi robust recursive rdlock wrlock; do
	check "$kind: a line with both functions" says others.txt \
		"^ *1 +[1-9][0-9]*\.[0-9]{3} s  $kind $(of $kind) \(waits $PID\) +wait_$kind +futex 0x[0-9a-f]+ +owner $owner +own_all, SLEEP in clock_nanosleep$"
done
check "join: a line" says others.txt "^ *1 .* join .* end of a thread +owner $owner "
check "cond, sem: what they wait for" equal "$(grep -cE " (cond $(of cond)|sem $(of sem)) .* wait_(cond|sem) +(condition|semaphore)$" others.txt)" 2
check "a semaphore that is a variable" says others.txt " slot $(of slot) .* wait_slot +semaphore free_slots\+0x0$"
check "not a deadlock" not grep -qi deadlock others.txt
# head_says NAME TEXT: among the first lines of the report as text.
head_says() { "$PROBEE" report -q "$1.pbz" --text 2>>"$T/err" | head -5 >"$1.head"; says "$1.head" "^finding +deadlock: $2"; }
check "not a deadlock in the first lines of a report" not head_says others .
for call in read accept "epoll_p?wait" clock_nanosleep wait4 futex; do
	check "list: $call" says others.txt "^ +[0-9]+ +[0-9]+\.[0-9]{3} s  $call "
done
check "list: read is in a function of pipes" says others.txt "  read +[a-z_]*pipe_read"
check "list: accept is in a function of sockets" says others.txt "  accept +inet_csk_accept"

# Deadlocks.
ring() {	# NAME PID READY N
	PID=$2 READY=$3
	look "$1"
	check "$1: times" waits times "$1.rows" "$READY"
	check "$1: the ring" says "$1.txt" "^DEADLOCK: $4 threads wait for each other"
	for ((i = 0; i < $4; i++)); do
		check "$1: t$i waits for the next one" waits row "$1.rows" "$(of t$i)" "$futex" "$(of t$((($i + 1) % $4)))"
		check "$1: t$i named" says "$1.txt" "^ *1 +[1-9][0-9]*\.[0-9]{3} s  t$i $(of t$i) .* ring_wait  futex (0x|in_data\+0x)[0-9a-f]+ +t$((($i + 1) % $4)) $(of t$((($i + 1) % $4))) +ring_wait$"
	done
	check "$1: no stacks" equal "$(grep -c '^		' "$1.txt")" 0
	check "$1: all stacks" equal "$(report "$1.pbz" --stacks | grep -c '^		ring_wait$')" "$4"
	check "$1: the first lines of a report say it" head_says "$1" "$4 threads wait for each other: .*Try: --waits"
	check "$1: only one" equal "$(grep -ci deadlock "$1.txt")" 1
}
ring two "$two" "$two_ready" 2
ring three "$three" "$three_ready" 3
ring static "$static" "$static_ready" 2	# the mutexes lie in a page of the program's file
# The mutexes are two elements of one variable, which nm and gdb would name so.
size=$((0x$(nm -S "$WORKLOADS/waits" | awk '$4 == "in_data" { print $2 }') / 2))
check "static: the variable" says static.txt "  futex in_data\+0x0 +t[01] "
check "static: its second element" says static.txt "  futex in_data\+0x$(printf %x "$size") +t[01] "
ring shared "$shared" "$shared_ready" 2	# in memory of a memfd

PID=$again READY=$again_ready
look again
check "again: waits for itself" says again.txt "^DEADLOCK: 1 thread waits for itself"
check "again: the first lines of a report say it" head_says again "1 thread waits for itself: "
check "again: owner" waits row again.rows "$(of t0)" "$futex" "$(of t0)"

# A convoy.
PID=$convoy READY=$convoy_ready
look convoy
check "convoy: times" waits times convoy.rows "$READY"
for i in 0 7 19; do
	check "convoy: w$i waits for the head" waits row convoy.rows "$(of w$i)" "$futex" "$(of head)" "$(of lock)"
done
check "convoy: one line, with the head and what it does" says convoy.txt \
	"^20 +[1-9][0-9]*\.[0-9]{3} s  w[0-9]+ .* want_only +futex 0x$(printf %x "$(of lock)") +head $(of head) +hold_and_sleep, SLEEP in clock_nanosleep$"
report convoy.pbz -v >stacks.txt
check "convoy: stack of the head" says stacks.txt "^		hold_and_sleep$"
check "convoy: stack of a waiter" says stacks.txt "^		want_only$"

snapshot -p "$PID" -F 5 -i 2 -o twice.pbz
check "convoy: the same owner in two walks" equal "$(waits rows twice.pbz | awk -v owner="$(of head)" '$8 == owner' | wc -l)" 40

# The owner changes while other threads stay asleep. They have not run, but their rows must show the new owner.
start waits handover
background "$PROBEE" snapshot -q -p "$PID" -F 4 -i 16 -o handover.pbz
recorder=$!
until_true 10 test -s handover.pbz
sleep 1.2
kill -USR1 "${STARTED[-2]}"
wait "$recorder"
waits rows handover.pbz >handover.rows
owners_of() { awk -v tid="$1" -v futex="$futex" '$1 == tid && $6 == futex { print $8 }' handover.rows | uniq; }
check "handover: a waiter has two owners, one after the other" equal \
	"$(owners_of "$(of w2)" | tr '\n' ' ')" "$(of head) $(of w0) "
check "handover: it did not run meanwhile" equal \
	"$(awk -v tid="$(of w2)" '$1 == tid { print int($5 / 50000000) }' handover.rows | sort -u | wc -l)" 1

# Filters, the choice of a snapshot, and machines without waits.
PID=$convoy READY=$convoy_ready
report twice.pbz --walk 1 >first.txt
check "--walk 1" says first.txt "^Snapshot 1, "
"$PROBEE" report twice.pbz --walk 9 --waits >none.txt 2>&1
check "--walk 9" says none.txt "the trace has snapshots 1 to 2"
report convoy.pbz -t "$(of w0)" >filtered.txt
check "the owner is outside of the filter" says filtered.txt "^ *1 .* w0 $(of w0) .* head $(of head) +hold_and_sleep,"
report convoy.pbz --comm head >filtered.txt
check "all that wait for a thread" says filtered.txt "^20 .* head $(of head) +hold_and_sleep,"
snapshot -a -i 1 -o all.pbz
# Other tests have deadlocks, too: Java's, and those of this test in a PID namespace.
report all.pbz --all-waits -p "$(IFS=,; echo "${STARTED[*]}")" >all.txt
check "-a: the deadlocks of this test and no others" equal "$(grep -c '^DEADLOCK' all.txt)" 5

# Waits as columns of CSV, after the columns that are always there.
"$PROBEE" report -q convoy.pbz --csv --wait-columns >columns.csv
check "columns: w0" grep -qE "\|$(of w0)\|$PID\|w0\|SLEEP\|[^|]*\|[^|]*\|[0-9]+\.[0-9]{6}\|futex\|futex 0x[0-9a-f]+\|$(of head)$" columns.csv
check "columns: every row has eleven" not grep -qvE '^([^|]*\|){10}[^|]*$' columns.csv
done_testing
