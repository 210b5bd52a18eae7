#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture
# Many threads, storms of forks, and stopped processes: every thread that exists all the time has its row in each scan.
# needs: quiet
. "$(dirname "$0")/lib.sh"
. "$LIVE/accounting.sh"

# Reads the receipts and rows of each scan, and the sums in END, without probee.
by_the_page() {
	command -v zstd >/dev/null || { echo "zstd is not installed"; return; }
	python3 "$ROOT/tests/spec/decode.py" --check "$1"
}

# --- 30,000 threads, or as many as this machine has numbers and memory for
want=30000
room=$(($(cat /proc/sys/kernel/pid_max) - $(cat /proc/loadavg | sed 's/.*\/\([0-9]*\) .*/\1/') - 2000))
limit=$(($(cat /proc/sys/kernel/threads-max) / 2))
memory=$(($(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) / 100))	# 50 KiB each, half of what there is
for most in $room $limit $memory; do [ "$want" -le "$most" ] || want=$most; done
[ "$want" -eq 30000 ] || skip_part "30000 threads: only $want fit here"
start threads "$want" sleep
all_threads before.tids "$PID"
snapshot -p "$PID" -i 2 -F 2 -o crowd.pbz
csv crowd.pbz >crowd.csv
check "$want threads: exit status" equal "$RC" 0
check "$want threads: rows" equal "$(stacks rows crowd.csv)" $((2 * (want + 1)))
check "$want threads: accounted for" accounted before.tids crowd.csv 2 "$PID"
check "$want threads: whole" stacks rooted crowd.csv
finish "$PID"

# --- threads and processes that come and go during a scan
for kind in threads procs; do
	start storm $kind 4
	all_threads before.tids
	snapshot -a --include-idle -F 20 -i 20 -o storm.pbz
	csv storm.pbz >storm.csv
	check "storm of $kind: exit status" equal "$RC" 0
	check "storm of $kind: nothing lost" bash -c "grep -q 'stacks whole' '$T/err' && ! grep -q 'losses: [0-9,]* sample' '$T/err'"
	check "storm of $kind: who stays is accounted for" accounted before.tids storm.csv 20
	check "storm of $kind: the three that stay are whole" equal "$(grep -c "|$PID|.*;stay+.*staying" storm.csv)" 60
	check "storm of $kind: each walk has the rows its receipt says" by_the_page storm.pbz
	check "storm of $kind: no thread twice in a walk" equal "$(wc -l <double.tids)" 0
	finish "$PID"
done

# --- a memory map that is locked most of the time: its threads are visited again
start storm maps 1
all_threads before.tids "$PID"
snapshot -p "$PID" -F 25 -i 50 --walk-all -o maps.pbz
csv maps.pbz >maps.csv
check "locked memory maps: exit status" equal "$RC" 0
check "locked memory maps: accounted for" accounted before.tids maps.csv 50 "$PID"
check "locked memory maps: met and counted" at_least \
	"$("$PROBEE" info maps.pbz | sed -nE 's/.* ([0-9]+) stacks were read again.*/\1/p')" 1
whole=$(grep -c ';stay+.*staying' maps.csv)
check "locked memory maps: nine in ten are whole all the same" at_least "$whole" 135
check "locked memory maps: the others say why, and have kernel stacks" equal \
	"$(grep -cE '\|[^|]*\[(truncated: )?busy\]\|[^|]+;' maps.csv)" "$(grep -c busy maps.csv)"
finish "$PID"

# --- 2,000 short processes at once
start chain30 sleep
target=$PID
bomb() { for _ in $(seq 2000); do "$WORKLOADS/brief" 1 & done; wait; }
background_group bomb
bomb=$PID
all_threads before.tids
snapshot -a --include-idle -F 5 -i 10 -o bomb.pbz
csv bomb.pbz >bomb.csv
check "2000 processes: exit status" equal "$RC" 0
check "2000 processes: who stays is accounted for" accounted before.tids bomb.csv 10
check "2000 processes: a sleeping one is whole" stacks rooted bomb.csv "$target"
finish "$bomb"

# --- stopped, traced, and waiting for the disk
start states
pids=$PID
for pair in $READY; do
	STARTED+=("${pair#*=}")
	pids+=,${pair#*=}
done
kill -STOP "$target"
snapshot -p "$pids,$target" -i 2 -F 5 -o states.pbz
csv states.pbz >states.csv
check "stopped: state and stack" grep -q "|$target|.*|STOPPED|.*f30+.*f1+" states.csv
kill -CONT "$target"
check "stopped, traced, zombie, D: rows of each" equal "$(stacks rows states.csv)" 16
for name in stopped traced disk; do check "$name: stack" grep -q "state_$name+" states.csv; done

# --- frozen
freezer=/sys/fs/cgroup/freezer/probee-test-$$ file=freezer.state frozen=FROZEN
[ -d /sys/fs/cgroup/freezer ] || { freezer=/sys/fs/cgroup/probee-test-$$ file=cgroup.freeze frozen=1; }
if mkdir "$freezer" 2>/dev/null && echo "$target" 2>/dev/null >$freezer/cgroup.procs &&
	echo $frozen 2>/dev/null >$freezer/$file; then
	sleep 0.3
	snapshot -p "$target" -i 2 -F 5 -o frozen.pbz
	csv frozen.pbz >frozen.csv
	check "frozen cgroup: rows" equal "$(stacks rows frozen.csv)" 2
	check "frozen cgroup: whole" stacks rooted frozen.csv
	[ $frozen = 1 ] && echo 0 >$freezer/$file || echo THAWED >$freezer/$file
else
	skip_part "no cgroup can be frozen here"
fi
finish "$target"
rmdir $freezer 2>/dev/null

# --- a storm in a chroot: its processes end before their files are opened, and their paths are those inside
mkdir -p root/bin
for program in sh true; do
	cp -L "$(type -P $program)" root/bin/
	for library in $(ldd "root/bin/$program" | grep -o '/[^ ]*'); do
		mkdir -p "root${library%/*}"
		cp -L "$library" "root$library"
	done
done
if chroot root /bin/sh -c /bin/true 2>/dev/null; then
	background chroot root /bin/sh -c 'while :; do /bin/true; done'
	run_limited sample -a -F 499 -d 4 -o chroot.pbz
	finish "$PID"
	"$PROBEE" report chroot.pbz -q --collapse | grep -E '^(sh|true);' >chroot.folded
	check "chroot: $(stacks total chroot.folded) samples" at_least "$(stacks total chroot.folded)" 200
	check "chroot: no library is taken for generated code" not grep -m1 -F '[jit]' chroot.folded
else
	skip_part "no chroot here"
fi

# --- another PID namespace: rows have the numbers of this one
background unshare -p -f --kill-child "$WORKLOADS/chain30" sleep
if until_true 5 pgrep -P "$PID" -x chain30; then
	inside=$(pgrep -P "$PID" -x chain30)
	sleep 0.2
	snapshot -p "$inside" -i 2 -F 5 -o inside.pbz
	csv inside.pbz >inside.csv
	check "PID namespace: rows by our number" equal "$(stacks rows inside.csv "$inside")" 2
	check "PID namespace: whole" stacks rooted inside.csv
else
	skip_part "no PID namespaces here"
fi
finish "$PID"
done_testing
