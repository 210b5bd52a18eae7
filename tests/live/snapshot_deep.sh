#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture/stacks
# beside: live
# The first scan of a deep stack in a program whose table is not ready yet: 20 KiB of a stack are kept, 64 of a thread that
# runs, but this one has 70.
# The program has more than 10 MB of code without call frame information, so its table takes time to build.
. "$(dirname "$0")/lib.sh"
for tool in objcopy gcc; do command -v $tool >/dev/null || skip "no $tool"; done
[ "$(uname -m)" = x86_64 ] || skip "code is only read on x86-64"

libc=$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')
objcopy -O binary -j .text "$libc" text || skip "no code to be had from $libc"
for i in 1 2 3 4 5 6 7 8 9 10; do cat text; done >code
printf '.text\n.incbin "code"\n.section .note.GNU-stack,"",@progbits\n' >code.s
gcc -O1 -I "$ROOT/tests/workloads" -o deep_late "$ROOT/tests/workloads/deep.c" code.s
./deep_late 900 sleep >ready &
PID=$!
STARTED+=("$PID")
for i in $(seq 100); do grep -q ready ready && break; sleep 0.1; done

frames() { csv "$1" | awk -F'|' -v p="$PID" '$3 == p { print gsub(/;/, ";", $6) + 1 }' | sort -nu | tr '\n' ' '; }

for how in "-p $PID" "-a"; do
	# shellcheck disable=SC2086
	snapshot $how -i 1 -o one.pbz
	check "$how: exit status" equal "$RC" 0
	check "$how: the only walk has the whole stack" equal "$(frames one.pbz)" "907 "
	check "$how: and it is whole" bash -c "'$PROBEE' report one.pbz --csv 2>/dev/null | awk -F'|' -v p=$PID '\$3 == p' | grep -q '_start[^;]*|'"
	check "$how: one row" equal "$(csv one.pbz | awk -F'|' -v p="$PID" '$3 == p' | wc -l)" 1
	# shellcheck disable=SC2086
	snapshot $how -F 2 -i 4 -o four.pbz
	check "$how: all of four walks have the whole stack" equal "$(frames four.pbz)" "907 "
	check "$how: the trace is as its page says" python3 "$ROOT/tests/spec/decode.py" --check four.pbz
done
finish "$PID"

# A thread that is met on a CPU, whose table no other thread asks for: four recordings, for each of which all is new.
nice -n -19 ./deep_late 1000 spin >ready &
PID=$!
STARTED+=("$PID")
disown
for i in $(seq 100); do grep -q ready ready && break; sleep 0.1; done
for i in 1 2 3 4; do
	snapshot -p "$PID" -i 1 -o running.pbz
	check "it runs, $i: the only walk has the whole stack" equal "$(frames running.pbz)" "1006 "
done
done_testing
