#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/capture/stacks src/foreign
# core: yes
# Processes whose stacks and programs are made of memory and files that could block a snapshot.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"
. "$LIVE/accounting.sh"

getent passwd nobody >/dev/null || skip "no user nobody"
nobody() { setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"; }
ms_since() { echo $((($(date +%s%N) - $1) / 1000000)); }
walk_ms() { sed -nE 's/.* snapshots?, ([0-9]+)(\.[0-9]+)? ms each.*/\1/p' "$T/err"; }
row_of() { grep "|$2|" "$1" | tail -1; }

cp "$WORKLOADS/victim" . && chmod 755 victim
cat >as-nobody <<'EOF'
#!/bin/bash
exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups ./victim "$@"
EOF
chmod 755 as-nobody

# --- memory that looks like a file never blocks; faults without a server fail
for kind in shared memfd uffd; do
	exec 8< <(exec "$PWD/as-nobody" $kind)
	STARTED+=($!)
	PID=
	read -r -t 10 -u 8 _ PID
	if [ -z "$PID" ]; then
		skip_part "no stack in memory of kind $kind here"
		continue
	fi
	snapshot -p "$PID" -i 1 -o $kind.pbz
	csv $kind.pbz >$kind.csv
	check "stack in $kind memory: exit status" equal "$RC" 0
	check "stack in $kind memory: one row" equal "$(stacks rows $kind.csv)" 1
	check "stack in $kind memory: was read" not grep -q not-read $kind.csv
	finish "$PID"
done

# --- stacks that are paged out come back
paged_out() {
	dd if=/dev/zero of=swap bs=1M count=32 2>/dev/null && chmod 600 swap && mkswap swap >/dev/null 2>&1 &&
		swapon swap 2>/dev/null
}
if paged_out; then
	start pagedout 40
	swapped=$(awk '/^VmSwap/ { print $2 / 4 }' "/proc/$PID/status")
	snapshot -p "$PID" -i 1 -o paged.pbz
	csv paged.pbz >paged.csv
	if [ "$swapped" -lt 200 ]; then
		skip_part "the kernel paged only $swapped pages of stacks out"
	else
		check "paged out: all rows whole" equal "$(grep -c 'p8+.*p1+.*thread_main' paged.csv)" 40
		check "paged out: pages brought in are counted" at_least \
			"$("$PROBEE" info paged.pbz | sed -nE 's/.*snapshots: ([0-9]+) of .* brought in.*/\1/p')" 100
		check "paged out: the trace says so" bash -c "'$PROBEE' info paged.pbz | grep -q 'brought in'"
	fi
	finish "$PID"
	swapoff swap
else
	skip_part "no swap can be had here: paged-out stacks are not tried"
fi

# --- programs with large holes, in file systems that are not mounted anywhere any more
cat >holes.py <<'EOT'
import ctypes, mmap, os, sys, time
libc, data = ctypes.CDLL(None), open(sys.argv[1], "rb").read()
assert libc.mount(b"none", sys.argv[2].encode(), b"tmpfs", 0, None) == 0
for i in range(6):
    fd = os.open(sys.argv[2] + "/f%d" % i, os.O_RDWR | os.O_CREAT)
    os.write(fd, data)
    os.ftruncate(fd, 120 << 20)
    globals()["map%d" % i] = mmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
    os.close(fd)
assert libc.umount2(sys.argv[2].encode(), 2) == 0
print("ready", os.getpid(), flush=True)
time.sleep(1000)
EOT
mkdir detached
exec 8< <(exec python3 -S holes.py "$WORKLOADS/chain30" "$T/detached")
STARTED+=($!)
read -r -t 10 -u 8 _ PID
"$PROBEE" sample -q -p "$PID" -d 2 -o holes.pbz &
recorder=$!
STARTED+=($recorder)
copies=0
while kill -0 "$recorder" 2>/dev/null; do
	held=0
	for fd in /proc/"$recorder"/fd/*; do
		case $(readlink "$fd") in /memfd:probee*) held=$((held + $(stat -L -c %s "$fd" || echo 0))) ;; esac
	done
	[ "$held" -le "$copies" ] || copies=$held
	sleep 0.2
done 2>/dev/null
wait "$recorder"
check "programs with holes: exit status" equal $? 0
check "programs with holes: copies of 256 MiB and one more at most" at_most "$copies" $((376 << 20))
finish "$PID"

# --- a file system that never answers
mkdir -m 755 mnt
exec 9< <(exec "$WORKLOADS/hungfs" "$T/mnt" 2>"$T/hungfs.err")
STARTED+=($!)
server=
read -r -t 10 -u 9 _ server || skip_part "no FUSE here: $(cat hungfs.err)"
if [ -n "$server" ]; then
	exec 8< <(exec "$PWD/as-nobody" file "$T/mnt/stack")
	STARTED+=($!)
	read -r -t 10 -u 8 _ victim
	start threads 50 sleep
	many=$PID
	all_threads before.tids
	snapshot -v -a --include-idle -i 3 -F 5 -o anon.pbz
	csv anon.pbz >anon.csv
	check "FUSE stack: exit status" equal "$RC" 0
	check "FUSE stack: a walk takes at most 100 ms" at_most "$(walk_ms)" 100
	check "FUSE stack: every thread has its rows" accounted before.tids anon.csv 3
	check "FUSE stack: the others are whole" stacks rooted anon.csv "$many"
	check "FUSE stack: its row says why" grep -q '|main+.*not-read' <(row_of anon.csv "$victim")
	check "FUSE stack: the process is named" grep -q "not read.* $victim (victim)" "$T/err"
	snapshot -p "$victim" -i 1 --faults=never -o never.pbz
	check "--faults=never: exit status" equal "$RC" 0

	# With --faults=all the reader hangs, but the recording does not.
	before=$(date +%s%N)
	snapshot -p "$victim,$many" -i 3 -F 5 --faults=all -o all.pbz
	took=$(ms_since "$before")
	csv all.pbz >all.csv
	check "--faults=all: exit status" equal "$RC" 0
	check "--faults=all: ends" at_most "$took" 15000
	check "--faults=all: the hanging process is named" grep -q "process $victim (victim).* hangs" "$T/err"
	check "--faults=all: only once" equal "$(grep -c '^probee: process .* hangs' "$T/err")" 1
	check "--faults=all: the trace says so" bash -c "'$PROBEE' info all.pbz | grep -q 'victim.*hangs'"
	check "--faults=all: every thread, each walk" equal "$(stacks rows all.csv)" $((3 * 52))
	check "--faults=all: the others are whole" stacks rooted all.csv "$many"

	# Ctrl-C while it hangs.
	run_limited snapshot -p "$victim,$many" -F 5 --faults=all -o int.pbz &
	limited=$!
	sleep 2.5
	before=$(date +%s%N)
	pkill -INT -P "$(pgrep -P "$limited" -x timeout | head -1 | grep . || echo "$limited")" -x probee
	wait "$limited"
	check "Ctrl-C while the reader hangs: ends" at_most "$(ms_since "$before")" 6000
	check "Ctrl-C while the reader hangs: a whole trace" bash -c "'$PROBEE' info int.pbz | grep -q signal"

	# Meanwhile the kernel detaches no uprobe on the whole machine; the trace is whole before probee waits for that.
	background "$PROBEE" sample -e "u:$WORKLOADS/calls:leaf" -o probed.pbz -- "$WORKLOADS/calls" 1000 0 2>probed.err
	probing=$PID
	check "a probe while the reader hangs: a whole trace" until_true 20 bash -c "'$PROBEE' info probed.pbz | grep -q '^ended *by target-exit'"
	check "with each call" equal "$("$PROBEE" report probed.pbz --collapse 2>>"$T/err" | awk '{ s += $NF } END { printf "%.0f\n", s }')" 2000
	hangs=$(kill -0 "$probing" 2>/dev/null && echo yes)
	finish "$victim"

	# A thread that waits for that server has a row with the place where it waits.
	background cat "$T/mnt/stack"
	waiter=$PID
	sleep 0.3
	snapshot -p "$waiter" -i 1 -o waiter.pbz
	csv waiter.pbz >waiter.csv
	check "waits for the server: kernel stack" grep -qE 'fuse|folio|request_wait' waiter.csv
	check "waits for the server: user stack" stacks rooted waiter.csv "$waiter"

	# Its program is a file that cannot be read.
	exec 8< <(exec "$PWD/as-nobody" prog "$T/mnt/prog")
	STARTED+=($!)
	read -r -t 10 -u 8 _ victim
	before=$(date +%s%N)
	snapshot -p "$victim,$many" -i 2 -F 5 -o prog.pbz
	took=$(ms_since "$before")
	finish "$victim"
	finish "$server" TERM
	wait "$probing"
	check "a probe while the reader hung${hangs:+, which waited to be detached}: exit status" equal $? 0
	csv prog.pbz >prog.csv
	check "FUSE program: exit status" equal "$RC" 0
	check "FUSE program: ends" at_most "$took" 10000
	check "FUSE program: named" grep -q "does not answer" "$T/err"
	check "FUSE program: all rows" equal "$(stacks rows prog.csv)" $((2 * 52))
	check "FUSE program: the others are whole" stacks rooted prog.csv "$many"
	finish "$many"
	finish "$waiter"

	# A server that answers serves as well as a disk, and the debug file is found by the name of the program.
	program=$WORKLOADS/chain30
	if mount -t tmpfs none /usr/lib/debug 2>/dev/null; then
		mkdir -p "/usr/lib/debug$T/mnt" && objcopy --only-keep-debug "$program" "/usr/lib/debug$T/mnt/x.debug"
		(cd "/usr/lib/debug$T/mnt" && objcopy --strip-all --add-gnu-debuglink=x.debug "$program" "$T/linked")
		program=$T/linked
	else
		skip_part "no /usr/lib/debug here"
	fi
	exec 9< <(exec "$WORKLOADS/hungfs" "$T/mnt" slow 1 "$program")
	STARTED+=($!)
	read -r -t 10 -u 9 _ server
	start "$T/mnt/prog" sleep
	snapshot -p "$PID" -i 1 -o slow.pbz
	csv slow.pbz >slow.csv
	check "program on a FUSE that answers: names" grep -q 'f30+.*f1+.*main' slow.csv
	check "program on a FUSE that answers: whole" stacks rooted slow.csv
	finish "$PID"
	finish "$server" TERM
fi
done_testing
