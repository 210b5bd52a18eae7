#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/session
# core: yes
# beside: live
# Kernel stacks of sleeping threads equal /proc/PID/task/TID/stack. Most are recognised and not unwound again.
. "$(dirname "$0")/lib.sh"

[ -r /proc/self/stack ] && grep -q . /proc/self/stack 2>/dev/null || skip "this kernel shows no /proc/PID/stack"

kstacks() { python3 "$LIVE/kernel_stacks.py" "$@"; }

# Four of each kind of waiting.
for i in 1 2 3 4; do
	exec {fd}< <(exec python3 "$LIVE/waiters.py")
	STARTED+=($!)
	read -r -t 30 -u "$fd" word _ kinds
	check "waiters $i are ready" equal "$word" ready
done
start threads 200 sleep
start threads_fp 50 sleep
sleep 0.5
kstacks read >before
snapshot -a -F 10 -i 30 --walk-all -o all.pbz
check "exit status" equal "$RC" 0
kstacks read >after
csv all.pbz -q >all.csv
kstacks compare before after all.csv >verdict
cat verdict
rows=$(awk '/^rows/ { print $2 }' verdict)
different=$(awk '/^different/ { print $2 }' verdict)
kinds_seen=$(awk '/^kinds/ { print $2 }' verdict)
check "$rows rows of threads that slept on" test "$rows" -ge 5000
check "$kinds_seen different stacks ($kinds kinds of waiting)" test "$kinds_seen" -ge "$((kinds - 2))"
check "all as /proc/PID/task/TID/stack says" equal "$different" 0
grep -i "kernel stack" err >said
check "no note about kernel stacks: $(cat said)" test ! -s said

# The kernel's symbols are read when a sample has frames of the kernel, and not before.
if command -v strace >/dev/null; then
	strace -f -y -e trace=read -o trace "$PROBEE" sample -q -p "$PID" -d 0.3 -o idle.pbz
	check "no sample, and no symbols are read" not grep -q 'proc/kallsyms' trace
	strace -f -y -e trace=read -o trace "$PROBEE" sample -q -o busy.pbz -- dd if=/dev/zero of=/dev/null bs=1M count=8000
	check "samples of the kernel, and they are" grep -q 'proc/kallsyms' trace
	"$PROBEE" report busy.pbz --collapse >busy.txt
	check "each has its name" grep -q 'dd;.*;read;.*_\[k\]' busy.txt
fi
done_testing
